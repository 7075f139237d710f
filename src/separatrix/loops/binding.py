"""A loop is called as a Python function; compiled C runs, or the Python reference where nothing was compiled.

    @native("extremes", "T[] i8 f8[]")
    def extremes(x, n, found): ...        # the reference

Kinds of arguments, in order: ``f8``, ``i8``, ``i4``, ... a number; ``f8[]``, ``i8[]``, ... an array of that very type
in C order, or None for NULL; ``T[]`` an array of float64 or float32 and ``I[]`` of int32 or int64, one choice for all T
and one for all I of a call. The C function is ``extremes``, followed by ``_f64`` or ``_f32`` if there is a T, then by
``_i32`` or ``_i64`` if there is an I. ctypes releases the interpreter lock while it runs.

Any array may be written to: which are, the reference says. Sizes are not checked: n and d must fit the arrays.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from functools import update_wrapper
from itertools import product
from operator import index
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from separatrix._typing import Array
from separatrix.errors import LibraryError
from separatrix.loops import library

P = ParamSpec("P")
R = TypeVar("R")

NUMBERS: dict[str, Any] = {
    **{"f8": ctypes.c_double, "f4": ctypes.c_float, "i8": ctypes.c_int64, "i4": ctypes.c_int32, "i2": ctypes.c_int16},
    **{"i1": ctypes.c_int8, "u8": ctypes.c_uint64, "u4": ctypes.c_uint32, "u2": ctypes.c_uint16, "u1": ctypes.c_uint8},
}
CHOICES: dict[str, dict[np.dtype[Any], str]] = {
    "T": {np.dtype("f8"): "_f64", np.dtype("f4"): "_f32"},
    "I": {np.dtype("i4"): "_i32", np.dtype("i8"): "_i64"},
}
USUAL = {"T": np.dtype("f8"), "I": np.dtype("i8")}  # if every array of that kind is None
HEADER = object.__basicsize__  # bytes before the fields of an array, the first of which is the address of its data

_loops: list[Loop[Any, Any]] = []


def loops() -> list[Loop[Any, Any]]:
    """Every loop declared so far."""
    return list(_loops)


def hold(level: int) -> None:
    """Use compiled loops of this level, if those in use are of a higher one; each level gives the same bits."""
    if 0 < level < library.level():
        library.limit(level)
        for loop in _loops:
            loop._routes.clear()


class Loop(Generic[P, R]):
    """A loop in C with its Python reference; called with positional arguments."""

    def __init__(self, symbol: str, kinds: str, returns: str | None, reference: Callable[P, R]) -> None:
        update_wrapper(self, reference)
        self.symbol = symbol
        self.reference = reference
        self.returns = returns
        self.kinds = kinds.split()
        code = reference.__code__
        names = [*code.co_varnames[: code.co_argcount]]
        if code.co_flags & inspect.CO_VARARGS:  # the last of them share a name, and are told apart by their place
            rest = code.co_varnames[code.co_argcount]
            names += [f"{rest}[{place}]" for place in range(len(self.kinds) - len(names))]
        if len(names) != len(self.kinds):
            raise TypeError(f"{symbol}: {len(names)} arguments, but {len(self.kinds)} kinds")
        self._plan = [_planned(name, kind) for name, kind in zip(names, self.kinds, strict=True)]
        self._generic = [letter for letter in CHOICES if f"{letter}[]" in self.kinds]
        self._routes: dict[tuple[Any, ...], Callable[..., Any]] = {}
        _loops.append(self)

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        if keywords or len(arguments) != len(self._plan):
            raise TypeError(f"{self.symbol} takes {len(self._plan)} arguments by position")
        passed: list[Any] = []
        real = whole = None  # the types of the T and of the I
        for (name, dtype, generic, convert), value in zip(self._plan, arguments, strict=True):
            if convert is not None:
                passed.append(convert(value))
            elif value is None:
                passed.append(None)
            else:
                if type(value) is not np.ndarray or not value.flags.c_contiguous:
                    raise TypeError(f"{self.symbol}: {name} must be an array in C order, not {_described(value)}")
                found = value.dtype
                if generic == "T":
                    expected = real = real or found
                elif generic == "I":
                    expected = whole = whole or found
                else:
                    expected = dtype
                if found is not expected and found != expected:
                    raise TypeError(f"{self.symbol}: {name} must have type {expected}, not {found}")
                passed.append(_address(value))
        route = self._routes.get((real, whole)) or self._route(real, whole)
        return route(*arguments) if route is self.reference else route(*passed)

    def _route(self, real: Any, whole: Any) -> Callable[..., Any]:
        """What runs for arrays of these types, found once for each pair of types."""
        chosen = {"T": real or USUAL["T"], "I": whole or USUAL["I"]}
        for letter in self._generic:
            if chosen[letter] not in CHOICES[letter]:
                allowed = " or ".join(map(str, CHOICES[letter]))
                raise TypeError(f"{self.symbol}: {letter}[] must be an array of {allowed}, not {chosen[letter]}")
        loaded = library.library()
        if loaded is None:
            route: Callable[..., Any] = self.reference
        else:
            route = self.compiled(loaded, "".join(CHOICES[letter][chosen[letter]] for letter in self._generic))
        self._routes[real, whole] = route
        return route

    def suffixes(self) -> list[str]:
        """Of all C functions of this loop, what follows its name."""
        return ["".join(parts) for parts in product(*(CHOICES[letter].values() for letter in self._generic))]

    def compiled(self, loaded: ctypes.CDLL, suffix: str) -> Callable[..., Any]:
        """The C function of one suffix in one library, with its argument types declared; takes addresses."""
        try:
            function = loaded[self.symbol + suffix]  # a new object each time: nobody else declares its types
        except AttributeError as error:
            raise LibraryError(f"{loaded._name} has no {self.symbol + suffix}. {library.REINSTALL}") from error
        function.argtypes = [NUMBERS.get(kind, ctypes.c_void_p) for kind in self.kinds]
        function.restype = None if self.returns is None else NUMBERS[self.returns]
        return function


def native(symbol: str, kinds: str, *, returns: str | None = None) -> Callable[[Callable[P, R]], Loop[P, R]]:
    """Declare the decorated function as the Python reference of a C function; the top of this file says how."""
    return lambda reference: Loop(symbol, kinds, returns, reference)


def _planned(name: str, kind: str) -> tuple[str, np.dtype[Any] | None, str, Callable[[Any], Any] | None]:
    """(name, type, T or I, conversion of a number) of an argument."""
    if kind in NUMBERS:
        return name, None, "", float if kind[0] == "f" else index
    if not kind.endswith("[]"):
        raise TypeError(f"{kind!r} is not a kind of argument")
    return (name, None, kind[0], None) if kind[:-2] in CHOICES else (name, np.dtype(kind[:-2]), "", None)


def _described(value: Any) -> str:
    return f"one of shape {value.shape}, strides {value.strides}" if type(value) is np.ndarray else repr(type(value))


def _address_at_header(array: Array) -> int | None:
    """The address of the first entry, read where NumPy's array interface keeps it: ten times faster than asking."""
    return ctypes.c_void_p.from_address(id(array) + HEADER).value


def _address_asked(array: Array) -> int | None:
    return int(array.ctypes.data)


_probe = np.arange(3.0)
_address = _address_at_header if _address_at_header(_probe[1:]) == _address_asked(_probe[1:]) else _address_asked
