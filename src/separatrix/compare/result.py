"""What a comparison found: everything that the terminal, the page and run.json show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from separatrix._typing import Array, Integers
from separatrix.compare.candidates import Left
from separatrix.compare.metrics import Figure, Predictions
from separatrix.compare.paired import Difference
from separatrix.scoring.calibration import Calibration
from separatrix.scoring.decision import Decision

SCHEMA = 1


@dataclass
class Entry:
    """One classifier of the leaderboard.

    Parameters
    ----------
    key : str
        Its name for ``separatrix fit --model``; "" for the baseline and the reference.
    title, params, note : str, dict, str
        Its name in tables, the parameters of the fit to all rows, and what a reader should know.
    rows_used : int
        Of how many rows it learned; `capped` if not of all.
    predictions : Predictions
        What was said of each row when it was held out: calibrated and cut as in `calibration` and `decision`, both
        learned anew within the training rows of each fold.
    figures : dict
        By the names of `metrics.METRICS`; None where a metric does not apply.
    calibration : Calibration or None
        From scores to probabilities, of the fit to all rows; None where the model's own are used.
    decision : Decision or None
        From probabilities to a class, of the fit to all rows; None where the most probable is taken.
    honest : bool
        Whether the held-out log-loss is not above that of the baseline.
    reference : bool
        Not one of ours: it shows what linearity costs, and is never saved.
    command : str
        What fits the same weights again, bit for bit; "" for the baseline and the reference.
    """

    key: str
    title: str
    params: dict[str, Any]
    note: str
    rows_used: int
    predictions: Predictions
    figures: dict[str, Figure | None]
    seconds: float
    model: Any
    certificate: str
    claim: str | None
    status: str
    certified: bool
    capped: bool
    warnings: list[str] = field(default_factory=list)
    behind: Difference | None = None  # the best less this one; None for the best
    tie: bool = False
    calibration: Calibration | None = None
    decision: Decision | None = None
    honest: bool = True
    reference: bool = False
    command: str = ""
    sample: int | None = None  # how many rows were asked for, if it is capped; the classes' shares are rounded

    @property
    def baseline(self) -> bool:
        """Whether this is the majority guess."""
        return not self.key and not self.reference

    @property
    def balanced_accuracy(self) -> Figure:
        """The mean over classes of the share recognised, held out."""
        figure = self.figures["balanced_accuracy"]
        assert figure is not None
        return figure

    @property
    def auc(self) -> Figure | None:
        """Area under the ROC curve, held out."""
        return self.figures.get("auc")

    @property
    def log_loss(self) -> Figure | None:
        """Mean of -log P(true class), held out."""
        return self.figures.get("log_loss")

    def to_dict(self) -> dict[str, Any]:
        """For run.json."""
        return {
            "name": self.title,
            "model": self.key or None,
            "parameters": {name: plain(value) for name, value in self.params.items()},
            **{name: None if figure is None else figure.to_dict() for name, figure in self.figures.items()},
            "behind_best": None if self.behind is None else self.behind.to_dict(),
            "tie_with_best": self.tie,
            "fit_seconds": self.seconds,
            "command": self.command or None,
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "decision": None if self.decision is None else self.decision.to_dict(),
            "honest": self.honest,
            "reference": self.reference,
            "rows_used": self.rows_used,
            "capped": self.capped,
            "certified": self.certified,
            "certificate": self.certificate,
            "claim": self.claim,
            "status": self.status,
            "note": self.note or None,
            "warnings": self.warnings,
        }


@dataclass(frozen=True)
class Coefficient:
    """One weight, in the units of its column; `effect` is the weight times the column's standard deviation."""

    label: str | None
    column: str
    value: float
    effect: float
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, Any]:
        """For run.json."""
        return {
            "class": self.label,
            "column": self.column,
            "coefficient": self.value,
            "effect_of_one_standard_deviation": self.effect,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True)
class HardRow:
    """A held-out row that the best model got most wrong."""

    row: int
    truth: str
    predicted: str
    score: float
    pulls: list[tuple[str, str]]  # the columns that pulled it there, with their values

    def to_dict(self) -> dict[str, Any]:
        """For run.json."""
        pulls = [{"column": column, "value": value} for column, value in self.pulls]
        said = {"row": self.row, "truth": self.truth, "predicted": self.predicted}
        return {**said, "score": self.score, "pulled_by": pulls}


@dataclass(frozen=True)
class Sentence:
    """One sentence of the verdict, and whether it warns."""

    text: str
    warning: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass
class Run:
    """A whole comparison; `best` is the entry that is saved."""

    source: str
    target: str
    n_rows: int
    n_columns: int
    notes: list[str]
    kinds: Mapping[str, int]  # how many columns of each
    columns: list[dict[str, Any]]  # the first of them
    classes: list[str]
    counts: list[int]
    features: list[str]
    fingerprint: Any
    seed: int
    folds: int
    time_limit: float
    versions: Mapping[str, str]
    verdict: str
    verdict_claim: str
    verdict_exact: bool
    verdict_checks: list[str]
    entries: list[Entry]
    left: list[Left]
    best: Entry
    why_best: str
    coefficients: list[Coefficient]
    coefficients_of: str
    why_no_intervals: str | None
    hard_rows: list[HardRow]
    score_is: str
    scaled: bool  # whether numbers were divided by their standard deviations
    verification: list[str]
    verified: bool
    seconds: float
    truth: Integers
    trace: Mapping[str, list[float | None]] | None = None  # drawn when all else is done: see explain.traced
    path: Any = None  # of the L1 penalty, drawn likewise: see entering.Path
    encoder: Any = None
    X: Any = None
    y: Array | None = None
    metric: str = "balanced_accuracy"  # what the ranking and the cuts go by
    verdict_words: list[Sentence] = field(default_factory=list)  # usable or not, how sure, what it gets wrong, warnings
    linearity: str | None = None  # what linearity costs, in one sentence
    leaks: list[str] = field(default_factory=list)  # columns that alone nearly determine the target, in sentences

    def to_dict(self) -> dict[str, Any]:
        """run.json: everything shown, machine readable."""
        return {
            "schema": SCHEMA,
            "command": "compare",
            "metric": self.metric,
            "verdict": [str(words) for words in self.verdict_words],
            "linearity": self.linearity,
            "leaks": self.leaks,
            "data": {
                "source": self.source,
                "target": self.target,
                "rows": self.n_rows,
                "columns": self.n_columns,
                "notes": self.notes,
                "features": len(self.features),
                "column_types": self.columns,
                "classes": [
                    {"label": label, "rows": rows} for label, rows in zip(self.classes, self.counts, strict=True)
                ],
                "fingerprint": self.fingerprint,
                "numbers_divided_by_standard_deviation": self.scaled,
            },
            "seed": self.seed,
            "folds": self.folds,
            "time_limit": self.time_limit,
            "versions": dict(self.versions),
            "separability": {
                "verdict": self.verdict,
                "claim": self.verdict_claim,
                "exact": self.verdict_exact,
                "checks": self.verdict_checks,
            },
            "leaderboard": [entry.to_dict() for entry in self.entries],
            "left_out": [{"name": left.title, "why": left.why} for left in self.left],
            "best": {
                "name": self.best.title,
                "model": self.best.key,
                "why": self.why_best,
                "verified": self.verified,
                "checks": self.verification,
            },
            "coefficients": {
                "of": self.coefficients_of,
                "why_no_intervals": self.why_no_intervals,
                "largest": [coefficient.to_dict() for coefficient in self.coefficients],
            },
            "hardest_rows": {"score": self.score_is, "rows": [row.to_dict() for row in self.hard_rows]},
            "trace": self.trace,
            "path": None if self.path is None else self.path.to_dict(),
            "seconds": self.seconds,
        }


def plain(value: Any) -> Any:
    """A parameter as JSON has it: infinity is a word there."""
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)
