"""What a field of a certificate can be, by its annotation or, for arrays, by its name: checked when one is read.

A certificate that comes from a file is anyone's word. Whether its claim holds is for `verify` to say; that its numbers
are numbers, and its rows rows, must be so before anything is computed from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

Rule = tuple[str, Callable[[Any], bool]]  # what it should be, in words, and whether a value is that
MOST_DIMENSIONS = 2
BEYOND = 2**1024  # the whole numbers from here on, and infinity, are beyond the finite floats


def _number(value: Any) -> bool:
    """A number that is one: infinity is; NaN, truth values and what is beyond all floats are not."""
    if isinstance(value, float):
        return value == value
    return isinstance(value, (int, Fraction)) and not isinstance(value, bool) and -BEYOND < value < BEYOND


def _finite(value: Any) -> bool:
    return _number(value) and abs(value) < BEYOND


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62


def _floats(value: Any, *dimensions: int) -> bool:
    """An array of finite numbers, floats or Fractions."""
    if not isinstance(value, np.ndarray) or value.ndim not in (dimensions or range(MOST_DIMENSIONS + 1)):
        return False
    if value.dtype.kind == "O":
        return all(isinstance(entry, Fraction) or _finite(entry) for entry in value.flat)
    return value.dtype.kind in "iuf" and bool(np.isfinite(value).all())


def _places(value: Any) -> bool:
    """Row numbers."""
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu" and bool((value >= 0).all())


def _labels(value: Any) -> bool:
    """Different labels, one after the other."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or not len(value) or value.dtype.kind not in "biufUO":
        return False
    listed = value.tolist()
    kinds_fit = all(isinstance(label, (str, bool)) or _finite(label) for label in listed)
    return kinds_fit and len(set(listed)) == len(listed)


def _kernel(value: Any) -> bool:
    """The name of a kernel with its settings."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("kernel"), str)
        and all(isinstance(entry, (str, bool)) or _finite(entry) for entry in value.values())
    )


def _witness(value: Any) -> bool:
    """Names with numbers, truth values, texts, lists of texts, or arrays of finite numbers."""
    return isinstance(value, Mapping) and all(
        isinstance(name, str)
        and (
            entry is None
            or isinstance(entry, (str, bool))
            or _number(entry)
            or _floats(entry)
            or (isinstance(entry, (list, tuple)) and all(isinstance(text, str) for text in entry))
        )
        for name, entry in value.items()
    )


def _or_none(rule: Rule) -> Rule:
    return f"{rule[0]}, or nothing", lambda value: value is None or rule[1](value)


_VECTOR: Rule = ("a vector of finite numbers", lambda value: _floats(value, 1))
_ARRAY: Rule = ("an array of finite numbers", _floats)
_PLACES: Rule = ("a vector of row numbers", _places)
_WHOLE: Rule = ("a whole number", _whole)
_KERNEL: Rule = ("the name of a kernel with its settings", _kernel)

_ANNOTATED: Mapping[str, Rule] = {
    "float": ("a number", _number),
    "int": _WHOLE,
    "int | None": _or_none(_WHOLE),
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "str": ("a text", lambda value: isinstance(value, str)),
}
_NAMED: Mapping[str, Rule] = {
    "alpha": _VECTOR,
    "class_weight": _or_none(_VECTOR),
    "classes": ("a vector of different labels", _labels),
    "coef": _or_none(_ARRAY),
    "direction": _or_none(_VECTOR),
    "dual_coef": _VECTOR,
    "exact_at": _PLACES,
    "exact_weights": (
        "a list of fractions",
        lambda value: isinstance(value, (list, tuple, np.ndarray)) and all(isinstance(e, Fraction) for e in value),
    ),
    "expansion": _or_none(_VECTOR),
    "intercept": _or_none(_ARRAY),
    "kernel": _or_none(_KERNEL),
    "points": _PLACES,
    "support": _PLACES,
    "weights": _ARRAY,
    "zeros": (
        "a matrix of truth values",
        lambda value: isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype == np.bool_,
    ),
    "witness": ("a mapping of names to numbers, texts and arrays", _witness),
}
_OTHER: Rule = _or_none(  # a field that no rule knows: anything plain, but no array of what is no number
    (
        "a number, a text, a truth value or an array of finite numbers",
        lambda value: isinstance(value, (str, bool)) or _number(value) or _floats(value) or _witness(value),
    )
)


def check_field(kind: str, name: str, annotation: str, value: Any) -> None:
    """`ValueError` that names the field, if its value is not of the type it should be."""
    words, holds = _ANNOTATED.get(annotation) or _NAMED.get(name) or _OTHER
    if not holds(value):
        raise ValueError(f"The field {name!r} of this {kind} should be {words}; it is {value!r:.60}.")
