"""What columns are like: C and reference agree, however rows are cut, and numbers are those of NumPy."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops.twins import BROKEN, agree, same_bits, tables

from separatrix.loops.moments import TILE, column_summary


def empty(d):
    return [np.full(d, np.inf), np.full(d, -np.inf), *np.zeros((2, d)), *np.zeros((2, d), dtype=np.int64)]


@given(tables(np.float64, BROKEN))
def test_compiled_and_reference_agree(X):
    agree(column_summary, [X, *X.shape, *empty(X.shape[1])])


@pytest.mark.parametrize("d", [1, 7, 8, 9, 40])
@given(st.lists(st.integers(0, 6), max_size=3))
def test_it_does_not_matter_where_rows_are_cut(d, cuts):
    rng = np.random.default_rng(d)
    X = np.where(rng.random((500, d)) < 0.2, np.round(rng.normal(size=(500, d)) * 9), rng.normal(size=(500, d)))
    X[rng.random((500, d)) < 0.1] = np.nan
    whole, parts = empty(d), empty(d)
    column_summary(X, 500, d, *whole)
    ends = [0, *sorted(TILE * cut for cut in cuts), 500]
    for start, stop in pairwise(ends):
        column_summary(X[start:stop], stop - start, d, *parts)
    for one, other in zip(whole, parts, strict=True):
        assert same_bits(one, other)
    low, high, sums, rest, missing, broken = whole
    assert np.array_equal(low, np.nanmin(X, axis=0))
    assert np.array_equal(high, np.nanmax(X, axis=0))
    assert np.array_equal(missing, np.isnan(X).sum(axis=0))
    assert np.array_equal(broken, (np.round(X) != X).sum(axis=0) - missing)
    assert np.allclose(sums + rest, np.nansum(X, axis=0), rtol=1e-13, atol=1e-12)


def test_large_numbers_are_whole_and_halves_are_not():
    X = np.array([[2.0**52 - 0.5, 2.0**52 + 1, 2.0**53 + 2, -0.5, -(2.0**52), np.inf, 0.0, -(2.0**51) - 0.5]])
    found = empty(8)
    column_summary(X, 1, 8, *found)
    assert found[-1].tolist() == [1, 0, 0, 1, 0, 0, 0, 1]
