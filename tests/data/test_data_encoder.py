"""Encoder: columns as numbers, the same for every table, and its state as plain JSON."""

import copy
import io
import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from separatrix.data import Encoder, Table, read_table
from separatrix.data.collected import encoded
from separatrix.errors import DataError


def table_of(text, target="y", **kwargs):
    return read_table(io.BytesIO(text.encode()), target=target, **kwargs)


TABLE = """age,sex,smokes,town,zip,empty,cabin,id,y
30,f,true,Rome,1,,C1,r1,no
41,m,false,Rome,1,NA,,r2,yes
?,f,,Oslo,1,?,C1,r3,no
50,,true,Bern,1,,,r4,yes
""" + "".join(f"{i},f,true,Rome,1,,C1,r{i},no\n" for i in range(20, 45))


def test_each_kind_of_column():
    table = table_of(TABLE)
    encoder = Encoder.fit(table)
    X, names = encoder.transform(table)
    assert names == [
        "age", "age is missing", "sex=m", "sex is missing", "smokes", "smokes is missing",
        "town=Bern", "town=Oslo", "town=Rome", "cabin is missing",
    ]  # fmt: skip
    assert X.dtype == np.float64
    mean = np.mean([30, 41, 50, *range(20, 45)])
    np.testing.assert_allclose(X[0], [30, 0, 0, 0, 1, 0, 0, 0, 1, 0])
    np.testing.assert_allclose(X[2, :6], [mean, 1, 0, 0, 27 / 28, 1])
    np.testing.assert_allclose(X[3], [50, 0, 0, 1, 1, 0, 1, 0, 0, 1])
    assert not encoder.surprises
    assert encoder.target == "y"


def test_the_report_says_what_is_done():
    report = "\n".join(Encoder.fit(table_of(TABLE)).report())
    assert "age: a number, taken as it is; where missing, the mean 32.89, and a column that says so." in report
    assert "sex: 1 for m, 0 for f; where missing, zeros, and a column that says so." in report
    assert "town: 3 categories, one column of 0 and 1 each." in report
    assert "zip: left out (one value only)." in report
    assert "empty: left out (no value at all)." in report
    assert "cabin: one value only, so that all it says is where it is missing." in report
    assert "id: left out (a different value in (nearly) every row" in report
    svm = Encoder.fit(table_of("1 1:1\n0 1:2\n", None)).report()
    assert svm == ["1 features are numbers, taken as they are; what is not written is 0."]


def test_another_table():
    encoder = Encoder.fit(table_of(TABLE))
    new = table_of("extra,town,smokes,sex,cabin,age\n1,Paris,0,m,C9,3\n2,,TRUE,x,,4\n", None)
    X, _ = encoder.transform(new)
    np.testing.assert_allclose(X, [[3, 0, 1, 0, 0, 0, 0, 0, 0, 0], [4, 0, 0, 0, 1, 0, 0, 0, 0, 1]])
    assert dict(encoder.surprises) == {
        "sex: a category that is not known": 1,
        "town: a category that is not known": 1,
        "town: missing, which it never was before": 1,
    }
    encoder.transform(new)
    assert encoder.surprises["sex: a category that is not known"] == 2


def test_categories_that_look_like_numbers():
    text = "code,y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(["1", "2", "A", "01"] * 8))
    encoder = Encoder.fit(table_of(text))
    assert encoder.names == ["code=01", "code=1", "code=2", "code=A"]
    assert encoder.transform(table_of("code\n1\n01\n", None))[0].tolist() == [[0, 1, 0, 0], [1, 0, 0, 0]]
    typed = Table(pl.DataFrame({"code": [1.0, 2.0]}), None, None, None, "new", "", np.array([1, 2]))
    assert encoder.transform(typed)[0].tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sex,smokes,town,cabin\nf,true,Rome,C1\n", "has no column 'age'. .*Its columns: 'sex'"),
        ("age,sex,smokes,town,cabin\n1,f,true,Rome,\nold,f,true,Rome,\n", "row 2, column 'age': 'old', where numbers"),
        ("age,sex,smokes,town,cabin\n1,f,maybe,Rome,\n", "row 1, column 'smokes': 'maybe', where true and false"),
        ("age,sex,smokes,town,cabin\n1,f,2,Rome,\n", "row 1, column 'smokes': '2', where true and false"),
        ("age,sex,smokes,town,cabin\n-inf,f,1,Rome,\n", "row 1, column 'age': -inf is not finite. Correct the cell"),
        ("age,sex,smokes,town,cabin\n1e999,f,1,Rome,\n", "row 1, column 'age': 1e999 is not finite"),
    ],
)
def test_tables_that_do_not_fit(text, message):
    with pytest.raises(DataError, match=message):
        Encoder.fit(table_of(TABLE)).transform(table_of(text, None))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([f"w{i % 15}" for i in range(30)], "classes apart: 'x' has no value that 3 rows have"),
        ([" ".join(f"{i}{j}" for j in "abcdef") for i in range(30)], "classes apart: 'x' has no word that 3 rows have"),
        ([f"2020-01-{i % 28 + 1:02}" for i in range(29)] + ["soon"], "'x' holds dates, but 'soon' in row 30 is none"),
        ([*map(str, range(100, 129)), "n.a."], "'x' holds numbers, but 'n.a.' in row 30: correct the cell"),
        (["1", "inf", *["2"] * 28], "row 2, column 'x': inf is not finite"),
        (["1"] * 30, "no column that could tell the classes apart: 'x' has one value only"),
    ],
)
def test_columns_that_cannot_be_used(cells, message):
    with pytest.raises(DataError, match=f"(?s){message}"):
        Encoder.fit(table_of("x,y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(cells))))


def test_tables_and_libsvm_files_do_not_mix():
    table, matrix = table_of(TABLE), table_of("1 1:1\n0 1:2\n", None)
    with pytest.raises(DataError, match="is a libsvm file, but"):
        Encoder.fit(table).transform(matrix)
    with pytest.raises(DataError, match="has named columns, but"):
        Encoder.fit(matrix).transform(table)


def test_features_that_are_not_known_are_counted():
    encoder = Encoder.fit(table_of("1 1:1 4:7 9:1\n0 1:2 9:1\n", None))
    assert encoder.names == ["feature 1", "feature 4"]  # 9 is the same in every row
    X, _ = encoder.transform(table_of("1 2:5 4:3 9:4\n0 77:1\n", None))
    assert (X.toarray() if sparse.issparse(X) else X).tolist() == [[0, 3], [0, 0]]
    assert encoder.surprises == {"a feature that is not known": 2}


def test_many_categories_become_a_sparse_matrix(monkeypatch):
    from separatrix.data import making as module

    dense = Encoder.fit(table_of(TABLE))
    monkeypatch.setattr(module, "LARGE", 10)
    text = "a,b,y\n" + "".join(f"c{i % 9},{i % 7},{i % 2}\n" for i in range(60))
    encoder = Encoder.fit(table_of(text))
    X, names = encoder.transform(table_of(text))
    assert sparse.issparse(X)
    assert X.shape == (60, len(names)) == (60, 10)
    assert not sparse.issparse(dense.transform(table_of(TABLE))[0])


def test_names_are_different():
    text = "a,a=b,y\nb=c,c,0\nx,d,1\nz,e,1\n"
    assert Encoder.fit(table_of(text)).names == ["a=b=c", "a=x", "a=z", "a=b=c (2)", "a=b=d", "a=b=e"]


def test_the_state_is_plain_json():
    for table in (table_of(TABLE), table_of("1 1:1 9:1\n0 1:2\n", None)):
        encoder = Encoder.fit(table)
        again = Encoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
        assert again.to_dict() == encoder.to_dict()
        assert again.names == encoder.names
        assert again.report() == encoder.report()
        one, other = encoder.transform(table)[0], again.transform(table)[0]
        assert (one != other).sum() == 0


def spoiled(state):
    """The state with each of its parts replaced by something else in turn."""
    for path in (*((key,) for key in state), *(("plans", 0, key) for key in state["plans"][0])):
        for value in (None, 3, "x", [], {}, [None], {"a": 1}, float("inf"), True, -1):
            copied = copy.deepcopy(state)
            inner = copied
            for step in path[:-1]:
                inner = inner[step]
            if inner[path[-1]] == value and type(inner[path[-1]]) is type(value):
                continue
            inner[path[-1]] = value
            yield copied
        copied = copy.deepcopy(state)
        inner = copied
        for step in path[:-1]:
            inner = inner[step]
        del inner[path[-1]]
        yield copied
    yield {**state, "more": 1}


def test_every_field_of_the_state_is_checked():
    state = Encoder.fit(table_of(TABLE)).to_dict()
    refused = 0
    for wrong in spoiled(state):
        try:
            Encoder.from_dict(wrong)  # some changes make another, valid encoder
        except DataError:
            refused += 1
    assert refused > 80
    svm = Encoder.fit(table_of("1 1:1 9:1\n0 1:2\n", None)).to_dict()
    for indices in ([], [2, 1], [1, 1], [-1], [1.5], ["1"], [1 << 40], "12"):
        with pytest.raises(DataError):
            Encoder.from_dict({**svm, "indices": indices})
    for nonsense in (None, [], "x", {}):
        with pytest.raises(DataError):
            Encoder.from_dict(nonsense)


def test_a_number_beyond_all_floats_is_refused():
    state = Encoder.fit(table_of("a,ill\n1.5,no\n2,yes\n", "ill")).to_dict()
    state["plans"][0]["mean"] = 10**400  # JSON has such numbers
    with pytest.raises(DataError, match="'a' of the encoder is malformed"):
        Encoder.from_dict(state)


def test_features_of_ten_digits_are_found_in_rows():
    encoder = Encoder.fit(table_of("1 7:2 1500000000:1\n0 7:3 1500000000:4\n", None))
    assert encoder.names == ["feature 7", "feature 1500000000"]
    X, _ = encoder.transform({"feature 1500000000": 4.0, "feature 7": 2.0, "feature 007": 9.0, "other": "x"})
    np.testing.assert_array_equal(X.toarray() if encoder.sparse else X, [[2.0, 4.0]])


def test_the_groups_of_an_encoder_are_found_once_for_a_collection(monkeypatch):
    """A wide table took minutes where they were asked for again for each of its columns."""
    partitions = pytest.importorskip("separatrix.design.partitions_dask")
    encoder, asked = Encoder.fit(table_of("a,b,y\n1.5,2.5,u\n2,4,v\n3,1,v\n")), []
    monkeypatch.setattr(Encoder, "groups", property(lambda self: asked.append(1) or {"a": [0], "b": [1]}))
    monkeypatch.setattr(partitions, "mapped", lambda *given: given)
    assert encoded(encoder, SimpleNamespace(columns=["b", "c", "a"]))[1] is encoder
    assert len(asked) == 1


@pytest.mark.parametrize("n", [30, 300])
def test_a_column_of_categories_may_be_called_count(n):
    """A name that polars gives to a column of its own."""
    table = table_of("count,y\n" + "a,1\nb,0\nc,1\n" * n)
    X, names = Encoder.fit(table).transform(table)
    assert names == ["count=a", "count=b", "count=c"]
    np.testing.assert_array_equal(X[:3], np.eye(3))
