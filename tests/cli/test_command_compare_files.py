"""compare of a folder: a sample over all files that fits the memory, and who goes through all of them."""

import os
import re

import numpy as np
import polars as pl
import pytest
from cli.commandline import run, run_json

from separatrix.data.sampling import CELL, drawn

N, D = 40_000, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows sorted by day, in files of different length, one of them empty."""
    path = tmp_path_factory.mktemp("logs")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    frame = pl.DataFrame(X, schema=["age", "price", "depth"]).with_columns(
        day=np.arange(N) // 10 % 400 / 4 + 0.1,
        device=rng.choice(["phone", "desk"], size=N),
        clicked=np.where(X[:, 0] - X[:, 1] + rng.logistic(size=N) > 0, "yes", "no"),
    )
    cuts = [0, 15_000, 15_000, 15_100, N]
    for at, start in enumerate(cuts[:-1]):
        frame[start : cuts[at + 1]].write_parquet(path / f"{at}.parquet", row_group_size=5000)
        frame[start : cuts[at + 1]].write_csv(path / f"{at}.csv")
    return path, frame


@pytest.mark.parametrize("most", [1, 7, 1000, N - 1, N, N + 1])
def test_a_sample_is_drawn_over_all_files(folder, most):
    path, frame = folder
    size = most * CELL * len(frame.columns)
    found = drawn(str(path / "*.parquet"), "clicked", size, seed=1)
    assert (found.n, found.files, len(found.frame)) == (N, 4, min(most, N))
    places = {row: at for at, row in enumerate(frame.select("age", "price").iter_rows())}
    rows = [places[row] for row in found.frame.select("age", "price").iter_rows()]
    assert rows == sorted(set(rows))
    assert found.frame.equals(frame[rows])
    if most == 1000:  # each row is as likely as the others: these bounds are five standard deviations away
        assert abs(np.mean(rows) - N / 2) < 5 * N / np.sqrt(12 * 1000)
        assert abs(np.mean(np.array(rows) < 15_100) - 15_100 / N) < 5 * 0.5 / np.sqrt(1000)
        assert not drawn(str(path / "*.parquet"), "clicked", size, seed=2).frame.equals(found.frame)


def test_the_sample_does_not_depend_on_how_rows_come(folder, monkeypatch):
    path, _ = folder
    size = 500 * CELL * 6
    expected = drawn(str(path / "*.parquet"), "clicked", size, seed=0).frame
    monkeypatch.setattr("separatrix.data.origins.ROWS", 777)
    assert drawn(str(path / "*.parquet"), "clicked", size, seed=0).frame.equals(expected)
    text = drawn([path / f"{at}.csv" for at in range(4)], "clicked", size, seed=0).frame
    assert text["age"].cast(pl.Float64).to_list() == expected["age"].to_list()


def test_a_folder_is_compared_on_what_fits(folder, tmp_path, monkeypatch):
    path, frame = folder
    monkeypatch.setattr("separatrix.data.sampling.CELL", 50_000_000 // (400 * len(frame.columns)))
    monkeypatch.setattr("separatrix.cli.streaming.PATIENCE", 0.0)
    monkeypatch.chdir(tmp_path)
    done, found = run_json("compare", str(path / "*.parquet"), "-t", "clicked", "--memory", "50MB", "--folds", "3")
    assert done.exit_code == 0, done.stderr
    assert re.search(r"reading rows: [\d,]+ of 40,000, [\d,]+ a second", done.stderr)
    assert sorted(os.listdir()) == ["model.separatrix", "report.html", "rows.parquet", "run.json"]
    assert found["data"]["rows"] == 400
    one, other = found["data"]["notes"][:2]
    assert "A sample of 400 of the 40,000 rows of 4 files is compared" in one
    assert "what --memory 50MB has room for" in one
    assert "--model learns from all rows, by logistic, " in other
    assert "It leaves out svm, as a kernel compares all pairs of rows; " in other
    assert "A sample of 400 of the 40,000 rows" in (tmp_path / "report.html").read_text()
    assert any(entry["model"] == "svm" for entry in found["leaderboard"])  # it needs all rows in memory
    checked, verdict = run_json("verify", "model.separatrix", "rows.parquet")
    assert checked.exit_code == 0
    assert verdict["holds"]
    assert verdict["same_data"]


def test_what_fits_is_compared_whole(folder, tmp_path, monkeypatch):
    _, frame = folder
    monkeypatch.chdir(tmp_path)
    os.mkdir("few")
    for at in range(2):
        frame[200 * at : 200 * at + 200].write_parquet(f"few/{at}.parquet")
    done, found = run_json("compare", "few", "-t", "clicked", "--folds", "2", "--time-limit", "30")
    assert done.exit_code == 0, done.stderr
    assert found["data"]["notes"][0].startswith("All 400 rows of 2 files are compared.")
    assert pl.read_parquet("rows.parquet").equals(frame[:400])
    os.unlink("rows.parquet")
    done, found = run_json("compare", "few/0.parquet", "-t", "clicked", "--memory", "1GB", "--folds", "2")
    assert done.exit_code == 0, done.stderr
    assert found["data"]["rows"] == 200
    assert not any("compared" in note for note in found["data"]["notes"])
    assert not os.path.exists("rows.parquet")


def test_what_cannot_be_sampled_is_said(folder, tmp_path, monkeypatch):
    path, _ = folder
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.svm").write_text("1 1:2\n0 1:3\n")
    (tmp_path / "b.svm").write_text("1 1:2\n0 1:3\n")
    done = run("compare", "*.svm", "-t", "label")
    assert done.exit_code == 4
    assert "tables with named columns" in " ".join(done.stderr.split())
    done = run("compare", str(path / "*.parquet"), "-t", "clicks")
    assert done.exit_code == 4
    assert "'clicked'" in done.stderr
    assert not os.path.exists("rows.parquet")
