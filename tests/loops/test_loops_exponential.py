"""exp of the loops: an ulp or so from the truth, at every size; C and Python the same bits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.loops.exponential import exponential
from separatrix.loops.kernel_rows import exponentials

EDGES = [0.0, -0.0, 1.0, -1.0, 5e-324, -745.2, -745.1, -744.0, -708.4, -708.3, 709.7, 709.79, 710.0, 1e308, -1e308]
NOT_FINITE = [np.inf, -np.inf, np.nan]


def of(values, dtype):
    found = np.array(values, dtype=dtype)
    exponentials(found, found.size)
    return found


@given(st.lists(st.one_of(st.floats(-750, 750), st.floats(), st.sampled_from(EDGES + NOT_FINITE)), max_size=40))
def test_c_and_python_have_the_same_bits(values):
    np.testing.assert_array_equal(of(values, np.float64), [exponential(value) for value in values])


def test_doubles_are_within_an_ulp_and_a_bit():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.uniform(-40, 1, 3000), rng.uniform(-708, 709, 3000), rng.normal(0, 1e-3, 500)])
    found = of(values, np.float64)
    with mpmath.workdps(30):
        exact = [mpmath.exp(mpmath.mpf(float(value))) for value in values]
        error = [
            abs(float((mpmath.mpf(float(f)) - e) / np.spacing(float(e)))) for f, e in zip(found, exact, strict=True)
        ]
    assert max(error) < 1.5


def test_singles_are_within_two_ulps():
    values = np.concatenate([np.linspace(-87, 88, 100_001), np.linspace(-1e-3, 1e-3, 1001)]).astype(np.float32)
    exact = np.exp(values.astype(np.float64))
    error = np.abs(of(values, np.float32) - exact) / np.spacing(exact.astype(np.float32))
    assert error.max() < 2.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_beyond_the_range(dtype):
    with np.errstate(all="ignore"):
        values = np.array(EDGES + NOT_FINITE).astype(dtype)
        expected = np.exp(values)
    found = of(values, dtype)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    known = np.isfinite(expected)
    tiny = float(np.finfo(dtype).smallest_subnormal)
    np.testing.assert_allclose(found[known], expected[known], rtol=4 * float(np.finfo(dtype).eps), atol=tiny)
