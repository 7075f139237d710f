"""The choice of a method for a linear machine is a pure function of the shape."""

from __future__ import annotations

import pytest

from separatrix.svm.linear.choose import Shape, method


@pytest.mark.parametrize(
    ("shape", "hinge", "squared"),
    [
        (Shape(150, 4, 5, False), "small", "small"),
        (Shape(569, 30, 31, False), "small", "small"),
        (Shape(114_000, 50, 51, False), "sample", "sample"),
        (Shape(60, 7_000, 7_001, False), "small", "small"),
        (Shape(60, 7_000, 7_001, True), "descent", "descent"),
        (Shape(900, 7_000, 7_001, False), "interior", "interior"),
        (Shape(5_000, 4_000, 4_001, False), "descent", "gradient"),
        (Shape(50_000, 50_000, 50_000, True), "descent", "descent"),
        (Shape(32_561, 123, 123, True), "sample", "gradient"),
        (Shape(49_749, 300, 300, True), "brief", "gradient"),
        (Shape(3_000, 1_500, 1_501, False), "interior", "interior"),
    ],
)
def test_the_table(shape: Shape, hinge: str, squared: str) -> None:
    assert method(shape, squared=False) == hinge
    assert method(shape, squared=True) == squared
