"""The picture of the page on separability. Run: ``python docs/pictures/separability.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

from separatrix import separability

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREY = "#2b6cb0", "#dd6b20", "#718096"
plt.rcParams.update(
    {"svg.hashsalt": "separatrix", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
)

LEFT = np.array([[0, 0], [0, 2], [1, 1], [-1, 1.5]])
CASES = {
    "separable": np.array([[3, 0], [3, 2], [4, 1], [2.5, 1.2]]),
    "quasi-separable": np.array([[1, 1], [3, 2], [1.5, 0.5], [2.5, 1.2]]),
    "overlapping": np.array([[0.2, 1], [3, 2], [1.5, 0], [2.5, 1.2]]),
}


def main() -> None:
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.9), sharex=True, sharey=True)
    for axis, (name, right) in zip(axes, CASES.items(), strict=True):
        X, y = np.vstack([LEFT, right]), np.repeat([0, 1], 4)
        result = separability(X, y, exact=True)
        assert result.verdict == name
        size = np.full(8, 30.0)
        if result.weights is not None:
            weight = np.array([float(w) for w in result.weights])
            size = 12 + 260 * weight / weight.max()
            size[weight == 0] = 12
        axis.scatter(*X.T, s=size, c=np.where(y == 1, ORANGE, BLUE), alpha=0.75, linewidths=0)
        if result.hyperplane is not None:
            (u, v), b = result.hyperplane.w, result.hyperplane.b
            heights = np.array([-0.5, 2.5])
            axis.plot(-(v * heights + b) / u, heights, color=GREY)
        axis.set(title=name, xlim=(-1.6, 4.5), ylim=(-0.5, 2.5), xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(FOLDER / "separability.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
