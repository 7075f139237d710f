"""Numbers written in other ways than 1234.5 are read if all cells agree; what is left out is told."""

import io
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from separatrix.data import Encoder, read_table
from separatrix.data.spelling import SHORT, Spelling
from separatrix.errors import DataError


def table_of(cells, target="y"):
    """A column x of these cells, another of numbers, and labels."""
    rows = "".join(f'"{cell}";{i % 7}.5;{"ab"[i % 2]}\n' for i, cell in enumerate(cells))
    return read_table(io.BytesIO(f"x;z;y\n{rows}".encode()), target=target, format="csv")


def column_of(cells):
    table = table_of(cells)
    encoder = Encoder.fit(table)
    X, names = encoder.transform(table)
    return X[:, names.index("x")] if "x" in names else None, table.columns[0], encoder


VALUES = [Decimal(n) / 100 + n for n in range(0, 300_000, 1733)]  # from 0 to 300,000, more than 100 of them


def grouped(value, mark):
    return f"{value:,.2f}".replace(",", "T").replace(".", "D").replace("T", mark)


WAYS = {
    "1,040.71": lambda v: grouped(v, ",").replace("D", "."),
    "1.040,71": lambda v: grouped(v, ".").replace("D", ","),
    "1 040,71": lambda v: grouped(v, " ").replace("D", ","),
    "1 040.71, narrow": lambda v: grouped(v, "\u202f").replace("D", "."),
    "1'040.71": lambda v: grouped(v, "'").replace("D", "."),
    "1040,71": lambda v: f"{v:.2f}".replace(".", ","),
    "1,040.71%": lambda v: grouped(v, ",").replace("D", ".") + "%",
    "1040.71 %": lambda v: f"{v:.2f} %",
    "$1,040.71": lambda v: "$" + grouped(v, ",").replace("D", "."),
    "-1.040,71 €": lambda v: "-" + grouped(v, ".").replace("D", ",") + " €",
    "-$1,040.71": lambda v: "-$" + grouped(v, ",").replace("D", "."),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("times", [1, 3])  # cell by cell, and by polars
def test_numbers_as_people_write_them(way, times):
    values = VALUES * times
    assert (len(values) > SHORT) == (times == 3)
    x, column, encoder = column_of([WAYS[way](value) for value in values])
    assert column.kind == "number"
    sign = -1 if way.startswith("-") else 1
    np.testing.assert_array_equal(x, [sign * float(value) for value in values])
    (note,) = encoder.notes
    assert note.startswith("Column 'x' is read as numbers with ")
    assert repr(WAYS[way](values[0])) in note
    assert not encoder.left_out


def test_the_reproductions():
    values = np.random.default_rng(0).uniform(1000, 90_000, 40)
    for write in (
        lambda v: f"{v:,.2f}",
        lambda v: f"{v:,.2f}".replace(",", "T").replace(".", ",").replace("T", "."),
        lambda v: f"{v / 1000:.1f}%",
    ):
        x, column, _ = column_of([write(value) for value in values])
        assert column.kind == "number"
        assert np.corrcoef(x, values)[0, 1] > 0.999


@pytest.mark.parametrize(
    ("cells", "first", "word"),
    [
        (["1,234", "12,345", "999,999"], 1234.0, "commas between thousands"),
        (["1,234", "999", "7"], 1234.0, "commas between thousands"),
        (["1,234", "0,500", "12,125"], 1.234, "a decimal comma"),
        (["1,234", "1,5"], 1.234, "a decimal comma"),
        (["1,234", "1234"], 1.234, "a decimal comma"),
        (["1,234,567", "2,000"], 1234567.0, "commas between thousands"),
        (["1.234.567", "2.000"], 1234567.0, "points between thousands"),
    ],
)
def test_what_could_be_read_in_two_ways(cells, first, word):
    x, _, encoder = column_of(cells * 15)
    assert x[0] == first
    (note,) = encoder.notes
    assert word in note
    zero = any(cell.startswith("0") for cell in cells)
    doubtful = not zero and all(len(cell.split(",")[-1]) == 3 and cell.count(",") == 1 for cell in cells if "," in cell)
    doubtful = doubtful and any("," in cell for cell in cells)
    assert ("If that is not meant, write numbers without commas" in note) == doubtful


def test_points_alone_are_decimal_points():
    x, _, encoder = column_of(["1.234", "2.5", "3"] * 12)
    assert (x[:3] == [1.234, 2.5, 3.0]).all()
    assert encoder.notes == []


def test_cells_that_do_not_agree():
    half = [f"{v:,.2f}" for v in range(1000, 1030)] + [f"{v}.000,50" for v in range(30)]
    x, column, encoder = column_of(half)
    assert x is None
    assert column.kind == "identifier?"
    assert encoder.left_out == {"x": "a different value in (nearly) every row, as names and numbers of records have"}
    assert encoder.notes == [
        "Column 'x' is left out: its cells, such as '1,000.00', look like numbers, but are not all written in one way. "
        "Write them as 1234.5."
    ]
    _, column, encoder = column_of(["5%", "6%", "7", "8"] * 10)
    assert column.kind == "category"
    assert "is taken as categories: its cells, such as '5%', look like numbers" in encoder.notes[0]
    with pytest.raises(DataError, match=r"holds numbers, but 'n\.k\.' in row 31"):
        column_of([f"{v:,.2f}" for v in range(1000, 1030)] + ["n.k."] + [f"{v:,.2f}" for v in range(2000, 2030)])


def test_words_stay_words():
    for cells in (
        ["A-1,234", "B"],
        ["1,2,3", "4"],
        ["12:30", "13:45"],
        ["1.2.3", "1.2.4"],
        ["$", "%"],
        ["1,,234", "2"],
    ):
        _, column, _ = column_of(cells * 15)
        assert column.kind == "category", cells


def test_another_table_is_read_in_the_same_way():
    table = table_of([f"{v:,.3f}" for v in np.linspace(1000, 99_999, 40)])
    encoder = Encoder.from_dict(Encoder.fit(table).to_dict())
    X, names = encoder.transform(table_of(["1,234", "0.5"], target=None))
    assert X[:, names.index("x")].tolist() == [1234.0, 0.5]
    with pytest.raises(DataError, match=r"row 2, column 'x': '1\.234,5', where numbers are expected"):
        encoder.transform(table_of(["1,234", "1.234,5"], target=None))
    assert "x: a number, taken as it is, with commas between thousands." in encoder.report()
    plain = Encoder.fit(table_of([f"{v:.3f}" for v in np.linspace(1000, 99_999, 40)]))
    with pytest.raises(DataError, match=r"row 1, column 'x': '1,234', where numbers are expected"):
        plain.transform(table_of(["1,234"], target=None))  # one number or another: nobody has said which
    typed = read_table(io.BytesIO(_parquet({"x": [1.5, 2.5], "z": [1.0, 2.0]})), format="parquet")
    assert encoder.transform(typed)[0][:, 0].tolist() == [1.5, 2.5]


def _parquet(columns):
    out = io.BytesIO()
    pl.DataFrame(columns).write_parquet(out)
    return out.getvalue()


@pytest.mark.parametrize("plain", [[], ["", ",", ","], ["x", ",", "."], "%", [1, 2, 3], ["", "", ";"], None])
def test_a_spelling_that_is_none(plain):
    with pytest.raises(DataError, match="malformed"):
        Spelling.from_list(plain)


def test_labels_stay_as_they_are():
    table = read_table(io.BytesIO(b"x;y\n1;5%\n2;10%\n3;5%\n4;10%\n"), target="y")
    assert table.y.tolist() == ["5%", "10%", "5%", "10%"]


# ------------------------------------------------------------------ nothing is left out without a word
def test_every_column_that_is_left_out_is_named():
    names = [f"c{j}" for j in range(30)]
    rows = "".join(f"r{i},{i},1,," + ",".join(["7"] * 30) + f",{i * i},{i % 2}\n" for i in range(40))
    table = read_table(io.BytesIO(f"id,row,one,none,{','.join(names)},x,y\n{rows}".encode()), target="y")
    encoder = Encoder.fit(table)
    assert set(encoder.left_out) == {"id", "row", "one", "none", *names}
    text = " ".join(encoder.notes)
    assert "Columns 'id' ('r0', ...), 'row' ('0', ...) are left out: a different value in (nearly) every row" in text
    assert "Columns 'one', 'c0', 'c1', " in text
    assert "and 11 more are left out: one value only." in text
    assert "Column 'none' is left out: no value at all." in text


def test_features_of_a_libsvm_file_too():
    encoder = Encoder.fit(read_table(io.BytesIO(b"1 1:1 2:5\n0 1:2 2:5\n"), format="svmlight"))
    assert encoder.notes == ["Column 'feature 2' is left out: one value only."]


def test_whole_numbers_beyond_floats_are_told():
    big = 2**53
    rows = "".join(f"{big + i};{big + 2 * i};{i % 2}\n" for i in (0, 1, 5, 9))
    encoder = Encoder.fit(read_table(io.BytesIO(f"odd;even;y\n{rows}".encode()), target="y"))
    (note,) = encoder.notes
    assert f"Column 'odd' holds whole numbers beyond 2^53, such as {big + 1}, which are rounded" in note
    typed = _parquet({"odd": [big + 1, big + 3, 5], "y": ["a", "b", "a"]})
    assert (
        "such as 9007199254740993" in Encoder.fit(read_table(io.BytesIO(typed), target="y", format="parquet")).notes[0]
    )


# ------------------------------------------------------------------ wide tables
def test_many_columns_take_no_more_than_their_cells():
    import time

    d = 10_000
    rng = np.random.default_rng(0)
    values = rng.normal(size=(20, d)).round(3)
    lines = [";".join(["y", *(f"c{j}" for j in range(d))])]
    lines += [";".join([str(i % 2), *map(str, row)]) for i, row in enumerate(values)]
    table = read_table(io.BytesIO("\n".join(lines).encode()), target="y", format="csv")
    encoder = Encoder.fit(table)
    started = time.process_time()
    X, _ = encoder.transform(table)
    assert time.process_time() - started < 2.0  # it was 8 seconds, and is a fifth of one on an idle machine
    np.testing.assert_array_equal(X, values)
