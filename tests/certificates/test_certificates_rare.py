"""A class whose share in the weights is about the rounding of 1: what no claim may take for another share."""

import warnings
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from separatrix import LogisticRegression
from separatrix.design import as_design
from separatrix.logistic.last_pass import swept
from separatrix.targets import Targets


def lowest(C, heavy, light):
    """The minimum of C (heavy log(1 + exp(-b)) + light log(1 + exp(b))), at exp(b) = heavy / light."""
    with mpmath.workdps(50):
        C, heavy, light = map(mpmath.mpf, (C, heavy, light))
        return C * (heavy * mpmath.log1p(light / heavy) + light * mpmath.log1p(heavy / light))


@pytest.mark.parametrize("rare", [0, 1])
@pytest.mark.parametrize("ratio", [1e-14, 7e-16, 2.5e-16, 1.034e-16, 5e-17, 1e-20])
@pytest.mark.parametrize("options", [{}, {"solver": "lbfgs"}, {"l1_ratio": 0.5}], ids=str)
@pytest.mark.parametrize("n", [4, 200_000])
def test_no_bound_is_above_the_minimum(n, options, ratio, rare):
    if n > 4 and "l1_ratio" in options:
        pytest.skip("the same code for all sizes")
    y = np.arange(n) % 2
    weight = np.where(y == rare, ratio, 1.0) * (2.0 / n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=3.0, **options).fit(np.zeros((n, 2)), y, sample_weight=weight)
    found = model.certificate_
    best = lowest(3.0, 1.0, ratio)
    if found is not None:
        assert found.dual <= best * (1 + 1e-12)
        assert found.primal >= best * (1 - 1e-12)


def at(C, b, ratio):
    """F at w = 0 and an intercept, in float64."""
    with mpmath.workdps(50):
        C, b, ratio = map(mpmath.mpf, (C, b, ratio))
        return float(C * (mpmath.log1p(mpmath.exp(-b)) + ratio * mpmath.log1p(mpmath.exp(b))))


def claims_off_the_best(ratio, honest):
    """A claim that each of these intercepts is the best, and the objective there, above the minimum."""
    best = float(lowest(3.0, 1.0, ratio))
    for b in np.log(1 / ratio) + np.linspace(-0.5, 0.5, 41):
        here = at(3.0, b, ratio)
        if here > best * (1 + 1e-5):
            changes = {"coef": np.zeros((1, 1)), "intercept": np.array([b]), "primal": here, "dual": here, "tol": 1e-6}
            yield replace(honest, **changes), here


RATIOS = pytest.mark.parametrize("ratio", [7e-16, 2.5e-16, 1.6e-16, 1.2e-16, 1.034e-16, 8e-17])
X, Y = np.zeros((2, 1)), np.array([0, 1])


@RATIOS
@pytest.mark.parametrize("options", [{}, {"l1_ratio": 0.5}], ids=str)
def test_what_is_not_the_best_intercept_is_not_called_so(ratio, options):
    for claim, here in claims_off_the_best(ratio, LogisticRegression(C=3.0, **options).fit(X, Y).certificate_):
        assert not claim.verify(X, Y, np.array([ratio, 1.0])), here


@RATIOS
def test_no_bound_of_the_last_pass_is_above_the_minimum(ratio):
    best, targets = float(lowest(3.0, 1.0, ratio)), Targets(np.arange(2), Y)
    for claim, _ in claims_off_the_best(ratio, LogisticRegression(C=3.0).fit(X, Y).certificate_):
        found = swept(as_design(X), targets, np.array([ratio, 1.0]), claim)
        assert found.dual - found.dual_error <= best * (1 + 1e-12)
