"""fit, predict and verify of files that are not read whole: the same answers as of the table read whole."""

import json
import os
import re
import time

import polars as pl
import pytest
from cli.commandline import run, run_json, write_table

from separatrix import LogisticRegression, load


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """One table, whole and in parts, one of which is empty; the current folder is where it is."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "whole.csv", n=300, extra=("more",))
    frame = pl.read_csv(tmp_path / "whole.csv")
    os.mkdir("parts")
    for at, part in enumerate((frame[:100], frame[100:100], frame[100:])):
        part.write_parquet(f"parts/{at}.parquet")
        part.write_csv(f"part{at}.csv")
    return tmp_path


@pytest.mark.parametrize("data", ["parts/*.parquet", "parts", "part?.csv", "whole.csv"])
def test_a_model_of_files_is_the_model_of_the_table(tables, data):
    done, found = run_json("fit", data, "--target", "kind", "--memory", "100MB", "--scale", "--drop", "more")
    assert done.exit_code == 0
    whole, expected = run_json(
        "fit", "whole.csv", "-t", "kind", "-m", "logistic", "-o", "whole.separatrix", "--scale", "--drop", "more"
    )
    assert whole.exit_code == 0
    assert found["certified"]
    assert found["file"] == "model.separatrix"
    for name in ("claim", "rows", "features", "classes", "training_accuracy", "left_out"):
        assert found[name] == expected[name]
    one, other = load("model.separatrix"), load("whole.separatrix")
    assert one.model.coef_.tolist() == other.model.coef_.tolist()
    assert one.encoder.to_dict() == other.encoder.to_dict()
    if data != "whole.csv":
        assert any("has no rows, and is passed over" in note for note in found["notes"])
    checked, verdict = run_json("verify", "model.separatrix", data, "--memory", "100MB")
    assert checked.exit_code == 0
    assert verdict["holds"]
    assert verdict["same_data"]
    assert verdict["checks"] == run_json("verify", "whole.separatrix", "whole.csv")[1]["checks"]
    assert run("predict", "model.separatrix", data).stdout == run("predict", "whole.separatrix", "whole.csv").stdout
    assert sorted(name for name in os.listdir() if name.startswith(".")) == []


def test_the_training_accuracy_is_that_of_the_cut(tables):
    words = "whole.csv", "-t", "kind", "--threshold", "0.95"
    _, found = run_json("fit", *words, "--memory", "100MB")
    assert found["training_accuracy"] == run_json("fit", *words)[1]["training_accuracy"] < 0.7


@pytest.mark.parametrize("data", ["one.arrow", "*.feather"])
def test_arrow_files_go_all_the_way(tables, data):
    frame = pl.read_csv("whole.csv")
    frame.write_ipc("one.arrow")
    for at, part in enumerate((frame[:100], frame[100:100], frame[100:])):
        part.write_ipc(f"{at}.feather")
    assert run("fit", data, "-t", "kind").exit_code == 0
    assert run("fit", "whole.csv", "-t", "kind", "-o", "whole.separatrix").exit_code == 0
    checked, verdict = run_json("verify", "model.separatrix", data)
    assert checked.exit_code == 0
    assert verdict["same_data"]
    assert run("predict", "model.separatrix", data).stdout == run("predict", "whole.separatrix", "whole.csv").stdout


@pytest.mark.parametrize("ending", ["arrow", "csv"])
def test_a_file_without_rows_is_no_prediction(tables, ending):
    assert run("fit", "whole.csv", "--target", "kind", "-o", "model.separatrix").exit_code == 0
    frame = pl.read_csv("whole.csv").clear()
    frame.write_ipc("none.arrow")
    frame.write_csv("none.csv")
    done = run("predict", "model.separatrix", f"none.{ending}")
    assert done.exit_code == 4
    assert f"none.{ending} has a header but no rows below it" in done.stderr
    done = run("predict", "model.separatrix", f"n*.{ending}")
    assert done.exit_code == 0
    assert f"none.{ending} has no rows, and is passed over" in done.stderr


def test_a_wrong_claim_is_seen(tables):
    assert run("fit", "parts", "-t", "kind").exit_code == 0
    frame = pl.read_parquet("parts/2.parquet").with_columns(pl.col("length").reverse())
    frame.write_parquet("parts/2.parquet")
    done, verdict = run_json("verify", "model.separatrix", "parts")
    assert done.exit_code == 3
    assert not verdict["holds"]
    assert not verdict["same_data"]


@pytest.mark.parametrize("model", ["linear-svm", "perceptron", "naive-bayes", "centroid", "least-squares"])
def test_other_models_go_through_files_too(tables, model):
    write_table(tables / "apart.csv", n=300, gap=30)
    done = run("fit", "apart.csv", "-t", "kind", "--model", model, "--memory", "100MB")
    assert done.exit_code == 0, done.stderr
    assert run("verify", "model.separatrix", "apart.csv", "--memory", "100MB").exit_code == 0


REFUSED = {
    "SVC does not learn from rows in a file": ("--model", "svm"),
    "--calibrate takes rows in memory": ("--calibrate", "sigmoid"),
    "A tuned cut takes rows in memory": ("--threshold", "tuned"),
    "--coding reference": ("--C", "inf"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_needs_memory_is_refused_in_words(tables, words):
    done = run("fit", "parts", "--target", "kind", *REFUSED[words])
    assert done.exit_code in (2, 4)
    assert words in " ".join(done.stderr.replace("│", " ").split())
    assert not os.path.exists("model.separatrix")


def test_usage(tables):
    assert "--target COLUMN" in run("fit", "parts").stderr
    assert "--memory needs files" in " ".join(run("fit", "--memory", "1GB").stderr.split())
    done = run("fit", "parts", "-t", "kind", "--memory", "little")
    assert done.exit_code == 4
    assert "memory must be a size" in done.stderr
    done = run("compare", "parts")
    assert done.exit_code == 2
    assert "--target COLUMN" in done.stderr
    assert "no file fits" in run("fit", "*.none", "-t", "kind").stderr


def test_progress_says_how_far_and_how_fast(tables, monkeypatch):
    monkeypatch.setattr("separatrix.cli.streaming.PATIENCE", 0.0)
    done = run("fit", "parts", "-t", "kind", "--memory", "100MB")
    assert done.exit_code == 0
    assert re.search(r"writing rows: 100 of 300, [\d,]+ a second, \d+ s left", done.stderr)
    monkeypatch.setattr("separatrix.cli.streaming.PATIENCE", 0.001)
    slow = LogisticRegression.fit
    monkeypatch.setattr(LogisticRegression, "fit", lambda *given: (time.sleep(0.1), slow(*given), time.sleep(0.1))[1])
    done = run("fit", "parts", "-t", "kind", "--memory", "100MB")
    assert re.search(r"fitting: [\d.]+ times through 300 rows, [\d,]+ a second", done.stderr)


def test_a_fixed_cut_is_kept(tables):
    assert run("fit", "parts", "-t", "kind", "--threshold", "0.9").exit_code == 0
    found = json.loads(run("fit", "parts", "-t", "kind", "--threshold", "0.9", "--json").stdout)
    assert found["decision"]["threshold"] == 0.9


@pytest.mark.parametrize("gap", [0, 30])
def test_separability_of_files_is_that_of_the_table(tables, gap):
    write_table(tables / "whole.csv", n=300, gap=gap)
    frame = pl.read_csv("whole.csv")
    for at, part in enumerate((frame[:100], frame[100:100], frame[100:])):
        part.write_parquet(f"parts/{at}.parquet")
    done, found = run_json("separable", "parts", "--target", "kind", "--out", "proof.json")
    assert done.exit_code == 0
    expected = run_json("separable", "whole.csv", "--target", "kind")[1]
    for name in ("verdict", "claim", "rows", "features", "margin"):
        assert found[name] == expected[name]
    assert run("verify", "proof.json", "parts").exit_code == 0
    assert run("verify", "proof.json", "whole.csv").exit_code == 0


def test_a_sample_of_files_is_that_of_the_table(tables):
    learn = ("--target", "kind", "--model", "svm", "--sample", "100")
    done, found = run_json("fit", "parts", *learn)
    assert done.exit_code == 0
    assert found["claim"] == run_json("fit", "whole.csv", *learn, "-o", "whole.separatrix")[1]["claim"]
    for data in ("parts", "whole.csv"):
        checked, verdict = run_json("verify", "model.separatrix", data)
        assert checked.exit_code == 0
        assert "the model learned from 100 of the 300 rows" in verdict["notes"][-1]
