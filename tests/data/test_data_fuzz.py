"""Readers on bytes of any kind: a table, or an error that names the file; never anything else."""

import gzip
import io
from contextlib import suppress

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from separatrix.data import Encoder, read_chunks, read_table
from separatrix.errors import DataError

cell = st.one_of(
    st.sampled_from(
        ["", "NA", "1", "-2.5", "1e400", "inf", "true", '"', '""', '"a,b"', "x\ny", "\0", "é", "2020-01-01"]
    ),
    st.text(max_size=4),
)
line = st.lists(cell, max_size=5)
csv_like = st.lists(line, max_size=12).map(lambda rows: "\n".join(map(",".join, rows)).encode("utf-8", "surrogatepass"))
pair = st.tuples(st.sampled_from(["1", "2", "9", "-1", "x", "", "qid", "99999999999"]), cell).map(":".join)
svm_like = st.lists(st.lists(pair, max_size=4), max_size=8).map(
    lambda rows: "\n".join(" ".join(["1", *row]) for row in rows).encode("utf-8", "surrogatepass")
)
anything = st.one_of(st.binary(max_size=200), csv_like, svm_like, csv_like.map(gzip.compress))
formats = st.sampled_from([None, "csv", "tsv", "svmlight", "parquet"])


def exercise(data, format, target):
    """Read the bytes in every way; `DataError` is the one error there may be."""
    with suppress(DataError):
        table = read_table(io.BytesIO(data), format=format, target=target)
        encoder = Encoder.fit(table)
        X, names = encoder.transform(table)
        assert X.shape == (table.n_rows, len(names))
    with suppress(DataError):
        chunks = list(read_chunks(io.BytesIO(data), rows=2, format=format))
        assert sum(chunk.n_rows for chunk in chunks) > 0


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
    import csv

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
