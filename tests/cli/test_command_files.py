"""fit, predict, separable and verify: files in, files out, and their exit codes."""

import csv
import gzip
import io
import json
import subprocess
import sys

import numpy as np
import pytest
from cli.commandline import run, run_json, write_table

from separatrix.cli import predict as predict_command
from separatrix.cli.models import MODELS
from separatrix.data import read_table
from separatrix.persistence import load_bundle


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    return write_table(folder / "overlapping.csv"), write_table(folder / "separable.csv", gap=8.0)


@pytest.fixture(scope="module")
def model(tables):
    path = tables[0].with_name("model.separatrix")
    assert run("fit", tables[0], "--target", "kind", "--model", "logistic", "--C", "0.5", "--out", path).exit_code == 0
    return path


# ------------------------------------------------------------------ fit
def test_training_accuracy_is_that_of_the_saved_cut(tables, tmp_path):
    path = tmp_path / "m"
    words = ("fit", tables[0], "--target", "kind", "--out", path)
    for cut in ("0.02", "0.5"):
        _, record = run_json(*words, "--threshold", cut)
        rows = run("predict", path, tables[0], "--proba").stdout.splitlines()[1:]
        said = [row.split(",") for row in rows]
        kinds = read_table(tables[0], target="kind").y
        assert all((label == "dog") == (float(p) >= float(cut)) for label, _, p in said)
        assert record["training_accuracy"] == np.mean([row[0] for row in said] == kinds)


def test_a_cut_without_probabilities_is_refused_before_the_work(tables, tmp_path, monkeypatch):
    monkeypatch.setattr("separatrix.LinearSVC.fit", None)
    words = ("fit", tables[0], "--target", "kind", "--model", "linear-svm", "--out", tmp_path / "m")
    for cut in ("0.3", "tuned"):
        done = run(*words, "--threshold", cut)
        assert done.exit_code == 2
        assert "--calibrate" in done.stderr


@pytest.mark.parametrize("name", MODELS)
def test_every_classifier_can_be_fitted_saved_and_verified(name, tables, tmp_path):
    path = tmp_path / "any name.bin"
    done, record = run_json("fit", tables[1], "--target", "kind", "--model", name, "--out", path)
    assert done.exit_code == (0 if record["certified"] else 3)
    assert record["certified"], record
    verified, checks = run_json("verify", path, tables[1])
    assert verified.exit_code == 0, checks
    assert checks["holds"]
    assert checks["same_data"]


def test_parameters_reach_the_classifier(tables, tmp_path):
    path = tmp_path / "m"
    words = ("--C=2", "--loss", "squared_hinge", "--no-fit-intercept", "--class-weight", "balanced")
    assert run("fit", tables[0], "-t", "kind", "-m", "linear-svm", "-o", path, *words).exit_code == 0
    params = load_bundle(path).model.get_params()
    expected = {"C": 2.0, "loss": "squared_hinge", "fit_intercept": False, "class_weight": "balanced"}
    assert {name: params[name] for name in expected} == expected


def test_maximum_likelihood_prints_its_intervals(tables, tmp_path):
    done = run("fit", tables[0], "-t", "kind", "-m", "logistic", "-o", tmp_path / "m", "--C", "inf", "--drop", "colour")
    assert done.exit_code == 0
    assert "std err" in done.stdout
    assert "length" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-m", "forest"), "kernel-perceptron"),
        (("-m", "logistic", "--epsilon", "1"), "parameter of kozinec"),
        (("-m", "logistic", "--C", "much"), "needs a number"),
        (("-m", "logistic", "--C"), "needs a number"),
        (("-m", "logistic", "--C", "-1"), "C must be"),
        (("-m", "logistic", "--C", "1", "--C", "2"), "given twice"),
        (("-m", "perceptron", "--average=perhaps"), "true or false"),
        (("-m", "perceptron", "--no-average=true"), "takes no value"),
        (("-m", "logistic", "extra"), "not expected"),
        (("-m", "svm", "--kernel", "square"), "needs a kernel: linear"),
        (("-m", "svm", "--gamma", "-1"), "gamma must be"),
        (("-m", "logistic", "--bias-reduction", "firth", "--C", "1"), "bias_reduction='firth' penalises"),
    ],
)
def test_usage_errors_of_fit(tables, tmp_path, words, message):
    done = run("fit", tables[0], "-t", "kind", "-o", tmp_path / "m", *words)
    assert done.exit_code == 2, done.output
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert not (tmp_path / "m").exists()


def test_an_uncertified_fit_is_saved_with_code_3(tables, tmp_path):
    done = run("fit", tables[0], "-t", "kind", "-m", "perceptron", "-o", tmp_path / "m", "--max-iter", "2")
    assert done.exit_code == 3
    assert (tmp_path / "m").exists()
    done = run("verify", tmp_path / "m", tables[0])
    assert done.exit_code == 3
    assert "no certificate" in done.stdout


def test_no_hard_margin_is_code_3(tables, tmp_path):
    done = run("fit", tables[0], "-t", "kind", "-m", "hard-margin", "-o", tmp_path / "m")
    assert done.exit_code == 3
    assert not (tmp_path / "m").exists()


def test_debug_shows_the_traceback(tmp_path):
    done = run("fit", tmp_path / "none.csv", "-t", "b", "-m", "centroid", "-o", tmp_path / "m", "--debug")
    assert done.exception is not None
    assert type(done.exception).__name__ == "DataError"


# ------------------------------------------------------------------ predict
def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_pieces_and_the_whole_give_the_same_predictions(tables, model, tmp_path, monkeypatch):
    whole = run("predict", model, tables[0], "--id", "id", "--proba", "--scores")
    assert whole.exit_code == 0, whole.output
    monkeypatch.setattr(predict_command, "ROWS", 7)
    pieces = run("predict", model, tables[0], "--id", "id", "--proba", "--scores")
    assert pieces.stdout == whole.stdout
    rows = rows_of(whole.stdout)
    assert list(rows[0]) == ["id", "prediction", "probability cat", "probability dog", "score"]
    assert [row["id"] for row in rows] == [f"r{i:05}" for i in range(60)]
    bundle = load_bundle(model)
    X, _ = bundle.encoder.transform(read_table(tables[0], target="kind"))
    assert [row["prediction"] for row in rows] == bundle.model.predict(X).tolist()
    np.testing.assert_allclose([float(row["score"]) for row in rows], bundle.model.decision_function(X), rtol=1e-12)


def test_the_target_is_not_needed_and_the_file_is_written_whole(tables, model, tmp_path):
    frame = read_table(tables[0]).frame.drop("kind")
    (tmp_path / "new.csv.gz").write_bytes(gzip.compress(frame.write_csv().encode()))
    assert run("predict", model, tmp_path / "new.csv.gz", "--out", tmp_path / "out.csv").exit_code == 0
    assert (tmp_path / "out.csv").read_text() == run("predict", model, tables[0]).stdout
    assert run("predict", model, "-", stdin=tables[0].read_bytes()).stdout == (tmp_path / "out.csv").read_text()
    # an error in the last row leaves the old file, and nothing beside it
    (tmp_path / "bad.csv").write_text(frame.write_csv() + "r1,long,1.0,red\n")
    done = run("predict", model, tmp_path / "bad.csv", "--out", tmp_path / "out.csv")
    assert done.exit_code == 4
    assert "length" in done.stderr
    assert (tmp_path / "out.csv").read_text().count("\n") == 61
    assert {path.name for path in tmp_path.iterdir()} == {"new.csv.gz", "out.csv", "bad.csv"}


def test_predictions_go_to_a_file_of_any_name_there_can_be(tables, model, tmp_path):
    assert run("predict", model, tables[0], "--out", tmp_path / ("p" * 251 + ".csv")).exit_code == 0
    assert [len(file.name) for file in tmp_path.iterdir()] == [255]


def test_predictions_go_to_the_file_that_a_link_points_to(tables, model, tmp_path):
    (tmp_path / "real.csv").touch()
    (tmp_path / "link.csv").symlink_to("real.csv")
    assert run("predict", model, tables[0], "--out", tmp_path / "link.csv").exit_code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == run("predict", model, tables[0]).stdout


def test_columns_of_the_embedded_table_are_left_out_too(tmp_path):
    _, found = run_json("fit", "--model", "centroid", "--drop", "mean radius", "--out", tmp_path / "m")
    assert found["features"] == 29
    assert run("fit", "--drop", "radius", "--out", tmp_path / "m").exit_code == 4


def test_json_lines_and_surprises(tables, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("id,length,width,colour\n1,0.5,1,green\n2,3,1,red\n")
    done = run("predict", model, path, "--json", "--id", "id")
    assert [sorted(json.loads(line)) for line in done.stdout.splitlines()] == [["id", "prediction"]] * 2
    assert "colour" in done.stderr


def test_what_predict_refuses(tables, model, tmp_path):
    assert run("predict", model, tables[0], "--id", "name").exit_code == 2
    centroid = tmp_path / "c"
    run("fit", tables[0], "-t", "kind", "-m", "centroid", "-o", centroid)
    assert run("predict", centroid, tables[0], "--proba").exit_code == 2
    (tmp_path / "broken").write_bytes(centroid.read_bytes()[:200])
    assert run("predict", tmp_path / "broken", tables[0]).exit_code == 4
    assert run("predict", tmp_path / "none", tables[0]).exit_code == 4
    assert run("predict", model, tables[0], "--out", tmp_path / "no" / "out.csv").exit_code == 4


def test_a_closed_pipe_is_no_error(tables, model):
    words = f"{sys.executable} -m separatrix predict {model} {tables[0]} | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {words}"], capture_output=True, text=True)
    assert done.stdout == "prediction\n"
    assert "Traceback" not in done.stderr


# ------------------------------------------------------------------ separable, verify
@pytest.mark.parametrize(("which", "verdict"), [(0, "overlapping"), (1, "separable")])
def test_a_proof_is_written_and_holds_for_its_table_only(tables, tmp_path, which, verdict):
    proof = tmp_path / "proof.json"
    done, record = run_json("separable", tables[which], "--target", "kind", "--exact", "--out", proof)
    assert done.exit_code == 0
    assert (record["verdict"], record["exact"]) == (verdict, True)
    done = run("verify", proof, tables[which])
    assert done.exit_code == 0, done.output
    assert "holds" in done.stdout
    other = write_table(tmp_path / "other.csv", seed=1, gap=0.0 if which else 8.0)
    done, record = run_json("verify", proof, other)
    assert done.exit_code == 3
    assert not record["holds"]
    assert not record["same_data"]


def test_an_altered_proof_fails(tables, tmp_path):
    proof = tmp_path / "proof.json"
    run("separable", tables[1], "-t", "kind", "--out", proof)
    plain = json.loads(proof.read_text())
    plain["certificate"]["margin"] *= 2
    proof.write_text(json.dumps(plain, indent=2))
    assert run("verify", proof, tables[1]).exit_code == 3
    for wrong in ({**plain, "schema": 99}, {**plain, "certificate": {}}, {"format": "other"}, [1]):
        proof.write_text(json.dumps(wrong))
        assert run("verify", proof, tables[1]).exit_code == 4
    proof.write_text("{")
    assert run("verify", proof, tables[1]).exit_code == 4


def test_a_model_does_not_hold_for_other_data(model, tmp_path):
    done = run("verify", model, write_table(tmp_path / "other.csv", seed=3))
    assert done.exit_code == 3
    assert "FAILS" in done.stdout
    assert "fingerprint differs" in done.stdout


def test_libsvm_needs_no_target(tmp_path):
    path = tmp_path / "points.libsvm"
    path.write_text("".join(f"{1 if i % 2 else -1} 1:{i % 2 + i / 100} 3:{i % 5}\n" for i in range(30)))
    assert run("separable", path).stdout.startswith("separable")
    assert run("fit", path, "-m", "linear-svm", "-o", tmp_path / "m").exit_code == 0
    assert run("verify", tmp_path / "m", path).exit_code == 0
    assert len(run("predict", tmp_path / "m", path).stdout.splitlines()) == 31


# ------------------------------------------------------------------ the command itself
def test_help_version_and_the_module():
    assert run("--version").stdout.startswith("separatrix 0.")
    assert "compare" in run("--help").output
    assert run().exit_code == 2
    done = subprocess.run([sys.executable, "-m", "separatrix", "--version"], capture_output=True, text=True)
    assert done.stdout == run("--version").stdout


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_version_and_help_import_nothing_slow(word):
    """Of what takes longer than 0.15 s to import, which is all that the command may take beyond Python itself."""
    words = f"import sys; sys.argv = ['separatrix', {word!r}]; from separatrix.cli import main; main()"
    slow = "print(sorted({'numpy', 'scipy', 'sklearn', 'numba', 'polars', 'typer', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", f"{words}; {slow}"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_control_characters_of_the_data_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},{label}\n" for i in range(12) for label in [("y", "x\x1b[31m")[i > 5]]))
    done = run("compare", path, "-t", "b", "-o", tmp_path, "--folds", 2)
    assert "\x1b" not in done.output
