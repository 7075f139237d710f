"""Batches of the user and .npy files: labels of any kind, rows of any number in pieces, and what is wrong with them."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from separatrix import DataError, InvalidInputError, LogisticRegression
from separatrix.data import batches, open
from separatrix.files import BlockWriter

X = np.random.default_rng(0).normal(size=(60, 3))
WORDS = np.array(["no", "yes"])[np.arange(60) % 2]
LABELS = {
    "objects": WORDS.astype(object),
    "pandas": pd.Series(WORDS),
    "categories": pd.Series(WORDS).astype("category"),
    "polars": pl.Series(WORDS),
    "strings of NumPy": WORDS.astype(np.dtypes.StringDType()),
    "a column": WORDS[:, None],
    "numbers as objects": (WORDS == "yes").astype(int).astype(object),
    "nullable numbers": pd.Series(WORDS == "yes").astype("Int64"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_are_those_of_a_plain_array(kind):
    plain = WORDS if isinstance(np.asarray(LABELS[kind]).ravel()[0], str) else (WORDS == "yes").astype(int)
    with open([(X[:20], plain[:20]), (X[20:], LABELS[kind][20:])]) as rows:
        assert rows.y.dtype.kind == plain.dtype.kind
        assert np.array_equal(rows.y, plain)
        model = LogisticRegression().fit(rows.X, rows.y)
        assert np.array_equal(model.classes_, np.unique(plain))


WRONG = {
    "batch 1: row 2 has no label": ["a", None, "b"],
    "row 3 has no label": pd.Series([1, 0, None], dtype="Int64"),
    "labels are text in some rows and numbers in others": np.array(["a", 1, "b"], dtype=object),
    "y holds complex128": np.array([1j, 2, 1]),
    r"y holds datetime64\[D\]": np.array(["2020-01-01", "2020-01-02", "2020-01-01"], dtype="M8[D]"),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_no_label_is_said(words):
    with pytest.raises(DataError, match=words):
        open([(X[:3], WRONG[words])])


def test_weights_that_are_no_numbers_are_said():
    for weight in (["a"] * 60, [1.0] * 59, [[1.0, 2.0], [1.0]]):
        with pytest.raises(DataError, match="weights must be finite numbers and not negative, one for each of 60 rows"):
            open([(X, WORDS, weight)])


@pytest.fixture
def pieces(monkeypatch):
    """The shapes that a writer is given, where 500 bytes are looked at together."""
    seen, add = [], BlockWriter.add
    monkeypatch.setattr(batches, "PIECE_BYTES", 500)
    monkeypatch.setattr(BlockWriter, "add", lambda self, rows: (seen.append(rows.shape), add(self, rows))[1])
    return seen


def test_a_batch_of_any_length_is_written_in_pieces(pieces, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    weight = np.arange(60) % 5.0
    kept = weight > 0
    for given in (mapped, sparse.csr_matrix(X), sparse.csr_array(np.where(X > 1, X, 0))):
        expected = given.toarray() if sparse.issparse(given) else X
        pieces.clear()
        with open([(given, WORDS, weight)]) as rows:
            found = rows.X[:]
            assert np.array_equal(found.toarray() if rows.X.sparse else found, expected[kept])
            assert np.array_equal(rows.y, WORDS[kept])
            assert np.array_equal(rows.sample_weight, weight[kept])
        assert len(pieces) > 1
        assert sparse.issparse(given) or max(n for n, _ in pieces) <= 500 // 8 // 3
    wrong = X.copy()
    wrong[57, 2] = np.inf
    with pytest.raises(DataError, match="batch 1: row 58, column 2: inf"):
        open([(wrong, WORDS)])


@pytest.mark.parametrize("d", [1, 30, 200])
def test_npy_files_are_read_so_many_rows_at_a_time_as_their_width_allows(pieces, tmp_path, d):
    wide = np.random.default_rng(0).normal(size=(50, d))
    np.save(tmp_path / "X.npy", wide)
    np.save(tmp_path / "y.npy", np.arange(50) % 2)
    with open(tmp_path / "X.npy", tmp_path / "y.npy") as rows:
        assert np.array_equal(rows.X[:], wide)
    assert max(n for n, _ in pieces) == min(50, max(1, 500 // 8 // d))


def test_what_is_wrong_with_npy_files_is_said(tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "objects.npy", WORDS.astype(object))
    np.save(tmp_path / "none.npy", np.zeros((60, 0)))
    np.save(tmp_path / "words.npy", WORDS)
    np.savez(tmp_path / "archive.npz", WORDS)
    np.save(tmp_path / "none_left.npy", X[:, :1])
    (tmp_path / "text.npy").write_text("a,b\n")
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "X.npy").read_bytes()[:-3])
    cases = {
        "absent.npy cannot be read: No such file": ("X.npy", str(tmp_path / "absent.npy")),
        "objects.npy is no array of numbers or text": ("X.npy", tmp_path / "objects.npy"),
        "text.npy is no array of numbers or text": ("X.npy", [tmp_path / "text.npy"]),
        r"X.npy has the shape \(60, 3\)": ("X.npy", tmp_path / "X.npy"),
        r"shape \(60, 0\), where rows and columns": ("none.npy", tmp_path / "words.npy"),
        "target=-1": ("X.npy", True),
        "target='y.npy', for each one": ("X.npy", WORDS),
        "cut.npy is cut off: it should have 60 rows": ("cut.npy", -1),
        "archive.npz is no array of numbers or text": ("X.npy", tmp_path / "archive.npz"),
        "empty.npy has no bytes": ("empty.npy", -1),
        "none_left.npy: X has no columns": ("none_left.npy", 0),
    }
    before = set(os.listdir("/dev/fd"))
    for words, (name, target) in cases.items():
        with pytest.raises(DataError, match=words):
            open(tmp_path / name, target)
    assert set(os.listdir("/dev/fd")) == before


def test_other_labels_are_another_file(tmp_path):
    """A kept file holds the labels too: those of a file of their own may change while the rows do not."""
    np.save(tmp_path / "X.npy", X)
    for labels in (WORDS, WORDS[::-1]):
        np.save(tmp_path / "y.npy", labels)
        with open(tmp_path / "X.npy", str(tmp_path / "y.npy"), cache=tmp_path / "rows") as rows:
            assert np.array_equal(rows.y, labels)


def test_long_labels_count_as_memory():
    rows = np.zeros((50_000, 1)) + np.arange(2).repeat(25_000)[:, None]
    short = np.where(rows[:, 0] > 0, "yes", "no")
    open([(rows, short)], memory="50MB").close()
    with pytest.raises(DataError, match=r"50,000 rows of 1 columns keeps about .* MB .* raise memory"):
        open([(rows, np.char.add(short, "-" * 300))], memory="50MB")


def test_memory_of_wide_rows_is_that_of_their_blocks():
    """Words by their hashes are a million columns, of which a row has a few; and few wide rows are one short block."""
    n, d = 1000, 1 << 20
    places = np.random.default_rng(0).integers(0, d, size=(n, 20))
    S = sparse.csr_matrix((np.ones(20 * n), places.ravel(), np.arange(0, 20 * n + 1, 20)), shape=(n, d))
    with open([(S, np.arange(n) % 2)], memory="100MB") as rows:
        assert (rows.X[:] != S).nnz == 0
    wide = np.random.default_rng(0).normal(size=(4, 200_000))
    with open([(wide, [0, 1, 0, 1])], memory="100MB") as rows:
        assert np.array_equal(rows.X[:], wide)


def test_rows_are_no_matrix_themselves():
    with open([(X, WORDS)]) as rows, pytest.raises(InvalidInputError, match=r"fit\(rows.X, rows.y\)"):
        LogisticRegression().fit(rows, rows.y)


def test_what_is_masked_is_no_number():
    """NumPy drops the mask, and the number below it would be learned."""
    masked = np.ma.masked_array(X, mask=X > 1)
    for batch in ((masked, WORDS), (X, np.ma.masked_array(WORDS, masked.mask[:, 0])), (X, WORDS, masked[:, 0])):
        with pytest.raises(DataError, match=r"batch 1: (X|y|the weight) is masked in row \d+"):
            open([batch])
    with open([(np.ma.masked_array(X), WORDS)]) as rows:  # nothing is
        assert np.array_equal(rows.X[:], X)


def test_no_class_is_lost_with_rows_of_weight_0():
    """In memory it stays a class; here its rows are left out, and nobody could know of it."""
    labels = np.arange(60) % 3
    for batches_ in ([(X, labels, labels < 2)], [(X[labels < 2], labels[labels < 2], [1] * 40), (X, labels, [0] * 60)]):
        with pytest.raises(DataError, match="all rows of the class 2 have weight 0"):
            open(batches_)
    with pytest.raises(DataError, match="no rows with a weight above 0"):
        open([(X, labels, [0] * 60)])
    with open([(X, labels, np.arange(60) < 50)]) as rows:
        assert rows.y.tolist() == labels[:50].tolist()


MERGED = {
    "truth values in some parts and numbers in others": (np.array([True, False]), np.array([1, 2])),
    "text in some parts and bytes in others": (np.array(["a", "b"]), np.array([b"a", b"\xff"])),
    r"beyond 2\*\*53": (np.array([2**63, 2**63 + 1], dtype=np.uint64), np.array([1, 2])),
    r"labels are beyond 2\*\*53": (np.array([2**62, 2**62 + 1]), np.array([1.0, 2.0])),
}


@pytest.mark.parametrize("words", MERGED)
def test_labels_of_several_batches_are_never_taken_for_one(words):
    with pytest.raises(DataError, match=words):
        open([(X[:2], labels) for labels in MERGED[words]])
    with open([(X[:2], np.array([1, 2], dtype=np.uint64)), (X[:2], np.array([-1, 2]))]) as rows:
        assert rows.y.tolist() == [1, 2, -1, 2]


@pytest.mark.parametrize("kind", [np.float16, ">f8", np.int8])
def test_sparse_batches_of_any_type(kind):
    """Types that SciPy does not compute with, and entries of one place whose sum is beyond their type."""
    S = sparse.csr_matrix((np.full(6, 100, dtype=kind), [0, 0, 1, 2, 0, 1], [0, 2, 3, 4, 5, 6]), shape=(5, 3))
    with open([(S, WORDS[:5])]) as rows:
        assert np.array_equal(rows.X[:].toarray(), [[200, 0, 0], [0, 100, 0], [0, 0, 100], [100, 0, 0], [0, 100, 0]])
    assert S.nnz == 6


def test_entries_of_one_place_whose_sum_overflows_are_named():
    S = sparse.csr_matrix((np.array([1.0, 1e308, 1e308]), [0, 2, 2], [0, 1, 3]), shape=(2, 3))
    with pytest.raises(DataError, match="batch 1: row 2, column 2: inf is not finite"):
        open([(S, WORDS[:2])])
