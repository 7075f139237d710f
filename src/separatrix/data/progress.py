"""How far a source of any size is gone through, how fast, and how long it will take."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, NamedTuple


class Progress(NamedTuple):
    """What is done, how many rows (or columns) of how many, and in how many seconds; the total may not be known."""

    what: str
    done: int
    of: int | None
    seconds: float

    def __str__(self) -> str:
        text = f"{self.what}: {self.done:,}" + (f" of {self.of:,}" if self.of else "")
        rate = self.done / self.seconds if self.seconds > 0 else 0.0
        if not rate:
            return text
        left = "" if self.of is None else f", {(self.of - self.done) / rate:.0f} s left"
        return f"{text}, {rate:,.0f} a second{left}"


class Telling:
    """Called with what is done, and how many of how many, it tells a `Progress`.

    The clock begins anew with each thing that is done: rows are read at another speed than they are written.
    """

    def __init__(self, tell: Callable[[Progress], Any] | None) -> None:
        self._tell = tell
        self._what = ""
        self._begun = self._last = monotonic()

    def __call__(self, what: str, done: int, of: int | None) -> None:
        if what != self._what:
            self._what, self._begun = what, self._last
        self._last = monotonic()
        if self._tell is not None:
            self._tell(Progress(what, done, of, self._last - self._begun))
