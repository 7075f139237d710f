"""The pictures of the page on support vector machines. Run: ``python docs/pictures/svm.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import make_moons

from separatrix import SVC, LinearSVC

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREY = "#2b6cb0", "#dd6b20", "#718096"
plt.rcParams.update({"svg.hashsalt": "separatrix", "font.size": 10})


def save(figure, name):
    figure.savefig(FOLDER / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def draw(axes, model, X, y, title):
    """The boundary f = 0, the margins f = ±1, the points, and rings around the support vectors."""
    low, high = X.min(axis=0) - 0.6, X.max(axis=0) + 0.6
    u, v = np.meshgrid(np.linspace(low[0], high[0], 90), np.linspace(low[1], high[1], 90))
    f = model.decision_function(np.column_stack([u.ravel(), v.ravel()])).reshape(u.shape)
    axes.contourf(u, v, f, levels=[-1e9, 0, 1e9], colors=["#fdf0e6", "#e8f1fb"])
    axes.contour(u, v, f, levels=[-1, 0, 1], colors=[GREY, "black", GREY], linestyles=["--", "-", "--"], linewidths=1)
    for label, colour, marker in ((1, BLUE, "o"), (0, ORANGE, "s")):
        axes.scatter(*X[y == label].T, c=colour, marker=marker, s=22, edgecolors="white", linewidths=0.5, zorder=3)
    axes.scatter(*X[model.support_].T, s=85, facecolors="none", edgecolors="black", linewidths=0.9, zorder=4)
    axes.set(xticks=[], yticks=[], xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.set_title(title, fontsize=10)


def margins():
    """Hard and soft margin on the same points but one."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal([0, 0], 0.7, (25, 2)), rng.normal([3.2, 2.2], 0.7, (25, 2))])
    y = np.repeat([0, 1], 25)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.7))
    hard = LinearSVC(C=np.inf).fit(X, y)
    draw(axes[0], hard, X, y, f"hard margin\n{hard.margin_:.2f}")
    X, y = np.vstack([X, [[2.6, 2.3]]]), np.append(y, 0)
    for C, place in ((100.0, axes[1]), (0.1, axes[2])):
        soft = LinearSVC(C=C).fit(X, y)
        draw(place, soft, X, y, f"C = {C:g}: margin {soft.margin_:.2f}\ntotal slack {soft.slack_.sum():.2f}")
        w, normal = soft.coef_[0], soft.coef_[0] / np.linalg.norm(soft.coef_)
        signs = np.where(y == 1, 1, -1)
        for i in np.flatnonzero(soft.slack_ > 1e-6):  # the violation, as a distance
            end = X[i] + signs[i] * soft.slack_[i] / np.linalg.norm(w) * normal
            place.plot(*np.column_stack([X[i], end]), color="crimson", linewidth=1.2, zorder=2)
    save(figure, "svm_margins")


def kernels():
    """The same machine in the feature space of a kernel."""
    X, y = make_moons(160, noise=0.18, random_state=2)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.7))
    for place, (kernel, settings) in zip(
        axes, (("linear", {}), ("poly", {"degree": 3, "coef0": 1.0}), ("rbf", {"gamma": 1.5})), strict=True
    ):
        model = SVC(kernel=kernel, C=2.0, **settings).fit(X, y)
        draw(place, model, X, y, f"{kernel}: {len(model.support_)} support vectors")
    save(figure, "svm_kernels")


if __name__ == "__main__":
    margins()
    kernels()
