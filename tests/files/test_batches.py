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
    (tmp_path / "text.npy").write_text("a,b\n")
    cases = {
        "absent.npy cannot be read: No such file": ("X.npy", str(tmp_path / "absent.npy")),
        "objects.npy is no array of numbers or text": ("X.npy", tmp_path / "objects.npy"),
        "text.npy is no array of numbers or text": ("X.npy", [tmp_path / "text.npy"]),
        r"X.npy has the shape \(60, 3\)": ("X.npy", tmp_path / "X.npy"),
        r"shape \(60, 0\), where rows and columns": ("none.npy", tmp_path / "words.npy"),
        "target=-1": ("X.npy", True),
        "target='y.npy', for each one": ("X.npy", WORDS),
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


def test_rows_are_no_matrix_themselves():
    with open([(X, WORDS)]) as rows, pytest.raises(InvalidInputError, match=r"fit\(rows.X, rows.y\)"):
        LogisticRegression().fit(rows, rows.y)
