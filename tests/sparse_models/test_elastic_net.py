"""The elastic net: its conjugate, and what is best to take from all of a column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from separatrix.penalties import ElasticNet

RATIOS = [1.0, 0.9, 0.5, 0.01]


@pytest.mark.parametrize("r", RATIOS)
@given(W=st.integers(2, 6).flatmap(lambda K: arrays(np.float64, (K, 4), elements=st.floats(-3, 3, width=16))))
def test_nothing_else_taken_from_a_column_leaves_less(r, W):
    penalty = ElasticNet(r)
    left = penalty.shared(W)
    taken = (W - left)[0]
    np.testing.assert_allclose(W - left, np.broadcast_to(taken, W.shape), atol=1e-12)
    for x in np.concatenate([W.ravel(), np.linspace(-4, 4, 41)]):
        for j in range(W.shape[1]):
            assert penalty.value(left[:, j]) <= penalty.value(W[:, j] - x) + 1e-12


@pytest.mark.parametrize("r", RATIOS)
@given(v=st.floats(-3, 3), w=st.floats(-50, 50))
def test_the_conjugate_is_above_every_line(r, v, w):
    penalty = ElasticNet(r)
    conjugate = penalty.conjugate(np.array([v]))
    assert v * w - penalty.value(np.array([w])) <= conjugate + 1e-9
    if r < 1:
        best = np.sign(v) * max(abs(v) - r, 0.0) / (1 - r)
        np.testing.assert_allclose(v * best - penalty.value(np.array([best])), conjugate, rtol=1e-9, atol=1e-12)
