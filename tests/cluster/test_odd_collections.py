"""What collections of Dask can be like: unknown sizes, column chunks, empty partitions, frames, missing values."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from cluster.tables import COLUMNS, PARTS, ROWS, array, at_pass, fitted, labels, rows, table
from distributed import Client, LocalCluster
from files.tables import plain
from scipy import sparse

from separatrix import InvalidInputError, LogisticRegression, NaiveBayes

pytestmark = pytest.mark.long  # starts processes: a step of its own

MODEL = LogisticRegression()


def expected():
    return plain(fitted(MODEL, *table()))


def test_sizes_of_chunks_that_nobody_knows(client):
    X, y = table()
    unknown = X[X[:, 0] > -1e9]  # all rows, which Dask cannot tell
    assert np.isnan(unknown.shape[0])
    model = fitted(MODEL, unknown, y[X[:, 0] > -1e9])
    assert plain(model) == expected()
    assert model.predict(unknown).compute().shape == (ROWS * PARTS,)


def test_several_chunks_of_columns_are_one(client):
    X, y = table()
    model = fitted(MODEL, X.rechunk({1: 2}), y)
    assert plain(model) == expected()
    assert np.array_equal(model.predict(X.rechunk({1: 2})).compute(), model.predict(X).compute())


def test_an_empty_partition_is_passed_over(client):
    X, y = table()
    padded = X.rechunk(((ROWS, ROWS, 0, *[ROWS] * (PARTS - 2)), -1))
    assert 0 in padded.chunks[0]
    model = fitted(MODEL, padded, y)
    assert plain(model) == expected()
    assert model.predict_proba(padded).compute().shape == (ROWS * PARTS, 2)
    with pytest.raises(InvalidInputError, match="every partition is empty"):
        fitted(MODEL, X[:0], y[:0])


def test_a_partition_without_one_of_the_classes(client):
    """Rows sorted by class: the first partitions have one class each."""
    X, y = (part.compute() for part in table())
    order = np.argsort(y, kind="stable")
    X, y = da.from_array(X[order], chunks=(ROWS, COLUMNS)), da.from_array(y[order], chunks=ROWS)
    for model in (MODEL, NaiveBayes()):
        found = fitted(model, X, y)
        assert found.certificate_.verify(X, y)


def test_types_that_differ_are_read_as_they_are(client):
    parts = [np.round(rows(i)) for i in range(4)]
    kinds = [np.float64, np.float32, np.int64, np.int16]
    mixed = [dask.delayed(part.astype(kind)) for part, kind in zip(parts, kinds, strict=True)]
    y = np.concatenate([labels(i) for i in range(4)])
    found = fitted(MODEL, mixed, y)
    assert plain(found) == plain(fitted(MODEL, [dask.delayed(part) for part in parts], y))
    assert found.coef_.dtype == np.float64
    single = [dask.delayed(part.astype(np.float32)) for part in parts]
    assert fitted(MODEL, single, y).coef_.dtype == np.float32


def test_the_error_of_a_missing_value_has_partition_row_and_column(client):
    X, y = table()

    def holed(block, block_info=None):
        block = block.copy()
        if block_info is not None and block_info[0]["chunk-location"][0] == 2:
            block[17, 4] = np.nan
        return block

    place = rf"NaN: partition 2, row 17 of it \(row {2 * ROWS + 17} of all\), column 4"
    with pytest.raises(InvalidInputError, match=place):
        fitted(MODEL, X.map_blocks(holed), y)
    huge = da.where(X > 23.9, 1e200, X)
    with pytest.raises(InvalidInputError, match=r"1e\+200: partition \d, row \d+ of it"):
        fitted(MODEL, huge, y)


def test_numbers_that_float64_would_round_are_refused(client):
    X = [dask.delayed(np.array([[1], [2]])), dask.delayed(np.array([[3], [2**53 + 1]]))]
    with pytest.raises(InvalidInputError, match=r"Partition 1 of X holds a number .* row 1 of it, column 0"):
        fitted(MODEL, X, [0, 1, 0, 1])


def test_labels_of_text(client):
    X, y = table()
    names = da.where(y == 1, "spam", "ham")
    model = fitted(MODEL, X, names)
    assert model.classes_.tolist() == ["ham", "spam"]
    assert (
        model.predict(X).compute().tolist()
        == np.where(fitted(MODEL, X, y).predict(X).compute(), "spam", "ham").tolist()
    )


def test_blocks_of_two_kinds_or_widths_are_refused(client):
    y = np.arange(2 * ROWS) % 2
    with pytest.raises(InvalidInputError, match="Partition 1 of X is sparse, partition 0 is not"):
        fitted(MODEL, [dask.delayed(rows(0)), dask.delayed(sparse.csr_matrix(rows(1)))], y)
    with pytest.raises(InvalidInputError, match="Partition 1 of X has 3 columns, partition 0 has 6"):
        fitted(MODEL, [dask.delayed(rows(0)), dask.delayed(rows(1)[:, :3])], y)
    with pytest.raises(InvalidInputError, match="Partition 0 of X is not numeric"):
        fitted(MODEL, [dask.delayed(np.array([["a"], ["b"]]))], [0, 1])


def frame():
    table = pd.DataFrame(np.concatenate([rows(i) for i in range(3)]), columns=[f"x{j}" for j in range(COLUMNS)])
    table["kind"] = np.where(table["x0"] > 0, "tall", "short")
    table["y"] = np.concatenate([labels(i) for i in range(3)])
    return dd.from_pandas(table, npartitions=3)


def test_a_data_frame_keeps_its_names_and_its_categories_are_to_be_encoded(client):
    table = frame()
    y = table["y"]
    for column in (table, table.categorize(columns=["kind"])):
        with pytest.raises(InvalidInputError, match=r"Column 'kind' of X is of the type .*Encoder\.fit"):
            fitted(MODEL, column.drop(columns="y"), y)
    X = dd.get_dummies(table.drop(columns="y").categorize(columns=["kind"]), columns=["kind"], dtype=float)
    model = fitted(MODEL, X, y)
    assert model.feature_names_in_.tolist() == [*(f"x{j}" for j in range(COLUMNS)), "kind_short", "kind_tall"]
    assert model.certificate_.verify(X, y)
    found = model.predict(X)
    assert isinstance(found, da.Array)
    assert np.array_equal(found.compute(), model.predict(X.compute()))


def test_missing_values_of_pandas_are_found_by_name(client):
    table = frame().drop(columns="kind").compute()
    table["x1"] = table["x1"].round().astype("Int64")
    table.loc[table.index[5], "x1"] = pd.NA
    X = dd.from_pandas(table.drop(columns="y"), npartitions=2)
    with pytest.raises(InvalidInputError, match=r"NaN: partition 0, row 5 of it .* column 1 \('x1'\)"):
        fitted(MODEL, X, table["y"].to_numpy())


def test_labels_of_another_length_are_refused(client):
    X, y = table()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fitted(MODEL, X, y[:-1])
    weight = np.ones(len(y))
    weight[3] = 0.0
    with pytest.raises(InvalidInputError, match="rows on workers are not left out one by one"):
        fitted(MODEL, X, y, weight)
    with pytest.raises(InvalidInputError, match="3 dimensions"):
        fitted(MODEL, X.reshape(-1, 2, 3), y)


def test_partitions_that_do_not_fit_into_memory_are_spilled(tmp_path, monkeypatch):
    """Rows of 31 MB, where a worker keeps 18: some go to its disk, and come back without what they had kept."""
    long = 10_000
    X = array(lambda i: rows(i, long).repeat(8, axis=1), count=8, shape=(long, 8 * COLUMNS))
    y = array(lambda i: labels(i, long), count=8, shape=(long,), dtype=int)
    here = fitted(LogisticRegression(max_iter=3, solver="lbfgs"), X, y)
    spilled = []
    memory = {"target": 0.3, "spill": False, "pause": False, "terminate": False}  # of data alone: Python needs more
    with (
        dask.config.set({f"distributed.worker.memory.{name}": value for name, value in memory.items()}),
        LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="60MB", local_directory=tmp_path, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
        at_pass(3, monkeypatch, lambda held: spilled.extend(held.client.run(_on_disk).values())),
    ):
        there = fitted(LogisticRegression(max_iter=3, solver="lbfgs"), X, y)
    assert plain(there) == plain(here)
    assert spilled[0] >= long * 8 * COLUMNS * 8  # a partition or more


def _on_disk(dask_worker):
    return dask_worker.data.spilled_total.disk
