"""bench: from a checkout, on tiny sizes; and without one."""

import json

import pytest
from cli.commandline import run

from benchmarks import run as runner
from benchmarks import tables
from separatrix.cli import bench as command


def test_a_quick_run_writes_results_and_tables_and_a_later_one_adds_to_them(tmp_path):
    job = "naive Bayes, gaussian, dense 1,000,000 x 50"
    done = run("bench", "--quick", "--repeat", 1, "--only", job, "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found["jobs"]) == [job]
    assert json.loads((tmp_path / "out" / "results.json").read_text()) == found
    assert f"| {job} | scikit-learn |" in (tmp_path / "out" / "tables.md").read_text()
    again = run("bench", "--quick", "--repeat", 1, "--only", "a9a, hinge", "--out", tmp_path / "out")
    assert again.exit_code == 0, again.stderr
    assert "a9a, hinge: needs --data FOLDER with a9a" in again.stdout
    assert f"| {job} | scikit-learn |" in again.stdout


def test_an_interruption_says_that_finished_benchmarks_are_saved(tmp_path, monkeypatch):
    words = ("bench", "--quick", "--repeat", 1, "--only", "a9a, hinge", "--out", tmp_path / "out")
    monkeypatch.setattr(tables, "page", interrupted)
    done = run(*words)
    assert done.exit_code == 130
    assert f"wrote {tmp_path / 'out' / 'results.json'}; what was finished is in" in done.stderr
    monkeypatch.setattr(runner, "_one", interrupted)
    assert "no file was written" in run(*words).stderr


def interrupted(*args):
    raise KeyboardInterrupt


def test_what_there_is_not_is_a_usage_error(tmp_path):
    done = run("bench", "--only", "no such thing", "--out", tmp_path)
    assert done.exit_code == 2
    assert "no such thing" in done.stderr
    assert run("bench", "--data", tmp_path / "nowhere").exit_code == 4


def test_without_a_checkout_it_says_where_the_benchmark_is(monkeypatch, tmp_path):
    monkeypatch.setattr(command, "CHECKOUT", tmp_path)
    done = run("bench", "--quick")
    assert done.exit_code == 2
    assert "pip install -e" in done.stderr


@pytest.mark.parametrize("name", ["data", "only", "repeat", "quick", "limit", "out", "json"])
def test_help_lists_the_options(name):
    assert f"--{name}" in run("bench", "--help").stdout
