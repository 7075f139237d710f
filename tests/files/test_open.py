"""data.open: the encoding of the whole table, made without it; and what is wrong with a source is said by name."""

import codecs
import gzip
import os
import tracemalloc
from datetime import date, datetime, time, timedelta

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from separatrix import DataError, LogisticRegression, StorageError
from separatrix.data import Encoder, open, read_table
from separatrix.data.opening import Progress, memory_bytes

N = 6000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    words = np.array(["the", "red", "house", "by", "sea", "has", "one", "green", "door"])
    late = np.array(["early"] * (N - 40) + ["late"] * 40)  # a category that only the last rows have
    return pl.DataFrame(
        {
            "id": np.arange(N) * 3 + 7,
            "serial": np.arange(N) * 1.0,  # floats that count records
            "nearly": np.where(np.arange(N) % 2, 0.3, 0.1 + 0.2),  # one value, but for rounding
            "size": rng.normal(size=N) * 1e3,
            "count": rng.integers(0, 9, size=N),
            "colour": rng.choice(["red", "green", "blue"], size=N),
            "when": late,
            "flag": rng.random(N) < 0.3,
            "gap": [None if u < 0.1 else u for u in rng.random(N)],
            "day": [date(2020, 1, 1) + timedelta(int(k)) for k in rng.integers(0, 900, size=N)],
            "text": [" ".join(rng.choice(words, size=6)) + f" {i % 50}" for i in range(N)],
            "same": np.ones(N),
            "label": [None if i % 500 == 3 else "yes" if u < 0.4 else "no" for i, u in enumerate(rng.random(N))],
        }
    )


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """The table in one file and in four, of every format."""
    path = tmp_path_factory.mktemp("tables")
    for at in range(4):
        part = frame[at * N // 4 : (at + 1) * N // 4]
        part.write_parquet(path / f"part{at}.parquet", row_group_size=400)
        part.write_csv(path / f"part{at}.csv")
        part.write_csv(path / f"part{at}.tsv", separator="\t")
        part.write_ipc(path / f"part{at}.arrow")
    frame.write_parquet(path / "whole.parquet")
    frame.write_csv(path / "whole.csv")
    frame.write_csv(path / "whole.tsv", separator="\t")
    return path


class Stream:
    """What a RecordBatchReader of pyarrow is like: read once; polars takes what has an Arrow stream."""

    def __init__(self, frame):
        self._batches = iter(frame.iter_slices(700))

    def read_next_batch(self):
        return next(self._batches)

    def __iter__(self):
        return self

    __next__ = read_next_batch


class Dataset:
    """And what a Table or a Dataset is like."""

    def __init__(self, frame):
        self._frame = frame

    def to_batches(self):
        return [Capsule(part) for part in self._frame.iter_slices(700)]


class Capsule:
    def __init__(self, frame):
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self._frame.__arrow_c_stream__(requested_schema)


SOURCES = {
    "a Parquet file": (lambda path, frame: path / "whole.parquet", "whole.parquet"),
    "a glob": (lambda path, frame: str(path / "part*.parquet"), "whole.parquet"),
    "a list": (lambda path, frame: [path / f"part{at}.csv" for at in range(4)], "whole.csv"),
    "CSV": (lambda path, frame: str(path / "whole.csv"), "whole.csv"),
    "TSV": (lambda path, frame: str(path / "part?.tsv"), "whole.tsv"),
    "Arrow": (lambda path, frame: str(path / "part*.arrow"), "whole.parquet"),
    "a query": (lambda path, frame: frame.lazy(), "whole.parquet"),
    "a frame": (lambda path, frame: frame, "whole.parquet"),
    "a scan": (lambda path, frame: pl.scan_parquet(path / "part*.parquet"), "whole.parquet"),
    "a stream": (lambda path, frame: Stream(frame), "whole.parquet"),
    "a dataset": (lambda path, frame: Dataset(frame), "whole.parquet"),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("together", [1, 100])
def test_the_encoding_is_that_of_the_whole_table(source, together, folder, frame, monkeypatch):
    make, whole = SOURCES[source]
    monkeypatch.setattr("separatrix.data.learning.CELL", 60_000_000 // 4 // (together * N))  # columns at a time
    monkeypatch.setattr("separatrix.data.origins.ROWS", 900)
    table = read_table(folder / whole, target="label")
    encoder = Encoder.fit(table, scale=True)
    X, names = encoder.transform(table)
    assert {name.split(":")[0].split("=")[0] for name in names} >= {"colour", "when", "day", "text", "gap is missing"}
    with open(make(folder, frame), "label", memory="60MB", scale=True) as rows:
        assert rows.encoder.to_dict() == encoder.to_dict()
        found = rows.X[:]
        assert np.array_equal(found.toarray() if rows.X.sparse else found, X)
        assert np.array_equal(rows.y, table.y)
        assert rows.sample_weight is None
        assert rows.notes == [*table.notes, *encoder.notes]
        assert np.array_equal(np.concatenate([y for _, y, _ in rows.blocks()]), table.y)


def test_some_columns(folder, frame):
    for source in (folder / "whole.parquet", folder / "whole.csv", frame.lazy()):
        with open(source, "label", columns=["gap", "size"]) as rows:
            assert rows.encoder.names == ["size", "gap", "gap is missing"]
        with pytest.raises(DataError, match="gape"):
            open(source, "label", columns=["gape"])


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_other_columns_than_those_to_use_may_differ(ending, tmp_path):
    frame = pl.DataFrame({"a": [0.5, 1.5, 2.5, 9.5], "y": [0, 1, 0, 1]})
    for name, part in (("1", frame), ("2", frame.with_columns(z=pl.col("a"))), ("3", frame.with_columns(z="a"))):
        write = {"parquet": part.write_parquet, "csv": part.write_csv, "arrow": part.write_ipc}[ending]
        write(tmp_path / f"{name}.{ending}")
    for order in ("123", "321"):
        with open([tmp_path / f"{name}.{ending}" for name in order], "y", columns=["a"]) as rows:
            assert rows.X[:].ravel().tolist() == frame["a"].to_list() * 3
        with pytest.raises(DataError, match=r"has no column 'z'|column 'z' holds"):
            open([tmp_path / f"{name}.{ending}" for name in order], "y", columns=["a", "z"])


def test_libsvm_files(tmp_path):
    X = sparse.random(3000, 60, density=0.1, format="csr", random_state=0)
    X.data = np.round(X.data, 3) + 1
    X = sparse.hstack([X, np.ones((3000, 1)), X[:, :2], sparse.csr_matrix((3000, 1))], format="csr")  # 60: one value
    y = np.arange(3000) % 3
    dump_svmlight_file(X, y, str(tmp_path / "whole.svm"), zero_based=True)
    for at in range(3):
        part = slice(1000 * at, 1000 * at + 1000)
        dump_svmlight_file(X[part], y[part], str(tmp_path / f"part{at}.svm"), zero_based=True)
    table = read_table(tmp_path / "whole.svm", target="label")
    encoder = Encoder.fit(table)
    with open(str(tmp_path / "part*.svm")) as rows:
        assert rows.encoder.to_dict() == encoder.to_dict()
        assert rows.notes == encoder.notes
        assert (rows.X[:] != encoder.transform(table)[0]).nnz == 0
        assert np.array_equal(rows.y, table.y)


def test_libsvm_files_whose_features_are_far_apart(tmp_path):
    """Numbers of features up to 2^31 cost no memory: those of words by their hashes are such."""
    (tmp_path / "a.svm").write_text("1 1:2 30000000:1\n-1 1:1\n1 1:3\n-1 30000000:5 40000000:7\n")
    tracemalloc.start()
    with open(tmp_path / "a.svm") as rows:
        assert rows.encoder.names == ["feature 1", "feature 30000000", "feature 40000000"]
    assert tracemalloc.get_traced_memory()[1] < 100 << 20
    tracemalloc.stop()
    (tmp_path / "a.svm").write_text("")
    with pytest.raises(DataError, match=r"a.svm has no rows"):
        open(tmp_path / "a.svm")


def test_npy_files(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 4)), np.arange(500) % 2
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "both.npy", np.column_stack([X, y]))
    for source, target in ((tmp_path / "X.npy", str(tmp_path / "y.npy")), (tmp_path / "both.npy", -1)):
        with open(source, target) as rows:
            assert np.array_equal(rows.X[:], X)
            assert np.array_equal(rows.y, y)
            assert rows.encoder is None
    X[77, 2] = np.nan
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(DataError, match=r"X.npy: row 78, column 2: nan is not finite"):
        open(tmp_path / "X.npy", str(tmp_path / "y.npy"))
    np.save(tmp_path / "X.npy", np.asfortranarray(X))
    with pytest.raises(DataError, match="column by column"):
        open(tmp_path / "X.npy", str(tmp_path / "y.npy"))
    with pytest.raises(DataError, match="target=-1"):
        open(tmp_path / "X.npy")


@pytest.mark.parametrize("kind", ["dense", "csr", "float32"])
def test_batches_of_the_user(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 5)).astype(np.float32 if kind == "float32" else np.float64)
    X[rng.random(X.shape) < 0.7] = 0.0 if kind == "csr" else 1.0
    y, weight = rng.choice(["a", "b"], size=900), rng.integers(0, 3, size=900).astype(float)
    room = np.empty((100, 5), dtype=X.dtype)

    def batches():
        for first in range(0, 900, 100):
            room[:] = X[first : first + 100]  # the same array again and again
            part = slice(first, first + 100)
            yield sparse.csr_matrix(room) if kind == "csr" else room, y[part], weight[part]

    for source in (batches, batches()):
        with open(source) as rows:
            kept = weight > 0
            found = rows.X[:]
            assert np.array_equal(found.toarray() if kind == "csr" else found, X[kept])
            assert np.array_equal(rows.y, y[kept])
            assert np.array_equal(rows.sample_weight, weight[kept])
            model = LogisticRegression().fit(rows.X, rows.y, rows.sample_weight)
            assert model.coef_.dtype == X.dtype
            assert model.certificate_.verify(rows, None)


ROOM = np.ones((3, 2))
FAULTS = {
    "batch 2 has 3 columns": [(ROOM, [0, 1, 0]), (np.ones((3, 3)), [0, 1, 0])],
    r"batch 2: row 2, column 1: nan is not finite": [(ROOM, [0, 1, 0]), (np.array([[1.0, 2], [3, np.nan]]), [0, 1])],
    r"batch 1: row 1, column 0: inf is not finite": [(sparse.csr_matrix(np.array([[np.inf, 1.0]])), [0])],
    "batch 1: X has 3 rows, but y has 2 labels": [(ROOM, [0, 1])],
    "batch 1: row 3 has no label": [(ROOM, [0, 1, np.nan])],
    "batch 1 is a ndarray": [ROOM],
    "batch 2 has no weight": [(ROOM, [0, 1, 0], [1, 1, 1]), (ROOM, [0, 1, 0])],
    "batch 1: X is a DataFrame": [(pl.DataFrame({"a": [1.0]}), [0])],
    "batch 1: X has the shape": [(np.array([["a", "b"]]), [0])],
    r"beyond 2\*\*53": [(np.array([[2**53 + 1]]), [0])],
    "one value only": [(ROOM, [1, 1, 1])],
    "text in some parts and numbers in others": [(ROOM, ["a", "b", "a"]), (ROOM, [0, 1, 0])],
    "has no rows": [],
    "batch 1: X has no columns": [(np.zeros((3, 0)), [0, 1, 0])],
}


@pytest.mark.parametrize("words", FAULTS)
def test_what_is_wrong_with_a_batch_is_said(words):
    before = set(os.listdir("/dev/fd"))
    with pytest.raises(DataError, match=words):
        open(lambda: FAULTS[words])
    assert set(os.listdir("/dev/fd")) == before


def test_files_that_do_not_agree(tmp_path):
    pl.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}).write_parquet(tmp_path / "1.parquet")
    cases = {
        r"2.parquet has no column 'a'": pl.DataFrame({"b": [1.0], "y": [0]}),
        r"1.parquet has no column 'c'": pl.DataFrame({"a": [1.0], "c": [3], "y": [0]}),
        r"2.parquet: column 'a' holds text, but numbers in 1.parquet": pl.DataFrame({"a": ["x"], "y": [0]}),
    }
    for words, frame in cases.items():
        frame.write_parquet(tmp_path / "2.parquet")
        with pytest.raises(DataError, match=words):
            open(str(tmp_path / "*.parquet"), "y")
    pl.DataFrame({"a": [1.0], "y": [2**53 + 1]}).write_parquet(tmp_path / "2.parquet")
    pl.DataFrame({"a": [1.0], "y": [0.5]}).write_parquet(tmp_path / "3.parquet")
    with pytest.raises(DataError, match=r"column 'y' has whole numbers beyond 2\*\*53"):
        open(str(tmp_path / "*.parquet"), "y")
    (tmp_path / "3.parquet").unlink()
    pl.DataFrame({"a": [None, 4], "y": [1, 0]}).write_parquet(tmp_path / "2.parquet")  # whole numbers are numbers
    with open(str(tmp_path / "*.parquet"), "y") as rows:
        assert rows.X[:].tolist() == [[1.0, 0.0], [2.0, 0.0], [7 / 3, 1.0], [4.0, 0.0]]
    (tmp_path / "1.csv").write_text("a,y\n1,0\n2,1\n5,0\n")
    (tmp_path / "2.csv").write_text("a,y\n3,1\nsix,0\n4,1\n7,1\n8,0\n" + "".join(f"{i},1\n" for i in range(30)))
    with pytest.raises(DataError, match=r"'six' in row 2 of 2.csv"):
        open(str(tmp_path / "?.csv"), "y")
    (tmp_path / "2.csv").write_text("b,y\n3,1\n")
    with pytest.raises(DataError, match=r"2.csv has no column 'a'"):
        open(str(tmp_path / "?.csv"), "y")
    with pytest.raises(DataError, match="files of one kind"):
        open(tmp_path, "y")


TIMES = {
    "dates of the time zone UTC, but dates": pl.lit(datetime(2020, 1, 1)).dt.replace_time_zone("UTC"),
    "times of day, but dates": pl.lit(time(1)),
    "Duration": pl.lit(timedelta(1)),
}


@pytest.mark.parametrize("words", TIMES)
def test_times_that_do_not_agree(words, tmp_path):
    frame = pl.DataFrame({"t": [date(2020, 1, 1), date(2020, 2, 2)], "y": [0, 1]})
    frame.write_parquet(tmp_path / "1.parquet")
    frame.with_columns(t=TIMES[words]).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(DataError, match=f"2.parquet: column 't' holds {words}"):
        open(tmp_path, "y")


def test_a_date_beyond_the_calendar_is_named():
    days = pl.Series([0, 1, 2**31 - 1, None], dtype=pl.Int32).cast(pl.Date)
    with pytest.raises(DataError, match="row 3, column 't' has a date beyond the years 1 to 9999"):
        open(pl.DataFrame({"t": days, "y": [0, 1, 0, 1]}), "y")


def test_an_empty_file_among_many_is_passed_over(tmp_path):
    frame = pl.DataFrame({"a": [1.0, 2.0, 4.0], "y": [0, 1, 1]})
    for at, part in enumerate((frame[:2], frame[:0], frame[2:])):
        part.write_parquet(tmp_path / f"{at}.parquet")
        part.write_csv(tmp_path / f"{at}.csv")
    (tmp_path / "3.csv").write_bytes(b"")
    (tmp_path / "4.csv").write_bytes(codecs.BOM_UTF8)
    (tmp_path / "5.csv.gz").write_bytes(gzip.compress(b""))
    pl.DataFrame({"b": [date(2020, 1, 1)]}).clear().write_parquet(tmp_path / "3.parquet")  # of other columns
    pl.DataFrame({"a": ["x"], "y": ["u"]}).clear().write_parquet(tmp_path / "4.parquet")  # of other types
    parquet = [f"{at}.parquet" for at in (1, 3, 4)]
    for ending, names in (("parquet", parquet), ("csv*", ["1.csv", "3.csv", "4.csv", "5.csv.gz"])):
        with open(str(tmp_path / f"*.{ending}"), "y") as rows:
            assert rows.X[:].ravel().tolist() == [1.0, 2.0, 4.0]
            assert [note.split()[0] for note in rows.notes] == names
        for name in names:
            with pytest.raises(DataError, match=f"{name} has no rows"):
                open(tmp_path / name, "y")


def test_files_that_cannot_be_read_from_anywhere_say_what_to_do(tmp_path):
    frame = pl.DataFrame({"a": [1.0, 2.0], "y": [0, 1]})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ipc(tmp_path / "a.arrow")
    np.save(tmp_path / "a.npy", frame.to_numpy())
    for path in list(tmp_path.iterdir()):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.write_bytes(b"")
        with pytest.raises(DataError, match=rf"{path.name}.gz is compressed as a whole, .* unpack it"):
            open(tmp_path / f"{path.name}.gz", "y")
        with pytest.raises(DataError, match=f"{path.name} has no bytes"):
            open(path, "y")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="such pipes are not on Windows")
def test_a_pipe_is_no_place_to_keep_rows(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n2,1\n")
    os.mkfifo(tmp_path / "rows")
    with pytest.raises(StorageError, match="rows is no file, and is left as it is"):
        open(tmp_path / "a.csv", "y", cache=tmp_path / "rows")


def test_what_is_no_source_is_said(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        open(tmp_path / "none.csv", "y")
    with pytest.raises(DataError, match="no file fits"):
        open(str(tmp_path / "*.csv"), "y")
    with pytest.raises(DataError, match="folder without"):
        open(tmp_path, "y")
    with pytest.raises(DataError, match="A source is"):
        open(np.eye(3), "y")
    (tmp_path / "a.csv").write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(DataError, match="name the column of the labels"):
        open(tmp_path / "a.csv")
    with pytest.raises(DataError, match="one value only"):
        open(pl.LazyFrame({"a": [1, 2], "y": [1, 1]}), "y")
    for memory in ("much", "1MB", -5, "9" * 400 + "GB"):
        with pytest.raises(DataError, match="memory must be a size"):
            open(tmp_path / "a.csv", "y", memory=memory)
    assert memory_bytes("1.5 gb") == 1_500_000_000
    with pytest.raises(DataError, match="raise memory"):
        open([(np.ones((800_000, 1), dtype=np.int8), np.arange(800_000) % 2)], memory="60MB")


def test_a_kept_file_is_used_until_the_source_changes(tmp_path, monkeypatch):
    source, cache = tmp_path / "a.csv", tmp_path / "a.rows"
    source.write_text("a,y\n" + "".join(f"{i},{i % 2}\n" for i in (5, 3, 9, 8)))
    with open(source, "y", cache=cache) as rows:
        assert rows.X[:].ravel().tolist() == [5, 3, 9, 8]
    stamp = cache.stat().st_mtime_ns
    with monkeypatch.context() as patched:
        patched.setattr("separatrix.data.opening._Writing", None)  # nothing is read but the file
        with open(source, "y", cache=cache) as rows:
            assert rows.X[:].ravel().tolist() == [5, 3, 9, 8]
            assert rows.y.tolist() == [1, 1, 1, 0]
            assert rows.encoder.names == ["a"]
    assert cache.stat().st_mtime_ns == stamp
    with open(source, "y", cache=cache, scale=True) as rows:  # other parameters are another file
        assert rows.X[0, 0] != 5
    status = source.stat()
    source.write_text("a,y\n" + "".join(f"{i},{i % 2}\n" for i in (6, 3, 9, 8)))
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))  # of the same size, and time
    with open(source, "y", cache=cache) as rows:
        assert rows.X[:].ravel().tolist() == [6, 3, 9, 8]
    os.truncate(cache, 200)
    with open(source, "y", cache=cache) as rows:  # damaged: made again
        assert rows.X[:].ravel().tolist() == [6, 3, 9, 8]
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.rows"]
    with pytest.raises(StorageError, match="is left as it is"):
        open(source, "y", cache=source)
    with pytest.raises(DataError, match="cache= is for files"):
        open([(ROOM, [0, 1, 0])], cache=cache)


@pytest.mark.parametrize("kept", [False, True])
def test_an_interruption_leaves_nothing(kept, tmp_path, monkeypatch):
    source = tmp_path / "a.csv"
    source.write_text("a,y\n" + "".join(f"{i * i},{i % 2}\n" for i in range(4000)))
    monkeypatch.setattr("separatrix.data.origins.ROWS", 500)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(os.listdir("/dev/fd"))

    def stop(progress):
        if progress.what == "writing rows" and progress.done > 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open(source, "y", cache=tmp_path / "a.rows" if kept else None, progress=stop)
    assert os.listdir(tmp_path) == ["a.csv"]
    assert set(os.listdir("/dev/fd")) == before


def test_progress_says_how_fast_and_how_long():
    assert str(Progress("writing rows", 1000, 5000, 2.0)) == "writing rows: 1,000 of 5,000, 500 a second, 8 s left"
    seen = []
    with open(pl.LazyFrame({"a": [1.5, 2.5, 3], "y": [0, 1, 1]}), "y", progress=seen.append):
        assert [(p.what, p.done, p.of) for p in seen] == [
            ("reading rows", 3, None),
            ("looking at columns", 0, 1),
            ("writing rows", 3, 3),
        ]
