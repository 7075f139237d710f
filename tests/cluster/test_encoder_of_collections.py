"""The encoder of a data frame on workers is that of the same table in memory, to the last bit."""

import io

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from cluster.tables import fitted
from scipy import sparse

from separatrix import DataError, LogisticRegression
from separatrix.data import Encoder, read_table

pytestmark = pytest.mark.long  # starts processes: a step of its own

N, PARTS = 6000, 5


def people():
    """Numbers with gaps and without, texts as files have them, categories, truth values, dates, words, a constant."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": random.normal(40, 10, N),
            "visits": random.integers(0, 50, N),
            "doses": pd.array(random.integers(0, 4, N), dtype="Int64"),
            "city": random.choice(["Rome", "Oslo", " Bern", "NA"], N),
            "sex": pd.Categorical(random.choice(["f", "m"], N)),
            "insured": random.random(N) > 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900, N), "D"),
            "price": [f"{value:,.2f}" for value in random.uniform(0, 5000, N)],
            "letter": [" ".join(random.choice(["dear", "sir", "pain", "thanks", "pill"], 9)) for _ in range(N)],
            "clinic": "north",
            "late": np.where(np.arange(N) < N // PARTS, None, random.choice(["p", "q", "r"], N)),
        }
    )
    table.loc[::7, "age"] = np.nan
    table.loc[3::11, "doses"] = pd.NA
    table.loc[5::13, "sex"] = None
    ill = table["age"].fillna(40.0) + 5 * (table["city"] == "Rome") + random.logistic(0, 5, N) > 42
    return table.assign(ill=np.where(ill, "yes", "no"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where, table = tmp_path_factory.mktemp("people"), people()
    for i, part in enumerate(np.array_split(np.arange(N), PARTS)):
        table.iloc[part].to_parquet(where / f"part-{i}.parquet")
    table.to_parquet(where / "all.parquet")
    return where


@pytest.fixture
def collection(folder):
    return dd.read_parquet(folder / "part-*.parquet")


@pytest.mark.parametrize("scale", [False, True])
def test_rules_and_matrix_are_those_of_the_table_in_memory(client, folder, collection, scale):
    table = read_table(folder / "all.parquet", target="ill")
    expected = Encoder.fit(table, scale=scale)
    encoder = Encoder.fit(collection.drop(columns="ill"), scale=scale)
    assert encoder.to_dict() == {**expected.to_dict(), "target": None}
    assert {"age is missing", "city=NA", "city= Bern", "sex=m", "since: year", "letter: pain"} <= set(encoder.names)
    assert encoder.left_out == expected.left_out
    assert encoder.notes == expected.notes
    X, names = encoder.transform(collection)
    assert isinstance(X, da.Array)
    assert names == expected.names
    assert X.npartitions == PARTS
    found, matrix = X.compute(), expected.transform(table)[0]
    assert found.dtype == matrix.dtype
    assert np.array_equal(found, matrix)


def test_from_files_to_lazy_predictions(client, collection):
    encoder = Encoder.fit(collection.drop(columns="ill"))
    X, _ = encoder.transform(collection)
    model = fitted(LogisticRegression(), X, collection["ill"])
    assert model.certificate_.verify(X, collection["ill"])
    found = model.predict(X)
    assert isinstance(found, da.Array)
    assert np.mean(found.compute() == people()["ill"].to_numpy()) > 0.75


def test_new_categories_and_empty_partitions(client, collection):
    encoder = Encoder.fit(collection.drop(columns="ill"))
    few = collection[collection["visits"] < 1]  # in no partition many, perhaps none
    none = collection[collection["visits"] > 99]
    X, _ = encoder.transform(dd.concat([none, few.assign(city="Paris")]))
    rows = people()[people()["visits"] < 1]
    found = X.compute()
    assert found.shape == (len(rows), len(encoder.names))
    assert not found[:, encoder.groups["city"]].any()
    with pytest.raises(DataError, match="no rows"):
        Encoder.fit(none.drop(columns="ill"))


def test_many_words_make_sparse_blocks(client):
    random = np.random.default_rng(1)
    words = np.array([f"word{i}" for i in range(400)])
    table = pd.DataFrame(
        {"text": [" ".join(random.choice(words, 12)) for _ in range(2000)], "x": random.normal(size=2000)}
    )
    collection = dd.from_pandas(table, npartitions=3)
    encoder = Encoder.fit(collection)
    assert encoder.sparse
    X, _ = encoder.transform(collection)
    blocks = [block.compute() for block in X.to_delayed().ravel()]
    assert all(sparse.issparse(block) for block in blocks)
    file = io.BytesIO()
    table.assign(y=np.arange(2000) % 2).to_parquet(file)
    file.seek(0)
    expected = read_table(file, target="y")
    assert (sparse.vstack(blocks) != Encoder.fit(expected).transform(expected)[0]).nnz == 0
    model = fitted(LogisticRegression(), X, np.arange(2000) % 2)
    assert model.certificate_.verify(X, np.arange(2000) % 2)


def test_what_cannot_be_encoded_is_told(collection):
    with pytest.raises(DataError, match="reference=True compares"):
        Encoder.fit(collection, reference=True)
    with pytest.raises(DataError, match="a data frame"):
        Encoder.fit(da.zeros((3, 2)))
    encoder = Encoder.fit(collection[["age", "city"]])
    with pytest.raises(DataError, match="no column 'city'"):
        encoder.transform(collection[["age"]])
    twice = collection[["age", "visits"]].rename(columns={"visits": "age"})
    for refused in (lambda: Encoder.fit(twice), lambda: Encoder.fit(collection[["age"]]).transform(twice)):
        with pytest.raises(DataError, match="two columns have the name 'age'"):
            refused()
    blocks = [dask.delayed(pd.DataFrame)({"x": cells}) for cells in (["a", "b"], [1.5, 2.5])]
    mixed = dd.from_delayed(blocks, meta=pd.DataFrame({"x": []}, dtype=object), verify_meta=False)
    with pytest.raises(DataError, match="'x' holds text in partition 0, but numbers in partition 1"):
        Encoder.fit(mixed)
