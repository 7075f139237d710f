"""Live progress on standard error: a bar on a terminal, a line a classifier when piped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from separatrix.cli.common import clean, err
from separatrix.compare import Event


@contextmanager
def progress() -> Iterator[Callable[[Event], None]]:
    """A function to call with each `Event`."""
    console = err()
    if not console.is_terminal:
        yield lines()
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def tell(event: Event) -> None:
            bar.update(task, description=clean(event), completed=event.done, total=event.of)

        yield tell


def lines() -> Callable[[Event], None]:
    """One line for each new classifier, not for each of its folds."""
    last = ""

    def tell(event: Event) -> None:
        nonlocal last
        name = clean(event.what)
        if name != last:
            last = name
            err().print(f"[{event.done + 1}/{event.of}] {name}" if event.done < event.of > 1 else name)

    return tell
