"""What a design of rows in a file gives, piece by piece, is what the design of the rows in memory does."""

import numpy as np
from files.blocks import stored
from files.test_streamed_fits import csr, dense
from scipy import sparse

from separatrix.design import as_design
from separatrix.design.block import Block


def test_blocks_are_read_when_they_are_asked_for():
    X, _ = dense()
    with stored(X) as rows:
        design = as_design(rows)
        assert isinstance(design.block(10, 20), Block)
        assert np.array_equal(design.take([5, 3]).array(), X[[5, 3]])
        assert np.array_equal(design.row(29_999), X[-1])
        assert design.find(lambda x: x == X[21_000, 7], np.arange(20)) == (21_000, 7, X[21_000, 7])


def test_entries_of_sparse_rows_are_found_and_constant_columns_seen():
    X, _ = csr(n=9000)
    X = sparse.hstack([X, np.ones((9000, 1)), sparse.csr_matrix((9000, 1))], format="csr")
    with stored(X) as rows:
        there, here = as_design(X), as_design(rows)
        every = np.arange(302)
        assert np.array_equal(here.constant(every), there.constant(every))
        assert np.array_equal(here.subtractable(), there.subtractable())
        for bad in (lambda x: x > 3.5, lambda x: x < -99, lambda x: x == 0):
            assert here.find(bad, every) == there.find(bad, every)
            assert here.find(bad, np.array([3, 300])) == there.find(bad, np.array([3, 300]))
