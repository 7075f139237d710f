"""The choice of a method for a linear machine is a pure function of the shape."""

from __future__ import annotations

import pytest

from separatrix.svm.linear.choose import Shape, hinge_method, squared_method


@pytest.mark.parametrize(
    ("shape", "hinge", "squared"),
    [
        (Shape(150, 4, 5, False), "small", "small"),
        (Shape(569, 30, 31, False), "small", "small"),
        (Shape(114_000, 50, 51, False), "sample", "sample"),
        (Shape(116_000, 50, 51, False), "sample", "sample"),
        (Shape(60, 7_000, 7_001, False), "row space", "diagonal"),
        (Shape(50_000, 50_000, 50_000, True), "descent", "descent"),
        (Shape(49_749, 300, 300, True), "near", "sample"),
        (Shape(3_000, 1_500, 1_501, False), "interior", "diagonal"),
    ],
)
def test_the_table(shape: Shape, hinge: str, squared: str) -> None:
    assert hinge_method(shape) == hinge
    assert squared_method(shape) == squared
