"""What a comparison found: everything that the terminal, the page and run.json show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from separatrix._typing import Array, Floats, Integers
from separatrix.compare.candidates import Left
from separatrix.compare.metrics import Difference, Figure, Predictions

SCHEMA = 1


@dataclass
class Entry:
    """One classifier of the leaderboard."""

    key: str
    title: str
    params: dict[str, Any]
    note: str
    rows_used: int
    predictions: Predictions
    balanced_accuracy: Figure
    auc: Figure | None
    log_loss: Figure | None
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

    @property
    def baseline(self) -> bool:
        """Whether this is the majority guess."""
        return not self.key

    def to_dict(self) -> dict[str, Any]:
        """For run.json."""
        figures = {name: getattr(self, name) for name in ("balanced_accuracy", "auc", "log_loss")}
        return {
            "name": self.title,
            "model": self.key or None,
            "parameters": {name: plain(value) for name, value in self.params.items()},
            **{name: None if figure is None else figure.to_dict() for name, figure in figures.items()},
            "behind_best": None if self.behind is None else self.behind.to_dict(),
            "tie_with_best": self.tie,
            "fit_seconds": self.seconds,
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
        return {
            "row": self.row,
            "truth": self.truth,
            "predicted": self.predicted,
            "score": self.score,
            "pulled_by": pulls,
        }


@dataclass
class Run:
    """A whole comparison."""

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
    trace: Mapping[str, list[float | None]] | None
    seconds: float
    truth: Integers
    encoder: Any = None
    margins: Floats | None = None
    X: Any = None
    y: Array | None = None

    def to_dict(self) -> dict[str, Any]:
        """run.json: everything shown, machine readable."""
        return {
            "schema": SCHEMA,
            "command": "compare",
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
            "seconds": self.seconds,
        }


def plain(value: Any) -> Any:
    """A parameter as JSON has it: infinity is a word there."""
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)
