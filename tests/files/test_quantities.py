"""Columns of floats in Parquet files are stored while they are decoded: what comes out is what `Encoder.fit` makes."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from files.test_block_file import environment

from separatrix import DataError, StorageError
from separatrix.data import Encoder, open, opening, parquet, parquet_apart, parquet_child, quantities, read_table
from separatrix.files.layout import block_rows

N, D = 9000, 60


def table(**others):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)) * rng.uniform(0.1, 1e4, size=D)
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(D)])
    labels = rng.choice(["a", "b"], size=N)
    return frame.with_columns(**{"y": labels} | {name: pl.Series(values) for name, values in others.items()})


def written(frame, folder):
    """The table in one file, and in files of a few hundred to some thousand rows."""
    frame.write_parquet(folder / "whole.parquet")
    cuts = [0, 700, 700, 4000, 4100, N]  # one without rows
    for at, (start, stop) in enumerate(pairwise(cuts)):
        frame[start:stop].write_parquet(folder / f"part{at}.parquet", row_group_size=1100)
    return str(folder / "part*.parquet")


@pytest.fixture(params=["shared memory", pytest.param("a pipe", marks=pytest.mark.long)])
def _transport(request, monkeypatch):
    if request.param == "a pipe":
        monkeypatch.setattr(parquet_apart, "_memory", lambda: None)
    elif not hasattr(os, "memfd_create"):
        pytest.skip("this system has no such memory")
    monkeypatch.setattr("separatrix.data.origins.ROWS", 900)


def as_in_memory(source, folder, **settings):
    whole = read_table(folder / "whole.parquet", target="y")
    encoder = Encoder.fit(whole, **settings)
    with open(source, "y", memory="60MB", **settings) as rows:
        assert rows.encoder.to_dict() == encoder.to_dict()
        found = rows.X[:]
        assert np.array_equal(found.toarray() if rows.X.sparse else found, encoder.transform(whole)[0])
        assert np.array_equal(rows.y, whole.y)
        assert [note for note in rows.notes if "passed over" not in note] == [*whole.notes, *encoder.notes]
        return rows.X.ends, found


@pytest.mark.usefixtures("_transport")
def test_plain_floats_are_written_once(tmp_path, monkeypatch):
    source = written(table(), tmp_path)
    monkeypatch.setattr(opening._Writing, "encoded", None)
    assert block_rows(D) < N
    ends, found = as_in_memory(source, tmp_path)
    assert ends == (found.min(), found.max())


rng = np.random.default_rng(1)
OTHERS = {
    "a gap": {"x3": [None if i == N - 5 else i / 7 for i in range(N)]},
    "NaN": {"x3": np.where(np.arange(N) == 4500, np.nan, np.arange(N) / 7)},
    "a whole number": {"whole": rng.integers(0, 9, size=N)},
    "text": {"colour": rng.choice(["red", "green"], size=N)},
    "a label that is missing": {"y": [None if i in (3, 4050) else "ab"[i % 3 == 0] for i in range(N)]},
    "short floats": {"x1": rng.normal(size=N).astype(np.float32)},
    "one value for long": {"x2": np.where(np.arange(N) < N - 3, 1.5, 2.5)},
    "whole for long": {"x2": np.arange(N) % 7 + np.where(np.arange(N) < N - 3, 0, 0.25)},
    "a huge sum": {"x0": np.where(np.arange(N) % 2, 1.5e308, 1.1e308)},
}


@pytest.mark.usefixtures("_transport")
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("scale", [False, True])
def test_whatever_else_there_is_the_encoding_is_that_of_the_whole_table(other, scale, tmp_path):
    as_in_memory(written(table(**OTHERS[other]), tmp_path), tmp_path, scale=scale)


@pytest.mark.usefixtures("_transport")
def test_some_columns_only(tmp_path):
    source = written(table(), tmp_path)
    everything = pl.read_parquet(tmp_path / "whole.parquet")
    with open(source, "y", columns=["x7", "x2"]) as rows:
        assert rows.encoder.names == ["x2", "x7"]
        assert np.array_equal(rows.X[:], everything.select("x2", "x7").to_numpy())
    with open(source, "y", drop=["x0", "x9"]) as rows:
        assert np.array_equal(rows.X[:], everything.drop("y", "x0", "x9").to_numpy())


def test_an_encoder_that_is_given_is_followed(tmp_path):
    source = written(table(), tmp_path)
    whole = read_table(tmp_path / "whole.parquet", target="y")
    for encoder in (Encoder.fit(whole, scale=True), Encoder.fit(whole.drop(["x5"]))):
        with open(source, "y", encoder=encoder) as rows:
            assert np.array_equal(rows.X[:], encoder.transform(whole)[0])
    gaps = pl.read_parquet(tmp_path / "part3.parquet").with_columns(x4=pl.lit(None, dtype=pl.Float64))
    gaps.write_parquet(tmp_path / "part3.parquet")
    encoder = Encoder.fit(whole)  # knows of none
    with open(source, "y", encoder=encoder) as rows:
        assert rows.X[4050, 4] == encoder.to_dict()["plans"][4]["mean"]
        assert rows.X[3999, 4] == whole.frame["x4"][3999]


def test_the_mean_is_the_sum_without_rounding():
    """Of numbers whose sum is known: large ones that cancel, and between them small ones, which the sum alone loses."""
    values = np.concatenate([np.full(51_200, 1e16), np.full(28_032, 1.0), np.full(51_200, -1e16)])
    summary = quantities.Summary.of([values[:, None]], 1)
    assert summary.means[0] * len(values) == pytest.approx(28_032, rel=1e-12)


def test_what_is_wrong_is_said_by_file_row_and_column(tmp_path):
    frame = table()
    source = written(frame, tmp_path)
    bad = frame[700:4000].with_columns(x8=pl.when(pl.arange(0, 3300) == 41).then(np.inf).otherwise(pl.col("x8")))
    bad.write_parquet(tmp_path / "part2.parquet")
    with pytest.raises(DataError, match=r"row 42 of part2.parquet, column 'x8': inf is not finite"):
        open(source, "y")
    frame[:5].with_columns(x8=pl.lit("many")).write_parquet(tmp_path / "part2.parquet")
    with pytest.raises(DataError, match=r"part2.parquet: column 'x8' holds text, but numbers in part0.parquet"):
        open(source, "y")
    frame[:5].drop("x8").write_parquet(tmp_path / "part2.parquet")
    with pytest.raises(DataError, match=r"part2.parquet has no column 'x8'"):
        open(source, "y")
    with pytest.raises(DataError, match="target column 'z'"):
        open(source, "z")
    raw = (tmp_path / "part3.parquet").read_bytes()
    (tmp_path / "part3.parquet").write_bytes(raw[:4] + 16 * b"\xff" + raw[20:])
    frame[700:4000].write_parquet(tmp_path / "part2.parquet")
    with pytest.raises(DataError, match=r"part3.parquet cannot be read as Parquet"):
        open(source, "y")


def test_a_decoder_that_dies_between_rows_is_an_error(tmp_path, monkeypatch):
    program, text = tmp_path / "decoder.py", Path(parquet_child.__file__).read_text()
    program.write_text(text.replace("self._sent += 1\n", "os._exit(3)\n"))
    assert program.read_text() != text
    source, before = written(table(), tmp_path), set(os.listdir("/dev/fd"))
    monkeypatch.setattr(parquet_child, "__file__", str(program))
    with pytest.raises(DataError, match="polars breaks off"):
        open(source, "y")
    assert set(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("what", ["reading rows", "writing rows"])
def test_an_interruption_leaves_nothing(kept, what, tmp_path, monkeypatch):
    source = written(table(count=np.arange(N) % 5), tmp_path)
    files = sorted(os.listdir(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("separatrix.data.origins.ROWS", 900)
    before = set(os.listdir("/dev/fd"))

    def stop(progress):
        if progress.what == what and progress.done > 4000:
            assert progress.of == N
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open(source, "y", cache=tmp_path / "a.rows" if kept else None, progress=stop)
    assert sorted(os.listdir(tmp_path)) == files
    assert set(os.listdir("/dev/fd")) == before


def test_a_file_to_keep_that_is_encoded_again_leaves_no_draft(tmp_path):
    source = written(table(count=np.arange(N) % 5), tmp_path)
    (tmp_path / "kept").mkdir()
    with open(source, "y", cache=tmp_path / "kept" / "rows") as rows:
        found = rows.X[:]
    assert os.listdir(tmp_path / "kept") == ["rows"]
    with open(source, "y", cache=tmp_path / "kept" / "rows") as again:
        assert np.array_equal(again.X[:], found)
    with pytest.raises(StorageError, match="cannot be written"):
        open(source, "y", cache=tmp_path / "nowhere" / "rows")


@pytest.mark.parametrize("memory", [150e6, 2e9])
def test_the_decoder_is_sparing_where_memory_is_short(memory, tmp_path, monkeypatch):
    source, jobs, environments = written(table(), tmp_path), [], []
    line, popen = parquet_apart._line, subprocess.Popen
    monkeypatch.setattr(parquet_apart, "_line", lambda job: (jobs.append(job), line(job))[1])
    monkeypatch.setattr(
        subprocess, "Popen", lambda *a, env, **how: (environments.append(env), popen(*a, env=env, **how))[1]
    )
    open(source, "y", memory=int(memory)).close()
    short = memory < 1e9
    assert jobs[0]["cells"] == (10**6 if short else parquet_child.CELLS)
    assert environments[0][parquet.ALLOCATOR].endswith(parquet.SPARE if short else parquet.KEEP)


PEAK = """
import threading, time, sys
import separatrix, polars
from separatrix.data import open as open_rows

def anonymous():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))

before, peak, done = anonymous(), 0, threading.Event()
def watch():
    global peak
    while not done.wait(0.002):
        peak = max(peak, anonymous())
watcher = threading.Thread(target=watch)
watcher.start()
with open_rows(sys.argv[1], "y", memory="50MB") as rows:
    done.set()
    watcher.join()
    print(peak - before, rows.X.shape[0] * rows.X.shape[1] * 8)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is counted as Linux does")
@pytest.mark.long
@pytest.mark.parametrize("gaps", [False, True])
def test_memory_does_not_grow_with_the_files(gaps, tmp_path):
    """Data of 115 MB in 50 MB: the 40 MB beside are for the rows that are encoded together."""
    rng = np.random.default_rng(0)
    for part in range(6):
        X = rng.normal(size=(40_000, 60))
        if gaps:
            X[rng.random(X.shape) < 0.01] = np.nan
        frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(60)])
        frame.with_columns(y=X[:, 1] > 0).write_parquet(tmp_path / f"{part}.parquet")
    command = [sys.executable, "-c", PEAK, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    peak, size = map(int, done.stdout.split())
    assert size >= 115e6
    assert peak <= 90e6
