"""What the command says of columns, bad parameters, folders it cannot write to, and models that were altered."""

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli.commandline import run, run_json, write_table
from persistence.test_persistence_agreement import tampered, tensors

import separatrix
from separatrix.cli.fit import fit
from separatrix.cli.models import MODELS, OTHERWISE


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("care") / "table.csv", gap=9.0)


# ------------------------------------------------------------------ columns
@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    """Only the price tells the classes apart, and it is written with commas."""
    path = tmp_path_factory.mktemp("care") / "prices.csv"
    rows = [f'{i % 3}.5,"{1000 + 977.13 * i:,.2f}",r{i:04},7,{"low" if i < 20 else "high"}' for i in range(40)]
    path.write_text("\n".join(["noise,price,record,same,kind", *rows]) + "\n")
    return path


def test_a_column_of_prices_decides_the_verdict(priced):
    done, record = run_json("separable", priced, "--target", "kind")
    assert (record["verdict"], record["features"]) == ("separable", 2)
    assert set(record["left_out"]) == {"record", "same"}
    assert any(
        "'price' is read as numbers with commas between thousands: '1,000.00' as 1000" in n for n in record["notes"]
    )
    for name in ("price", "record", "same"):
        assert f"'{name}'" in done.stderr
    without = run("separable", priced, "--target", "kind", "--drop", "price")
    assert without.stdout.startswith("overlapping")


def test_fit_and_compare_name_what_they_leave_out(priced, tmp_path):
    done, record = run_json("fit", priced, "-t", "kind", "-m", "centroid", "-o", tmp_path / "m")
    assert set(record["left_out"]) == {"record", "same"}
    assert "Note: Column 'record' ('r0000', ...) is left out: a different value in (nearly) every row" in done.stderr
    assert "Note: Column 'same' is left out: one value only." in done.stderr
    done = run("predict", tmp_path / "m", priced)
    assert done.exit_code == 0
    done = run("compare", priced, "-t", "kind", "-o", tmp_path / "out", "--folds", "2", "--time-limit", "20")
    assert "Note: Column 'same' is left out: one value only." in done.stderr
    notes = json.loads((tmp_path / "out" / "run.json").read_text())["data"]["notes"]
    assert any("'record'" in note for note in notes)
    assert any("'price'" in note for note in notes)


# ------------------------------------------------------------------ parameters
@pytest.mark.parametrize(
    "words",
    [
        ("-m", "svm", "--gamma", "-1"),
        ("-m", "svm", "--gamma", "wide"),
        ("-m", "svm", "--kernel", "poly", "--degree", "-2"),
        ("-m", "kernel-perceptron", "--gamma", "wide"),
        ("-m", "perceptron", "--shuffle", "--random-state", "-1"),
        ("-m", "logistic", "--solver", "sgd", "--random-state", "-1"),
        ("-m", "logistic", "--loss", "hinge"),
        ("-m", "naive-bayes", "--family", "cauchy"),
        ("-m", "hard-margin", "--tol", "0"),
    ],
)
def test_a_parameter_that_cannot_be_is_a_usage_error(table, tmp_path, words):
    done = run("fit", table, "-t", "kind", "-o", tmp_path / "m", *words)
    assert done.exit_code == 2, done.output
    assert "Unexpected" not in done.stderr
    assert not (tmp_path / "m").exists()


# ------------------------------------------------------------------ where nothing can be written
def unwritable(tmp_path):
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    yield tmp_path / "none" / "m", "No such folder"
    yield tmp_path, "This is a folder"
    yield tmp_path / "file" / "m", "No such folder"
    yield tmp_path / "pipe", "not an ordinary file"
    yield tmp_path / ("x" * 300), "too long"
    if os.geteuid():  # root may write anywhere
        (tmp_path / "locked").mkdir(mode=0o500)
        yield tmp_path / "locked" / "m", "Nothing can be written"


def test_what_cannot_be_written_is_found_before_anything_is_read(tmp_path):
    for path, words in unwritable(tmp_path):
        for command in (
            ("fit", tmp_path / "no.csv", "-t", "y", "-m", "centroid", "--out", path),
            ("separable", tmp_path / "no.csv", "-t", "y", "--out", path),
        ):
            before = sorted(tmp_path.iterdir())
            done = run(*command)
            assert done.exit_code == 4
            assert words in done.stderr, (command, done.stderr)
            assert "no.csv" not in done.stderr
            assert sorted(tmp_path.iterdir()) == before


def test_the_folder_of_a_comparison(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("compare", tmp_path / "no.csv", "-t", "y", "--out", tmp_path / "file" / "deep")
    assert done.exit_code == 4
    assert "This is a file, not a folder" in done.stderr
    done = run("compare", tmp_path / "no.csv", "-t", "y", "--out", tmp_path / "new" / "deep")
    assert "no.csv" in done.stderr
    assert not (tmp_path / "new").exists()
    (tmp_path / "report.html").mkdir()
    done = run("compare", tmp_path / "no.csv", "-t", "y", "--out", tmp_path)
    assert "This is a folder, not a file" in done.stderr


def test_predict_prints_nothing_before_it_can(table, tmp_path):
    model = tmp_path / "m"
    assert run("fit", table, "-t", "kind", "-m", "centroid", "-o", model).exit_code == 0
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "wrong.csv").write_text("id,length,width,colour\nr1,word,2,red\n")
    for words in (
        (tmp_path / "none.csv",),
        (tmp_path / "other.csv",),
        (tmp_path / "wrong.csv",),
        (table, "--id", "nobody"),
    ):
        done = run("predict", model, *words)
        assert done.exit_code in (2, 4)
        assert done.stdout == ""
    assert run("predict", model, table, "--out", tmp_path / "none" / "p.csv").exit_code == 4


@pytest.mark.parametrize("name", MODELS)
def test_the_page_lists_every_parameter_and_the_class_has_it(name):
    estimator, options = MODELS[name].estimator, MODELS[name].options
    assert {OTHERWISE.get(option, option) for option in options} <= set(getattr(separatrix, estimator)().get_params())
    assert set(options).isdisjoint(inspect.signature(fit).parameters)  # those never reach the classifier
    page = (Path(__file__).parents[2] / "docs" / "command.md").read_text(encoding="utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    assert re.findall(r"`(--[\w-]+)`", line) == [f"--{option.replace('_', '-')}" for option in options]


def test_the_distance_of_centroids_is_an_option(table, tmp_path):
    done = run("fit", table, "-t", "kind", "-m", "centroid", "--distance", "manhattan", "-o", tmp_path / "m")
    assert done.exit_code == 0, done.output
    assert separatrix.load(tmp_path / "m").model.metric == "manhattan"


# ------------------------------------------------------------------ models that were altered
@pytest.mark.parametrize("name", MODELS)
def test_an_altered_model_does_not_verify(name, table, tmp_path):
    path = tmp_path / "m"
    run("fit", table, "-t", "kind", "-m", name, "-o", path)
    done = run("verify", path, table)
    assert done.exit_code == 0, done.output
    assert "The claim holds." in done.stdout
    blob, found = path.read_bytes(), 0
    for attribute in (
        "coef_",
        "intercept_",
        "dual_coef_",
        "support_vectors_",
        "centroids_",
        "parameters_",
        "variances_",
        "coefs_.0",
        "intercepts_.0",
    ):
        if attribute not in tensors(blob) or (name == "perceptron" and attribute == "dual_coef_"):
            continue
        for change in (lambda x: -7 * x, lambda x: x + 1e-6):
            other = tampered(blob, attribute, change)
            if other is None:
                continue
            path.write_bytes(other)
            done = run("verify", path, table)
            assert done.exit_code in (3, 4), (attribute, done.output)
            assert any(words in done.output for words in ("certificate", "not those", "not that", "malformed"))
            assert "Unexpected" not in done.output
            found += 1
    assert found


def test_settings_that_are_not_those_of_the_claim(table, tmp_path):
    from separatrix.persistence import load_bundle, save

    path = tmp_path / "m"
    run("fit", table, "-t", "kind", "-m", "logistic", "--C", "0.5", "-o", path)
    bundle = load_bundle(path)
    save(bundle.model.set_params(C=2.0), path, encoder=bundle.encoder, fingerprint=bundle.fingerprint)
    done, record = run_json("verify", path, table)
    assert done.exit_code == 3
    assert not record["holds"]
    assert "FAILS  the model: its parameter C=2.0 is not what its certificate is about" in record["checks"]


def test_a_claim_about_the_data_says_so(table, tmp_path):
    run("fit", table, "-t", "kind", "-m", "logistic", "--C", "inf", "-o", tmp_path / "m")
    done = run("verify", tmp_path / "m", table)
    assert done.exit_code == 0
    assert "Note: the claim is about the data" in done.stdout


# ------------------------------------------------------------------ Ctrl-C
def test_an_interrupted_command_leaves_no_file_and_no_process(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"x{j}": rng.normal(size=300_000) for j in range(30)} | {"y": np.arange(300_000) % 2})
    frame.write_parquet(tmp_path / "big.parquet")
    command = [sys.executable, "-m", "separatrix", "separable", "big.parquet", "-t", "y", "--out", "proof.json"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    children = []
    for _ in range(200):
        time.sleep(0.05)
        children = _children(process.pid)
        if children or process.poll() is not None:
            break
    process.send_signal(signal.SIGINT)  # to the command alone, as a script may do it
    output = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert [path.name for path in tmp_path.iterdir()] == ["big.parquet"]
    # interrupted while it was being started, the other process ends when nobody reads what it has to say
    for _ in range(200):
        if not any(Path(f"/proc/{child}").exists() for child in children):
            return
        time.sleep(0.1)
    pytest.fail("the process that decodes Parquet goes on")


def _children(pid):
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []
