"""The picture of the first page. Run: ``python docs/pictures/first.py``."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from separatrix import LogisticRegression

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREY = "#2b6cb0", "#dd6b20", "#718096"
plt.rcParams.update(
    {"svg.hashsalt": "separatrix", "font.size": 11, "axes.spines.top": False, "axes.spines.right": False}
)


def main() -> None:
    """What each step found, and what it proved that no weights can fall below."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    found, proved = [], []
    for steps in range(1, 9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            certificate = LogisticRegression(C=0.1, max_iter=steps, tol=1e-12).fit(X, y).certificate_
        found.append(certificate.primal)
        proved.append(certificate.dual)
    figure, axis = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
    steps = np.arange(1, 9)
    axis.fill_between(steps, proved, found, color="#e8f1fb", linewidth=0)
    axis.plot(steps, found, color=BLUE, marker="o", label="found: the objective here")
    axis.plot(steps, proved, color=ORANGE, marker="s", label="proved: no weights have less")
    axis.set(xlabel="step of the fit", ylabel="objective", xticks=steps)
    axis.legend(frameon=False)
    gap = (found[-1] - proved[-1]) / found[-1]
    axis.annotate(
        f"{found[-1]:.4f}, and at least {proved[-1]:.4f}:\na relative gap of {gap:.0e}",
        (8, found[-1]), (8, 0.56), textcoords=("data", "axes fraction"), ha="right",
        arrowprops={"arrowstyle": "-", "color": GREY}, color=GREY,
    )  # fmt: skip
    figure.savefig(FOLDER / "first.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
