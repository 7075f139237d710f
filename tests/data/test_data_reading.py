"""Readers: every format, every way in, and every error with the words that help."""

import gzip
import hashlib
import io
import re
import sys
from datetime import date

import numpy as np
import polars as pl
import pytest

from separatrix.data import Encoder, embedded, read_chunks, read_table
from separatrix.errors import DataError, SeparatrixError

CSV = b"age,sex,ill\n30,f,no\n41,m,yes\n?,f,no\n"


def table_of(text, **kwargs):
    return read_table(io.BytesIO(text.encode() if isinstance(text, str) else text), **kwargs)


def kinds(text, **kwargs):
    return {column.name: column.kind for column in table_of(text, **kwargs).columns}


def rows(cells, n=30):
    """A table of one column, the cells repeated."""
    return "x,y\n" + "".join(f"{cells[i % len(cells)]},{i % 2}\n" for i in range(n))


# ------------------------------------------------------------------ what is read
def test_a_table_has_its_labels_apart():
    table = table_of(CSV, target="ill")
    assert table.frame.columns == ["age", "sex"]
    assert table.y.tolist() == ["no", "yes", "no"]
    assert (table.target, table.n_rows, table.matrix) == ("ill", 3, None)
    assert table.fingerprint == hashlib.sha256(CSV).hexdigest()
    age = table.columns[0]
    assert (age.name, age.kind, age.n_missing, age.n_unique, age.example) == ("age", "number", 1, 2, "30")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", CSV),
        ("a.tsv", CSV.replace(b",", b"\t")),
        ("a.csv", CSV.replace(b",", b";")),
        ("a.CSV.gz", gzip.compress(CSV, mtime=0)),
        ("noending", CSV),
        ("wrong.csv", gzip.compress(CSV, mtime=0)),
        ("a.csv", b"\xef\xbb\xbf" + CSV),
        ("a.csv", CSV.replace(b"\n", b"\r\n")),
        ("a.csv", CSV.replace(b"\n", b"\r")),
        ("a.csv", b"\n\n" + CSV.replace(b"\n", b"\n\n")),
        ("a.csv", CSV.rstrip()),
        ("a.csv", CSV.replace(b"f", b'"f"')),
        ("a.csv", CSV.replace(b",", b" , ")),
    ],
)
def test_ways_to_write_the_same_table(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    table = read_table(path, target="ill")
    assert table.source == name
    assert table.y.tolist() == ["no", "yes", "no"]
    assert table.frame.rows() == [("30", "f"), ("41", "m"), (None, "f")]
    assert next(read_chunks(str(path), rows=2)).frame.rows()[0] == ("30", "f", "no")


def test_standard_input_and_file_objects(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(CSV))))
    assert read_table("-", target="ill").source == "standard input"
    file = io.BytesIO(CSV)
    read_table(file)
    assert not file.closed
    with pytest.raises(DataError, match="mode 'rb'"):
        read_table(io.StringIO("a,b\n"))
    with pytest.raises(DataError, match="got a int"):
        read_table(3)


def test_the_format_can_be_said(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(b"1 2:3\n-1 1:1 2:5\n")
    assert read_table(path).matrix.shape == (2, 3)  # found from its content
    assert read_table(path, format="libsvm").y.tolist() == [1, -1]
    assert read_table(path, format="csv").names == ["1 2:3"]
    with pytest.raises(DataError, match="'csv', 'tsv', 'parquet', 'svmlight', 'arff' or None; got 'xls'"):
        read_table(path, format="xls")


def test_parquet(tmp_path):
    frame = pl.DataFrame(
        {
            "a": [1.5, None, float("nan")],
            "b": pl.Series(["u", "v", "u"], dtype=pl.Categorical),
            "c": [True, False, None],
            "y": [1, 2, 1],
        }
    )
    path = tmp_path / "t.parquet"
    frame.write_parquet(path)
    table = read_table(path, target="y")
    assert [(c.name, c.kind, c.n_missing) for c in table.columns] == [
        ("a", "constant", 2),
        ("b", "category", 0),
        ("c", "boolean", 1),
    ]
    assert table.y.tolist() == [1, 2, 1]
    (tmp_path / "t.parquet.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert read_table(tmp_path / "t.parquet.gz", target="y").fingerprint == table.fingerprint
    for name in ("t.parquet", "t.parquet.gz"):
        assert [chunk.n_rows for chunk in read_chunks(tmp_path / name, rows=2)] == [2, 1]
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DataError, match=r"t.parquet cannot be read as Parquet"):
        read_table(path)


def test_columns_of_a_libsvm_file_have_the_names_it_gives_them():
    zero, one = table_of("1 0:5 2:1\n0 2:2\n"), table_of("1 1:5 3:1\n0 3:2\n")
    assert (zero.names, one.names) == (["feature 0", "feature 2"], ["feature 1", "feature 3"])
    assert zero.y.dtype == np.int64
    assert table_of("0.5 1:1\n1 1:2\n").y.tolist() == ["0.5", "1"]
    assert table_of("1 qid:7 1:2 # a comment\n# all of it\n\n2 1:3\n").y.tolist() == [1, 2]
    X, names = Encoder.fit(one).transform(one)
    assert names == ["feature 1", "feature 3"]
    np.testing.assert_array_equal(X.toarray() if hasattr(X, "toarray") else X, [[5, 1], [0, 2]])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "0"], [1, 0]),
        (["1.0", "2.0"], [1.0, 2.0]),
        (["1.0", "0.5"], ["1", "0.5"]),  # scikit-learn takes fractions for quantities
        (["true", "False"], [True, False]),
        (["a", "b"], ["a", "b"]),
        (["1", "b"], ["1", "b"]),
        (["9007199254740993", "-9007199254740992"], [9007199254740993, -9007199254740992]),  # no floats
        (["9" * 30, "9" * 29 + "8"], ["9" * 30, "9" * 29 + "8"]),
    ],
)
def test_labels_keep_their_type(labels, expected):
    y = table_of("x,y\n" + "".join(f"1,{label}\n" for label in labels), target="y").y
    assert y.tolist() == expected
    assert type(y.tolist()[0]) is type(expected[0])


def test_the_embedded_table():
    table = embedded()
    assert (table.n_rows, len(table.columns), table.target) == (569, 30, "diagnosis")
    assert set(table.y) == {"malignant", "benign"}
    assert table.columns[0].name == "mean radius"
    assert re.fullmatch("[0-9a-f]{64}", table.fingerprint)
    assert {column.kind for column in table.columns} == {"number"}


# ------------------------------------------------------------------ what columns are
@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", "-3e2", "NA", "?"], "number"),
        (["1", "2.5", ".", "na", "\\N"], "number"),
        (["a", "b"], "category"),
        (["1", "2", "A"], "category"),
        (["TRUE", "false", ""], "boolean"),
        (["7"], "constant"),
        (["?"], "empty"),
        ([f"word{i}" for i in range(30)], "identifier?"),
        (["w" * 30 + f" {i}" * 5 for i in range(30)], "text"),
        ([f"w{i % 15}" for i in range(30)], "category"),
        (["2020-01-31", "2021-02-28 10:00"], "date"),
        (["31.12.2020", "1/2/21"], "date"),
        ([str(i) for i in range(30)], "identifier?"),
        ([str(i) for i in range(29)] + ["x"], "mixed"),
    ],
)
def test_kinds(cells, kind):
    assert kinds(rows(cells), target="y")["x"] == kind


def test_decimal_commas():
    table = table_of("x;y\n" + "".join(f"{i},5;{i % 2}\n" for i in range(20)), target="y")
    assert Encoder.fit(table).transform(table)[0][:3, 0].tolist() == [0.5, 1.5, 2.5]


def test_quotes_that_are_characters_in_a_tsv():
    table = table_of('a\tb\n5" pipe\tx\n"quoted\ty\n', format="tsv")
    assert table.frame.rows() == [('5" pipe', "x"), ('"quoted', "y")]
    assert table_of('a\tb\n"one\ttwo"\tx\n', format="tsv").frame.rows() == [("one\ttwo", "x")]


def test_columns_without_a_name():
    table = table_of(",a\n1,2\n")
    assert table.names == ["column 1", "a"]
    assert "column 1" in table.notes[0]


def test_columns_can_be_left_out():
    assert table_of(CSV, target="ill").drop(["age"]).names == ["sex"]
    matrix = table_of("1 1:5 3:1\n0 3:2\n").drop(["feature 3"])
    assert matrix.names == ["feature 1"]
    with pytest.raises(DataError, match=r"no column 'aeg'. Did you mean 'age'"):
        table_of(CSV).drop(["aeg"])


def test_rows_without_a_label_are_left_out_and_counted():
    table = table_of("x,y\n1,a\n2,\n3,b\n4,NA\n5,a\n6,b\n", target="y")
    assert table.y.tolist() == ["a", "b", "a", "b"]
    assert table.row_numbers.tolist() == [1, 3, 5, 6]
    assert table.frame["x"].to_list() == ["1", "3", "5", "6"]
    assert table.notes == ("2 of 6 rows have no 'y' and are left out: rows 2, 4.",)


# ------------------------------------------------------------------ what is wrong with a file
ERRORS = {
    "ragged, short": ("a,b\n1,2\n3\n", None, r"row 2 \(line 3\) has 1 cells, but the header has 2 columns.*comma"),
    "ragged, long": ("a,b\n1,2\n\n3,4,5\n", None, r"row 2 \(line 4\) has 3 cells"),
    "title": (
        "Pets\n\na,b\n1,2\n",
        None,
        r"row 2 \(line 3\) has 2 cells.*a title or comment above the header has to go",
    ),
    "ragged, quoted": ('a,b\n"1\n1",2\n3\n', None, r"row 2 \(line 4\) has 1 cells"),
    "quote": ('a,b\n1,"2\n3,4\n', None, r"row 1 \(line \d\) cannot be read.*quote that is not closed"),
    "quote after": ('a,b\n1,"2"3\n', None, r"row 1 \(line 2\) cannot be read"),
    "repeated": ("a,b,a\n1,2,3\n", None, r"header has 'a' more than once.*no header line, add one"),
    "NUL": ("a,b\n1,2\n3,\0\n", None, "line 3 has a NUL byte"),
    "bytes": (b"a,b\n1,2\n3,\xe9\n", None, "line 3 has the byte 0xe9, which is not UTF-8.*iconv"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), None, "is in UTF-16: save it as UTF-8"),
    "empty": ("", None, "is empty"),
    "blank": ("\n \n", None, "is empty"),
    "header only": ("a,b\n", None, "has a header but no rows"),
    "target": ("age,b\n1,2\n", "Agee", "no target column 'Agee'. Did you mean 'age'. Its columns: 'age', 'b'"),
    "no header": (
        "39,Private\n40,Self\n",
        "income",
        "no target column 'income'.*first line is a row of data.*add a header line",
    ),
    "blanks": ("age  kind\n1  a\n2  b\n", "kind", "no target column 'kind'.*separated by blanks.*commas"),
    "one label": ("a,b\n1,2\n2,2\n", "b", "target 'b' has one value only, 2.*two classes"),
    "no label": ("a,b\n1,\n2,\n", "b", "target 'b' is missing in 2 of 2 rows. Is it the right column"),
    "quantity": (
        "a,b\n" + "".join(f"1,{i}\n" for i in range(50)),
        "b",
        "50 different values.*quantity.*another column",
    ),
    "fractions": ("a,b\n" + "".join(f"1,{i % 12}.5\n" for i in range(99)), "b", "12 different values.*quantity"),
    "names": ("a,b\n" + "".join(f"1,n{i}\n" for i in range(50)), "b", "50 different values.*name or a text"),
    "infinite label": ("a,b\n1,inf\n2,1\n", "b", "target 'b' holds an infinite number"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_faults_of_a_csv(name, tmp_path):
    data, target, message = ERRORS[name]
    data = data.encode() if isinstance(data, str) else data
    path = tmp_path / "my.csv"
    path.write_bytes(data)
    with pytest.raises(DataError, match=f"(?s)my.csv.*{message}"):
        read_table(path, target=target)
    if target is None:
        with pytest.raises(DataError, match=f"(?s)my.csv.*{message}"):
            list(read_chunks(path, rows=1000))


SVMLIGHT_ERRORS = {
    "unsorted": ("1 1:1\n0 5:2 3:1\n", "line 2: feature 3 comes after feature 5: sort"),
    "repeated": ("1 3:1 3:1\n", "line 1: feature 3 is given twice"),
    "negative": ("1 -3:1\n", "line 1: the index -3 is below 0"),
    "large": ("1 99999999999999999999:1\n", "line 1: the index .* too large"),
    "two labels": ("1,2 3:1\n", "line 1: the row has several labels"),
    "word": ("1 1:1\nspam 3:1\n", "line 2: it starts with 'spam', where the label"),
    "no value": ("1 3\n", "'3' should be index:value"),
    "bad value": ("1 3:x\n", "feature 3 has the value 'x'"),
    "infinite": ("1 3:1\n0 3:inf\n", "row 2 has inf for feature 3"),
    "missing": ("1 3:nan\n0 3:1\n", "row 1 has nan for feature 3"),
    "infinite label": ("inf 3:1\n", "line 1: it starts with 'inf'"),
    "NUL": ("1 3:1\0\n", "line 1: it has a NUL byte"),
    "empty": ("\n\n", "is empty"),
    "comments": ("# nothing\n", "has no rows"),
}


@pytest.mark.parametrize("name", SVMLIGHT_ERRORS)
def test_faults_of_a_libsvm_file(name, tmp_path):
    text, message = SVMLIGHT_ERRORS[name]
    path = tmp_path / "my.svm"
    path.write_text(text)
    with pytest.raises(DataError, match=f"my.svm.*{message}"):
        read_table(path)


def test_a_libsvm_file_has_no_target_to_name():
    with pytest.raises(DataError, match=r"libsvm file.*no column 'y'. Leave the target out"):
        table_of("1 1:1\n0 1:2\n", target="y")
    with pytest.raises(DataError, match="target 'label' has one value only"):
        table_of("1 1:1\n1 1:2\n", target="label")


def test_files_that_are_not_there_or_damaged(tmp_path):
    with pytest.raises(DataError, match=r"no.csv cannot be read: No such file"):
        read_table(tmp_path / "no.csv")
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="compressed file is damaged or cut off"):
        table_of(gzip.compress(CSV * 1000)[:-40])
    with pytest.raises(DataError, match="compressed file is damaged or cut off"):
        list(read_chunks(io.BytesIO(gzip.compress(CSV)[:-8])))
    with pytest.raises(DataError, match="rows must be a whole number above 0"):
        list(read_chunks(io.BytesIO(CSV), rows=0))
    assert issubclass(DataError, SeparatrixError)
    assert issubclass(DataError, ValueError)


def test_columns_of_dates_and_lists_in_parquet(tmp_path):
    days = [date(2020, 1, 1), date(2021, 1, 1)]
    frame = pl.DataFrame({"when": days, "many": [[1], [2]], "raw": [b"a", b"b"], "y": [0, 1]})
    frame.write_parquet(tmp_path / "t.pq")
    table = read_table(tmp_path / "t.pq", target="y")
    assert [column.kind for column in table.columns] == ["date", "nested", "nested"]
    with pytest.raises(DataError, match=r"Column 'many' holds List\(Int64\).*leave it out"):
        Encoder.fit(table)
    with pytest.raises(DataError, match="target 'when' holds Date"):
        read_table(tmp_path / "t.pq", target="when")


# ------------------------------------------------------------------ some rows at a time
def test_chunks_are_the_table(tmp_path):
    lines = [f'{i},"cell, {i}\n{i}",{i % 3}\n' for i in range(1000)]
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "".join(lines))
    whole = read_table(path)
    chunks = list(read_chunks(path, rows=64))
    assert len(chunks) > 10
    assert pl.concat([chunk.frame for chunk in chunks]).equals(whole.frame)
    assert np.concatenate([chunk.row_numbers for chunk in chunks]).tolist() == list(range(1, 1001))
    path.write_text("a,b,c\n" + "".join(lines) + "1\n")
    with pytest.raises(DataError, match=r"row 1001 \(line 2002\) has 1 cells"):
        list(read_chunks(path, rows=64))


def test_chunks_of_a_libsvm_file():
    data = b"".join(b"%d %d:1\n" % (i % 2, 1 + i % 7) for i in range(100))
    chunks = list(read_chunks(io.BytesIO(data), rows=30))
    assert [chunk.n_rows for chunk in chunks] == [30, 30, 30, 10]
    encoder = Encoder.fit(table_of(data))
    X = np.vstack([np.asarray(encoder.transform(chunk)[0].todense()) for chunk in chunks])
    np.testing.assert_array_equal(X, encoder.transform(table_of(data))[0].toarray())


def test_a_quote_that_is_never_closed_does_not_gather_the_whole_file():
    def lines():
        yield b'a,b\n1,"2\n'
        for _ in range(20_000):
            yield b"3,4\n"

    class Endless(io.RawIOBase):
        rest, taken = lines(), 0

        def readable(self):
            return True

        def readinto(self, buffer):
            line = next(self.rest, b"")
            self.taken += 1
            buffer[: len(line)] = line
            return len(line)

    file = Endless()
    with pytest.raises(DataError, match="cannot be read"):
        list(read_chunks(file, rows=10))
    assert file.taken < 5000
