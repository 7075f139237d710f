"""A comparison on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from separatrix.cli.common import clean
from separatrix.compare.metrics import NAMES, Figure
from separatrix.compare.result import Entry, Run
from separatrix.compare.wording import count, seconds

WIDE = 120  # columns of a terminal that has room for all intervals and certificates
MOST_CLASSES = 6
MOST_COEFFICIENTS = 8


def show_run(run: Run, console: Console) -> None:
    """The verdict in words first; then data, leaderboard, the saved model and its weights."""
    for number, words in enumerate(run.verdict_words):
        style = "bold red" if words.warning else "bold" if number == 0 else ""
        console.print(clean(words), style=style, soft_wrap=True)
    if run.linearity:
        console.print(clean(run.linearity), soft_wrap=True)
    console.print()
    show_data(run, console)
    style = {"separable": "green", "quasi-separable": "yellow"}.get(run.verdict, "cyan")
    line = Text("Separability  ", style="bold").append(run.verdict, style=f"bold {style}")
    line.append(f": {clean(run.verdict_claim)}{_proved(run)}")
    console.print(line)
    console.print()
    show_leaderboard(run, console)
    for entry in run.entries:
        if entry.note:
            console.print(f"  {entry.title}: {entry.note}", style="dim")
    for left in run.left:
        console.print(f"  left out: {left.title}: {clean(left.why)}", style="dim")
    console.print()
    best = Text("Saved model   ", style="bold").append(run.best.title, style="bold")
    console.print(best.append(f": {run.why_best}."))
    holds = "holds" if run.verified else "no certificate" if not run.verification else "FAILS"
    line = Text("Certificate   ", style="bold").append(holds, style="bold green" if run.verified else "bold red")
    about = " (of the model before calibration)" if run.best.calibration is not None and run.verified else ""
    console.print(line.append(f"{about}: {clean(run.best.claim or run.best.status)}"))
    console.print(Text("The same model again: ", style="dim").append(clean(run.best.command)), soft_wrap=True)
    show_coefficients(run, console)


def _proved(run: Run) -> str:
    if run.verdict == "undecided":
        return ""
    return " (proved exactly)" if run.verdict_exact else " (proof checked)"


def show_data(run: Run, console: Console) -> None:
    """What the data is, in a line or two."""
    types = ", ".join(f"{number:,} {kind}" for kind, number in run.kinds.items())
    shares = [f"{clean(label)} {rows:,}" for label, rows in zip(run.classes, run.counts, strict=True)]
    more = f", and {len(shares) - MOST_CLASSES} more" if len(shares) > MOST_CLASSES else ""
    line = Text("Data          ", style="bold").append(clean(run.source))
    line.append(f": {count(run.n_rows, 'row')}, {count(run.n_columns, 'column')} ({types})")
    line.append(f" as {count(len(run.features), 'feature')}{', numbers in standard deviations' * run.scaled}")
    console.print(line)
    classes = ", ".join(shares[:MOST_CLASSES]) + more
    console.print(Text("Target        ", style="bold").append(f"{clean(run.target)}: {classes}"))


def show_leaderboard(run: Run, console: Console) -> None:
    """The ranking; "=" marks ties with the best. Where it is narrow, certificates come below."""
    wide = console.width >= WIDE
    shown = [run.metric, *(name for name in ("auc", "log_loss") if name != run.metric)]
    table = _table("", "classifier", *(NAMES[name] for name in shown), "fit", *(["certificate"] if wide else []))
    for number, entry in enumerate(run.entries):
        figures = [interval(entry.figures.get(name), wide or name == run.metric) for name in shown]
        spent = seconds(entry.seconds) if entry.key else "–"  # of others, no fit to all rows is worth its time
        cells = [_mark(entry, number), entry.title, *figures, f"{spent:>7}"]
        table.add_row(*map(Text, [*cells, *([clean(entry.certificate)] if wide else [])]), style=_style(run, entry))
    console.print(table)
    words = "= tied with the best: these rows cannot tell them apart; * reference, not linear, never saved"
    console.print(f"95% intervals from {run.folds} folds. {words}.", style="dim")
    if not wide:
        console.print()
        table = _table("classifier", "certificate")
        for entry in run.entries:
            table.add_row(Text(entry.title), Text(clean(entry.certificate)), style=_style(run, entry))
        console.print(table)


def _table(*names: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, no_wrap=name != "certificate", overflow="fold")
    return table


def _style(run: Run, entry: Entry) -> str:
    return "bold" if entry is run.best else "" if entry.tie or entry is run.entries[0] else "dim"


def _mark(entry: Entry, number: int) -> str:
    return f"{number + 1}{'*' if entry.reference else '=' if entry.tie else ' '}"


def interval(figure: Figure | None, ends: bool = True) -> str:
    """0.975 (0.958–0.984), or 0.975 alone."""
    if figure is None:
        return "–"
    return f"{figure.value:.3f}" + (f" ({figure.low:.3f}–{figure.high:.3f})" if ends else "")


def show_coefficients(run: Run, console: Console) -> None:
    """The weights that move the score most, in the user's own columns."""
    if not run.coefficients:
        return
    console.print()
    several = run.coefficients[0].label is not None
    intervals = any(coefficient.low is not None for coefficient in run.coefficients)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in (["class"] if several else []) + [f"top weights of {run.coefficients_of}"]:
        table.add_column(name, no_wrap=True)
    table.add_column("per unit", justify="right")
    if intervals:
        table.add_column("95% interval")
    table.add_column("per std. dev.", justify="right")
    for coefficient in run.coefficients[: None if several else MOST_COEFFICIENTS]:
        cells = [clean(coefficient.label)] if several else []
        cells += [clean(coefficient.column), f"{coefficient.value:.4g}"]
        if intervals:
            known = coefficient.low is not None and coefficient.high is not None
            cells.append(f"{coefficient.low:.4g} to {coefficient.high:.4g}" if known else "not estimable")
        table.add_row(*map(Text, [*cells, f"{coefficient.effect:+.2f}"]))
    console.print(table)
    if run.why_no_intervals:
        console.print(f"No intervals: {clean(run.why_no_intervals)}", style="dim")
