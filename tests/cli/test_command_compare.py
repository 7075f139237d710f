"""compare, end to end: what it prints, what it writes, and what an interruption leaves."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from cli.commandline import run, run_json, write_table

from separatrix.cli import fit as fitting
from separatrix.cli import progress, show
from separatrix.compare import Event, candidates
from separatrix.data import embedded
from separatrix.errors import ModelFileError
from separatrix.persistence import load_bundle

METRICS = ("balanced_accuracy", "accuracy", "auc", "log_loss", "brier", "f1", "mcc")
FILES = {"report.html", "model.separatrix", "run.json"}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """compare on the embedded table, once."""
    folder = tmp_path_factory.mktemp("compare") / "new" / "folder"
    done = run("compare", "--out", folder, "--folds", 3)
    return done, folder, json.loads((folder / "run.json").read_text())


def test_embedded_table_ends_with_a_leaderboard_and_three_files(result):
    done, folder, _ = result
    assert done.exit_code == 0, done.output
    assert {path.name for path in folder.iterdir()} == FILES
    for words in ("569 rows", "separable", "logistic regression", "majority (baseline)", "holds", "No intervals"):
        assert words in done.stdout
    assert "\x1b" not in done.output
    assert "[1/" in done.stderr
    assert "[1/" not in done.stdout


def test_a_line_of_progress_is_of_a_classifier_whatever_its_name(capsys):
    tell = progress.lines()
    for title in ("SVM: wide", "SVM: narrow"):
        for part in ("fold 1 of 2", "fold 2 of 2"):
            tell(Event(title, int(title == "SVM: narrow"), 2, part))
    assert capsys.readouterr().err.splitlines() == ["[1/2] SVM: wide", "[2/2] SVM: narrow"]
    assert str(Event("SVM", 0, 2, "all rows")) == "SVM: all rows"
    assert str(Event("ranking", 2, 2)) == "ranking"


def test_run_json_has_all_that_was_shown(result):
    _, _, record = result
    assert record["schema"] == 1
    assert record["metric"] == "balanced_accuracy"
    assert record["data"]["fingerprint"] == embedded().fingerprint
    assert [entry["rows"] for entry in record["data"]["classes"]] == [357, 212]
    assert record["separability"]["verdict"] == "separable"
    assert record["seed"] == 0
    assert {"separatrix", "numpy", "python"} <= set(record["versions"])
    board = record["leaderboard"]
    values = [entry["balanced_accuracy"]["value"] for entry in board]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.94
    for entry in board:
        for name in METRICS:
            assert entry[name]["low"] <= entry[name]["value"] <= entry[name]["high"]
        assert (entry["command"] is None) == (entry["model"] is None)
        assert entry["fit_seconds"] >= 0
    baseline, reference = (next(e for e in board if e["name"].startswith(word)) for word in ("majority", "gradient"))
    assert reference["reference"]
    assert reference["model"] is None
    assert record["linearity"].count("AUC") == 1
    assert baseline["balanced_accuracy"]["value"] == 0.5
    assert not baseline["tie_with_best"]
    assert {"kozinec", "hard-margin", "logistic", "linear-svm", "svm"} <= {entry["model"] for entry in board}
    assert record["best"]["verified"]
    assert record["coefficients"]["largest"][0]["column"] in embedded().names


def test_the_saved_model_loads_predicts_and_verifies(result):
    _, folder, record = result
    bundle = load_bundle(folder / "model.separatrix")
    table = embedded()
    X, _ = bundle.encoder.transform(table)
    assert bundle.fingerprint == table.fingerprint
    assert np.mean(bundle.model.predict(X) == table.y) > 0.94
    assert bundle.model.certificate_.verify(X, table.y)
    done = run("verify", folder / "model.separatrix")
    assert done.exit_code == 0
    assert "The claim holds." in done.stdout
    assert record["best"]["model"] is not None


def test_a_table_of_ones_own_with_json_and_a_seed(tmp_path):
    table = write_table(tmp_path / "pets.csv")
    words = ("compare", table, "--target", "kind", "--out", tmp_path, "--folds", 3, "--seed", 7)
    done, record = run_json(*words)
    assert done.exit_code == 0, done.output
    assert record["seed"] == 7
    assert record["separability"]["verdict"] == "overlapping"
    assert {left["name"] for left in record["left_out"]} >= {"Kozinec", "hard-margin SVM"}
    types = {column["column"]: column["type"] for column in record["data"]["column_types"]}
    assert types == {"id": "identifier?", "length": "number", "width": "number", "colour": "category"}
    assert json.loads((tmp_path / "run.json").read_text()) == record
    again = run_json(*words)[1]
    figures = [(entry["name"], entry["balanced_accuracy"], entry["log_loss"]) for entry in record["leaderboard"]]
    assert figures == [(entry["name"], entry["balanced_accuracy"], entry["log_loss"]) for entry in again["leaderboard"]]


def test_three_classes(tmp_path):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    path = tmp_path / "iris.csv"
    rows = [",".join([*map(str, x), f"kind {label}"]) for x, label in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,c,d,species", *rows]))
    done, record = run_json("compare", path, "--target", "species", "--out", tmp_path, "--folds", 2)
    assert done.exit_code == 0, done.output
    assert record["leaderboard"][0]["balanced_accuracy"]["value"] > 0.93
    assert {entry["class"] for entry in record["coefficients"]["largest"]} <= {f"kind {j}" for j in range(3)}


def test_time_limit_leaves_out_and_says_so_but_there_is_always_a_result(tmp_path, monkeypatch):
    from separatrix.compare import judge

    table = write_table(tmp_path / "pets.csv")

    def over(seconds):
        raise TimeoutError

    monkeypatch.setattr(judge, "within", over)
    done, record = run_json("compare", table, "--target", "kind", "--out", tmp_path, "--folds", 2)
    assert done.exit_code == 0, done.output
    assert [entry["model"] for entry in record["leaderboard"]] == ["centroid", None]
    assert any("The time limit left out" in words and "logistic regression" in words for words in record["verdict"])
    assert {path.name for path in tmp_path.iterdir()} == {"pets.csv", *FILES}


@pytest.mark.parametrize("words", [("compare", "--target", "x"), ("compare", "--folds", 1), ("compare", "--speed")])
def test_usage_errors(words):
    assert run(*words).exit_code == 2


def test_without_a_target_the_columns_are_listed(tmp_path):
    done = run("compare", write_table(tmp_path / "pets.csv"), "--out", tmp_path)
    assert done.exit_code == 2
    assert "colour" in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,x\n2,x\n", "one value"),
        ("a,b\n1,x\n2,y\n3,x\n", "'y' has one row only"),
        ("a,b\n", "no rows"),
        ("", "empty"),
    ],
)
def test_bad_data_is_one_kind_line_and_code_4(tmp_path, text, words):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    done = run("compare", path, "--target", "b", "--out", tmp_path)
    assert done.exit_code == 4
    assert words in done.stderr
    assert "Traceback" not in done.output
    assert len(done.stderr.strip().splitlines()) <= 3


def test_a_missing_file_or_an_unwritable_folder_is_found_before_the_work(tmp_path):
    assert run("compare", tmp_path / "none.csv", "--target", "b").exit_code == 4
    (tmp_path / "file").write_text("")
    assert run("compare", "--out", tmp_path / "file").exit_code == 4
    (tmp_path / "report.html").mkdir()
    done = run("compare", "--out", tmp_path)
    assert done.exit_code == 4
    assert "report.html" in done.stderr


def test_a_classifier_of_a_part_of_the_rows_is_shown_as_such_and_its_claim_is_about_them(tmp_path, monkeypatch):
    from separatrix.compare import candidates

    monkeypatch.setattr(candidates, "kernel_rows", lambda n, d, k: 30)
    _, record = run_json("compare", write_table(tmp_path / "p.csv"), "-t", "kind", "-o", tmp_path, "--folds", 2)
    svm = next(entry for entry in record["leaderboard"] if entry["model"] == "svm")
    assert svm["capped"]
    assert svm["rows_used"] == 30
    assert "30 of 60 rows" in svm["note"]
    assert record["best"]["model"] != "svm"  # others, of all rows, are about as good
    table = tmp_path / "p.csv"
    _, record = run_json("compare", table, "-t", "kind", "-o", tmp_path, "--folds", 2, "--save", "SVM, rbf kernel")
    assert any("learned from 30 of the 60 rows" in words for words in record["verdict"])
    done, record = run_json("verify", tmp_path / "model.separatrix", table)
    assert done.exit_code == 0
    assert record["holds"]
    assert any("30 of the 60 rows" in note for note in record["notes"])


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_no_file(tmp_path, kind):
    process = subprocess.Popen(
        [sys.executable, "-m", "separatrix", "compare", "--out", tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    first = process.stderr.readline()  # the work has begun
    time.sleep(0.5)
    process.send_signal(kind)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 128 + kind, first + rest
    assert "Traceback" not in rest
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("step", [1, 2, 3])
def test_an_error_while_writing_never_leaves_a_mixed_set(tmp_path, monkeypatch, step):
    table = write_table(tmp_path / "p.csv")
    for name in FILES:
        (tmp_path / name).write_text("old")
    real, calls = os.replace, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == step:
            raise KeyboardInterrupt
        real(*args)

    monkeypatch.setattr(os, "replace", interrupted)
    done = run("compare", table, "-t", "kind", "-o", tmp_path, "--folds", 2)
    assert done.exit_code == 130
    left = {path.name for path in tmp_path.iterdir()}
    if step < 3:  # the absence of run.json says that the others may not belong together
        assert left == {"p.csv", "report.html", "model.separatrix"}
    else:  # the results are there before the page is
        assert left == {"p.csv", "run.json", "model.separatrix"}
        assert list(json.loads((tmp_path / "run.json").read_text())["files"]) == ["model.separatrix"]


def test_an_error_before_all_is_written_leaves_the_old_files(tmp_path, monkeypatch):
    table = write_table(tmp_path / "p.csv")
    for name in FILES:
        (tmp_path / name).write_text("old")
    real, calls = os.fsync, []

    def interrupted(descriptor):
        calls.append(descriptor)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(descriptor)

    monkeypatch.setattr(os, "fsync", interrupted)
    done = run("compare", table, "-t", "kind", "-o", tmp_path, "--folds", 2)
    assert done.exit_code == 130
    assert {path.read_text() for path in tmp_path.iterdir() if path != table} == {"old"}
    assert {path.name for path in tmp_path.iterdir()} == {"p.csv", *FILES}


def test_run_json_names_the_files_it_belongs_to(result):
    _, folder, record = result
    for name in FILES - {"run.json"}:
        assert record["files"][name]["sha256"] == hashlib.sha256((folder / name).read_bytes()).hexdigest()


def interrupt(monkeypatch, module, name, step):
    """Ctrl-C instead of the given call of module.name, the first being 1."""
    real, calls = getattr(module, name), []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == step:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(module, name, interrupted)


@pytest.mark.parametrize(
    ("call", "step", "wrote"),
    [
        ((os, "fsync"), 2, []),
        ((os, "replace"), 1, []),
        ((os, "replace"), 2, ["model.separatrix"]),
        ((os, "replace"), 3, ["model.separatrix", "run.json"]),
        ((show, "show_run"), 1, ["report.html", "model.separatrix", "run.json"]),
    ],
)
@pytest.mark.parametrize("earlier", [pytest.param(False, marks=pytest.mark.long), True])
def test_an_interruption_says_what_was_written(tmp_path, monkeypatch, call, step, wrote, earlier):
    table, folder = write_table(tmp_path / "p.csv"), tmp_path / "out"
    folder.mkdir()
    for name in FILES if earlier else ():
        (folder / name).write_text("old")
    interrupt(monkeypatch, *call, step)
    done = run("compare", table, "-t", "kind", "-o", folder, "--folds", 2)
    assert done.exit_code == 130
    removed = earlier and call[1] == "replace"
    gone = "report.html" if step == 3 else "run.json"
    said = done.stderr.splitlines()[-1]
    assert (f"wrote {', '.join(str(folder / name) for name in wrote)}" in said) == bool(wrote)
    assert (f"removed {folder / gone}" in said) == removed
    assert ("no file was written" in said) == (not wrote and not removed)
    assert ("need not belong together" in said) == (0 < len(wrote) < 3 or removed)


def test_an_interrupted_fit_says_whether_its_file_was_written(tmp_path, monkeypatch):
    words = ("fit", write_table(tmp_path / "p.csv"), "-t", "kind", "-m", "centroid", "-o", tmp_path / "m.separatrix")
    interrupt(monkeypatch, os, "replace", 1)
    assert "no file was written" in run(*words).stderr
    interrupt(monkeypatch, fitting, "out", 1)
    assert f"wrote {tmp_path / 'm.separatrix'}." in run(*words).stderr


@pytest.mark.skipif(os.name != "posix", reason="there are no alarms elsewhere")
def test_a_classifier_that_takes_more_than_its_share_is_left_out(tmp_path, monkeypatch):
    def forever(params):
        while True:
            time.sleep(0.01)

    slow = candidates.Candidate("pocket", "endless", forever)
    monkeypatch.setattr(candidates, "_pocket", lambda seed: slow)
    started = time.monotonic()
    table = write_table(tmp_path / "p.csv", gap=20.0)
    done, record = run_json("compare", table, "-t", "kind", "-o", tmp_path, "--folds", 2, "--time-limit", 10)
    assert done.exit_code == 0
    assert time.monotonic() - started < 20
    why = next(left["why"] for left in record["left_out"] if left["name"] == "endless")
    assert "share of --time-limit" in why
    assert any(entry["model"] == "svm" for entry in record["leaderboard"])  # those after it had their turn


def test_a_model_that_no_file_takes_does_not_cost_the_results(tmp_path, monkeypatch):
    import separatrix.persistence.files as files

    def refused(*args, **kwargs):
        raise ModelFileError("The model has too many settings for a model file.")

    table = write_table(tmp_path / "p.csv")
    (tmp_path / "model.separatrix").write_text("of an earlier run")
    monkeypatch.setattr(files, "dump", refused)
    done = run("compare", table, "-t", "kind", "-o", tmp_path, "--folds", 2)
    assert done.exit_code == 4
    assert "model.separatrix cannot be written, but what was found is: The model has too many" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"p.csv", "run.json", "report.html"}
    assert set(json.loads((tmp_path / "run.json").read_text())["files"]) == {"report.html"}
