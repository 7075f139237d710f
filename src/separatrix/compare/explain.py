"""What the best model looks at, which rows it gets most wrong, and how its fit converged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from separatrix._typing import Floats, Integers
from separatrix.compare.encoding import column_moments
from separatrix.compare.limit import within
from separatrix.compare.metrics import Predictions
from separatrix.compare.quiet import quietly
from separatrix.compare.result import Coefficient, Entry, HardRow, Run
from separatrix.errors import SeparatrixError
from separatrix.scoring.calibration import TINY

MOST_COEFFICIENTS = 15
MOST_ROWS = 10
TRACED_ENTRIES = 5_000_000


def intervals(model: Any) -> tuple[Floats | None, str | None]:
    """(rows of weights, columns, 2) Wald intervals without the intercept, or the reason why there are none."""
    if not hasattr(model, "conf_int"):
        name = type(model).__name__
        why = f"{name} estimates a boundary, not a probability model, so its weights have no standard errors."
        if hasattr(model, "predict_proba"):
            why = f"The weights of {name} follow from means and shares of each class; none has a standard error here."
        return None, why
    try:
        found = np.asarray(model.conf_int())
    except SeparatrixError as error:
        return None, str(error)
    found = found[None] if found.ndim == 2 else found
    return found[:, : model.coef_.shape[1]], None


def has_class_weights(model: Any) -> bool:
    """Whether ``coef_`` has a row for each class (one for two), not for each pair of them, nor is missing."""
    from separatrix.estimators.support_vectors import SupportVectorClassifier

    return hasattr(model, "coef_") and not (isinstance(model, SupportVectorClassifier) and len(model.classes_) > 2)


def top_coefficients(
    model: Any, X: Any, names: Sequence[str], classes: Sequence[str], scales: Floats
) -> tuple[list[Coefficient], str | None]:
    """The weights whose columns move the score most, one standard deviation against another.

    X is in units of `scales`; the weights are given per unit of the table.
    """
    coef = np.asarray(model.coef_, dtype=np.float64)
    _, spread = column_moments(X)
    effects = coef * spread
    ends, why = intervals(model)
    coef = coef / scales
    each = MOST_COEFFICIENTS if len(coef) == 1 else max(3, MOST_COEFFICIENTS // len(coef))
    found = []
    for row, effect in enumerate(effects):
        label = None if len(coef) == 1 else classes[row]
        for j in np.argsort(-np.abs(effect), kind="stable")[:each]:
            low, high = (None, None) if ends is None else map(_finite, ends[row, j] / scales[j])
            found.append(Coefficient(label, names[j], float(coef[row, j]), float(effect[j]), low, high))
    return found, why


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def margins_of(truth: Integers, predictions: Predictions) -> tuple[Floats | None, str]:
    """How clearly each held-out row is on the right side of the cut (negative: wrong), and what that number is.

    log P of the true class less that of the strongest other, each with what the cut of the row's fold adds to it.
    """
    if predictions.probabilities is not None:
        lead = _lead(truth, np.log(np.maximum(predictions.probabilities, TINY)), predictions.offsets)
        words = "log-odds of the true class against the strongest other, counted from the cut"
    elif predictions.scores is None:
        return None, ""
    elif predictions.scores.ndim == 1:
        lead = np.where(truth == 1, 1.0, -1.0) * predictions.scores
        words = "y (w.x + b), the score of the true side"
    else:
        lead = _lead(truth, predictions.scores, None)
        words = "score of the true class less the best other"
    right = predictions.codes == truth  # also where a row lies on the cut, or rounding moves it there
    return np.where(right, np.maximum(lead, TINY), np.minimum(lead, -TINY)), words


def _lead(truth: Integers, scores: Floats, offsets: Floats | None) -> Floats:
    rows = np.arange(len(truth))
    rival = scores.copy() if offsets is None else scores + offsets
    mine = rival[rows, truth]
    rival[rows, truth] = -np.inf
    return mine - rival.max(axis=1)


def hardest_rows(
    entry: Entry,
    margins: Floats | None,
    truth: Integers,
    row_numbers: Integers,
    X: Any,
    names: Sequence[str],
    classes: Sequence[str],
    scales: Floats,
) -> list[HardRow]:
    """The held-out rows with the lowest margins, if they are wrong, and the columns that pulled them there."""
    if margins is None:
        return []
    worst = np.argsort(margins, kind="stable")[:MOST_ROWS]
    means, _ = column_moments(X)
    found = []
    for i in worst[margins[worst] < 0]:
        predicted = int(entry.predictions.codes[i])
        pulls = _pulls(entry.model, _row(X, i), means, int(truth[i]), predicted, names, scales)
        found.append(HardRow(int(row_numbers[i]), classes[truth[i]], classes[predicted], float(margins[i]), pulls))
    return found


def _row(X: Any, i: int) -> Floats:
    row = X[[i]].toarray()[0] if hasattr(X, "tocsr") else X[i]
    return np.asarray(row, dtype=np.float64)


def _pulls(
    model: Any, row: Floats, means: Floats, truth: int, predicted: int, names: Sequence[str], scales: Floats
) -> list[tuple[str, str]]:
    """The three columns with the largest part, against the mean row, in the score of the wrong class."""
    if not has_class_weights(model):
        return []
    coef = np.asarray(model.coef_, dtype=np.float64)
    direction = coef[0] * (1 if predicted == 1 else -1) if len(coef) == 1 else coef[predicted] - coef[truth]
    parts = direction * (row - means)
    return [(names[j], f"{row[j] * scales[j]:g}") for j in np.argsort(-parts)[:3] if parts[j] > 0]


def traced(run: Run, seconds: float) -> dict[str, list[float | None]] | None:
    """The numeric columns of the trace of fitting the saved model again, if it keeps one and that costs little.

    A picture must not cost a finished run: whatever goes wrong, or takes longer than it may, there is none.
    """
    model = run.best.model
    large = run.X.shape[0] * run.X.shape[1] > TRACED_ENTRIES
    if "trace" not in model.get_params() or large or run.best.capped or seconds <= 0:
        return None
    again = clone(model).set_params(trace=True)
    try:
        with quietly(), within(seconds):
            again.fit(run.X, run.y)
    except Exception:
        return None
    trace = getattr(again, "trace_", None)
    if trace is None or not trace.n_steps:
        return None
    columns = [name for name in ("step", "objective", "gap", "mistakes", "margin") if name in trace]
    keep = np.unique(np.linspace(0, trace.n_steps - 1, 500).astype(int))
    return {name: [_finite(value) for value in trace[name][keep].tolist()] for name in columns}
