"""Stochastic gradient descent in C and in Python: the same bits, wherever it is cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from loops.twins import BROKEN, EXTREME, agree, copied, csr_tables, same_bits, sparse_table, tables
from scipy.special import expit

from separatrix.loops.sgd import sgd_csr, sgd_dense

TYPES = [np.float64, np.float32]
INDICES = [np.int32, np.int64]


@st.composite
def settings(draw, n, d, sparse):
    order = draw(arrays(np.int64, draw(st.integers(0, 8)) if n else 0, elements=st.integers(0, max(n - 1, 0))))
    history = np.zeros((len(order), d + 1)) if draw(st.booleans()) else None
    common = [np.array([draw(st.sampled_from([1.0, 0.5, 1e-99]))])] if sparse else []
    return [
        d, draw(st.sampled_from([0.0, 1.0])), order, draw(st.integers(0, len(order))), len(order),
        draw(arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0]))),
        draw(arrays(np.float64, n, elements=EXTREME)), draw(st.sampled_from([1.0, 0.9, 1e-60])),
        draw(st.integers(0, 3)), draw(arrays(np.float64, d + 1, elements=EXTREME)), *common, history,
        draw(st.sampled_from([0, 1, 40, 10**6])),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_dense_rows(dtype, data):
    x = data.draw(tables(dtype, BROKEN))
    agree(sgd_dense, [x, *data.draw(settings(*x.shape, sparse=False))])


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_csr_rows(dtype, index, data):
    *rows, n, d = data.draw(csr_tables(dtype, index, BROKEN))
    agree(sgd_csr, [*rows, *data.draw(settings(n, d, sparse=True))])


@pytest.mark.parametrize("squared", [False, True])
def test_the_step_is_the_slope(squared):
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((30, 5)), rng.standard_normal(6)
    target, step = rng.integers(0, 2, 30).astype(float), rng.uniform(0.1, 0.3, 30)
    expected = w.copy()
    for i in range(30):
        z = np.append(X[i], 1.0)
        p = expit(expected @ z)
        pull = (target[i] - p) * (2 * p * (1 - p) if squared else 1.0)
        expected = np.append(0.99 * expected[:5], expected[5]) + step[i] * pull * z
    assert sgd_dense(X, 5, 1.0, np.arange(30), 0, 30, target, step, 0.99, squared, w, None, 10**9) == 30
    np.testing.assert_allclose(w, expected, rtol=1e-12)


@pytest.mark.parametrize("budget", [1, 37, 1000])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_cut_anywhere_it_is_the_same_walk(storage, budget):
    rng = np.random.default_rng(0)
    n, d = 120, 9
    dense = storage == "dense"
    loop, rows = (sgd_dense, [rng.standard_normal((n, d))]) if dense else (sgd_csr, [*sparse_table(rng, n, d, 0.5)])
    tail = [
        d, 1.0, rng.permutation(n), 0, n, rng.integers(0, 2, n).astype(float), np.full(n, 0.1), 0.1, False,
        np.zeros(d + 1), *([] if dense else [np.ones(1)]), np.zeros((n, d + 1)), 10**9,
    ]  # fmt: skip
    whole, pieces = [*rows, *copied(tail)], [*rows, *copied(tail)]
    assert loop(*whole) == n
    start, calls = len(rows) + 3, 0
    pieces[-1] = budget
    while pieces[start] < n:
        pieces[start] = loop(*pieces)
        calls += 1
    assert calls > 1
    for a, b in zip(whole, pieces, strict=True):
        if isinstance(a, np.ndarray):
            assert same_bits(a, b)
