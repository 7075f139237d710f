"""The pictures of the page on logistic regression. Run: ``python docs/pictures/logistic.py``."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib
import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from separatrix import LogisticRegression, separability

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREY, BLACK = "#2b6cb0", "#dd6b20", "#718096", "#1a202c"
plt.rcParams.update(
    {"svg.hashsalt": "separatrix", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
)


def save(figure: plt.Figure, name: str) -> None:
    figure.tight_layout()
    figure.savefig(FOLDER / f"logistic_{name}.svg", metadata={"Date": None})
    plt.close(figure)


def with_outliers() -> tuple[np.ndarray, np.ndarray]:
    """Two clouds that overlap a little, and five points of one that lie far beyond the other."""
    rng = np.random.default_rng(4)
    clouds = [
        rng.normal([-1.3, 0], 0.8, (40, 2)),
        rng.normal([1.3, 0], 0.8, (40, 2)),
        rng.normal([5.5, 2], 0.4, (5, 2)),
    ]
    return np.vstack(clouds), np.repeat([0, 1, 0], [40, 40, 5])


def criteria() -> None:
    """Cross-entropy and Euclidean distance: where they put the boundary, and what a point costs."""
    X, y = with_outliers()
    models = {
        "cross-entropy": (LogisticRegression(np.inf).fit(X, y), BLACK, "-"),
        "squared error": (LogisticRegression(np.inf, loss="squared_error").fit(X, y), GREY, "--"),
    }
    figure, (plane, cost) = plt.subplots(1, 2, figsize=(9, 3.4))
    plane.scatter(*X.T, s=14, c=np.where(y == 1, ORANGE, BLUE), linewidths=0)
    heights = np.array([-2.3, 3.0])
    for name, (model, colour, style) in models.items():
        (u, v), b = model.coef_[0], model.intercept_[0]
        errors = int((model.predict(X) != y).sum())
        plane.plot(-(v * heights + b) / u, heights, style, color=colour, label=f"{name}: {errors} errors")
    plane.set(xlim=(-4, 7), ylim=(-2.3, 5.0), xticks=[], yticks=[])
    plane.legend(frameon=False, loc="upper left")
    u = np.linspace(-6, 4, 200)
    cost.plot(u, np.logaddexp(0, -u), color=BLACK, label="-log P(y | x)")
    cost.plot(u, expit(-u) ** 2, "--", color=GREY, label="(1 - P(y | x))²")
    cost.axvline(0, color=GREY, linewidth=0.5)
    cost.set(xlabel="y (w.x + b): how far a point is on its own side", ylabel="cost", ylim=(0, 6))
    cost.legend(frameon=False)
    save(figure, "criteria")


def pull() -> None:
    """How strongly a point pulls at the weights, by the two criteria."""
    figure, axis = plt.subplots(figsize=(6, 3.2))
    u = np.linspace(-7, 7, 300)
    q = expit(-u)
    axis.plot(u, q, color=BLACK, label="e, for cross-entropy")
    axis.plot(u, q * q * (1 - q), "--", color=GREY, label="e p (1 - p), for squared error")
    steepest = -np.log(2.0)
    axis.plot(steepest, 4 / 27, "o", color=GREY)
    axis.annotate(
        "largest where the true class\nhas probability 1/3",
        (steepest, 4 / 27),
        (-6.8, 0.36),
        arrowprops={"arrowstyle": "-", "color": GREY},
    )
    axis.axvline(0, color=GREY, linewidth=0.5)
    axis.set(xlabel="y (w.x + b): ‖w‖ times the distance on its own side", ylabel="pull")
    axis.legend(frameon=False)
    save(figure, "pull")


ROWS = {  # six points on a line, and what separability says of them
    "separable": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
    "quasi-separable": [0.0, 1.0, 2.0, 2.0, 4.0, 5.0],
    "overlapping": [0.0, 1.0, 3.0, 2.0, 4.0, 5.0],
}


def no_maximum() -> None:
    """The likelihood of a slope, at its best intercept; and fits to separable points as the penalty goes away."""
    y = np.repeat([0, 1], 3)
    figure, (profile, curves) = plt.subplots(1, 2, figsize=(9, 3.3))
    slopes = np.linspace(0, 12, 121)
    for (verdict, rows), colour in zip(ROWS.items(), (ORANGE, BLUE, BLACK), strict=True):
        x = np.array(rows)
        assert separability(x[:, None], y).verdict == verdict
        loss = [
            minimize_scalar(
                lambda b, w=w, x=x: np.logaddexp(0, -(2 * y - 1) * (w * x + b)).sum(), bracket=(-2.5 * w - 1, -2 * w)
            ).fun
            for w in slopes
        ]
        profile.plot(slopes, loss, color=colour, label=verdict)
        if verdict == "overlapping":
            model = LogisticRegression(np.inf).fit(x[:, None], y)
            profile.plot(model.coef_[0], -model.log_likelihood_, "o", color=colour)
    profile.set(xlabel="w", ylabel="least cross-entropy with this w", ylim=(0, 4.4))
    profile.legend(frameon=False, loc="upper right")
    X = np.array(ROWS["separable"])[:, None]
    curves.scatter(X[:, 0], y, s=24, c=np.where(y == 1, ORANGE, BLUE), linewidths=0, zorder=3)
    grid = np.linspace(0, 5, 400)[:, None]
    for C, shade in zip([1.0, 1e2, 1e4, 1e6], ["#cbd5e0", "#a0aec0", "#718096", "#1a202c"], strict=True):
        model = LogisticRegression(C).fit(X, y)
        label = f"C = {C:g}: w = {model.coef_[0, 0]:.1f}"
        curves.plot(grid[:, 0], model.predict_proba(grid)[:, 1], color=shade, label=label)
    curves.set(xlabel="x", ylabel="P(1 | x)")
    curves.legend(frameon=False, loc="center left", fontsize=8)
    save(figure, "no_maximum")


if __name__ == "__main__":
    warnings.simplefilter("error")
    criteria()
    pull()
    no_maximum()
