"""A `Run` as one offline HTML page with a strict content-security policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.compare.wording import count, percent, seconds
from separatrix.report import charts
from separatrix.report.svg import effect_bar, interval_bar

if TYPE_CHECKING:
    from separatrix.compare.result import Entry, Run

VERDICTS = {
    "separable": "A hyperplane has every row strictly on its own side. Maximum-likelihood logistic regression has no "
    "finite answer here, and a perceptron stops by itself.",
    "quasi-separable": "A hyperplane has every row on its side or on the boundary, but none has every row strictly on "
    "its side. Maximum-likelihood logistic regression has no finite answer here.",
    "overlapping": "No hyperplane divides the classes without errors, so every linear classifier makes some. "
    "Maximum-likelihood logistic regression has one finite answer.",
    "undecided": "Float arithmetic could not tell whether a hyperplane separates the classes.",
}
MOST_CONFUSED = 12  # classes of a confusion matrix that still fits on a page


def render(run: Run, command: str, verify_command: str) -> str:
    """The page.

    Parameters
    ----------
    run : Run
    command, verify_command : str
        What reproduces the run, and what checks the saved model's certificate.

    Returns
    -------
    str
        HTML, without any script or outside resource.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    style = _resource("style.css")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(seconds=seconds, percent=percent, number=lambda value: f"{value:,}", figure=_figure)
    template = environment.from_string(_resource("report.html.jinja"))
    drawings = {
        name: None if drawing is None else Markup(drawing)  # built by svg.py, which escapes every text
        for name, drawing in {
            "histogram": charts.histogram(run),
            "roc": charts.roc(run),
            "precision_recall": charts.precision_recall(run),
            "calibration": charts.calibration(run),
            "convergence": charts.convergence(run),
        }.items()
    }
    return template.render(
        run=run,
        best=run.best,
        style=Markup(style),  # a file of this package
        policy=policy(style),
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        rows=count(run.n_rows, "row"),
        verdict_means=VERDICTS[run.verdict],
        board=_board(run.entries, run.best, Markup),
        tied=sum(entry.tie for entry in run.entries),
        coefficients=_coefficients(run, Markup),
        several=any(coefficient.label is not None for coefficient in run.coefficients),
        intervals=any(coefficient.low is not None for coefficient in run.coefficients),
        matrix=_matrix(run),
        command=command,
        verify_command=verify_command,
        **drawings,
    )


def policy(style: str) -> str:
    """Nothing may be loaded or run; the one style sheet is allowed by its hash."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _resource(name: str) -> str:
    return resources.files("separatrix.report").joinpath("templates", name).read_text(encoding="utf-8")


def _figure(figure: Any) -> str:
    """0.975 (0.962 to 0.985)."""
    return "–" if figure is None else f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"


def _board(entries: Sequence[Entry], best: Entry, markup: Any) -> list[dict[str, Any]]:
    # the baseline would press all others into a corner: it may lie off the scale
    floor = min(entry.balanced_accuracy.low for entry in entries if not entry.baseline)
    rows = []
    for number, entry in enumerate(entries):
        figure = entry.balanced_accuracy
        kind = "line-b" if entry is best else "line-a" if entry.tie or number == 0 else "line-m"
        bar = interval_bar(figure.low, figure.high, figure.value, floor, 1.0, kind)
        place = "best" if number == 0 else "tie" if entry.tie else f"−{100 * entry.behind.value:.1f} points"  # type: ignore[union-attr]
        rows.append({"entry": entry, "bar": markup(bar), "place": place, "saved": entry is best})
    return rows


def _coefficients(run: Run, markup: Any) -> list[dict[str, Any]]:
    largest = max((abs(coefficient.effect) for coefficient in run.coefficients), default=1.0)
    return [
        {"coefficient": coefficient, "bar": markup(effect_bar(coefficient.effect, largest))}
        for coefficient in run.coefficients
    ]


def _matrix(run: Run) -> list[list[int]] | None:
    k = len(run.classes)
    if k > MOST_CONFUSED:
        return None
    return charts.confusion(np.asarray(run.truth), run.best.predictions.codes, k)
