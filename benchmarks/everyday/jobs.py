"""A job: data, and for each contestant what to do with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.problems import Source

Action = Callable[[], Any]


@dataclass(frozen=True)
class Entry:
    """`prepare(X, y)` does what is not timed, and gives what is; `threads` is for BLAS (0: as the machine has them).

    A `package` that has an environment of its own is measured there.
    """

    prepare: Callable[[Any, Any], Action]
    threads: int = 0
    package: str = "scikit-learn"


def nothing_more(result: Any, X: Any, y: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Job:
    """The first entry is ours. `describe(result, X, y)` tells what came out, after the clock.

    A list called "objectives" there is compared with the others' entry by entry: ``excess`` is the largest relative
    distance from the best, unless it is told as such. An entry with more than `accuracy` does not count as a rival.
    """

    name: str
    group: str
    source: Source
    entries: Mapping[str, Entry]
    describe: Callable[[Any, Any, Any], dict[str, Any]] = nothing_more
    calls: int = 1
    warm: bool = True  # fit a small part first, untimed
    accuracy: float | None = None
    size: tuple[str, float] | None = None  # what grows, and how large it is here
    repeat: int = 100  # at most


def both(ours: Callable[[Any, Any], Action], theirs: Callable[[Any, Any], Action]) -> dict[str, Entry]:
    return {"separatrix": Entry(ours), "scikit-learn": Entry(theirs)}


def fitting(make: Callable[[], Any]) -> Callable[[Any, Any], Action]:
    """Fit the model that `make` makes; it is made, and its class imported, before the clock starts."""

    def prepare(X: Any, y: Any) -> Action:
        model = make()
        return lambda: model.fit(X, y)

    return prepare


def model(where: str, **parameters: Any) -> Callable[[], Any]:
    """A class by its full name, imported when it is made."""

    def make() -> Any:
        from importlib import import_module

        module, _, name = where.rpartition(".")
        return getattr(import_module(module), name)(**parameters)

    return make
