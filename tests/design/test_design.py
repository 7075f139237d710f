"""Designs: products against the plain formula, for every way to store rows; and the reduction they are made of."""

import subprocess
import sys
import threading
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import ThreadpoolController, threadpool_limits

from separatrix.design import DenseDesign, SparseDesign, as_design, reducing
from separatrix.errors import InvalidInputError
from separatrix.loops import moments, threads

N, D = 41, 5


def table():
    """Whole numbers from 0 to 9, about half of them 0: every number type holds them."""
    rng = np.random.default_rng(7)
    return rng.integers(0, 10, size=(N, D)) * rng.integers(0, 2, size=(N, D))


def memory_map(path, X):
    np.asarray(X, dtype=float).tofile(path)
    return np.memmap(path, dtype=float, mode="r", shape=X.shape)


def unsorted(X):
    csr = sparse.csr_array(X.astype(float))
    for row in range(csr.shape[0]):
        part = slice(csr.indptr[row], csr.indptr[row + 1])
        csr.indices[part] = csr.indices[part][::-1].copy()
        csr.data[part] = csr.data[part][::-1].copy()
    csr.has_sorted_indices = False
    csr.has_canonical_format = False
    return csr


def duplicated(X):
    """Every entry in two halves."""
    csr = sparse.csr_array(X.astype(float))
    return sparse.csr_array(
        (np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), csr.indptr * 2), shape=csr.shape, dtype=float
    )


def explicit_zeros(X):
    rows, columns = np.indices(X.shape)
    csr = sparse.csr_array((X.astype(float).ravel(), (rows.ravel(), columns.ravel())), shape=X.shape)
    assert csr.nnz == X.size
    return csr


def wide_indices(X):
    csr = sparse.csr_array(X.astype(float))
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


def every_other(X):
    big = np.full((2 * X.shape[0], 3 * X.shape[1]), -99.0)
    big[::2, ::3] = X
    return big[::2, ::3]


def read_only(X):
    X = X.astype(float)
    X.setflags(write=False)
    return X


STORAGE = {
    "C order": lambda X: np.ascontiguousarray(X, dtype=float),
    "Fortran order": lambda X: np.asfortranarray(X, dtype=float),
    "strided": every_other,
    "negative strides": lambda X: np.ascontiguousarray(X[::-1, ::-1], dtype=float)[::-1, ::-1],
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "uint8": lambda X: X.astype(np.uint8),
    "bool": lambda X: X > 0,
    "read-only": read_only,
    "csr_array": lambda X: sparse.csr_array(X.astype(float)),
    "csr_matrix": lambda X: sparse.csr_matrix(X.astype(float)),
    "csr float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "csr int64": lambda X: sparse.csr_array(X.astype(np.int64)),
    "csr uint8": lambda X: sparse.csr_array(X.astype(np.uint8)),
    "csr bool": lambda X: sparse.csr_array(X > 0),
    "64-bit indices": wide_indices,
    "unsorted": unsorted,
    "duplicates": duplicated,
    "explicit zeros": explicit_zeros,
}


@pytest.fixture(params=[*STORAGE, "memmap"])
def stored(request, tmp_path):
    """The table as numbers, and stored in one of the ways."""
    X = table()
    if request.param == "memmap":
        return X.astype(float), memory_map(tmp_path / "x", X)
    return (X > 0 if "bool" in request.param else X).astype(float), STORAGE[request.param](X)


@pytest.fixture
def many_blocks(monkeypatch):
    """Blocks of 3 rows, or 5 numbers, in threads."""
    monkeypatch.setattr(reducing, "INLINE_BYTES", 0)
    monkeypatch.setattr(moments, "SWEPT", 5)
    monkeypatch.setattr(DenseDesign, "block_rows", lambda self, block_bytes: 3)
    monkeypatch.setattr(SparseDesign, "block_rows", lambda self, block_bytes: 3)


def conditioned(design, X):
    """Z by its definition: ((x - offset - rest) * scale, 1)."""
    Z = X.astype(float)
    for shift in (design.offset, design.rest):
        Z = Z if shift is None else Z - shift
    Z = Z if design.scale is None else Z * design.scale
    return np.column_stack([Z, np.ones(len(Z))]) if design.intercept else Z


def conditionings(stored, intercept):
    """The design plain, and with every part of the conditioning that its storage allows."""
    rng = np.random.default_rng(3)
    plain = as_design(stored, intercept)
    yield plain
    yield plain.scaled(rng.uniform(0.5, 2.0, size=D))
    rest = rng.normal(size=D)
    parts = {"rest": rest, "scale": rng.uniform(0.5, 2.0, size=D)}
    yield type(plain)(plain.given(), intercept, rest=rest)
    yield type(plain)(plain.given(), intercept, **parts)
    offset = np.where(plain.subtractable(), rng.normal(size=D), 0.0)
    yield type(plain)(plain.given(), intercept, offset=offset, **parts)


# ---------------------------------------------------------------------- products
@pytest.mark.parametrize("intercept", [True, False])
def test_products_are_those_of_the_conditioned_matrix(stored, intercept, many_blocks):
    X, how = stored
    rng = np.random.default_rng(1)
    R, h = rng.normal(size=(N, 3)), rng.uniform(0.0, 2.0, size=N)
    for design in conditionings(how, intercept):
        Z = conditioned(design, X)
        V = rng.normal(size=(design.p, 3))
        close = {"rtol": 1e-12, "atol": 1e-11}
        np.testing.assert_allclose(design.dot(V), Z @ V, **close)
        np.testing.assert_allclose(design.dot(V[:, :1]), Z @ V[:, :1], **close)
        np.testing.assert_allclose(design.tdot(R), Z.T @ R, **close)
        np.testing.assert_allclose(design.tdot(R[:, :1]), Z.T @ R[:, :1], **close)
        np.testing.assert_allclose(design.gram(), Z.T @ Z, **close)
        np.testing.assert_allclose(design.gram(h), Z.T @ (h[:, None] * Z), **close)


@pytest.mark.parametrize("intercept", [True, False])
def test_gram_of_rows_in_any_order_is_that_of_the_conditioned_matrix(intercept):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.4)
    stored = sparse.csr_array(X)
    for i in range(N):  # entries of a row in any order
        start, stop = stored.indptr[i : i + 2]
        order = start + rng.permutation(stop - start)
        stored.indices[start:stop], stored.data[start:stop] = stored.indices[order], stored.data[order]
    h = rng.uniform(0.0, 2.0, size=N)
    for design in conditionings(stored, intercept):
        Z = conditioned(design, X)
        np.testing.assert_allclose(design.gram(), Z.T @ Z, rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(design.gram(h), Z.T @ (h[:, None] * Z), rtol=1e-12, atol=1e-11)


def test_shapes(stored):
    _, how = stored
    for intercept in (True, False):
        design = as_design(how, intercept)
        assert (design.n, design.d, design.p) == (N, D, D + intercept)
        assert design.dtype == (np.float32 if how.dtype == np.float32 else np.float64)


@pytest.mark.parametrize("k", [1, 3])
def test_spread_is_the_weighted_sum_of_squared_deviations(stored, k, many_blocks):
    X, how = stored
    rng = np.random.default_rng(2)
    codes, weight = rng.integers(0, k, size=N), rng.uniform(0.5, 2.0, size=N)
    R = weight[:, None] * (codes[:, None] == np.arange(k))
    centres = rng.normal(size=(k, D))
    expected = np.array([(weight * (codes == c)) @ (X - centres[c]) ** 2 for c in range(k)])
    design = as_design(how)
    (total,) = design.reduce(lambda block, r, c: (block.spread(r, centres, c),), R, codes)
    np.testing.assert_allclose(total, expected, rtol=1e-12)


def test_spread_about_a_full_sparse_column_is_that_of_its_entries_alone():
    # of an all-stored constant column nothing is at 0, so the spread about its value is 0, not rounding of its weight
    X = sparse.csr_array(np.full((1000, 1), 1e8))
    weight = np.random.default_rng(0).uniform(size=1000)
    block = as_design(X).block(0, 1000)
    assert block.spread(weight[:, None], np.array([[1e8]]), np.zeros(1000, dtype=int)).item() == 0.0


def test_the_data_are_not_changed(stored, many_blocks):
    _, how = stored
    before = how.copy()
    design = as_design(how).centred(np.ones(N)).scaled(np.full(D, 0.5))
    design.dot(np.ones((D + 1, 2)))
    design.tdot(np.ones((N, 2)))
    design.gram()
    design.out_of_range(1e3)
    if sparse.issparse(how):
        for part in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(how, part), getattr(before, part))
            assert getattr(how, part).dtype == getattr(before, part).dtype
    else:
        assert np.array_equal(how, before)


def test_only_csr_that_is_not_canonical_is_copied():
    X = table()
    dense_rows = STORAGE["C order"](X)
    assert as_design(dense_rows)._X is dense_rows
    rows = STORAGE["csr_array"](X)
    assert np.shares_memory(as_design(rows)._X.data, rows.data)
    twice = duplicated(X)
    summed = as_design(twice)._X
    assert summed.nnz == rows.nnz == twice.nnz // 2
    assert np.array_equal(summed.toarray(), X)


@pytest.mark.parametrize("row", [0, 10, 39])
def test_a_single_row_with_duplicates_is_found_in_any_block(row, many_blocks):
    X = table()
    rows = STORAGE["csr_array"](X)
    place = rows.indptr[row]
    rows.indices[place + 1] = rows.indices[place]
    assert not hasattr(rows, "_has_canonical_format")
    expected = rows.toarray()
    summed = as_design(rows)._X
    assert summed.nnz == rows.nnz - 1
    assert np.array_equal(summed.toarray(), expected)


# ---------------------------------------------------------------------- the reduction
def boundaries():
    """Numbers of rows about one block of 256, a chunk, and 16 blocks."""
    return [1, 2, 255, 256, 257, 511, 512, 513, 4095, 4096, 4097, 4352, 8191, 8192, 8193, 12289]


@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
@pytest.mark.parametrize("n", boundaries())
def test_reduce_covers_every_row_exactly_once(n, make, monkeypatch):
    monkeypatch.setattr(reducing, "INLINE_BYTES", 0)
    design = as_design(make(np.arange(1.0, n + 1)[:, None]))
    seen, lock = [], threading.Lock()

    def look(block, row):
        assert block.rows.stop > block.rows.start
        assert row.tolist() == list(range(block.rows.start, block.rows.stop))
        with lock:
            seen.extend(row.tolist())
        return (float(block.dot(np.array([[1.0], [0.0]])).sum()), 1)

    total, blocks = design.reduce(look, np.arange(n), block_bytes=1)  # blocks of 256 rows, the fewest
    assert sorted(seen) == list(range(n))
    assert total == n * (n + 1) / 2
    assert blocks >= n / design.block_rows(1)


def test_small_data_are_one_block_in_the_callers_thread():
    design = as_design(np.ones((10, 2)))
    here = []
    design.reduce(lambda block: here.append((threading.get_ident(), block.rows)) or ())
    assert here == [(threading.get_ident(), slice(0, 10))]


@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_one_thread_and_two_give_the_same_bits(make, many_blocks, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1001, 7)) * 10.0 ** rng.integers(-8, 8, size=7)
    design = as_design(make(X)).centred(np.ones(1001))
    R, results = rng.normal(size=(1001, 2)), []
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        results.append((design.tdot(R), design.gram(), design.dot(R[:8])))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert a.tobytes() == b.tobytes()


def test_an_error_in_a_block_reaches_the_caller(many_blocks):
    def fail(block):
        if block.rows.start == 9:
            raise ZeroDivisionError("in block 3")
        return ()

    with pytest.raises(ZeroDivisionError, match="in block 3"):
        as_design(np.ones((50, 2))).reduce(fail)


def test_the_number_of_threads_obeys_the_environment(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads.count() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "0")
    assert threads.count() == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    cores = threads.count()
    assert cores >= 1
    for odd in ("", "many", "4,2"):
        monkeypatch.setenv("OMP_NUM_THREADS", odd)
        assert threads.count() == cores


# ---------------------------------------------------------------------- BLAS at one thread
def blas_threads():
    return [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()]


@pytest.fixture
def two_blas_threads():
    limit = threadpool_limits(limits=2, user_api="blas")
    threads._take_control()  # let other threads set limits as well
    if set(blas_threads()) != {2}:
        pytest.skip("no BLAS that has two threads")
    yield
    limit.restore_original_limits()
    threads._take_control()


def test_no_blas_is_missed():
    every = ThreadpoolController().select(user_api="blas").info()
    assert sorted(threads._blas().info(), key=str) == sorted(every, key=str)


def test_blas_has_one_thread_inside_and_the_users_number_after(two_blas_threads, many_blocks):
    inside = []
    as_design(np.ones((20, 2))).reduce(lambda block: inside.append(max(blas_threads())) or ())
    assert set(inside) == {1}
    assert set(blas_threads()) == {2}


def test_blas_threads_are_restored_after_an_error(two_blas_threads, many_blocks):
    def fail(block):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        as_design(np.ones((20, 2))).reduce(fail)
    assert set(blas_threads()) == {2}


def test_blas_limits_nest(two_blas_threads):
    with threads.single_threaded_blas():
        with pytest.raises(RuntimeError, match="inner"), threads.single_threaded_blas():
            raise RuntimeError("inner")
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}


@pytest.mark.parametrize("last", [0, 1])
def test_blas_threads_are_restored_by_the_last_of_fits_that_overlap(last, two_blas_threads):
    # fit 0 begins first; whichever ends last restores, whoever set the limit
    began, ended, states = [threading.Event() for _ in range(2)], [threading.Event() for _ in range(2)], {}

    def fit(me):
        if me == 1:
            began[0].wait(10)
        with threads.single_threaded_blas():
            began[me].set()
            began[1 - me].wait(10)
            if me == last:
                ended[1 - me].wait(10)
                states["after one ended"] = set(blas_threads())
        ended[me].set()
        ended[1 - me].wait(10)  # a thread that has ended controls nothing

    workers = [threading.Thread(target=fit, args=(me,)) for me in range(2)]
    for worker in workers:
        worker.start()
    ended[last].wait(10)
    assert set(blas_threads()) == {2}
    for worker in workers:
        worker.join(10)
    assert states == {"after one ended": {1}}
    with threads.single_threaded_blas():  # and the next one can set it again
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}


def test_a_limit_that_the_user_holds_is_the_one_restored(two_blas_threads, many_blocks):
    with threadpool_limits(limits=1, user_api="blas"):
        as_design(np.ones((20, 2))).gram()
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork on this system")
def test_a_forked_child_has_threads_of_its_own():
    code = """
import os, numpy as np
from separatrix.design import as_design
design = as_design(np.ones((400_000, 2)))
assert design.gram()[0, 0] == 400_000
child = os.fork()
if child == 0:
    os._exit(0 if design.gram()[0, 0] == 400_000 else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork on this system")
def test_a_child_forked_in_the_middle_of_a_fit_has_the_users_blas_threads():
    code = """
import os
from threadpoolctl import threadpool_info, threadpool_limits
from separatrix.loops import moments, threads
import numpy, scipy.linalg
threadpool_limits(limits=2, user_api="blas")
def now():
    return {entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"}
with threads.single_threaded_blas():
    assert now() == {1}
    child = os.fork()
    if child == 0:
        os._exit(0 if now() == {2} else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert now() == {1}
assert now() == {2}
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_an_interrupt_anywhere_leaves_blas_as_it_was(two_blas_threads):
    """KeyboardInterrupt at the first, second, ... line that holding and releasing BLAS runs, until it runs through."""
    interrupted = 0
    while True:
        lines = 0

        def trace(frame, event, argument, stop=interrupted):
            nonlocal lines
            if frame.f_code.co_filename != threads.__file__ or frame.f_code.co_name == "__del__":
                return None  # in a finaliser Python itself drops the interrupt
            if event in ("call", "line"):
                lines += 1
                if lines > stop:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        try:
            sys.settrace(trace)
            with threads.single_threaded_blas():
                pass
            sys.settrace(before)
            break
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            sys.settrace(before)
        while threads._lock._is_owned():  # a trace strikes between a block and its end too, where no signal does
            threads._lock.release()
        assert set(blas_threads()) == {2}
    assert interrupted > 10


# ---------------------------------------------------------------------- conditioning
def grid(n, d, seed=0):
    """Multiples of 1/1024 from -4 to 4: adding 1e9 is exact, and so is every sum of them."""
    return np.random.default_rng(seed).integers(-4096, 4097, size=(n, d)) / 1024


def exact_centred(X, weight):
    """X minus its weighted column means, in rational arithmetic, rounded once at the end."""
    rows = [[Fraction(float(x)) for x in row] for row in X]
    w = [Fraction(float(c)) for c in weight]
    means = [sum(c * row[j] for c, row in zip(w, rows, strict=True)) / sum(w) for j in range(X.shape[1])]
    return np.array([[float(x - m) for x, m in zip(row, means, strict=True)] for row in rows])


@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("shift", [0.0, 1e9, -1e9, 2.0**40])
@pytest.mark.parametrize("weighted", [False, True])
def test_centring_is_exact_far_from_the_origin(make, shift, weighted, many_blocks):
    X = grid(97, 4)
    weight = np.random.default_rng(1).integers(1, 5, size=97).astype(float) if weighted else np.ones(97)
    Z = exact_centred(X, weight)  # the same for X + shift, which is exact
    shifted = X + shift
    assert np.array_equal(shifted - shift, X)
    design = as_design(make(shifted)).centred(weight)
    V = np.vstack([np.eye(4), np.zeros(4)])
    np.testing.assert_allclose(design.dot(V), Z, rtol=0, atol=1e-14)
    R = np.random.default_rng(2).normal(size=(97, 2))
    np.testing.assert_allclose(design.tdot(R)[:4], Z.T @ R, rtol=0, atol=1e-12)
    np.testing.assert_allclose(design.gram(weight)[:4, :4], Z.T @ (weight[:, None] * Z), rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(design.gram(weight)[4, :4], 0.0, atol=1e-11)


def test_only_some_columns_far_from_the_origin():
    X = grid(50, 3) + np.array([0.0, 1e9, 0.0])
    design = as_design(X).centred(np.ones(50))
    assert design.offset is not None
    assert design.offset.tolist() == [0.0, X[0, 1], 0.0]
    np.testing.assert_allclose(design.dot(np.eye(4)[:, :3]), exact_centred(X, np.ones(50)), rtol=0, atol=1e-14)


def test_a_sparse_column_with_implicit_zeros_is_not_shifted():
    X = grid(50, 2) + 1e9
    X[7, 0] = 0.0
    design = as_design(sparse.csr_array(X)).centred(np.ones(50))
    assert design.offset.tolist() == [0.0, X[0, 1]]
    # the products of the other column still lose nothing; of this one, what 1e9 about 0 must lose
    Z = exact_centred(X, np.ones(50))
    np.testing.assert_allclose(design.dot(np.eye(3)[:, :2]), Z, rtol=1e-15, atol=1e-6)
    np.testing.assert_allclose(design.dot(np.eye(3)[:, 1:2]), Z[:, 1:], rtol=0, atol=1e-14)


def single(X):
    return X.astype(np.float32)


@pytest.mark.parametrize(
    "make, value",
    [(make, value) for make in (np.ascontiguousarray, sparse.csr_array) for value in (0.1, 1e9 + 0.1, 1e-300, -1e140)]
    + [(make, value) for make in (np.ascontiguousarray, sparse.csr_array, single) for value in (-3e-7, 1.0, 1e9, 0.0)],
)
def test_a_constant_column_becomes_exactly_0(make, value, many_blocks):
    X = np.column_stack([np.full(100, value), grid(100, 1)])
    weight = np.random.default_rng(0).uniform(0.1, 3.0, size=100)
    design = as_design(make(X)).centred(weight)
    assert (design.dot(np.array([[1.0], [0.0], [0.0]])) == 0).all()
    assert design.gram(weight)[0, 0] == 0
    assert (design.tdot(np.random.default_rng(1).normal(size=(100, 3)))[0] == 0).all()


def test_without_intercept_nothing_is_shifted():
    X = grid(20, 3) + 1e9
    design = as_design(X, intercept=False)
    assert design.centred(np.ones(20)) is design


def test_anchoring_forgets_earlier_conditioning():
    design = as_design(grid(20, 2)).centred(np.ones(20)).scaled(np.full(2, 3.0))
    anchored = design.anchored()
    assert anchored.rest is None
    assert anchored.scale is None
    assert anchored.intercept


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), intercept=st.booleans(), shift=st.sampled_from([0.0, 100.0, 1e6]))
def test_user_units_give_the_same_scores(seed, intercept, shift):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 3)) + shift
    V = rng.normal(size=(3 + intercept, 2))
    for rows in (X, sparse.csr_array(X)):
        design = (
            as_design(rows, intercept).centred(rng.uniform(0.5, 2.0, size=15)).scaled(rng.uniform(0.1, 9.0, size=3))
        )
        coef, intercepts = design.user_units(V)
        assert coef.shape == (2, 3)
        assert coef.flags.c_contiguous
        size = 1.0 + shift * np.abs(coef).sum()
        np.testing.assert_allclose(X @ coef.T + intercepts, design.dot(V), rtol=0, atol=1e-14 * size + 1e-13)
        if not intercept:
            assert (intercepts == 0).all()


def test_rounded_holds_what_the_model_will_hold():
    value = np.array([1 / 3, -2.0])
    assert np.array_equal(as_design(np.ones((2, 2))).rounded(value), value)
    held = as_design(np.ones((2, 2), dtype=np.float32)).rounded(value)
    assert held.dtype == np.float64
    assert np.array_equal(held, value.astype(np.float32).astype(float))


@pytest.mark.parametrize(
    "dtype, value", [(np.float32, 1e39), (np.float32, 1e-42), (float, np.inf), (float, np.nan), (np.float32, np.nan)]
)
def test_a_number_that_the_model_cannot_hold_is_an_error(dtype, value):
    with pytest.raises(InvalidInputError, match="range of float"):
        as_design(np.ones((2, 2), dtype=dtype)).rounded(np.array([value]))


# ---------------------------------------------------------------------- memory
def peak(work):
    work()  # threads, caches
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_data_are_not_copied_beyond_blocks(order, dtype):
    X = np.asarray(np.random.default_rng(0).normal(size=(300_000, 20)) + 1e6, dtype=dtype, order=order)
    weight = np.ones(len(X))
    R = np.ones((len(X), 1))

    def work():
        design = as_design(X).centred(weight)
        design.tdot(R)
        design.gram(weight)
        design.out_of_range(1e9)

    whole = 8 * X.size
    assert peak(work) < whole / 3  # two threads with a block or so each, whatever X is stored as


def test_sparse_data_are_not_copied():
    n, d, stored = 200_000, 500, 20
    r = np.random.default_rng(0)
    columns = (r.integers(d // stored, size=(n, stored)) + np.arange(stored) * (d // stored)).astype(np.int32).ravel()
    start = np.arange(0, n * stored + 1, stored, dtype=np.int32)
    X = sparse.csr_array((r.normal(size=n * stored), columns, start), shape=(n, d))
    design, R = as_design(X), np.ones((n, 1))
    assert peak(lambda: design.tdot(R)) < 12 * X.nnz / 10


def test_sparse_data_are_not_made_dense():
    n, d = 20_000, 30_000  # 4.8 GB if dense
    X = sparse.random_array((n, d), density=1e-4, format="csr", rng=np.random.default_rng(0))
    weight = np.ones(n)

    def work():
        design = as_design(X).centred(weight).scaled(np.full(d, 2.0))
        design.dot(np.ones((d + 1, 2)))
        design.tdot(np.ones((n, 2)))
        design.out_of_range(1e9)
        design.block(0, n).spread(np.ones((n, 2)), np.zeros((1, d)), np.zeros(n, dtype=int))

    assert peak(work) < 30e6


# ---------------------------------------------------------------------- search
@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e151, -1e151])
def test_out_of_range_names_the_first_such_entry(make, bad, many_blocks):
    X = table().astype(float)
    assert as_design(make(X)).out_of_range(1e150) is None
    X[30, 1] = X[17, 3] = X[17, 4] = bad
    row, column, value = as_design(make(X)).out_of_range(1e150)
    assert (row, column) == (17, 3)
    np.testing.assert_equal(value, bad)


@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("limit", [1e3, 1e150, np.finfo(float).max])
def test_single_precision_entries_out_of_range_are_found_whatever_the_limit(make, bad, limit):
    X = np.ones((4, 3), dtype=np.float32)
    X[2, 1] = bad
    row, column, value = as_design(make(X)).out_of_range(limit)
    assert (row, column) == (2, 1)
    np.testing.assert_equal(value, bad)
    assert as_design(make(np.ones((4, 3), dtype=np.float32))).out_of_range(limit) is None


def test_the_limit_itself_is_in_range():
    for rows in (np.array([[150.0, -150.0]]), sparse.csr_array(np.array([[150.0, -150.0]]))):
        assert as_design(rows).out_of_range(150.0) is None
        assert as_design(rows).out_of_range(149.0) == (0, 0, 150.0)


def test_whole_numbers_and_empty_sparse_matrices_are_in_range():
    for rows in (np.array([[2**62]]), np.array([[True]]), sparse.csr_array((3, 2)), sparse.csr_array(np.array([[7]]))):
        assert as_design(rows).out_of_range(1.0) is None or rows.dtype.kind == "f"


@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_find_looks_in_the_columns_it_is_told(make, many_blocks):
    X = np.ones((20, 4))
    X[3, 0], X[11, 2], X[12, 1] = -5.0, -6.0, -7.0
    design = as_design(make(X))
    negative = lambda x: x < 0  # noqa: E731
    assert design.find(negative, np.arange(4)) == (3, 0, -5.0)
    assert design.find(negative, np.array([1, 2])) == (11, 2, -6.0)
    assert design.find(negative, np.array([1])) == (12, 1, -7.0)
    assert design.find(negative, np.array([3])) is None
    for columns in (np.arange(4), np.array([1]), np.array([3])):
        assert design.find(negative, columns, outside=True) == design.find(negative, columns)
    assert design.find(lambda x: x < -7, np.arange(4), outside=True) is None


def test_find_sees_the_zeros_that_a_sparse_matrix_does_not_store():
    X = np.ones((6, 3))
    X[4, 1] = 0.0
    design = as_design(sparse.csr_array(X))
    zero = lambda x: x == 0  # noqa: E731
    assert design.find(zero, np.arange(3)) == (4, 1, 0.0)
    assert design.find(zero, np.array([0, 2])) is None
    assert as_design(explicit_zeros(X)).find(zero, np.arange(3)) == (4, 1, 0.0)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, bool])
def test_the_largest_entry_of_rows_in_neither_order(dtype):
    X = np.random.default_rng(0).integers(0, 2, size=(1200, 1000)).astype(dtype)
    X[700, 400] = 1
    design = as_design(X[::2, ::2])  # too many entries to be copied at once
    assert design.farthest == 1.0
    assert as_design(np.zeros((0, 4), dtype=dtype)[:, ::2]).farthest <= 0.0


@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array, explicit_zeros])
def test_constant_columns(make, many_blocks):
    X = np.column_stack(
        [np.zeros(10), np.full(10, 3.0), np.arange(10.0), np.eye(10)[:, 0], np.eye(10)[:, 9], 3.0 - np.eye(10)[:, 4]]
    )
    constant = as_design(make(X)).constant(np.arange(6))
    assert constant.tolist() == [True, True, False, False, False, False]
    assert as_design(make(X)).constant(np.array([5, 1])).tolist() == [False, True]


def test_columns_are_called_by_their_names():
    assert as_design(np.ones((1, 2))).column(1) == "column 1"
    assert as_design(np.ones((1, 2)), names=["age", "height"]).column(1) == "column 1 ('height')"
