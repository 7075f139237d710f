"""What passes read and find besides: rows of any strides in C order, extremes, sums by class; C against references."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops.twins import same_bits

from separatrix.loops.moments import class_sums, extremes
from separatrix.loops.packing import KINDS, kind_of, pack, packed

EPS = float(np.finfo(float).eps)


def test_half_precision_is_widened_exactly():
    bits = np.arange(1 << 16, dtype=np.uint16)
    found = np.empty(len(bits), dtype=np.float32)
    packed(bits.view(np.float16)[:, None], found[:, None])
    expected = bits.view(np.float16).astype(np.float32)
    numbers = ~np.isnan(expected)
    assert found[numbers].tobytes() == expected[numbers].tobytes()
    assert np.isnan(found[~numbers]).all()


@pytest.mark.parametrize("dtype", [*KINDS, *(f">{kind}" for kind in KINDS), "g"])
@given(m=st.integers(0, 40), d=st.integers(0, 40), down=st.sampled_from([1, 2, -1]), right=st.sampled_from([1, 3, -2]))
def test_packed_rows_are_the_rows(dtype, m, d, down, right):
    whole = np.random.default_rng(0).integers(0, 100, size=(2 * m + 1, 3 * d + 1)).astype(dtype)
    for X in (whole, np.asfortranarray(whole)):
        rows = X[::down, ::right][:m, :d]
        for kind in (np.float32, np.float64):
            out = np.full((m + 1, d), -1.0, dtype=kind)
            packed(rows, out)
            assert (out[:m] == rows[: len(out) - 1]).all()
            assert (out[m:] == -1.0).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", "<>")
@given(
    m=st.sampled_from([0, 1, 7, 8, 63, 64, 65, 200]), d=st.integers(0, 20), turned=st.booleans(), seed=st.integers(0, 9)
)
def test_packing_is_that_of_the_reference(kind, order, m, d, turned, seed):
    dtype, rng = np.dtype(order + kind), np.random.default_rng(seed)
    raw = rng.integers(0, 2 if kind == "b1" else 256, size=m * d * dtype.itemsize, dtype=np.uint8)  # any bits at all
    X = raw.view(dtype).reshape((d, m) if turned else (m, d))
    X = X.T if turned else X
    for out in (np.float64, np.float32):
        found, expected = np.zeros((m, d), dtype=out), np.ones((m, d), dtype=out)
        with np.errstate(all="ignore"):
            for loop, rows in ((pack, found), (pack.reference, expected)):
                loop(X.ctypes.data, *X.strides, kind_of(dtype), m, d, rows)
        assert same_bits(found, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [0, 1, 7, 5000])
def test_extremes_are_the_least_and_the_largest_number(dtype, n):
    x = np.random.default_rng(n).normal(size=n).astype(dtype)
    for strange in (None, np.inf, -np.inf, np.nan):
        if strange is not None and n:
            x[n // 2] = strange
        found = np.zeros(2)
        extremes(x, n, found)
        assert np.array_equal(found, [x.min(initial=np.inf), x.max(initial=-np.inf)], equal_nan=True)


@given(n=st.sampled_from([0, 1, 9, 4096, 9000]), d=st.integers(1, 20), k=st.integers(1, 4), seed=st.integers(0, 99))
@pytest.mark.parametrize("squared", [0, 1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_by_class_are_those_of_the_reference(dtype, squared, n, d, k, seed):
    rng = np.random.default_rng(seed)
    X, codes, weight = rng.normal(size=(n, d)).astype(dtype), rng.integers(0, k, n), rng.random(n)
    for offset in [rng.normal(size=(k, d))] if squared else [None, rng.normal(size=d)]:
        found, expected, work = np.zeros((k, d)), np.zeros((k, d)), np.empty((k, d))
        class_sums(X, 0, 0, n, d, 1000, squared, offset, codes, weight, k, found, work)
        class_sums.reference(X, 0, 0, n, d, 1000, squared, offset, codes, weight, k, expected, work)
        size = (float(np.abs(X).max(initial=0.0)) + (0.0 if offset is None else float(np.abs(offset).max()))) ** 2 + 1.0
        assert np.abs(found - expected).max(initial=0.0) <= 4 * EPS * n * size
