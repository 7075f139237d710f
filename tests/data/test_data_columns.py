"""Dates in parts, text as words, reference coding, identifiers: what becomes of columns that are no plain numbers."""

import io
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from separatrix.data import Encoder, read_table
from separatrix.data.dates import found_order, moment
from separatrix.errors import DataError


def table_of(columns, target="y"):
    """A table with these columns of cells, and labels that alternate."""
    n = len(next(iter(columns.values())))
    frame = pl.DataFrame({name: [None if c is None else str(c) for c in cells] for name, cells in columns.items()})
    frame = frame.with_columns(pl.Series("y", [f"l{i % 2}" for i in range(n)])) if target == "y" else frame
    return read_table(io.BytesIO(frame.write_csv().encode()), target=target, format="csv")


def kind(cells, name="x"):
    return {column.name: column for column in table_of({name: cells}).columns}[name].kind


rng = np.random.default_rng(7)

# ---------------------------------------------------------------------- dates
DAYS = [date(2019, 12, 30).toordinal() + 17 * i for i in range(40)]
FORMATS = {
    "%Y-%m-%d": "ymd",
    "%Y/%m/%d": "ymd",
    "%d.%m.%Y": "dmy",
    "%m/%d/%Y": "mdy",
    "%d/%m/%y": "dmy",
    "%d-%b-%Y": "dmy",
    "%b %d, %Y": "mdy",
    "%Y-%m-%d %H:%M": "ymd",
    "%Y-%m-%dT%H:%M:%SZ": "ymd",
    "%m/%d/%Y %I:%M %p": "mdy",
}


@pytest.mark.parametrize("form", FORMATS)
def test_dates_become_the_parts_that_python_finds(form):
    days = [datetime.fromordinal(day).replace(hour=7 * i % 24 if "M" in form[6:] else 0) for i, day in enumerate(DAYS)]
    table = table_of({"when": [day.strftime(form) for day in days]})
    encoder = Encoder.fit(table)
    X, names = encoder.transform(table)
    parts = {name.removeprefix("when: "): column for name, column in zip(names, X.T, strict=True)}
    assert encoder.to_dict()["plans"][0]["order"] == FORMATS[form]
    assert parts["days since 2019-12-30"].tolist() == [day.toordinal() - DAYS[0] for day in days]
    assert parts["year"].tolist() == [day.year for day in days]
    assert parts["month"].tolist() == [day.month for day in days]
    assert parts["day of week"].tolist() == [day.isoweekday() for day in days]
    assert ("hour" in parts) == ("M" in form[6:])
    if "hour" in parts:
        assert parts["hour"].tolist() == [day.hour for day in days]


def test_what_cannot_be_a_date():
    for cell in ("2020-02-30", "2020-13-01", "31.02.2020", "1/2", "2020-01-01 25:00", "12:30", "2020-1-1-1"):
        assert all(moment(cell, order) is None for order in ("ymd", "mdy", "dmy")), cell
    assert found_order(["1/2/2021", "1/13/2021"]) == ("mdy", False)
    assert found_order(["1/2/2021", "13/1/2021"]) == ("dmy", False)
    assert found_order(["1/2/2021", "3/4/2021"]) == ("mdy", True)
    assert found_order(["1/13/2021", "13/1/2021"]) is None


def test_an_order_that_is_a_guess_is_told():
    (note,) = Encoder.fit(table_of({"x": [f"{1 + i % 12}/{1 + i % 9}/2021" for i in range(40)]})).notes
    assert "(month, day, year)" in note
    assert "If that is not meant, write them as 2020-12-31." in note


def test_missing_dates_are_the_means_and_told():
    cells = [None if i % 10 == 0 else str(date.fromordinal(day)) for i, day in enumerate(DAYS)]
    table = table_of({"x": cells})
    encoder = Encoder.fit(table, scale=True)
    X, names = encoder.transform(table)
    assert names[-1] == "x is missing"
    assert X[:, -1].tolist() == [float(cell is None) for cell in cells]
    present = X[:, -1] == 0
    np.testing.assert_allclose(X[~present, :-1], np.tile(X[present, :-1].mean(axis=0), (4, 1)), rtol=1e-12)
    np.testing.assert_allclose(X[present, :-1].std(axis=0), 1.0, rtol=1e-12)
    with pytest.raises(DataError, match=r"row 2, column 'x': 'soon', where dates \(year, month, day\) are expected"):
        encoder.transform(table_of({"x": ["2020-01-01", "soon"]}, None))


def test_dates_of_parquet_are_those_of_text(tmp_path):
    moments = [datetime(2020, 1, 1 + i % 28, i % 24, 30) for i in range(50)]
    labels = [i % 2 for i in range(50)]
    pl.DataFrame({"x": moments, "y": labels}).write_parquet(tmp_path / "t.parquet")
    typed = read_table(tmp_path / "t.parquet", target="y")
    encoder = Encoder.fit(typed)
    X, names = encoder.transform(typed)
    text = table_of({"x": [str(moment) for moment in moments]})
    assert Encoder.fit(text).names == names
    np.testing.assert_allclose(encoder.transform(text)[0], X, rtol=1e-15)


# ---------------------------------------------------------------------- words
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "while",
    "dogs",
    "ran",
    "after",
    "it",
    "and",
    "Über",
    "café",
    "42",
    "don't",
]


def texts(n):
    return [" ".join(rng.choice(WORDS, rng.integers(3, 12))) + f" unique{i}" for i in range(n)]


def test_words_are_tf_idf_as_scikit_learn_has_it():
    from sklearn.feature_extraction.text import TfidfVectorizer

    cells = texts(120)
    table = table_of({"x": cells})
    assert table.columns[0].kind == "text"
    encoder = Encoder.fit(table)
    X, names = encoder.transform(table)
    theirs = TfidfVectorizer(min_df=3)
    expected = theirs.fit_transform(cells).toarray()
    assert names == [f"x: {word}" for word in theirs.get_feature_names_out()]
    np.testing.assert_allclose(X, expected, rtol=1e-14, atol=1e-16)
    other = ["cat cat dogs nowhere", "unheard of"]
    np.testing.assert_allclose(
        encoder.transform(table_of({"x": other}, None))[0], theirs.transform(other).toarray(), rtol=1e-14, atol=1e-16
    )


def test_many_words_are_sparse_and_limited():
    words = [f"word{i}" for i in range(3000)]
    cells = [" ".join(words[(37 * i + 11 * j) % (500 + 5 * i)] for j in range(60)) for i in range(500)]
    table = table_of({"x": cells, "z": rng.normal(size=500).round(3)})
    encoder = Encoder.fit(table)
    X, names = encoder.transform(table)
    assert sparse.issparse(X)
    assert len([name for name in names if name.startswith("x: ")]) == 2000
    rows = {}
    for cell in cells:
        for word in set(cell.split()):
            rows[word] = rows.get(word, 0) + 1
    least = min(rows[name[3:]] for name in names if name.startswith("x: "))
    assert least >= max(3, max(n for word, n in rows.items() if f"x: {word}" not in set(names)))


def test_texts_without_a_common_word_are_left_out():
    cells = [f"{i}a {i}b {i}c {i}d" for i in range(40)]
    encoder = Encoder.fit(table_of({"x": cells, "z": rng.normal(size=40).round(3)}))
    assert encoder.names == ["z"]
    assert encoder.left_out == {"x": "no word that 3 rows have"}
    assert any("'x'" in note and "no word that 3 rows have" in note for note in encoder.notes)


def test_categories_of_few_rows_are_as_one():
    cells = [f"t{i // 4}" if i < 40 else f"single{i}" for i in range(80)]
    table = table_of({"x": cells, "z": rng.normal(size=80).round(3)})
    encoder = Encoder.fit(table)
    X, names = encoder.transform(table)
    assert names == [*(f"x=t{i}" for i in range(10)), "z"]
    assert X[:40, :10].sum() == 40
    assert not X[40:, :10].any()
    assert not encoder.surprises
    assert any("50 different texts in 80 rows" in note for note in encoder.notes)


# ---------------------------------------------------------------------- reference coding
def test_reference_coding_leaves_out_the_most_frequent():
    cells = ["b"] * 14 + ["a"] * 6 + ["c"] * 10
    table = table_of({"x": cells, "two": ["u", "v", "v"] * 10})
    plain, compared = Encoder.fit(table), Encoder.fit(table, reference=True)
    assert plain.names == ["x=a", "x=b", "x=c", "two=u"]
    assert compared.names == ["x=a", "x=c", "two=u"]
    assert "x: 2 categories, one column of 0 and 1 each, compared with b." in compared.report()
    X, Z = plain.transform(table)[0], compared.transform(table)[0]
    np.testing.assert_array_equal(Z, X[:, [0, 2, 3]])
    with_one = np.column_stack([Z, np.ones(30)])
    assert np.linalg.matrix_rank(with_one) == with_one.shape[1]  # every coefficient can be told
    again = Encoder.from_dict(compared.to_dict())
    again.transform(table)
    assert not again.surprises  # the reference is known
    assert plain.groups == {"x": [0, 1, 2], "two": [3]}
    assert again.groups == {"x": [0, 1], "two": [2]}


def test_columns_that_follow_from_others_are_left_out_for_inference():
    a, b = rng.normal(size=(2, 60)).round(2)
    gone = [i % 7 == 0 for i in range(60)]
    columns = {
        "a": a,
        "b": [None if g else x for g, x in zip(gone, b, strict=True)],
        "c": [None if g else x for g, x in zip(gone, a * b, strict=True)],
        "total": np.round(3 * a + 1, 2),
        "town": [("Rome", "Oslo", "Bern")[i % 3] for i in range(60)],
        "land": [("Italy", "Norway", "Swiss")[i % 3] for i in range(60)],
    }
    table = table_of(columns)
    encoder = Encoder.fit(table, reference=True, scale=True)
    X, names = encoder.transform(table)
    assert names == ["a", "b", "b is missing", "c", "town=Oslo", "town=Rome"]
    every = np.column_stack([Encoder.fit(table, scale=True).transform(table)[0], np.ones(60)])
    ours = np.column_stack([X, np.ones(60)])
    assert np.linalg.matrix_rank(ours) == ours.shape[1] == np.linalg.matrix_rank(every)
    assert "'c is missing', 'total', 'land=" in encoder.notes[-1]
    assert len(encoder.scales) == len(names)
    assert encoder.groups == {"a": [0], "b": [1, 2], "c": [3], "total": [], "town": [4, 5], "land": []}
    again = Encoder.from_dict(encoder.to_dict())
    np.testing.assert_array_equal(again.transform(table)[0], X)
    row = table.frame.to_dicts()[4]
    np.testing.assert_array_equal(
        again.filler()({**row, "a": float(row["a"]), "total": 1.0} | {"b": 1.5, "c": 2}).shape, 6
    )


# ---------------------------------------------------------------------- identifiers
n = 60
gaps = np.cumsum(rng.integers(1, 9, n))
IDENTIFIERS = {
    "x": [
        gaps,
        gaps[::-1],
        np.arange(n) + 1000,
        np.cumsum(rng.integers(100, 300, n)),
        2**60 + 512 * rng.permutation(n),
    ],
    "id": [rng.permutation(10 * n)[:n], [f"a text of many words {i}" for i in range(n)], [5, 5, *range(10, n + 8)]],
    "rownames": [rng.permutation(n)],
    "Unnamed: 0": [rng.permutation(n)],
    "PassengerId": [rng.permutation(n)],
    "customer_id": [[f"{i:08x}" for i in rng.permutation(n)]],
}
FEATURES = {
    "x": [
        np.sort(rng.normal(size=n)),  # all different and sorted, but no whole numbers
        np.sort(rng.integers(0, 40, n)),  # sorted, but not all different
        rng.permutation(n),  # whole and all different, but in no order
        np.arange(n) ** 2,  # sorted, but not evenly
        1e33 * rng.lognormal(size=n),  # whole beyond 2^53, but no number of a record is written so
        np.sort((np.exp(rng.normal(size=n) * 2) * 10_000).astype(int)),
    ],
    "id": [rng.integers(0, 10, n), rng.normal(size=n)],
    "paid": [rng.permutation(n)],
    "humid": [rng.permutation(n)],
}


@pytest.mark.parametrize(
    ("name", "at"), [(name, at) for name, cells in IDENTIFIERS.items() for at in range(len(cells))]
)
def test_what_identifies_rows(name, at):
    assert kind(list(IDENTIFIERS[name][at]), name) == "identifier?"


@pytest.mark.parametrize(("name", "at"), [(name, at) for name, cells in FEATURES.items() for at in range(len(cells))])
def test_what_only_looks_like_it(name, at):
    assert kind(list(FEATURES[name][at]), name) == "number"


def test_rows_without_a_label_help_to_tell():
    rows = [(i, i * i % 17, "ab"[i % 2] if i < 20 else "") for i in range(36)]

    def columns(rows):
        text = "number,x,y\n" + "".join(f"{number},{x}.5,{label}\n" for number, x, label in rows)
        table = read_table(io.BytesIO(text.encode()), target="y")
        assert table.n_rows == 20
        return {column.name: column.kind for column in table.columns}

    assert columns(rows[:20]) == {"number": "number", "x": "number"}  # too few to tell
    assert columns(rows) == {"number": "identifier?", "x": "number"}


def test_what_only_rounding_tells_apart_is_constant():
    cells = [0.3, 0.1 + 0.2] * 20
    assert kind(cells) == "constant"
    assert kind([1e9 + i % 3 for i in range(40)]) == "number"


def test_large_numbers_that_may_identify_are_named():
    encoder = Encoder.fit(table_of({"phone": 4_900_000_000 + 7919 * rng.permutation(n), "z": rng.normal(size=n)}))
    assert "phone" in encoder.names
    assert any("'phone'" in note and "leave it out" in note for note in encoder.notes)
    assert not Encoder.fit(table_of({"mass": 1e12 * rng.lognormal(size=n), "z": rng.normal(size=n)})).notes


def test_messages_name_the_columns():
    encoder = Encoder.fit(table_of({"age": rng.normal(size=n), "sex": ["f", "m"] * (n // 2)}))
    assert encoder.named("Row 3, column 1 is large; column 10 is not.") == (
        "Row 3, column 'sex=m' is large; column 10 is not."
    )
    with pytest.raises(DataError, match="column 'age' is wrong"), encoder.naming():
        raise DataError("column 0 is wrong")


def test_labels_that_are_codes_stay_apart():
    def labels_of(*cells):
        rows = [f"{i / 7:.3f},{cell}" for i, cell in enumerate(cells * 4)]
        return read_table(io.BytesIO("\n".join(["x,y", *rows]).encode()), target="y").y

    assert sorted(set(labels_of("01", "1", "10").tolist())) == ["01", "1", "10"]
    assert sorted(set(labels_of("007", "07").tolist())) == ["007", "07"]
    assert sorted(set(labels_of("0", "10").tolist())) == [0, 10]
    assert sorted(set(labels_of("-1", "+1").tolist())) == [-1, 1]


def test_a_column_without_a_name_is_called_like_no_other():
    table = read_table(io.BytesIO(b"a,,column 2,y\n1,5,2,p\n2,6,1,q\n3,9,4,p\n4,8,7,q\n"), target="y")
    assert [column.name for column in table.columns] == ["a", "column 2'", "column 2"]
