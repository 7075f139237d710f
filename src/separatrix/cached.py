"""Properties that are computed once and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):
    """A property that is computed when first asked for and then kept in the object's own dict.

    That of functools holds a lock while it computes, up to Python 3.11, one for all objects of a class: fits in two
    threads would wait for each other, and a process forked meanwhile would wait for ever. Here two threads that ask at
    once both compute, and get the same.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        """Asked for once: what is in the object's dict comes before this."""
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.compute(instance)
        return value
