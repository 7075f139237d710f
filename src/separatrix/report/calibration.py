"""Whether probabilities mean what they say: of the rows given P, the share P should be of the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

from separatrix._typing import Array, Floats
from separatrix.compare.metrics import Z
from separatrix.report.charts import Drawing
from separatrix.report.confusion import shortened
from separatrix.report.svg import Axes

if TYPE_CHECKING:
    from separatrix.compare.result import Run

BINS = 10  # of equally many rows, as far as each has 10
CHANCE = 0.01  # how rarely right probabilities are called off
MATTERS = 0.01  # mean distance between stated and observed below which nobody needs to know


@dataclass(frozen=True)
class Bin:
    """Rows with about the same stated probability: its mean, and the share that it should equal, with an interval."""

    stated: float
    share: float
    low: float
    high: float
    rows: int


@dataclass(frozen=True)
class Stated:
    """What was stated of each held-out row, and whether it happened.

    Two classes: the probability of the second. More: that of the predicted class, which happens when it is right.
    """

    chances: Floats
    happened: Array

    def groups(self) -> list[Array]:
        """Rows in bins of about equal stated probability."""
        n = len(self.chances)
        return np.array_split(np.argsort(self.chances, kind="stable"), min(BINS, max(1, n // 10)))

    def bins(self) -> list[Bin]:
        """The bins, from the lowest stated probability to the highest."""
        return [
            Bin(float(self.chances[rows].mean()), *wilson(int(self.happened[rows].sum()), len(rows)), len(rows))
            for rows in self.groups()
        ]

    def chance(self) -> float:
        """The probability of bins so far from their shares, were every stated probability right.

        Sum over bins of (happened - expected)² / sum P (1 - P), which is then about χ² with one degree a bin.
        """
        total = 0.0
        for rows in self.groups():
            stated = self.chances[rows]
            total += float((self.happened[rows].sum() - stated.sum()) ** 2 / max((stated * (1 - stated)).sum(), 1e-12))
        return float(chi2.sf(total, len(self.groups())))


def stated(run: Run) -> Stated | None:
    """What the best model stated; None if it gives no probabilities."""
    predictions = run.best.predictions
    if predictions.probabilities is None:
        return None
    if len(run.classes) == 2:
        return Stated(predictions.probabilities[:, 1], run.truth == 1)
    rows = np.arange(len(run.truth))
    return Stated(predictions.probabilities[rows, predictions.codes], predictions.codes == run.truth)


def calibration(run: Run) -> Drawing | None:
    """Observed shares against stated probabilities, in bins of equally many rows, with 95% intervals."""
    found = stated(run)
    if found is None:
        return None
    if len(run.classes) == 2:
        labels = (f"stated probability of {shortened(run.classes[1])}", "observed share")
    else:
        labels = ("stated probability of the predicted class", "share that was right")
    axes = Axes(
        (0.0, 1.0),
        (0.0, 1.0),
        *labels,
        "Calibration",
        f"Observed shares against the probabilities that {run.best.title} states, for held-out rows.",
    )
    axes.line([0.0, 1.0], [0.0, 1.0], "guide")
    for each in found.bins():
        axes.dot(each.stated, each.share, "line-a", each.low, each.high)
    return Drawing(axes.render())


def calibration_words(run: Run) -> tuple[bool, str] | None:
    """Whether the probabilities are off, and in which way, in a sentence or two."""
    found = stated(run)
    if found is None:
        return None
    bins = found.bins()
    weights = np.array([each.rows for each in bins]) / len(found.chances)
    gaps = np.array([each.stated - each.share for each in bins])
    distance = float(weights @ np.abs(gaps))
    if found.chance() >= CHANCE or distance < MATTERS:
        return False, "Stated and observed agree as far as these rows can tell: take the probabilities at their word."
    worst = bins[int(np.argmax(np.abs(gaps) * np.sqrt(weights)))]
    return True, (
        f"The probabilities are off by {100 * distance:.1f} points on average, {_way(run, bins, weights, gaps)}: "
        f"where {100 * worst.stated:.0f}% was stated, {100 * worst.share:.0f}% of {worst.rows:,} rows "
        f"{f'were “{run.classes[1]}”' if len(run.classes) == 2 else 'were right'}."
    )


def _way(run: Run, bins: list[Bin], weights: Floats, gaps: Floats) -> str:
    """Too high or too low throughout, or too far from 1/2 or too near to it."""
    bias, distance = float(weights @ gaps), float(weights @ np.abs(gaps))
    if len(run.classes) > 2:
        return "too sure" if bias > 0 else "not sure enough"
    if abs(bias) > 0.75 * distance:
        return f"too {'high' if bias > 0 else 'low'} for “{run.classes[1]}”"
    outward = float(weights @ (gaps * np.sign([each.stated - 0.5 for each in bins])))
    return "too near to 0 and 1" if outward > 0 else "too near to one half"


def wilson(right: int, rows: int) -> tuple[float, float, float]:
    """A share and its 95% interval."""
    share, z2 = right / rows, Z * Z
    centre = (share + z2 / (2 * rows)) / (1 + z2 / rows)
    half = Z * np.sqrt(share * (1 - share) / rows + z2 / (4 * rows * rows)) / (1 + z2 / rows)
    return share, float(max(0.0, centre - half)), float(min(1.0, centre + half))
