"""ARFF, other compressions, and files without a header line: read, or refused in a sentence that says what to do."""

import bz2
import gzip
import io
import lzma

import pytest
from folder import DATA, index, needs_data

from separatrix.data import Encoder, read_chunks, read_table
from separatrix.errors import DataError

ARFF = b"""% a comment
@RELATION weather

@attribute outlook {sunny, overcast, 'light rain'}
@ATTRIBUTE "wind speed" numeric
@attribute code {1,2,3}
@attribute note string
@attribute day date "yyyy-MM-dd"
@attribute class {yes, no}
@DATA
% another
sunny,3.5,1,'it\\'s warm, dry',2020-01-01,yes
overcast,?,2,"two words",2020-02-03,no

'light rain',1e2,3,?,2020-03-01,no
"""


def table_of(data, **kwargs):
    return read_table(io.BytesIO(data if isinstance(data, bytes) else data.encode()), **kwargs)


def test_arff(tmp_path):
    table = table_of(ARFF, target="class")
    assert table.names == ["outlook", "wind speed", "code", "note", "day"]
    assert table.frame.rows() == [
        ("sunny", "3.5", "1", "it's warm, dry", "2020-01-01"),
        ("overcast", None, "2", "two words", "2020-02-03"),
        ("light rain", "1e2", "3", None, "2020-03-01"),
    ]
    assert table.y.tolist() == ["yes", "no", "no"]
    kinds = {column.name: column.kind for column in table.columns}
    assert (kinds["code"], kinds["wind speed"], kinds["day"]) == ("category", "number", "date")
    assert Encoder.fit(table).names[:5] == [
        "outlook=light rain", "outlook=overcast", "outlook=sunny", "wind speed", "wind speed is missing",
    ]  # fmt: skip
    (tmp_path / "w.arff").write_bytes(ARFF)
    assert [chunk.n_rows for chunk in read_chunks(tmp_path / "w.arff", rows=2)] == [2, 1]


def test_only_line_ends_end_a_row_of_an_arff_file():
    text = "@relation r\n@attribute a string\n@attribute b {u, v}\n@data\n'x\u2028y\x85',u\nz\x0c,v\n"
    for end in ("\n", "\r\n", "\r"):
        table = table_of(text.replace("\n", end))
        assert table.frame.rows() == [("x\u2028y", "u"), ("z", "v")]


ARFF_ERRORS = {
    "sparse": ("@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n{0 1}\n", "line 5 is a sparse row"),
    "ragged": (
        "@relation r\n@attribute a numeric\n@attribute b {u,v}\n@data\n1,u\n1\n",
        "line 6 has 1 cells, but .* 2",
    ),
    "quote": ("@relation r\n@attribute a string\n@data\n'open\n", "line 4 has a quote that is not closed"),
    "type": ("@relation r\n@attribute a relational\n@data\n1\n", "line 2: the type 'relational' cannot be used"),
    "twice": ("@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n", "'a' comes twice|'a' is there more"),
    "no rows": ("@relation r\n@attribute a real\n@data\n% none\n", "no rows"),
    "no data": ("@relation r\n@attribute a real\n1\n", "line 3: '1', where @attribute or @data"),
}


@pytest.mark.parametrize("name", ARFF_ERRORS)
def test_faults_of_an_arff_file(name):
    text, message = ARFF_ERRORS[name]
    with pytest.raises(DataError, match=message):
        table_of(text)


CSV = b"age,sex,ill\n30,f,no\n41,m,yes\n?,f,no\n"


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress])
def test_compressed_in_any_way(compress, tmp_path):
    path = tmp_path / "t.csv.xz"
    path.write_bytes(compress(CSV))
    table = read_table(path, target="ill")
    assert table.frame.rows() == [("30", "f"), ("41", "m"), (None, "f")]
    assert table.fingerprint == table_of(CSV).fingerprint
    for cut in (9, len(compress(CSV)) - 5):
        with pytest.raises(DataError, match=r"damaged|cut off"):
            table_of(compress(CSV)[:cut], format="csv")


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x93NUMPY", b"\x28\xb5\x2f\xfd"])
def test_files_that_are_no_tables_say_what_to_do(start):
    with pytest.raises(DataError, match=r"is (a|an|compressed) .*: (unpack|save)"):
        table_of(start + b"\0" * 50)


HEADERLESS = [
    b"39,State-gov,13\n50,Private,9\n38,Private,?\n",
    b"spam\tbuy this now\nham\thello you\nham\thow are you\nspam\tbuy more\nham\tok then\nspam\twin\n",
    b"?,a\n3,b\n4,a\n5,b\n6,a\n".replace(b"?", b"2.5"),
    b"5.1;3,5;x\n4.9;3,0;y\n",
    b"x,o,x\no,o,x\nx,x,o\nx,o,o\no,x,x\n",
]


@pytest.mark.parametrize("data", HEADERLESS)
def test_a_first_line_of_data_is_a_row(data):
    table = table_of(data)
    assert table.n_rows == data.count(b"\n")
    assert table.names == [f"column {j + 1}" for j in range(len(table.names))]
    assert "looks like a row of data" in table.notes[0]
    chunks = list(read_chunks(io.BytesIO(data), rows=2))
    assert [row for chunk in chunks for row in chunk.frame.rows()] == table.frame.rows()
    with pytest.raises(DataError, match=r"row of data: name the column by its place, or add a header line"):
        table_of(data, target="income")


@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n1,2\n3,4\n",
        b"0,1,2\n5,6,7\n8,9,10\n",  # names that count
        b"1999,2000,2001\n5,6,7\n8,9,10\n",
        b"name,kind\nx,u\ny,u\nz,v\nw,v\n",
        b"label\ttext\nspam\tbuy\nham\thi\nham\tyes\nspam\tno\n",
        b"5,b\n1,2\n3,4\n",  # one of the names is a number
        b"400,402,404,406,kind\n.1,.2,.3,.4,u\n.3,.2,.5,.4,v\n.3,.1,.5,.4,v\n.3,.2,.5,.1,u\n",  # a spectrum
        b"1007,1053,117,kind\n1,2,3,u\n3,2,5,v\n3,1,5,v\n3,2,5,u\n",  # genes
        b"a,b\n",
    ],
)
def test_names_are_names(data):
    names = data.split(b"\n")[0].decode().replace("\t", ",").split(",")
    if data.count(b"\n") > 1:
        assert table_of(data).names == names
    else:
        with pytest.raises(DataError, match="has a header but no rows"):
            table_of(data)


def test_the_line_of_a_fault_counts_the_first_row():
    with pytest.raises(DataError, match=r"row 3 \(line 3\) has 1 cells"):
        table_of(b"1,2.5\n2,3.5\n3\n4,5\n")


@needs_data
@pytest.mark.parametrize(
    "name", ["adult", "pima", "wine", "sms_spam", "zoo", "a1a", "emotions", "promoters_seq", "titanic"]
)
def test_real_tables_are_read_or_refused_with_advice(name):
    about = index()[name]
    for file in about["files"]:
        label = about.get("label")
        target = f"column {label + 1}" if isinstance(label, int) else label
        target = "column 1" if about["format"] == "tsv-text" else target
        try:
            table = read_table(DATA / file["path"], target=target)
            X, names = Encoder.fit(table).transform(table)
        except DataError as error:
            assert name in ("emotions", "promoters_seq")
            assert any(advice in str(error) for advice in ("give each row one", "Add columns"))  # noqa: PT017
        else:
            assert table.n_rows == file.get("rows", table.n_rows)
            assert X.shape == (table.n_rows, len(names))
