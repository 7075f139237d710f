"""The path of logistic regression with an L1 penalty: which columns come in as C grows, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.compare.candidates import SPARSE
from separatrix.compare.encoding import column_moments
from separatrix.compare.limit import within
from separatrix.compare.logistic_path import path_rows, steepest
from separatrix.compare.quiet import quietly
from separatrix.compare.result import Run
from separatrix.compare.tuning import sample_rows

GAP = 3e-4  # relative, certified for every C: steps so short that few columns come in at the same one
FAR, BEYOND = 100.0, 2.0  # times the C of the first column, or times the one that was chosen: where the path ends
ENTRIES = 20_000_000  # rows times columns (stored ones, if sparse) times classes that a picture is worth
WEIGHTS = 200_000  # columns times classes, likewise
SECONDS = 10.0  # likewise, where the system has alarms
LISTED = 200  # columns in run.json


@dataclass(frozen=True)
class Path:
    """Effects (m, columns) of one standard deviation for each C, of the columns in the order of their coming.

    Of several classes it is the largest on any class, without its sign. ``enter`` is the first C at which a column
    has a weight other than 0, ``chosen`` the C of the line in the leaderboard, where ``used`` columns have one.
    """

    C: Floats
    columns: list[str]
    effects: Floats
    enter: Floats
    chosen: float
    used: int
    claim: str
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """For run.json."""
        entered = list(zip(self.columns, self.enter.tolist(), strict=True))[:LISTED]
        return {
            "of": SPARSE,
            "chosen_C": self.chosen,
            "used": self.used,
            "rows": self.rows,
            "claim": self.claim,
            "columns": [{"column": column, "from_C": C} for column, C in entered],
        }


def entering(run: Run, seconds: float) -> Path | None:
    """The path on the rows that C was chosen on; None if the line is not in the leaderboard, or the table is large.

    A picture must not cost a finished run: whatever goes wrong, or takes longer than it may, there is none.
    """
    entry = next((entry for entry in run.entries if entry.title == SPARSE), None)
    classes = len(run.classes) if len(run.classes) > 2 else 1
    if entry is None or seconds <= 0 or classes * len(run.features) > WEIGHTS:
        return None
    rows = sample_rows(run.truth, path_rows(run.X, len(run.classes)), run.seed)
    X, y, chosen = run.X[rows], run.truth[rows], float(entry.params["C"])
    if classes * (X.nnz if hasattr(X, "nnz") else X.size) > ENTRIES:
        return None
    try:
        with quietly(), within(min(seconds, SECONDS)):
            used = int(np.count_nonzero(np.asarray(entry.model.coef_).any(axis=0)))
            return _traced(X, y, run.features, chosen, used, len(run.truth) / len(rows))
    except Exception:
        return None


def _traced(X: Any, y: Any, names: list[str], chosen: float, used: int, weight: float) -> Path:
    """Each row counts for ``weight``: how many of the table it stands for, so that C means the same."""
    from separatrix import logistic_path

    C_max = max(FAR / (weight * steepest(X, y)), BEYOND * chosen)
    path = logistic_path(X, y, C_max=C_max, tol=GAP, sample_weight=np.full(len(y), weight))
    order = path.entered
    weights = path.coef if path.coef.ndim == 2 else np.abs(path.coef).max(axis=1)
    effects = weights[:, order] * column_moments(X)[1][order]
    enter = path.C[(weights[:, order] != 0).argmax(axis=0)]
    return Path(path.C, [names[j] for j in order], effects, enter, chosen, used, path.certificate.claim, len(y))
