"""The compiled loops of this process: the library for this processor, loaded when first needed, or none.

Nothing is loaded under SEPARATRIX_PURE=1 or from a pure wheel: the Python references run then.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import platform
from functools import cache

from separatrix.errors import LibraryError
from separatrix.loops import build

REINSTALL = (
    "Install separatrix again (pip install --force-reinstall --no-deps separatrix, or in a checkout: "
    f"{build.COMMAND}), or set SEPARATRIX_PURE=1 to run slow loops in Python."
)


_highest = 9  # level that may be used, if the processor has it


@cache
def library() -> ctypes.CDLL | None:
    """The library for this processor, made from the sources beside it, if there are any; None: loops run in Python.

    Raises `LibraryError`.
    """
    names = available()
    if not names:
        return None
    loaded = load(best([name for name in names if _level(name) <= _highest]))
    made_of = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(loaded, "separatrix_sources"))).decode()
    if build.NATIVE.is_dir() and made_of != build.fingerprint():
        raise LibraryError(f"The sources of the loops changed since {loaded._name} was compiled: run {build.COMMAND}.")
    return loaded


def level() -> int:
    """The level of the library in use: 2 to 4 of x86-64; 0 where there are no levels."""
    loaded = library()
    return 0 if loaded is None else _level(loaded._name)


def limit(highest: int) -> None:
    """Use no library above this level from now on: for processes that work together on different processors."""
    global _highest
    _highest = highest
    library.cache_clear()


def _level(name: str) -> int:
    """The level in the name of a library, 0 if it has none."""
    level = name.rpartition("_v")[2].partition(".")[0]
    return int(level) if level.isdecimal() else 0


def available() -> list[str]:
    """The names of the libraries that were built, lowest level first; none in a pure build."""
    if build.pure():
        return []
    try:
        return list(_digests())
    except (OSError, ValueError) as error:
        raise LibraryError(f"The compiled loops of separatrix are missing ({error}). {REINSTALL}") from error


def best(names: list[str]) -> str:
    """The library of the highest level that this processor and its operating system can run."""
    level = int(load(names[0]).separatrix_level())
    if level == 0:
        return names[0]
    if level == 1:
        raise LibraryError(
            "This processor lacks instructions that the compiled loops of separatrix need (x86-64-v2, common since "
            "2009): set SEPARATRIX_PURE=1 to run slow loops in Python."
        )
    return next(name for name in reversed(names) if _level(name) <= level)


@cache
def load(name: str) -> ctypes.CDLL:
    """One library, not damaged."""
    path = build.LIBRARIES / name
    try:
        # loading a file that was cut short may end the process: it is compared before
        if hashlib.sha256(path.read_bytes()).hexdigest() != _digests()[name]:
            raise OSError(f"{path} is damaged")
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryError(
            f"The compiled loops of separatrix cannot be loaded on this {platform.machine()} machine: {error}. "
            f"{REINSTALL}"
        ) from error
    return loaded


@cache
def _digests() -> dict[str, str]:
    return dict(json.loads((build.LIBRARIES / build.MANIFEST).read_text()))
