"""A `Run` as one offline HTML page with a strict content-security policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.compare.metrics import LOSSES, METRICS, NAMES
from separatrix.compare.wording import count, percent, seconds
from separatrix.report import board, charts, columns
from separatrix.report.calibration import calibration, calibration_words
from separatrix.report.confusion import confusions
from separatrix.report.svg import key

if TYPE_CHECKING:
    from separatrix.compare.result import Run

VERDICTS = {
    "separable": "A hyperplane has every row strictly on its own side. Maximum-likelihood logistic regression has no "
    "finite answer here, and a perceptron stops by itself.",
    "quasi-separable": "A hyperplane has every row on its side or on the boundary, but none has every row strictly on "
    "its side. Maximum-likelihood logistic regression has no finite answer here.",
    "overlapping": "No hyperplane divides the classes without errors, so every linear classifier makes some. "
    "Maximum-likelihood logistic regression has one finite answer.",
    "undecided": "Whether a hyperplane separates the classes was not decided.",
}


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
    environment.filters.update(
        seconds=seconds,
        percent=percent,
        number=lambda value: f"{value:,}",
        figure=_figure,
        parameters=board.parameters,
        metric=lambda name: NAMES[name],
        drawing=lambda text: Markup(text),  # built by svg.py, which escapes every text
        key=lambda kind: Markup(key(kind)),
    )
    kinds = columns.kinds_of(run.columns)
    lines, axis, guess = board.lines(run)
    return environment.from_string(_resource("report.html.jinja")).render(
        run=run,
        best=run.best,
        style=Markup(style),  # a file of this package
        policy=policy(style),
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        rows=count(run.n_rows, "row"),
        verdict_means=VERDICTS[run.verdict],
        metric=NAMES[run.metric],
        smaller_is_better=run.metric in LOSSES,
        measured=[name for name in METRICS if any(entry.figures.get(name) for entry in run.entries)],
        lines=lines,
        axis=axis,
        guess=guess,
        majority=next((entry for entry in run.entries if entry.baseline), None),
        groups=columns.groups(run.coefficients, kinds),
        several=any(coefficient.label is not None for coefficient in run.coefficients),
        intervals=any(coefficient.low is not None for coefficient in run.coefficients),
        uncovered=_uncovered(run),
        hard_rows=[(row, columns.pulls(row.pulls, kinds)) for row in run.hard_rows],
        confusions=confusions(np.asarray(run.truth), run.best.predictions.codes, run.classes),
        calibrated=calibration_words(run),
        command=command,
        verify_command=verify_command,
        histogram=_drawn(charts.histogram, run),
        roc=_drawn(charts.roc, run),
        precision_recall=_drawn(charts.precision_recall, run),
        calibration=_drawn(calibration, run),
        convergence=_drawn(charts.convergence, run),
        entering=_drawn(charts.entering, run),
    )


def _uncovered(run: Run) -> str:
    """What is saved with the weights and has no proof: "the calibration and the cut"."""
    decision = run.best.decision
    cut = decision is not None and (decision.threshold is not None or decision.offsets is not None)
    parts = [*(["the calibration"] if run.best.calibration is not None else []), *(["the cut"] if cut else [])]
    return " and ".join(parts)


def _drawn(draw: Callable[[Run], charts.Drawing | None], run: Run) -> charts.Drawing | None:
    """A drawing, or none: the page is written after hours of work, which a picture must not cost."""
    try:
        return draw(run)
    except Exception:
        return None


def policy(style: str) -> str:
    """Nothing may be loaded or run; the one style sheet is allowed by its hash."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _resource(name: str) -> str:
    return resources.files("separatrix.report").joinpath("templates", name).read_text(encoding="utf-8")


def _figure(figure: Any) -> str:
    """0.975 (0.962 to 0.985)."""
    return "–" if figure is None else f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"
