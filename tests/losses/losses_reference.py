"""The losses written down from their definitions in arithmetic of 400 digits, and how to compare with them.

400 digits leave nothing to cancellation: 1 + exp(-745) still has 76 of them after the 1.
"""

from __future__ import annotations

import math

import hypothesis.strategies as st
import mpmath
import numpy as np

from separatrix.losses import Hinge, Logistic, PerceptronLoss, SigmoidSquared, Squared, SquaredHinge

mp = mpmath.mp.clone()
mp.dps = 400
mpf = mp.mpf

LARGEST = float(np.finfo(np.float64).max)
SMALLEST = 5e-324
EPS = float(np.finfo(np.float64).eps)

CONVEX = [PerceptronLoss(), Hinge(), SquaredHinge(), Logistic(), Squared()]
SMOOTH = [SquaredHinge(), Logistic(), Squared(), SigmoidSquared()]
BINARY = [PerceptronLoss(), Hinge(), SquaredHinge(), Logistic(), Squared(), SigmoidSquared()]
KINK = {"perceptron": 0.0, "hinge": 1.0, "squared_hinge": 1.0}  # the margin y z where a formula changes


def by_name(loss):
    return loss.name


signs = st.sampled_from([-1, 1])

landmarks = [
    0.0,
    -0.0,
    1.0,
    np.nextafter(1, 0),
    np.nextafter(1, 2),
    0.5,
    2.0,
    50.0,
    710.0,
    720.0,
    745.0,
    800.0,
]
landmarks += [
    math.log(2),
    SMALLEST,
    1e-310,
    2.2250738585072014e-308,
    1e-160,
    1e-16,
    1e154,
    1.4e154,
    1e308,
    LARGEST,
]
scores = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-800, 800),
    st.floats(-40, 40),
    st.floats(-2, 2),
    st.sampled_from([float(sign * z) for z in landmarks for sign in (1, -1)]),
)


def sigma(z):
    return 1 / (1 + mp.exp(-mpf(z)))


VALUE = {
    "perceptron": lambda y, z: max(mpf(0), -y * mpf(z)),
    "hinge": lambda y, z: max(mpf(0), 1 - y * mpf(z)),
    "squared_hinge": lambda y, z: max(mpf(0), 1 - y * mpf(z)) ** 2,
    "log": lambda y, z: mp.log(1 + mp.exp(-y * mpf(z))),
    "squared": lambda y, z: (y - mpf(z)) ** 2,
    "squared_error": lambda y, z: (mpf(1 + y) / 2 - sigma(z)) ** 2,
}


def _sigmoid_squared_slope(y, z):
    t, p = mpf(1 + y) / 2, sigma(z)
    return -2 * (t - p) * p * (1 - p)


def _sigmoid_squared_curvature(y, z):
    t, p = mpf(1 + y) / 2, sigma(z)
    return 2 * (p * (1 - p)) ** 2 - 2 * (t - p) * p * (1 - p) * (1 - 2 * p)


# At the kinks, what the docstrings say.
SLOPE = {
    "perceptron": lambda y, z: mpf(-y if y * z <= 0 else 0),
    "hinge": lambda y, z: mpf(-y if y * z < 1 else 0),
    "squared_hinge": lambda y, z: -2 * y * max(mpf(0), 1 - y * mpf(z)),
    "log": lambda y, z: -y / (1 + mp.exp(y * mpf(z))),
    "squared": lambda y, z: 2 * (mpf(z) - y),
    "squared_error": _sigmoid_squared_slope,
}

CURVATURE = {
    "perceptron": lambda y, z: mpf(0),
    "hinge": lambda y, z: mpf(0),
    "squared_hinge": lambda y, z: mpf(2 if y * z < 1 else 0),
    "log": lambda y, z: 1 / (mp.exp(mpf(z)) + 2 + mp.exp(-mpf(z))),
    "squared": lambda y, z: mpf(2),
    "squared_error": _sigmoid_squared_curvature,
}


def assert_accurate(got, exact, *, ulps=8, scale=None, smallest=SMALLEST, largest=LARGEST, eps=EPS):
    """`got` is `exact` to a few units in the last place of `scale`, and inf beyond the largest float."""
    got = float(got)
    error = ulps * eps * abs(exact if scale is None else scale) + ulps * mpf(smallest)
    if math.isinf(got):
        assert abs(exact) + error > largest, f"{got} for {mp.nstr(exact, 17)}"
        assert got * mp.sign(exact) > 0
    else:
        assert abs(mpf(got) - exact) <= error, f"{got!r} for {mp.nstr(exact, 17)}"
