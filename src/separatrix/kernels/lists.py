"""Collections of objects as points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def as_list(X: Iterable[Any], kernel: object, points: str) -> list[Any]:
    """``X`` as a list, if it is a one-dimensional collection: a table or a lone string is not."""
    shape = getattr(X, "shape", None)
    if isinstance(X, (str, bytes, Mapping)) or not isinstance(X, Iterable):
        raise TypeError(f"{kernel} takes a list of {points}, got one {type(X).__name__}")
    if shape is not None and len(shape) != 1:
        raise ValueError(f"{kernel} takes a list of {points}, got a table of shape {tuple(shape)}: pass one column")
    return list(X)
