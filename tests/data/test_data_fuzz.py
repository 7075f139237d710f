"""Readers on bytes of any kind: a table, or an error that names the file; never anything else."""

import bz2
import csv
import gzip
import io
import json
import lzma
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from separatrix.data import Encoder, read_chunks, read_table
from separatrix.errors import DataError

cell = st.one_of(
    st.sampled_from(
        [
            "",
            "NA",
            "1",
            "-2.5",
            "1e400",
            "inf",
            "true",
            '"',
            '""',
            '"a,b"',
            "x\ny",
            "\0",
            "é",
            "2020-01-01",
            "1/2/21 3:04",
        ]
    ),
    st.text(max_size=4),
)
line = st.lists(cell, max_size=5)
csv_like = st.lists(line, max_size=12).map(lambda rows: "\n".join(map(",".join, rows)).encode("utf-8", "surrogatepass"))
pair = st.tuples(st.sampled_from(["1", "2", "9", "-1", "x", "", "qid", "99999999999"]), cell).map(":".join)
svm_like = st.lists(st.lists(pair, max_size=4), max_size=8).map(
    lambda rows: "\n".join(" ".join(["1", *row]) for row in rows).encode("utf-8", "surrogatepass")
)
arff_like = st.tuples(
    st.lists(st.sampled_from(["a numeric", "b {u, 'v w'}", "'c d' string", "e date", "f"])), csv_like
).map(lambda parts: b"@relation r\n" + "".join(f"@attribute {a}\n" for a in parts[0]).encode() + b"@data\n" + parts[1])
compressed = st.sampled_from([gzip.compress, lzma.compress, bz2.compress])
anything = st.one_of(
    st.binary(max_size=200), csv_like, svm_like, arff_like, st.builds(lambda data, how: how(data), csv_like, compressed)
)
formats = st.sampled_from([None, "csv", "tsv", "svmlight", "parquet", "arff"])


def agree(table):
    """The table as numbers: finite, the same by an encoder that was a file in between, as records, and row by row."""
    encoder = Encoder.fit(table, scale=True)
    X, names = encoder.transform(table)
    assert X.shape == (table.n_rows, len(names)) == (table.n_rows, len(encoder.scales))
    assert sorted(place for places in encoder.groups.values() for place in places) == list(range(len(names)))
    again = Encoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert again.names == names
    assert (again.transform(table)[0] != X).sum() == 0
    X = X.toarray() if sparse.issparse(X) else X
    assert np.isfinite(X).all()
    if table.frame is None:
        return
    rows = table.frame.to_dicts()
    other = again.transform(rows)[0]
    np.testing.assert_array_equal(other.toarray() if sparse.issparse(other) else other, X)
    fill = again.filler()
    for row, x in zip(rows, X, strict=True):
        found = fill(row)
        assert found is None or np.array_equal(found, x)
    assert not again.surprises


def exercise(data, format, target):
    """Read the bytes in every way; `DataError` is the one error there may be."""
    with suppress(DataError):
        table = read_table(io.BytesIO(data), format=format, target=target)
        agree(table)
    with suppress(DataError):
        chunks = list(read_chunks(io.BytesIO(data), rows=2, format=format))
        assert sum(chunk.n_rows for chunk in chunks) > 0


pools = st.sampled_from(
    [
        ["2020-01-31", "2021-02-28 10:00", "1999-12-31T23:59:59Z"],
        ["1/2/21", "12/11/1999", "3/4/2005 5:06 pm"],
        ["31.12.2020", "1.1.21", "5.6.1970"],
        ["a few words here", "words of a text", "here a text of few words", "Ünï çode wörds here"],
        ["true", "FALSE", "True"],
        ["f", "m"],
        ["Rome", "Oslo", "New York", " padded ", "3", "03"],
        ["1", "2", "3.5", "-1e-3", "1e300"],
        ["1,234.5", "12,000", "7"],
        ["12%", "3.5%"],
        ["9007199254740993", "5", "123456789012"],
        ["7"],
    ]
)
column = st.tuples(pools, st.sampled_from([[], ["", "NA"], ["?"]])).flatmap(
    lambda parts: st.lists(st.sampled_from([*parts[0], *parts[1]]), min_size=30, max_size=30)
)


@settings(max_examples=150)
@given(st.lists(column, min_size=1, max_size=4))
def test_tables_of_any_columns(columns):
    text = io.StringIO()
    csv.writer(text).writerows([[f"name{j}" for j in range(len(columns))] + ["y"]])
    csv.writer(text).writerows([[*row, "ab"[i % 2]] for i, row in enumerate(zip(*columns, strict=True))])
    with suppress(DataError):
        agree(read_table(io.BytesIO(text.getvalue().encode()), target="y", format="csv"))


@settings(max_examples=400)
@given(anything, formats, st.sampled_from([None, "a", "1", ""]))
@example(b"1,2\n3,4", None, "1")
@example(b'"a', "csv", None)
@example(b"a\n\n\n", "csv", None)
@example(b"PAR1PAR1PAR1", "parquet", None)
@example(b"\x1f\x8b", None, None)
def test_any_bytes(data, format, target):
    exercise(data, format, target)


def test_parquet_cut_off_anywhere():
    file = io.BytesIO()
    pl.DataFrame({"a": [1.0, 2.0, None], "b": ["x", None, "y"], "y": [0, 1, 0]}).write_parquet(file)
    raw = file.getvalue()
    for n in range(0, len(raw), 5):
        with pytest.raises(DataError):
            read_table(io.BytesIO(raw[:n]), format="parquet", target="y")


@given(st.lists(st.tuples(st.text(max_size=8), st.sampled_from(["u", "v"])), min_size=1, max_size=30))
def test_chunks_and_the_whole_agree(cells):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([("t", "y"), *[(cell.replace("\0", ""), label) for cell, label in cells]])
    data = text.getvalue().encode("utf-8", "replace")
    whole = read_table(io.BytesIO(data), format="csv")
    parts = [row for chunk in read_chunks(io.BytesIO(data), rows=3, format="csv") for row in chunk.frame.rows()]
    assert parts == whole.frame.rows()
    assert len(parts) == len(cells)


def test_random_bytes_of_every_length():
    import random

    source = random.Random(0)
    for n in range(0, 300, 7):
        for format in (None, "csv", "svmlight", "parquet"):
            with pytest.raises(DataError):
                read_table(io.BytesIO(b"\0" + source.randbytes(n)), format=format, target="y")
