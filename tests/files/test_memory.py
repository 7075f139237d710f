"""What a fit takes of memory is what it was given, whatever the size of the data; memory maps are taken as they are."""

import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from files.blocks import stored
from files.tables import fitted, plain
from scipy import sparse

import separatrix
from separatrix import DataError, InvalidInputError, LinearSVC, LogisticRegression, NearestCentroid
from separatrix.data import open as open_rows
from separatrix.data.frames import Frames
from separatrix.estimators.stored import require_memory
from separatrix.files import Stored

PEAK = """
import json, threading, time, warnings
import numpy as np

def anonymous():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))

import separatrix
from separatrix.data import open as open_rows
separatrix.LogisticRegression().fit(np.eye(4), [0, 1, 0, 1])  # what the libraries take is not what data take
n, d, parts = {n}, {d}, 100

def batches():
    for seed in range(parts):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal(size=(n // parts, d))
        yield X, X[:, 0] + X[:, 1] + rng.standard_normal(size=len(X)) > 0

before, peak = anonymous(), 0
done = threading.Event()

def watch():
    global peak
    while not done.is_set():
        peak = max(peak, anonymous())
        time.sleep(0.005)

watcher = threading.Thread(target=watch)
watcher.start()
with open_rows(batches, memory="{memory}MB") as rows:
    model = separatrix.LogisticRegression(tol=1e-6).fit(rows.X, rows.y)
    holds = bool(model.certificate_.verify(rows.X, rows.y))
done.set()
watcher.join()
print(json.dumps([peak - before, holds, model.certificate_.relative_gap]))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is counted as Linux does")
def test_memory_is_what_was_given_whatever_the_size():
    """Data of 240 MB in 60 MB: the 40 MB beside are for what a fit makes of samples, and for the rows of a batch."""
    source = os.path.dirname(os.path.dirname(separatrix.__file__))
    script = PEAK.format(n=300_000, d=100, memory=60)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": source}
    )
    assert done.returncode == 0, done.stderr
    peak, holds, gap = json.loads(done.stdout)
    assert holds
    assert gap <= 1e-6
    assert peak <= 100e6


def test_what_takes_more_than_was_given_is_refused_before_it_does():
    """Ten classes are ten numbers for each row, again and again: more than two classes take."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400_000, 1)).astype(np.float32), rng.integers(0, 10, size=400_000)
    with open_rows([(X, y)], memory="60MB") as rows:
        for model in (LinearSVC(), LogisticRegression(l1_ratio=1.0)):
            with pytest.raises(InvalidInputError, match=r"keeps about .* MB for 400,000 rows and 10 tasks, .* more"):
                model.fit(rows.X, rows.y)
            assert not hasattr(model, "classes_")
        assert NearestCentroid().fit(rows.X, rows.y).certificate_.verify(rows.X, rows.y)
    with open_rows([(X, y)], memory="1GB") as rows:
        rows.X.memory = None  # nobody said how much: as of a block file that was opened by itself
        require_memory(LinearSVC(), rows.X, 1000)


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_text_counts_as_memory(ending, tmp_path, monkeypatch):
    """It comes some bytes at a time, and a column that does not fit is refused before all of it is looked at."""
    words = np.random.default_rng(0).integers(0, 1 << 60, size=(6000, 250)).astype(str)
    frame = pl.DataFrame({"a": np.arange(6000) % 7, "t": [" ".join(row) for row in words], "y": np.arange(6000) % 2})
    write = {"parquet": frame.write_parquet, "csv": frame.write_csv, "arrow": frame.write_ipc}[ending]
    write(tmp_path / f"a.{ending}")
    sizes, put = [], Frames._put
    monkeypatch.setattr(
        Frames, "_put", lambda self, table, *rest: (sizes.append(table.frame.estimated_size()), put(self, table, *rest))
    )
    with pytest.raises(DataError, match=r"column 't' has 2\d MB of text, .* about 11\d MB; memory is 100 MB: raise"):
        open_rows(tmp_path / f"a.{ending}", "y", memory="100MB")
    assert max(sizes) <= (12 << 20) + (1 << 16)
    assert sum(sizes) > 28e6
    open_rows(tmp_path / f"a.{ending}", "y", memory="100MB", drop=["t"]).close()
    with pytest.raises(DataError, match=r"column 't' has 2\d MB of text"):
        open_rows(tmp_path / f"a.{ending}", "t", memory="100MB")


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_rows_near_the_margin_are_in_memory_some_at_a_time(kind, monkeypatch):
    """Of labels that have nothing to do with the rows, half of these are at the margin of the hinge."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45_000, 12))
    y = (rng.random(45_000) < 0.3).astype(int)
    taken, scattered = [], Stored._scattered
    monkeypatch.setattr("separatrix.solvers.method_of_multipliers.TAKEN_ENTRIES", 12 * 2000)
    monkeypatch.setattr(Stored, "_scattered", lambda self, at: (taken.append(len(at)), scattered(self, at))[1])
    X = sparse.csr_matrix(X) if kind == "csr" else X
    with stored(X, sparse=kind == "csr") as rows:
        found = fitted(LinearSVC(C=1e-3), rows, y)
        assert found.certificate_.verify(rows, y)
    assert taken.count(2000) > 1
    assert max(taken) == 2000
    assert plain(found) == plain(fitted(LinearSVC(C=1e-3), X, y))


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(loss="squared_hinge")], ids=str)
def test_memory_maps_are_fitted_as_arrays_are(model, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    y = (X[:, 0] + rng.normal(size=20_000) > 0).astype(int)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = model.fit(X, y).coef_
    assert np.array_equal(model.fit(mapped, y).coef_, expected)
    assert model.certificate_.verify(mapped, y)
    S = sparse.random(20_000, 50, density=0.1, format="csr", random_state=0)
    y = (S @ rng.normal(size=50) + 0.1 * rng.normal(size=20_000) > 0).astype(int)
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(S, name))
    arrays = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("data", "indices", "indptr")]
    mapped = sparse.csr_matrix((S.shape[0], S.shape[1]))
    mapped.data, mapped.indices, mapped.indptr = arrays
    expected = model.fit(S, y).coef_
    assert np.array_equal(model.fit(mapped, y).coef_, expected)
    assert model.certificate_.verify(mapped, y)
