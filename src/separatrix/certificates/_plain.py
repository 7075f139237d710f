"""Witnesses as plain JSON values and back, without loss: floats round-trip exactly."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

_ENTRIES: Mapping[str, type | tuple[type, ...]] = {
    "b": bool,
    "i": int,
    "u": int,
    "f": (int, float),
    "U": str,
    "O": (bool, int, float, str, Fraction),  # labels of several kinds, numbers that floats cannot hold
}
_DTYPES = "".join(_ENTRIES)


def to_plain(value: Any) -> Any:
    """A value made of None, bool, int, float, str, list and dict with str keys only."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Fraction):
        return {"fraction": f"{value.numerator:x}/{value.denominator:x}"}  # hexadecimal: Python limits decimal digits
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}  # JSON has no infinity
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _DTYPES:
            raise TypeError(f"An array of {value.dtype} cannot be written.")
        entries = [to_plain(entry) for entry in value.ravel().tolist()]
        return {"array": entries, "shape": list(value.shape), "dtype": value.dtype.str}
    if hasattr(value, "to_dict"):
        return {"certificate": value.to_dict()}
    if isinstance(value, Mapping):
        return {"dict": {str(key): to_plain(entry) for key, entry in value.items()}}
    if isinstance(value, (list, tuple)):
        return [to_plain(entry) for entry in value]
    raise TypeError(f"A {type(value).__name__} cannot be written.")


def from_plain(plain: Any, certificate: Callable[[Any], Any]) -> Any:
    """The value that `to_plain` wrote; lists stand for lists and tuples. ``certificate`` reads a nested one."""
    if plain is None or isinstance(plain, (bool, int, float, str)):
        return plain
    if isinstance(plain, list):
        return [from_plain(entry, certificate) for entry in plain]
    if isinstance(plain, Mapping):
        if plain.keys() == {"fraction"}:
            return _fraction(plain["fraction"])
        if plain.keys() == {"float"}:
            return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[plain["float"]]
        if plain.keys() == {"certificate"}:
            return certificate(plain["certificate"])
        if plain.keys() == {"dict"}:
            return {key: from_plain(entry, certificate) for key, entry in plain["dict"].items()}
        if plain.keys() == {"array", "shape", "dtype"}:
            return _array(plain, certificate)
    raise ValueError(f"Not a value that a certificate holds: {plain!r:.80}")


def _fraction(text: Any) -> Fraction:
    """A fraction of two hexadecimal numbers: no exponents, whose value could be of any length."""
    parts = re.fullmatch(r"(-?[0-9a-f]+)/([0-9a-f]+)", text) if isinstance(text, str) else None
    if parts is None or int(parts[2], 16) == 0:
        raise ValueError(f"Not a fraction: {text!r:.80}")
    return Fraction(int(parts[1], 16), int(parts[2], 16))


def _array(plain: Mapping[str, Any], certificate: Callable[[Any], Any]) -> Any:
    if not re.fullmatch(rf"[<>|=]?[{_DTYPES}]\d*", str(plain["dtype"])):
        raise ValueError(f"A certificate holds no array of {plain['dtype']!r:.80}.")
    shape = plain["shape"]
    if not isinstance(shape, list) or len(shape) > 8 or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"Not the shape of an array: {shape!r:.80}")
    entries, dtype = from_plain(plain["array"], certificate), np.dtype(plain["dtype"])
    # NumPy would turn text into numbers, numbers into truth values, and so on
    if not isinstance(entries, list) or not all(isinstance(entry, _ENTRIES[dtype.kind]) for entry in entries):
        raise ValueError(f"An array of {plain['dtype']} holds something else.")
    if dtype.kind in "iuf" and any(isinstance(entry, bool) for entry in entries):
        raise ValueError("An array of numbers holds a truth value.")
    if dtype.kind == "U":
        dtype = np.dtype(f"U{max(map(len, entries), default=1) or 1}")  # as long as needed, whatever is said
    array = np.empty(len(entries), dtype=dtype)
    array[:] = entries
    return array.reshape(shape)
