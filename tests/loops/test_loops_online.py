"""Rosenblatt's rule in C and in Python: the same bits, wherever it is cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from loops.twins import BROKEN, EXTREME, agree, copied, csr_tables, same_bits, sparse_table, tables

from separatrix.loops.online import CYCLE, MISTAKES, PASSES, SINCE, UPDATES, begun, online_csr, online_dense

TYPES = [np.float64, np.float32]
INDICES = [np.int32, np.int64]


@st.composite
def settings(draw, n, d):
    """What follows the rows: all that a walk may be told."""
    some = st.booleans()
    order = (
        draw(arrays(np.int64, draw(st.integers(0, 8)), elements=st.integers(0, n - 1))) if n and draw(some) else None
    )
    end = n if order is None else len(order)
    step = draw(arrays(np.float64, n, elements=EXTREME.filter(bool)))
    offset = draw(arrays(np.float64, n, elements=EXTREME)) if draw(some) else None
    drift = draw(arrays(np.float64, d + 1, elements=EXTREME)) if draw(some) else None
    room = draw(st.sampled_from([0, 0, 1, 3]))
    w = draw(arrays(np.float64, d + 1, elements=EXTREME))
    return [
        d, draw(st.sampled_from([0.0, 1.0])), step, offset, draw(st.sampled_from([np.inf, 0.0, -np.inf])), order,
        draw(st.integers(0, end)), end, 1 if room else draw(st.integers(1, 4)),
        w, np.zeros(n, dtype=np.int64), drift, 7, np.zeros((room, d + 1)), np.zeros(room, dtype=np.int64), room,
        begun(), w.copy() if draw(some) else None, draw(st.sampled_from([0, 1, 40, 10**6])),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_dense_rows(dtype, data):
    x = data.draw(tables(dtype, BROKEN))
    agree(online_dense, [x, *data.draw(settings(*x.shape))])


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_csr_rows(dtype, index, data):
    *rows, n, d = data.draw(csr_tables(dtype, index, BROKEN))
    agree(online_csr, [*rows, *data.draw(settings(n, d))])


@pytest.mark.parametrize("budget", [1, 37, 1000])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_cut_anywhere_it_is_the_same_walk(storage, budget):
    rng = np.random.default_rng(0)
    n, d = 120, 9
    loop, rows = (
        (online_dense, [rng.standard_normal((n, d))])
        if storage == "dense"
        else (online_csr, [*sparse_table(rng, n, d, 0.5)])
    )
    tail = [
        d, 1.0, rng.standard_normal(n), rng.standard_normal(n), np.inf, None, 0, n, 6, np.zeros(d + 1),
        np.zeros(n, dtype=np.int64), np.zeros(d + 1), 3, None, None, 0, begun(), None, 10**9,
    ]  # fmt: skip
    whole, pieces = [*rows, *copied(tail)], [*rows, *copied(tail)]
    start, end = len(rows) + 6, len(rows) + 7
    assert loop(*whole) == n
    pieces[-1], calls = budget, 0
    while pieces[start] < pieces[end]:
        pieces[start] = loop(*pieces)
        calls += 1
    assert calls > 5
    for a, b in zip(whole, pieces, strict=True):
        if isinstance(a, np.ndarray):
            assert same_bits(a, b)
    counts = whole[-3]
    assert counts[PASSES] == 6
    assert counts[UPDATES] == whole[len(rows) + 10].sum() > counts[MISTAKES] > 0


def test_passes_end_with_the_first_that_has_no_mistake():
    x = np.array([[1.0], [2.0], [-1.0]])
    counts, w, alpha = begun(), np.zeros(2), np.zeros(3, dtype=np.int64)
    step = np.array([1.0, 1.0, -1.0])
    stop = online_dense(
        x, 1, 0.0, step, None, np.inf, None, 0, 3, 100, w, alpha, None, 0, None, None, 0, counts, None, 10**9
    )
    assert stop == 3
    assert list(counts[:3]) == [1, 2, 0]  # one update in the first pass, none in the second
    assert list(w) == [1.0, 0.0]


def test_a_score_that_is_not_finite_is_where_it_stops():
    x = np.array([[1.0], [1.0], [np.nan], [1.0]])
    counts, order = begun(), np.array([3, 2, 0])
    rest = (np.zeros(2), np.zeros(4, dtype=np.int64), None, 0, None, None, 0, counts, None, 10**9)
    assert online_dense(x, 1, 1.0, np.ones(4), None, np.inf, order, 0, 3, 9, *rest) == 1
    assert counts[UPDATES] == -1


@pytest.mark.parametrize("loop", [online_dense, online_dense.reference])
def test_a_walk_that_repeats_itself_ends(loop):
    """XOR with a 1 beside it, from 0: after each pass the weights are 0 again, four updates later."""
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    step, w, counts = np.array([-1.0, 1.0, -1.0, 1.0]), np.zeros(3), begun()
    rest = (w, np.zeros(4, dtype=np.int64), None, 0, None, None, 0, counts, w.copy(), 10**9)
    assert loop(x, 2, 1.0, step, None, np.inf, None, 0, 4, 1000, *rest) == 4
    assert counts[CYCLE] > 0
    assert counts[PASSES] < 10
    assert counts[UPDATES] - counts[SINCE] == 4 * counts[CYCLE]
