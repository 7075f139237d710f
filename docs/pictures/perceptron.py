"""The pictures of the page on the perceptron family. Run: ``python docs/pictures/perceptron.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from separatrix import Kozinec, Perceptron, PocketPerceptron

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREY = "#2b6cb0", "#dd6b20", "#718096"
plt.rcParams.update(
    {"svg.hashsalt": "separatrix", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
)


def save(figure, name):
    figure.savefig(FOLDER / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def scatter(axes, X, y):
    for label, colour, marker in ((1, BLUE, "o"), (-1, ORANGE, "s")):
        axes.scatter(*X[y == label].T, c=colour, marker=marker, s=28, edgecolors="white", linewidths=0.6, zorder=3)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])


def two_clouds(gap=0.35, n=60):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(4 * n, 2))
    scores = X @ [0.8, 0.6] - 0.2
    X, scores = X[np.abs(scores) > gap][:n], scores[np.abs(scores) > gap][:n]
    return X, np.where(scores > 0, 1, -1)


def proof():
    """w*.w above l gamma, ‖w‖ below R sqrt(l), and the cosine between them."""
    X, y = two_clouds(gap=0.15, n=80)
    X += (1.5, 1.0)  # away from the origin, where the bias takes many updates
    bracket = Kozinec(1e-9).fit(X, y).certificate_
    gamma, best = bracket.lower, bracket.direction / np.linalg.norm(bracket.direction)
    R = np.sqrt((X**2).sum(axis=1) + 1).max()
    weights = Perceptron(trace=True).fit(X, y).trace_["weights"]
    steps = np.arange(len(weights))
    along, length = weights @ best, np.linalg.norm(weights, axis=1)

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
    left.fill_between(steps, steps * gamma, R * np.sqrt(steps), color="#edf2f7", zorder=0)
    left.plot(steps, R * np.sqrt(steps), "--", color=GREY, label=r"$R\sqrt{\ell}$")
    left.plot(steps, length, color=ORANGE, label=r"$\|w\|$")
    left.plot(steps, along, color=BLUE, label=r"$w^* \cdot w$")
    left.plot(steps, steps * gamma, ":", color=GREY, label=r"$\ell\,\gamma$")
    left.set_xlabel(r"updates $\ell$")
    left.legend(frameon=False, loc="upper left")
    left.set_title(rf"{steps[-1]} updates; at most $R^2/\gamma^2$ = {int(R**2 / gamma**2)}", fontsize=9)
    right.plot(steps[1:], along[1:] / length[1:], color=BLUE, label=r"cosine of $w$ and $w^*$")
    right.plot(
        steps[1:],
        np.sqrt(steps[1:]) * gamma / R,
        ":",
        color=GREY,
        label=r"$\sqrt{\ell}\,\gamma/R$, the least it can be",
    )
    right.axhline(1.0, color=GREY, linewidth=0.8)
    right.set_ylim(0, 1.05)
    right.set_xlabel(r"updates $\ell$")
    right.legend(frameon=False, loc="center right")
    right.set_title("a cosine is at most 1: so the updates end", fontsize=9)
    save(figure, "perceptron_proof")


def many_lines():
    """Several separating lines for one data set: each start, order and rule ends at another."""
    X, y = two_clouds()
    fits = [Perceptron(shuffle=True, random_state=seed).fit(X, y) for seed in range(6)]
    best = Kozinec(1e-6).fit(X, y)
    figure, axes = plt.subplots(figsize=(4.6, 4.6))
    scatter(axes, X, y)
    ends = np.array([-4.0, 4.0])
    for fit in fits:
        (a, b), c = fit.coef_[0], fit.intercept_[0]
        axes.plot(ends, -(a * ends + c) / b, color=GREY, linewidth=1)
    (a, b), c = best.coef_[0], best.intercept_[0]
    axes.plot(ends, -(a * ends + c) / b, color="black", linewidth=2)
    axes.set_xlim(-2.7, 2.7)
    axes.set_ylim(-2.7, 2.7)
    axes.set_title("grey: the perceptron, six orders; black: Kozinec's nearest point", fontsize=9)
    save(figure, "perceptron_many_lines")


def feature_map():
    """A perceptron on phi(x), the features of a scikit-learn transformer."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(260, 2))
    inside = X[:, 0] ** 2 / 2.2 + X[:, 1] ** 2 + 0.5 * X[:, 0] * X[:, 1]
    X, inside = X[np.abs(inside - 1) > 0.18], inside[np.abs(inside - 1) > 0.18]
    y = np.where(inside < 1, 1, -1)
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), Perceptron()).fit(X, y)
    grid = np.stack(np.meshgrid(np.linspace(-2.1, 2.1, 300), np.linspace(-2.1, 2.1, 300)), axis=-1)
    scores = model.decision_function(grid.reshape(-1, 2)).reshape(300, 300)
    figure, axes = plt.subplots(figsize=(4.6, 4.6))
    axes.contourf(grid[..., 0], grid[..., 1], scores >= 0, levels=[-0.5, 0.5, 1.5], colors=["#fdf0e3", "#e3eefb"])
    axes.contour(grid[..., 0], grid[..., 1], scores, levels=[0], colors="black", linewidths=1.2)
    scatter(axes, X, y)
    axes.set_title(f"linear in (x1, x2, x1², x1 x2, x2²): separated after {model[-1].n_updates_} updates", fontsize=9)
    save(figure, "perceptron_feature_map")


def pocket():
    """The errors of the walking weights, and of the pocket."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X @ [1.0, 0.7] + 0.8 * rng.normal(size=200) > 0, 1, -1)
    trace = PocketPerceptron(random_state=0, max_iter=5, trace=True).fit(X, y).trace_
    walking = [((X @ w[:-1] + w[-1] >= 0) != (y > 0)).sum() for w in trace["weights"]]
    figure, axes = plt.subplots(figsize=(6.2, 3.2))
    axes.plot(trace["step"], walking, color=GREY, linewidth=0.8, label="the perceptron as it walks")
    axes.plot(trace["step"], trace["errors"], color=BLUE, linewidth=2, label="the pocket")
    axes.set_xlabel("updates")
    axes.set_ylabel("errors of 200")
    axes.set_ylim(0)
    axes.legend(frameon=False)
    save(figure, "perceptron_pocket")


def bracket():
    """Kozinec's two bounds on the margin, by the plain rule and by Wolfe's."""
    X, y = two_clouds()
    figure, axes = plt.subplots(figsize=(6.2, 3.2))
    for rule, colour, steps in (("plain", ORANGE, 2000), ("wolfe", BLUE, 100)):
        model = Kozinec(0.02 if rule == "plain" else 1e-9, rule=rule, max_iter=steps, trace=True).fit(X, y)
        trace = model.trace_
        axes.plot(trace["step"] + 1, trace["objective"], color=colour, label=f"{rule}: upper bound")
        axes.plot(trace["step"] + 1, np.maximum(trace["margin"], 0), "--", color=colour, label=f"{rule}: lower bound")
        axes.plot(trace["step"][-1] + 1, trace["objective"][-1], "o", color=colour, markersize=4)
    axes.set_xscale("log")
    axes.set_xlabel("steps + 1")
    axes.set_ylabel("margin")
    axes.legend(frameon=False, fontsize=8)
    save(figure, "perceptron_bracket")


if __name__ == "__main__":
    proof()
    many_lines()
    feature_map()
    pocket()
    bracket()
