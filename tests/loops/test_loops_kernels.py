"""SMO inside a working set, rows of the kernel matrix and sparse products: C and Python the same bits."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from loops.twins import EXTREME, agree, cast, copied, csr_tables, same_bits
from scipy import sparse

from separatrix.loops.csr_rows import add_pairs, csr_rows, csr_squares, row_squares, take_rows
from separatrix.loops.kernel_rows import radial_square, sparse_product
from separatrix.loops.working_set import (
    add_rows,
    compact_rows,
    gather,
    move_all,
    move_pairs,
    move_points,
    moved_all,
    optimised,
)
from separatrix.solvers.soft_margin import relative_gaps

TYPES = [np.float64, np.float32]
INDICES = [np.int32, np.int64]
NOISE = {np.float64: 4.4e-16, np.float32: 2.4e-7}


def working_set(rng, m, dtype, definite=True):
    """(K, m, diagonal, y, U, alpha, F) of random points, or of no points at all."""
    X = rng.standard_normal((m, 4))
    K = np.exp(-0.3 * np.square(X[:, None] - X).sum(axis=2)) if definite else np.tanh(X @ X.T - 0.5)
    y = np.where(rng.random(m) < 0.5, -1.0, 1.0)
    K = K.astype(dtype)
    return [K, m, K.diagonal().astype(float), y, rng.uniform(0.5, 3.0, m), np.zeros(m), y.copy()]


def called(loop, problem, enough, most, budget):
    m, dtype = problem[1], problem[0].dtype.type
    room = [np.empty(2 * m)] if loop is move_pairs else []
    return [*problem, *room, NOISE[dtype], enough, most, np.zeros(1), budget]


def moved(loop, arguments):
    """What C and the reference leave, but for the scratch room."""
    found, expected = copied(arguments), copied(arguments)
    with np.errstate(all="ignore"):
        assert loop(*found) == loop.reference(*expected)
    for number in (5, 6, len(arguments) - 2):  # alpha, F, the gain
        assert same_bits(found[number], expected[number])
    return found


@pytest.mark.parametrize("loop", [move_pairs, move_points])
@pytest.mark.parametrize("dtype", TYPES)
@given(m=st.sampled_from([0, 1, 2, 5, 63, 64, 65, 130]), seed=st.integers(0, 50), definite=st.booleans())
def test_moves_are_those_of_the_reference(loop, dtype, m, seed, definite):
    rng = np.random.default_rng(seed)
    problem = working_set(rng, m, dtype, definite)
    for budget in (0, 5 * max(m, 1), 10**9):
        moved(loop, called(loop, problem, 1e-3, 300, budget))


@pytest.mark.parametrize("loop", [move_pairs, move_points])
@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_moves_on_any_numbers(loop, dtype, data):
    m = data.draw(st.integers(0, 8))
    any_number = st.one_of(EXTREME, st.sampled_from([np.nan, np.inf]))
    K = cast(data.draw(arrays(np.float64, (m, m), elements=any_number)), dtype)
    y = data.draw(arrays(np.float64, m, elements=st.sampled_from([-1.0, 1.0])))
    U = data.draw(arrays(np.float64, m, elements=st.sampled_from([1.0, 1e-200, 1e200, np.inf])))
    problem = [K, m, K.diagonal().astype(float), y, U, np.zeros(m), y.copy()]
    moved(loop, called(loop, problem, 1e-3, 20, 10**9))


@pytest.mark.parametrize("loop", [move_pairs, move_points])
@given(seed=st.integers(0, 50), budget=st.integers(1, 20_000))
def test_moves_cut_anywhere(loop, seed, budget):
    problem = working_set(np.random.default_rng(seed), 90, np.float32)
    whole = called(loop, copied(problem), 1e-4, 500, 10**9)
    pieces = called(loop, copied(problem), 1e-4, 500, budget)
    wanted, steps = -1 - loop(*whole), 0
    while (found := loop(*pieces)) >= 0:
        steps += found
        pieces[-3] = 500 - steps
    assert steps - 1 - found == wanted > 10
    for number in (5, 6, len(whole) - 2):
        assert same_bits(whole[number], pieces[number])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("dtype", TYPES)
def test_an_optimised_set_has_no_violation_left(dtype, intercept):
    K, _, diagonal, y, U, alpha, F = working_set(np.random.default_rng(1), 100, dtype)
    steps, gained = optimised(K, diagonal, y, U, alpha, F, 1e-3, 10**6, intercept)
    assert steps > 20
    c = alpha * y
    exact = y - K.astype(float) @ c
    np.testing.assert_allclose(F, exact, atol=1e-10)
    assert ((alpha >= 0) & (alpha <= U)).all()
    assert gained == pytest.approx(float(alpha.sum() - 0.5 * c @ K.astype(float) @ c), rel=1e-5)
    rise, fall = np.where(y > 0, alpha < U, alpha > 0), np.where(y > 0, alpha > 0, alpha < U)
    if intercept:
        assert abs(c.sum()) < 1e-10
        assert F[rise].max() - F[fall].min() <= 1e-3
    else:
        assert max(F[rise].max(), -F[fall].min()) <= 1e-3


def several(rng, dtype, counts):
    """Arguments of `move_all` for each pair of classes of so many points, up to the moves to be made."""
    n = sum(counts)
    K = working_set(rng, n, dtype)[0]
    starts, both = np.cumsum([0, *counts]), [(a, c) for a in range(len(counts)) for c in range(a + 1, len(counts))]
    places = np.array([[starts[a], counts[a], starts[c], counts[c]] for a, c in both])
    width = int((places[:, 1] + places[:, 3]).max())
    inside = np.arange(width) < (places[:, 1] + places[:, 3])[:, None]
    y = np.where(np.arange(width) < places[:, 1:2], 1.0, -1.0)
    U = np.where(inside, rng.uniform(0.5, 3.0, y.shape), 0.0)
    state = [np.zeros_like(y), y.copy(), np.zeros_like(y), np.zeros(len(both), dtype=np.int64)]
    return [K, n, places, width, 0, len(both), y, U, *state, NOISE[dtype], 1e-6]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("dtype", TYPES)
@given(seed=st.integers(0, 50), counts=st.lists(st.integers(1, 20), min_size=2, max_size=4))
def test_all_pairs_are_moved_as_by_the_reference(dtype, intercept, seed, counts):
    problem = several(np.random.default_rng(seed), dtype, counts)
    width, count = problem[3], problem[5]
    end = [3, 400, int(intercept), np.zeros(width * width, dtype=dtype), np.zeros(4 * width), 10**9]
    found, expected = copied([*problem, *end]), copied([*problem, *end])
    assert move_all(*found) == move_all.reference(*expected) == count
    for number in range(8, 12):  # alpha, F, sizes, steps
        assert same_bits(found[number], expected[number])
    pieces = copied([*problem, *end])
    pieces[-1] = 1  # one problem a call
    for number in range(count):
        pieces[4] = number
        assert move_all(*pieces) == number + 1
    for number in range(8, 12):
        assert same_bits(found[number], pieces[number])


@pytest.mark.parametrize("intercept", [True, False])
def test_all_pairs_are_solved_as_alone(intercept):
    counts = [9, 30, 17]
    K, _, places, _, _, _, y, U, *_ = several(np.random.default_rng(3), np.float64, counts)
    alpha, F, sizes, steps = moved_all(K, places, y, U, 1e-11, intercept)
    assert (relative_gaps(alpha, F, y, U, intercept)[1] < 1.1e-11).all()
    assert (steps > 10).all()
    for number, (first, some, second, others) in enumerate(places):
        chosen, m = np.r_[first : first + some, second : second + others], some + others
        inside = K[np.ix_(chosen, chosen)]
        mine = [np.ascontiguousarray(rows[number, :m]) for rows in (y, U)]
        one, rest = np.zeros(m), mine[0].copy()
        optimised(inside, inside.diagonal().copy(), *mine, one, rest, 1e-12, 10**6, intercept)
        np.testing.assert_allclose(alpha[number, :m], one, atol=1e-6)
        np.testing.assert_allclose(F[number, :m], mine[0] - inside @ (alpha[number, :m] * mine[0]), atol=1e-13)
        np.testing.assert_allclose(sizes[number, :m], np.abs(inside) @ alpha[number, :m], rtol=1e-13)
        assert not alpha[number, m:].any()
        assert (F[number, m:] == F[number, :m].max()).all()


@given(n=st.sampled_from([0, 1, 2, 31, 32, 33, 65, 100]), seed=st.integers(0, 20))
def test_a_matrix_of_radial_values(n, seed):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    arguments = [X @ X.T, n, 0.4 * np.square(X).sum(axis=1), 0.8]
    found, expected = copied(arguments), copied(arguments)
    radial_square(*found)
    radial_square.reference(*expected)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-14)
    assert same_bits(found[0], found[0].T)
    assert (found[0].diagonal() == 1).all()
    distances = np.square(X[:, None] - X).sum(axis=2)
    np.testing.assert_allclose(found[0], np.exp(-0.4 * distances), rtol=1e-12)


@given(m=st.integers(0, 70), seed=st.integers(0, 20))
def test_gathered_matrix_is_symmetric(m, seed):
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((80, 90)).astype(np.float32)
    slots, chosen = rng.permutation(80)[:m], rng.permutation(90)[:m]
    found = agree(gather, [table, 90, slots, chosen, rng.standard_normal(m), m, np.zeros((m, m), dtype=np.float32)])
    K = found[-1]
    assert (K == K.T).all()
    below = np.tril_indices(m, -1)
    np.testing.assert_array_equal(K[below], table[np.ix_(slots, chosen)][below])


@given(rows=st.integers(0, 9), columns=st.integers(0, 13), seed=st.integers(0, 20))
def test_compacted_rows(rows, columns, seed):
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((9, 13)).astype(np.float32)
    slots, kept = np.sort(rng.permutation(9)[:rows]), np.sort(rng.permutation(13)[:columns])
    found = agree(compact_rows, [table.ravel(), 13, slots, rows, kept, columns])[0]
    expected = table[np.ix_(slots, kept)]
    np.testing.assert_array_equal(found[: rows * columns].reshape(rows, columns), expected)


@given(count=st.integers(0, 9), seed=st.integers(0, 20))
def test_added_rows(count, seed):
    rng = np.random.default_rng(seed)
    table, out = rng.standard_normal((10, 2500)).astype(np.float32), rng.standard_normal(2500)
    slots, change = rng.permutation(10)[:count], rng.standard_normal(count)
    for first, last in ((0, 2500), (7, 7), (100, 2300)):
        found = agree(add_rows, [table, 2500, slots, change, count, out, first, last])[5]
        expected = out.copy()
        expected[first:last] += change @ table[slots, first:last].astype(float)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES)
def test_sparse_products(dtype, index):
    rng = np.random.default_rng(0)
    A = sparse.random_array((30, 40), density=0.2, format="csr", rng=rng).astype(dtype)
    B = sparse.random_array((25, 40), density=0.2, format="csr", rng=rng).astype(dtype)
    T = B.T.tocsr()
    arguments = [
        A.indptr.astype(index), A.indices.astype(index), A.data, T.indptr.astype(index), T.indices.astype(index),
        T.data, np.ones((30, 25), dtype=dtype), 25, 0, 30, 10**9,
    ]  # fmt: skip
    whole = agree(sparse_product, arguments)[6]
    np.testing.assert_allclose(whole, 1.0 + (A @ B.T).toarray(), rtol=1e-5 if dtype is np.float32 else 1e-13)
    arguments[-1] = 1
    row = 0
    while row < 30:
        arguments[-3] = row
        row = sparse_product(*arguments)
    assert same_bits(arguments[6], whole)


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_pairs_of_entries(dtype, index, data):
    entries, indices, indptr, n, d = data.draw(csr_tables(dtype, index, EXTREME))
    h = data.draw(arrays(np.float64, n, elements=EXTREME))
    budget = data.draw(st.sampled_from([0, 1, 10**6]))
    agree(add_pairs, [indptr, indices, entries, h, d, np.zeros((d, d)), 0, n, budget])


def test_pairs_of_entries_are_the_gram_matrix():
    X = sparse.random_array((50, 12), density=0.4, format="csr", rng=np.random.default_rng(0))
    h, half = np.linspace(0.5, 2.0, 50), np.zeros((12, 12))
    row = 0
    while row < 50:
        row = add_pairs(X.indptr, X.indices, X.data, h, 12, half, row, 50, 5)
    np.testing.assert_allclose(half + half.T, X.toarray().T @ (h[:, None] * X.toarray()), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_rows_next_to_each_other_and_their_squares(dtype, index, data):
    entries, indices, indptr, n, d = data.draw(csr_tables(dtype, index, EXTREME))
    squares = agree(row_squares, [indptr, entries, n, np.zeros(n)])[-1]
    rows = data.draw(arrays(np.int64, data.draw(st.integers(0, 8)) if n else 0, elements=st.integers(0, max(n - 1, 0))))
    ends = np.append(0, np.cumsum(indptr[rows + 1] - indptr[rows])).astype(index)
    room = np.zeros(ends[-1], dtype=index), np.zeros(ends[-1], dtype=dtype)
    agree(take_rows, [indptr, indices, entries, rows, len(rows), ends, *room])
    X = sparse.csr_matrix((entries, indices, indptr), shape=(n, d))
    expected = X[rows]
    found = csr_rows(X, rows)
    for one, other in zip(found, (expected.indptr, expected.indices, expected.data), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(csr_squares(X), squares)
    with np.errstate(over="ignore"):
        wanted = [float(np.square(entries[a:b].astype(float)).sum()) for a, b in pairwise(indptr)]
    np.testing.assert_allclose(squares, wanted, rtol=1e-14)
