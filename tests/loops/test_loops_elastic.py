"""Coordinate descent with an elastic net in C and in Python: the same bits, wherever it is cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from loops.twins import EXTREME, agree, copied, csr_tables, same_bits

from separatrix.loops.elastic_descent import column_moments, column_sweeps, gram_sweeps, minimum, softmax_sweeps

INDICES = [np.int32, np.int64]
SHARES = st.sampled_from([(1.0, 0.0), (0.5, 0.5), (1e-3, 0.999)])
BUDGETS = st.sampled_from([0, 1, 60, 10**6])


@given(*[st.floats(-5, 5)] * 2, st.floats(0.01, 5), SHARES)
def test_the_minimum_is_one(w, v, curvature, shares):
    r, ridge = shares

    def value(x):
        return v * (x - w) + 0.5 * curvature * (x - w) ** 2 + r * abs(x) + 0.5 * ridge * x * x

    best = minimum(w, v, curvature, r, ridge)
    for step in (1e-3, 0.1, 1.0):
        assert value(best) <= min(value(best + step), value(best - step)) + 1e-12


@given(data=st.data(), shares=SHARES, budget=BUDGETS)
def test_gram(data, shares, budget):
    m = data.draw(st.integers(0, 6))
    H, v, w = (data.draw(arrays(np.float64, shape, elements=EXTREME)) for shape in ((m, m), m, m))
    order = data.draw(
        arrays(np.int64, data.draw(st.integers(0, 8)) if m else 0, elements=st.integers(0, max(m - 1, 0)))
    )
    agree(gram_sweeps, [H, m, order, len(order), *shares, v, w, 1e-9, 4, np.zeros(1), budget])


def columns(data, index, entries=EXTREME):
    x, rows, indptr, m, n = data.draw(csr_tables(np.float64, index, entries))
    order = data.draw(
        arrays(np.int64, data.draw(st.integers(0, 8)) if m else 0, elements=st.integers(0, max(m - 1, 0)))
    )
    return [indptr, rows, x], m, n, order


@pytest.mark.parametrize("index", INDICES)
@given(data=st.data(), shares=SHARES, budget=BUDGETS, total=st.sampled_from([np.inf, 3.0]))
def test_columns(index, data, shares, budget, total):
    arrays_of, m, n, order = columns(data, index)
    h, z = (data.draw(arrays(np.float64, n, elements=EXTREME)) for _ in range(2))
    first, curvature, slope, w = (data.draw(arrays(np.float64, m, elements=EXTREME)) for _ in range(4))
    agree(column_moments, [*arrays_of, 0, m, h, first.copy(), curvature.copy()])
    agree(
        column_sweeps,
        [*arrays_of, order, len(order), h, first, curvature, total, *shares, slope, z, w, 1e-9, 3, np.zeros(2), budget],
    )


@pytest.mark.parametrize("index", INDICES)
@given(data=st.data(), shares=SHARES, budget=BUDGETS, K=st.integers(1, 3))
def test_softmax(index, data, shares, budget, K):
    arrays_of, m, n, order = columns(data, index)
    u, s = (data.draw(arrays(np.float64, n, elements=EXTREME)) for _ in range(2))
    P, t = (data.draw(arrays(np.float64, (n, K), elements=EXTREME)) for _ in range(2))
    curvature, slope, w = (data.draw(arrays(np.float64, (m, K), elements=EXTREME)) for _ in range(3))
    agree(
        softmax_sweeps,
        [*arrays_of, order, len(order), K, max(m - 1, 0), u, P, curvature, *shares, slope, t, s, w, 1e-9, 3,
         np.zeros(1), budget],
    )  # fmt: skip


@pytest.mark.parametrize("budget", [1, 500])
def test_cut_anywhere(budget):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 30))
    whole = [A.T @ A, 30, np.arange(30), 30, 1.0, 0.0, 3 * rng.normal(size=30), np.zeros(30), 1e-12, 200, np.zeros(1)]
    pieces = copied(whole)
    done = gram_sweeps(*whole, 10**9)
    count = 0
    while count < done:
        pieces[9] = 200 - count
        count += gram_sweeps(*pieces, budget)
    assert count == done < 200
    for a, b in zip((whole[6], whole[7]), (pieces[6], pieces[7]), strict=True):
        assert same_bits(a, b)
