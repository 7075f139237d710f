"""Passes over rows: C against the references, the losses against exact arithmetic, and the same bits by every way."""

import os
import tempfile

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops.twins import same_bits
from scipy import sparse

import separatrix
from separatrix.design import as_design
from separatrix.design.passes import CALL, Pass, chunk_rows, swept
from separatrix.loops import library
from separatrix.loops import passes as loops
from separatrix.loops.packing import kind_of

EPS, TINY = float(np.finfo(float).eps), 5e-324
LOSSES = [loops.LOG, loops.SQUARED_HINGE, loops.SQUARED, loops.SIGMOID, loops.GAUSS_NEWTON, loops.SOFTMAX]
ALL = [loops.SCORES, loops.GATHER, loops.PRODUCT, loops.SOFTMAX_PRODUCT, *LOSSES]
EDGES = [
    0.0,
    1e-320,
    1e-300,
    1e-17,
    1e-8,
    0.1,
    0.5,
    1.0,
    2.0,
    17.0,
    36.7,
    37.5,
    300.0,
    700.0,
    708.5,
    740.0,
    745.0,
    800.0,
]
SCORES_TRIED = np.array([sign * z for z in EDGES for sign in (1.0, -1.0)])

compiled = pytest.mark.skipif(library.library() is None, reason="nothing is compiled here")


class Case:
    """Rows and what a pass over them needs, drawn at random."""

    def __init__(self, what, n, d, k, seed, *, offset=False, spread=1.0, based=False, folds=False):
        rng = np.random.default_rng(seed)
        softmax = what in (loops.SOFTMAX, loops.SOFTMAX_PRODUCT)
        self.what, self.n, self.d, self.k = what, n, d, k
        self.K = (k + 1 if based else k) if softmax else 0
        self.X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
        self.offset = rng.normal(size=d) if offset else None
        self.W, self.b = spread * rng.normal(size=(k, d)), spread * rng.normal(size=k)
        self.basis = rng.normal(size=(self.K, k)) if softmax and based else None
        self.codes = rng.integers(0, self.K or 2, size=n)
        self.weight = rng.random((n, k) if folds and not softmax else n)
        self.rows = rng.random((n, self.K or k))

    def run(self, loop, X, pieces=None, dtype=float):
        """(sums, rows) after a pass over X, dense or sparse, some rows at a time."""
        sums = np.zeros(3 * self.k + (0 if self.what == loops.SCORES else self.k * self.d))
        rows, work = self.rows.copy(), np.full(loops.work_size(self.k, self.K, self.d), np.nan)
        columns = self.weight.shape[1] if self.weight.ndim == 2 else 1
        score = self.what != loops.GATHER
        dense = not sparse.issparse(X)
        W = np.ascontiguousarray(self.W if dense else self.W.T) if score else None
        how = (self.offset, W, self.b if score else None, self.k, self.K, self.basis, self.what)
        how += (self.codes, self.weight, columns, rows, sums, work)
        for start, stop in pieces or [(0, self.n)]:
            if dense:
                loop(np.ascontiguousarray(X, dtype=dtype), 0, start, stop, self.d, loops.segment_rows(self.d), *how)
            else:
                loop(X.indptr, X.indices, X.data.astype(dtype), 0, start, stop, self.d, *how)
        return sums, rows

    def close(self, found, expected, X):
        """Whether sums and rows agree up to rounding: of scores, of what is made of them, and of sums over rows."""
        x = np.abs(X) + (0.0 if self.offset is None else np.abs(self.offset))
        score = float((x @ np.abs(self.W).T).max(initial=0.0) + np.abs(self.b).max()) if self.n else 0.0
        if self.basis is not None:
            score *= float(np.abs(self.basis).sum())
        size = (1.0 + score) ** 2 * 4.0 * (1.0 + float(self.rows.max(initial=0.0)))
        size *= 1.0 if self.basis is None else 1.0 + float(np.abs(self.basis).sum())
        each = 40 * EPS * (self.d + self.K + 1) * size
        rows = self.n * each * (1.0 + float(x.max(initial=0.0))) * (1.0 + EPS * self.n)
        return (
            np.abs(found[0] - expected[0]).max(initial=0.0) <= rows
            and np.abs(found[1] - expected[1]).max(initial=0.0) <= each
        )


def with_losses_whole(outcome, k):
    """Losses together with what rounding took of them, which the reference does not tell."""
    sums, rows = outcome
    sums = sums.copy()
    sums[:k] += sums[k : 2 * k]
    sums[k : 2 * k] = 0.0
    return sums, rows


SHAPES = {
    "n": st.sampled_from([0, 1, 2, 7, 8, 9, 63, 64, 65, 200, 1100]),
    "d": st.sampled_from([1, 2, 7, 8, 9, 15, 16, 17, 31, 130, 300]),
    "k": st.integers(1, 5),
    "seed": st.integers(0, 1000),
    "offset": st.booleans(),
    "spread": st.sampled_from([0.0, 0.1, 1.0, 100.0]),
}


# ---------------------------------------------------------------------- against the reference
@compiled
@pytest.mark.parametrize("what", ALL)
@given(**SHAPES, based=st.booleans(), folds=st.booleans(), single=st.booleans())
def test_a_pass_over_dense_rows_is_that_of_the_reference(what, n, d, k, seed, offset, spread, based, folds, single):
    case = Case(what, n, d, k, seed, offset=offset, spread=spread, based=based, folds=folds)
    dtype = np.float32 if single else float
    X = case.X.astype(dtype).astype(float)
    found = with_losses_whole(case.run(loops.pass_dense, X, dtype=dtype), k)
    assert case.close(found, case.run(loops.pass_dense.reference, X, dtype=dtype), X)


def strided_pass(loop, some):
    """`pass_strided` as it is called for rows in C order, which it gets in Fortran order, and ``some`` at a time."""

    def run(X, first, start, stop, d, segment, *how):
        rows, room = np.asfortranarray(X)[start - first : stop - first], np.full((some, d), np.nan, dtype=X.dtype)
        loop(rows.ctypes.data, *rows.strides, kind_of(X.dtype), room, some, start, stop, d, segment, *how)

    return run


@pytest.mark.parametrize("what", ALL)
@given(**SHAPES, based=st.booleans(), single=st.booleans(), some=st.sampled_from([64, 192]))
def test_a_pass_over_rows_in_Fortran_order_is_that_over_rows_in_C_order(
    what, n, d, k, seed, offset, spread, based, single, some
):
    case, dtype = Case(what, n, d, k, seed, offset=offset, spread=spread, based=based), np.float32 if single else float
    for strided, plain in (
        (loops.pass_strided, loops.pass_dense),
        (loops.pass_strided.reference, loops.pass_dense.reference),
    ):
        found, expected = (
            case.run(strided_pass(strided, some), case.X, dtype=dtype),
            case.run(plain, case.X, dtype=dtype),
        )
        assert all(same_bits(a, b) for a, b in zip(found, expected, strict=True))


def file_pass(loop, short):
    """`pass_file` as it is called for rows in memory, which it gets in a file, perhaps without the last byte."""

    def run(X, first, start, stop, d, segment, *how):
        with tempfile.TemporaryFile() as file:
            file.write(b"head" + X[start - first : stop - first].tobytes()[: -1 if short else None])
            file.flush()
            room = np.full((2 * segment, d), np.nan, dtype=X.dtype)
            read = loop(file.fileno(), 4, room, start, stop, d, segment, *how)
            assert read == (not short or start == stop)

    return run


@pytest.mark.skipif(not hasattr(os, "pread"), reason="this system has no pread")
@pytest.mark.parametrize("what", ALL)
@pytest.mark.parametrize("d", [3, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pass_over_rows_in_a_file_is_that_over_rows_in_memory(what, d, dtype):
    case = Case(what, 3 * loops.segment_rows(d) + 5, d, 2, 0)
    for stored, plain in ((loops.pass_file, loops.pass_dense), (loops.pass_file.reference, loops.pass_dense.reference)):
        found, expected = case.run(file_pass(stored, False), case.X, dtype=dtype), case.run(plain, case.X, dtype=dtype)
        assert all(same_bits(a, b) for a, b in zip(found, expected, strict=True))
        case.run(file_pass(stored, True), case.X, dtype=dtype)


@compiled
@pytest.mark.parametrize("what", ALL)
@given(**SHAPES, based=st.booleans(), wide=st.booleans())
def test_a_pass_over_sparse_rows_is_that_of_the_reference(what, n, d, k, seed, offset, spread, based, wide):
    case = Case(what, n, d, k, seed, offset=offset, spread=spread, based=based)
    X = sparse.csr_array(case.X)
    if wide:
        X.indptr, X.indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    found = with_losses_whole(case.run(loops.pass_csr, X), k)
    assert case.close(found, case.run(loops.pass_csr.reference, X), case.X)


# ---------------------------------------------------------------------- against exact arithmetic
def at_scores(what, z, k=1, codes=None):
    """(loss, slope, curvature or probabilities) of each row of scores z, by rows that are the scores themselves."""
    z = np.ascontiguousarray(z, dtype=float).reshape(-1, k)
    found = []
    for i, row in enumerate(z):  # each by itself, as sums would hide it
        case = Case(what, 1, k, k, 0)
        case.W, case.b, case.weight = np.eye(k), np.zeros(k), np.ones(1)
        case.codes = np.array([1 if codes is None else codes[i]])
        sums, rows = case.run(loops.pass_dense, row[None])
        found.append((sums[0] + sums[k], sums[2 * k : 3 * k], rows[0]))
    return found


def within(found, exact, ulps):
    return abs(mpmath.mpf(float(found)) - exact) <= ulps * EPS * abs(exact) + 2 * TINY


def test_the_log_loss_and_its_derivatives_are_exact_to_some_units_in_the_last_place():
    with mpmath.workdps(60):
        for z, (loss, (slope,), (bend,)) in zip(SCORES_TRIED, at_scores(loops.LOG, SCORES_TRIED), strict=True):
            e = mpmath.exp(-mpmath.mpf(float(z)))
            assert within(loss, mpmath.log1p(e), 3), z
            assert within(slope, -e / (1 + e), 3), z
            assert within(bend, e / (1 + e) ** 2, 5), z


def test_the_squared_error_of_the_sigmoid_is_exact_to_some_units_in_the_last_place():
    with mpmath.workdps(60):
        for z, (loss, (slope,), (bend,)) in zip(SCORES_TRIED, at_scores(loops.SIGMOID, SCORES_TRIED), strict=True):
            e = mpmath.exp(-mpmath.mpf(float(z)))
            q, p = e / (1 + e), 1 / (1 + e)
            assert within(loss, q**2, 8), z
            assert within(slope, -2 * p * q**2, 10), z
            assert abs(mpmath.mpf(float(bend)) - 2 * p * q**2 * (2 * p - q)) <= 20 * EPS * p * q**2 + 2 * TINY, z


@pytest.mark.parametrize("K", [2, 3, 11])
def test_softmax_is_exact_to_some_units_in_the_last_place(K):
    rng = np.random.default_rng(K)
    Z = np.concatenate([rng.normal(size=(30, K)) * 10.0 ** rng.integers(-9, 3, size=(30, 1)), np.zeros((1, K))])
    codes = rng.integers(0, K, size=len(Z))
    with mpmath.workdps(60):
        for z, code, (loss, slope, P) in zip(Z, codes, at_scores(loops.SOFTMAX, Z, K, codes), strict=True):
            e = [mpmath.exp(mpmath.mpf(float(s)) - mpmath.mpf(float(z.max()))) for s in z]
            exact = [value / sum(e) for value in e]
            rounding = float(z.max() - z.min()) + K  # of the differences of scores, which are rounded
            assert within(loss, -mpmath.log(exact[code]), 6 + K + rounding)
            for c in range(K):
                assert within(P[c], exact[c], 6 + K + rounding)
                size = 1 if c == code else exact[c]
                assert abs(slope[c] - (exact[c] - int(c == code))) <= (8 + K + rounding) * EPS * size


@pytest.mark.parametrize("what", [loops.LOG, loops.SIGMOID, loops.SQUARED_HINGE, loops.SQUARED])
def test_what_is_no_number_stays_so_and_touches_no_other_row(what):
    case = Case(what, 100, 9, 1, 0)
    whole = case.run(loops.pass_dense, case.X)[1]
    case.X[37, 3] = np.nan
    sums, rows = case.run(loops.pass_dense, case.X)
    assert np.isnan(sums[0])
    assert np.isnan(sums[2])
    others = np.arange(100) != 37
    assert rows[others].tobytes() == whole[others].tobytes()
    assert np.isnan(rows[37]) or what in (loops.SQUARED, loops.SQUARED_HINGE)  # whose curvature is 0 or 2


def test_infinite_scores_have_the_limits_of_the_loss():
    with np.errstate(invalid="ignore"):  # the rows are the scores here, and their gradient is infinity times 0
        (right, (gentle,), (flat,)), (wrong, (steep,), (_,)) = at_scores(loops.LOG, [np.inf, -np.inf])
    assert (right, abs(gentle), flat) == (0.0, 0.0, 0.0)
    assert (wrong, steep) == (np.inf, -1.0)


# ---------------------------------------------------------------------- the same bits
@compiled
@pytest.mark.parametrize("what", ALL)
@pytest.mark.parametrize("shape", [(500, 5), (700, 61), (150, 400)])
def test_every_processor_level_gives_the_same_bits(what, shape):
    names = library.available()
    for k in (1, 3):
        case = Case(what, *shape, k, 1, offset=k > 1)
        dense, csr = set(), set()
        for name in names[: names.index(library.best(names)) + 1]:
            loaded = library.load(name)

            def by_hand(loop, suffix, loaded=loaded):
                function = loop.compiled(loaded, suffix)
                return lambda *given: function(*[a.ctypes.data if isinstance(a, np.ndarray) else a for a in given])

            for found, loop, suffix, X in (
                (dense, loops.pass_dense, "_f64", case.X),
                (csr, loops.pass_csr, "_f64_i32", sparse.csr_array(case.X)),
            ):
                found.add(b"".join(part.tobytes() for part in case.run(by_hand(loop, suffix), X)))
        assert len(dense) == len(csr) == 1


@compiled
@pytest.mark.parametrize("what", [loops.LOG, loops.SOFTMAX, loops.GATHER])
def test_rows_may_come_in_several_calls(what):
    case = Case(what, 3000, 33, 3, 2)
    segment = loops.segment_rows(33)
    pieces = [(start, min(start + segment, 3000)) for start in range(0, 3000, segment)]
    together, apart = case.run(loops.pass_dense, case.X), case.run(loops.pass_dense, case.X, pieces)
    assert len(pieces) > 2
    assert all(a.tobytes() == b.tobytes() for a, b in zip(together, apart, strict=True))


def big(kind):
    """A table of whole numbers that every type holds, larger than what is read in one call."""
    return np.random.default_rng(0).integers(-9, 9, size=(9000, 61)).astype(kind)


def strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "strided": strided,
    "row strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "read-only": lambda X: (X.setflags(write=False), X)[1],
}


def all_passes(X, conditioned=True):
    """The bytes of everything that passes over a table make of it."""
    rng = np.random.default_rng(5)
    n, d = X.shape
    design = as_design(X)
    if conditioned:
        design = design.centred(np.ones(n)).scaled(rng.uniform(0.5, 2.0, d))
    codes, weight, rows = rng.integers(0, 3, n), rng.random(n), np.empty((n, 3))
    V, R = rng.normal(size=(d + 1, 3)), rng.normal(size=(n, 2))
    values, G = swept(design, Pass(loops.SOFTMAX, 3, codes, weight, rows, None, 3), V)
    H = design.gram(weight)
    centres = rng.normal(size=(3, d))
    sums = design.class_sums(codes, weight, 3), design.class_sums(codes, weight, 3, centres)
    parts = (values, G, rows, design.dot(V), design.dot(np.tile(V, 4)), design.tdot(R), H, *sums)
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "i8", "i1", "?"])
def test_every_layout_gives_the_bits_of_C_order(layout, kind):
    X = big(kind)
    assert all_passes(LAYOUTS[layout](X.copy())) == all_passes(X)


@pytest.mark.parametrize("kind", ["f4", "f2", "i1", "i4"])
def test_every_type_gives_the_bits_of_float64(kind):
    assert all_passes(big(kind)) == all_passes(big(kind).astype(float))


@pytest.mark.usefixtures("many_cores")
@pytest.mark.parametrize("kind", ["dense", "Fortran", "sparse", "sparse bool"])
def test_threads_change_no_bit(kind):
    X = big("f8") * (np.random.default_rng(3).random((9000, 61)) < 0.5)
    X = {"dense": X, "Fortran": np.asfortranarray(X)}.get(kind, sparse.csr_array(X if kind == "sparse" else X > 0))
    try:
        found = set()
        for count in (1, 2, 5, 16):
            separatrix.set_threads(count)
            found.add(all_passes(X, conditioned=not sparse.issparse(X)))
    finally:
        separatrix.set_threads(None)
    assert len(found) == 1


@given(n=st.integers(1, 10**10), d=st.integers(1, 10**5), k=st.integers(1, 50))
def test_chunks_are_of_whole_segments_and_no_call_is_long(n, d, k):
    segment = loops.segment_rows(d)
    rows = chunk_rows(n, float(n) * d * k, segment)
    assert rows >= n or rows % segment == 0
    assert rows * d * k <= 2 * max(CALL, segment * d * k)
