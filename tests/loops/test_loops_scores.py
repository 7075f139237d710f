"""x_i.w: the C loop against its reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from separatrix.loops.scores import row_scores

SIZES = st.tuples(st.integers(0, 5), st.integers(0, 40))
ANY = st.floats(-1e150, 1e150)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(data=st.data())
def test_scores_are_those_of_the_reference(dtype, data):
    n, d = data.draw(SIZES)
    entries = ANY if dtype is np.float64 else st.floats(-(2.0**100), 2.0**100, width=32)
    X, w = data.draw(arrays(dtype, (n, d), elements=entries)), data.draw(arrays(float, d, elements=ANY))
    found, expected = np.full(n, np.nan), np.full(n, np.nan)
    row_scores(X, n, d, w, found)
    row_scores.reference(X, n, d, w, expected)
    rounding = (d + 1) * np.finfo(float).eps * (np.abs(X.astype(float)) @ np.abs(w))  # of any order of the sums
    assert (np.abs(found - expected) <= rounding + d * 5e-324).all()
