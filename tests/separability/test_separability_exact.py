"""Exact arithmetic: where float64 cannot decide, whole numbers do."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import separability
from separatrix.separation.integers import combination, echelon, null_space
from separatrix.separation.simplex import decide
from separatrix.separation.work import Work

TINY = 2.0**-52


def test_hulls_that_miss_each_other_by_the_last_bit():
    X = np.array([[1.0, 1.0], [1.0 + TINY, 1.0 + 2 * TINY], [1.0 + 2 * TINY, 1.0 + 4 * TINY]])
    for labels, expected in (([0, 1, 1], "separable"), ([1, 0, 1], "overlapping")):
        for exact in (False, True):
            result = separability(X, labels, exact=exact)
            assert result.verdict == expected
            assert result.exact
            assert result.verify(X, labels)


def test_a_separator_that_floats_cannot_hold():
    # z.v > 0 for rows that leave v less than one part in 2**120 to choose from
    a, b = 1.0 + TINY, 1.0 + 3 * TINY
    X = np.array([[a * 2.0**60, b], [-a, -b * 2.0**-60 + 2.0**-112], [0.0, -(2.0**-200)]])
    y = np.array([1, 1, 0])
    result = separability(X, y, exact=True, fit_intercept=False)
    assert result.verify(X, y)
    assert result.verdict in ("separable", "overlapping")


@pytest.mark.parametrize("seed", range(30))
def test_weights_sum_to_exactly_zero(seed):
    r = np.random.default_rng(seed)
    n, d = int(r.integers(5, 60)), int(r.integers(1, 5))
    X = r.normal(size=(n, d)) * 10.0 ** r.integers(-12, 13, size=d)
    y = r.integers(0, 2, n)
    y[:2] = 0, 1
    result = separability(X, y, exact=True)
    assert result.exact
    if result.verdict == "separable":
        w, b = (
            [Fraction(v) for v in result.certificate.coef[0].tolist()],
            Fraction(float(result.certificate.intercept[0])),
        )
        for x, label in zip(X.tolist(), y, strict=True):
            assert (1 if label else -1) * (sum(Fraction(u) * v for u, v in zip(x, w, strict=True)) + b) > 0
        return
    for column in (*X.T, np.ones(n)):
        terms = zip(column.tolist(), y, result.weights, strict=True)
        assert sum(Fraction(x) * (1 if label else -1) * weight for x, label, weight in terms) == 0
    assert all(weight > 0 for weight in result.weights) or result.verdict == "quasi-separable"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=8))
def test_simplex_decides_gordans_alternative(rows):
    Z = [np.array(row, dtype=object) for row in rows]

    def column(i):
        return np.append(Z[i], max(1, max(map(abs, Z[i]))))

    def violated(v):
        return [i for i, z in enumerate(Z) if z.dot(v) <= 0]

    decision = decide(4, [], column, violated, Work())
    if decision.direction is not None:
        assert all(z.dot(decision.direction) > 0 for z in Z)
    else:
        assert all(weight > 0 for weight in decision.weights)
        assert not sum(w * Z[i] for i, w in zip(decision.support, decision.weights, strict=True)).any()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-9, 9), min_size=4, max_size=4), min_size=1, max_size=6))
def test_elimination(rows):
    _, pivots = echelon(rows)
    assert len(pivots) == np.linalg.matrix_rank(np.array(rows))
    N = null_space(rows, 4)
    assert N.shape == (4, 4 - len(pivots))
    assert not np.array(rows, dtype=object).dot(N).any()
    target = np.array(rows, dtype=object).sum(axis=0)
    c = combination(rows, target)
    assert [sum(a * row[j] for a, row in zip(c, rows, strict=True)) for j in range(4)] == target.tolist()
