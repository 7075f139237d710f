"""Sweeps of dual coordinate descent in C and in Python: the same bits, wherever they are cut."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from loops.twins import EXTREME, agree, copied, csr_tables, same_bits, sparse_table

from separatrix.loops.hinge_descent import ACTIVE, DONE, at_start, hinge_sweeps
from separatrix.loops.logistic_descent import logistic_sweep

TYPES = [np.float64, np.float32]
INDICES = [np.int32, np.int64]


def squares_of(data, indptr):
    return np.array([float(np.square(data[a:b].astype(float)).sum()) for a, b in pairwise(indptr)])


def hinge_arguments(rows, d, y, bound, ridge, rho, w, active, still, target, most, budget):
    data, indices, indptr = rows
    n = len(y)
    with np.errstate(all="ignore"):
        curvature = squares_of(data, indptr) + ridge + rho
        curvature[~(curvature > 0)] = 1.0
    place, work = at_start(active, 0.25, 0.0, 0.0)
    return [
        indptr, indices, data, n, np.column_stack([y, bound, ridge, curvature]), np.zeros(n), rho, w, np.arange(n),
        np.zeros(n, dtype=int), np.array([np.inf, -np.inf]), np.array([0.25, 0.0, rho]),
        np.array([88172645463325252], dtype=np.uint64), work, place, 0, still, target, most, budget,
    ]  # fmt: skip


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_hinge(dtype, index, data):
    *rows, n, d = data.draw(csr_tables(dtype, index, EXTREME))
    y = data.draw(arrays(np.float64, n, elements=st.sampled_from([-1.0, 1.0])))
    squared = data.draw(st.booleans())
    bound = np.full(n, np.inf) if squared else data.draw(arrays(np.float64, n, elements=st.floats(1e-3, 1e3)))
    ridge = data.draw(arrays(np.float64, n, elements=st.floats(1e-3, 1e3))) if squared else np.zeros(n)
    w = data.draw(arrays(np.float64, d, elements=EXTREME))
    agree(
        hinge_sweeps,
        hinge_arguments(
            rows, d, y, bound, ridge, data.draw(st.sampled_from([0.0, 0.1, 1e6])), w, data.draw(st.integers(0, n)),
            data.draw(st.sampled_from([0.2, -1.0])), data.draw(st.sampled_from([0.0, 0.1])),
            data.draw(st.integers(1, 5)), data.draw(st.sampled_from([0, 1, 60, 10**6])),
        ),
    )  # fmt: skip


@st.composite
def problems(draw):
    """Some hundred rows, enough for runs of several; not hypothesis's, which would be long in the drawing."""
    rng = np.random.default_rng(draw(st.integers(0, 100)))
    n, d = int(rng.integers(130, 300)), 40
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    return sparse_table(rng, n, d, 0.1), d, y


@pytest.mark.parametrize("rho", [0.0, 0.3])
@pytest.mark.parametrize("squared", [False, True])
@given(problem=problems(), budget=st.integers(1, 4000))
def test_hinge_cut_anywhere(squared, rho, problem, budget):
    rows, d, y = problem
    n = len(y)
    bound, ridge = (np.full(n, np.inf), np.full(n, 0.5)) if squared else (np.full(n, 2.0), np.zeros(n))
    whole = hinge_arguments(rows, d, y, bound, ridge, rho, np.zeros(d), n, 0.2, 1e-6, 7, 10**9)
    pieces = copied(whole)
    pieces[-1] = budget
    assert hinge_sweeps(*whole) == 1
    while not hinge_sweeps(*pieces):
        pass
    for a, b in zip(whole, pieces, strict=True):
        if isinstance(a, np.ndarray):
            assert same_bits(a, b)
    alpha, w, place = whole[5], whole[7], whole[14]
    assert place[DONE] == 7
    assert 0 < place[ACTIVE] <= n
    assert ((alpha >= 0) & (alpha <= bound)).all()
    data, indices, indptr = rows
    columns, expected = np.repeat(alpha * y, np.diff(indptr)), np.zeros(d)
    np.add.at(expected, indices, columns * data)
    np.testing.assert_allclose(w, expected, atol=1e-10)


@given(problem=problems())
def test_hinge_of_many_rows_is_that_of_the_reference(problem):
    rows, d, y = problem
    n = len(y)
    agree(hinge_sweeps, hinge_arguments(rows, d, y, np.ones(n), np.zeros(n), 0.2, np.zeros(d), n, 0.2, 1e-4, 4, 10**9))


def logistic_arguments(rows, d, y, c, rho, b, w, budget):
    data, indices, indptr = rows
    n = len(y)
    order = np.random.default_rng(0).permutation(n)
    with np.errstate(all="ignore"):
        squares = squares_of(data, indptr)
    return [
        indptr, indices, data, np.column_stack([y, c, squares]), order, 0, n, rho, b, np.zeros((n, 2)), w, np.zeros(2),
        budget,
    ]  # fmt: skip


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_logistic(dtype, index, data):
    *rows, n, d = data.draw(csr_tables(dtype, index, EXTREME))
    y = data.draw(arrays(np.float64, n, elements=st.sampled_from([-1.0, 1.0])))
    c = data.draw(arrays(np.float64, n, elements=st.floats(1e-6, 1e6)))
    w = data.draw(arrays(np.float64, d, elements=EXTREME))
    rho, b = data.draw(st.sampled_from([0.0, 0.1, 1e6])), data.draw(st.sampled_from([0.0, -3.0, 1e5]))
    first = logistic_arguments(rows, d, y, c, rho, b, w, data.draw(st.sampled_from([0, 1, 60, 10**6])))
    second = agree(logistic_sweep, first)
    second[-1] = 10**6
    agree(logistic_sweep, second)  # from where alphas are not 0


@given(problem=problems(), budget=st.integers(1, 2000))
def test_logistic_cut_anywhere(problem, budget):
    rows, d, y = problem
    n = len(y)
    whole = logistic_arguments(rows, d, y, np.full(n, 3.0), 0.1, 0.2, np.zeros(d), 10**9)
    pieces = copied(whole)
    pieces[-1] = budget
    assert logistic_sweep(*whole) == n
    while pieces[5] < n:
        pieces[5] = logistic_sweep(*pieces)
    for a, b in zip(whole, pieces, strict=True):
        if isinstance(a, np.ndarray):
            assert same_bits(a, b)
    u, alpha = whole[9].T
    np.testing.assert_allclose(alpha, 3.0 / (1.0 + np.exp(-u)), rtol=1e-12)
