"""A loop in C and its Python reference on the same arguments."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

ORDINARY = st.floats(-8.0, 8.0, width=32)
EXTREME = st.one_of(ORDINARY, st.sampled_from([0.0, -0.0, 5e-324, -1e-310, 1e-30, 1e30, -1e30, 1e-150, 1e150]))
BROKEN = st.one_of(EXTREME, st.sampled_from([np.inf, -np.inf, np.nan, 1.7e308]))


def same_bits(a, b):
    """Whether two arrays have the same bits, but for the kind of a NaN."""
    a, b = np.asarray(a), np.asarray(b)
    nan = np.isnan(a) if a.dtype.kind == "f" else np.zeros(a.shape, dtype=bool)
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f") and a[~nan].tobytes() == b[~nan].tobytes()


def copied(arguments):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def agree(loop, arguments):
    """C and reference return the same, and leave the same bits in all arrays; gives these."""
    found, expected = copied(arguments), copied(arguments)
    with np.errstate(all="ignore"):
        wanted = loop.reference(*expected)
    assert loop(*found) == wanted
    for number, (a, b) in enumerate(zip(found, expected, strict=True)):
        if isinstance(a, np.ndarray):
            assert same_bits(a, b), (number, a, b)
    return found


def cast(values, dtype):
    """As this type; what float32 does not hold is made to fit."""
    if dtype == np.float32:
        largest = float(np.finfo(np.float32).max)
        values = np.where(np.isfinite(values), np.clip(values, -largest, largest), values)
    return values.astype(dtype)


@st.composite
def tables(draw, dtype, entries=EXTREME, most_rows=6, most_columns=20):
    """A dense table (n, d)."""
    n, d = draw(st.integers(0, most_rows)), draw(st.integers(0, most_columns))
    return cast(draw(arrays(np.float64, (n, d), elements=entries)), dtype)


@st.composite
def csr_tables(draw, dtype, index, entries=EXTREME, most_rows=6, most_columns=12):
    """(data, indices, indptr, n, d) of rows whose columns come in any order, and some twice."""
    n, d = draw(st.integers(0, most_rows)), draw(st.integers(1, most_columns))
    lengths = draw(st.lists(st.integers(0, 15), min_size=n, max_size=n))
    m = sum(lengths)
    indices = draw(arrays(index, m, elements=st.integers(0, d - 1)))
    data = cast(draw(arrays(np.float64, m, elements=entries)), dtype)
    return data, indices, np.append(0, np.cumsum(lengths)).astype(index), n, d


def sparse_table(rng, n, d, density, dtype=np.float64, index=np.int32):
    """(data, indices, indptr) of a random table of usual numbers."""
    X = sparse.random_array((n, d), density=density, format="csr", rng=rng, data_sampler=rng.standard_normal)
    return X.data.astype(dtype), X.indices.astype(index), X.indptr.astype(index)
