"""The runner: a tiny race, a rival that never gets there, a rival that is not installed, and runs that are merged."""

import sys
from pathlib import Path

import pytest

from benchmarks import adapters, jobs, plot, race, results, store, tables
from benchmarks.adapters import Route, Size
from benchmarks.everyday import find
from benchmarks.page import BEGIN, END, SHOWN, insert
from benchmarks.problems import PROBLEMS, Problem, Scale
from benchmarks.processes import answers

pytestmark = pytest.mark.long  # processes of their own, one after the other

PROBLEM = next(problem for problem in PROBLEMS if problem.name == "text, hinge")

SIZE = Size(sparse=True, columns=2_500, classes=2)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "text"
    store.save(folder, PROBLEM.source.make(Scale(quick=True)))
    return folder


@pytest.fixture(scope="module")
def record(data):
    """separatrix, scikit-learn that stops far too early, LIBLINEAR that is not there."""
    patch = pytest.MonkeyPatch()
    with patch.context() as context:
        context.setattr(adapters.adapter("scikit_learn"), "routes", lambda *_: [Route("LinearSVC", (10.0,))])
        context.setattr(race, "installed", lambda name: None if name == "liblinear" else "1")
        found = race.race(PROBLEM, data, SIZE, race.Rules(repeat=1))
    return {"rows": 500, "columns": 2_500, "megabytes": 1.0, **found}


def settings(record, contestant):
    return [setting for setting in record["settings"] if setting["contestant"] == contestant]


def test_ours_reaches_every_target_and_is_timed(record):
    ours = settings(record, "separatrix")
    assert [setting["target"] for setting in ours] == [1e-3, 1e-4, 1e-6]
    for setting in ours:
        assert setting["excess"] <= setting["target"]
        assert len(setting["runs"]) == 1
        assert 0 < min(setting["runs"]) <= setting["seconds"] <= max(setting["runs"])


def test_the_sweep_stops_at_the_first_tolerance_that_is_enough(record):
    ours = [run["excess"] for run in record["sweep"] if run["contestant"] == "separatrix"]
    assert ours[-1] <= 1e-6
    assert all(excess > 1e-6 for excess in ours[:-1])


def test_a_rival_that_never_reaches_it_is_shown_as_that(record):
    assert {setting["status"] for setting in settings(record, "scikit-learn")} == {"never reached"}
    assert "| text, hinge | scikit-learn | never reached | never reached | never reached |" in tables.ratios(
        {PROBLEM.name: record}
    )


def test_a_rival_that_is_not_installed_is_shown_as_that(record):
    assert record["missing"] == ["LIBLINEAR"]
    assert "| text, hinge | LIBLINEAR | not installed |" in tables.ratios({PROBLEM.name: record})


def test_the_ratio_is_their_time_over_ours():
    ours = {"status": "reached", "seconds": 0.5}
    assert tables.ratio(ours, {"status": "reached", "seconds": 2.0}) == "4.00"
    assert tables.ratio(ours, {"status": "never reached", "limit": 60.0}) == "> 120.0, never reached"
    assert tables.ratio({"status": "never reached"}, {"status": "reached", "seconds": 2.0}) == "we never reach it"


def test_a_run_that_takes_too_long_is_stopped(data):
    request = {
        "problem": PROBLEM.name, "data": str(data), "adapter": "separatrix", "solver": "auto",
        "tolerances": [1e-4], "enough": None,
    }  # fmt: skip
    assert [run["status"] for run in answers(request, limit=1e-9)] == ["limit"]


def test_a_worker_that_fails_says_why(data):
    request = {"job": "no such job", "entry": "separatrix", "data": str(data)}
    (run,) = answers(request, limit=10)
    assert run["status"] == "error"
    assert run["message"]


def test_frontier_and_exponent():
    assert plot.frontier([(1.0, 0.5), (2.0, 0.7), (3.0, 0.1)]) == [(1.0, 0.5), (3.0, 0.1)]
    assert tables.exponent([(10, 1.0), (100, 100.0), (1000, 10_000.0)]) == pytest.approx(2)


def test_objectives_of_a_job_become_the_largest_distance_from_the_best():
    entries = {
        "separatrix": {"figures": {"objectives": [10.0, 20.0]}},
        "other": {"figures": {"objectives": [10.1, 19.0]}},
    }
    jobs._compare(entries)
    assert entries["separatrix"]["figures"]["excess"] == pytest.approx(1 / 19)
    assert entries["other"]["figures"]["excess"] == pytest.approx(0.01)


def test_a_job_is_done_by_both(tmp_path):
    job = find("naive Bayes, gaussian, dense 1,000,000 x 50")
    store.save(tmp_path / "tall", job.source.make(Scale(quick=True)))
    record = jobs.perform(job, tmp_path / "tall", race.Rules(repeat=1)) | {"megabytes": 4.0}
    accuracy = [entry["figures"]["training accuracy"] for entry in record["entries"].values()]
    assert accuracy[0] == pytest.approx(accuracy[1], abs=1e-3)
    told = tables.everyday({job.name: record})
    ours, theirs = (entry["seconds"] for entry in record["entries"].values())
    assert told.count("\n| ") == 3  # under the head: a rule, and a row for each
    assert told.endswith(f"Geometric mean of the ratios in bold: {theirs / ours:.2f}.")


def test_an_earlier_version_is_the_only_rival(data, tmp_path, monkeypatch):
    monkeypatch.setenv(adapters.EARLIER_PYTHON, sys.executable)  # this version, as it were an earlier one
    record = race.race(PROBLEM, data, SIZE, race.Rules(repeat=1))
    ours, theirs = settings(record, "separatrix"), settings(record, "earlier")
    assert len(record["settings"]) == len(ours) + len(theirs) == 6
    assert record["missing"] == []
    swept = {(run["contestant"], run["tol"]): run["objective"] for run in record["sweep"]}
    tolerances = {tol for _, tol in swept}
    assert {tol: swept["separatrix", tol] for tol in tolerances} == {tol: swept["earlier", tol] for tol in tolerances}
    told = tables.means({PROBLEM.name: record}).splitlines()[-1]
    assert told.startswith(f"| earlier | {theirs[0]['seconds'] / ours[0]['seconds']:.2f} of 1 | ")

    job = find("naive Bayes, gaussian, dense 1,000,000 x 50")
    store.save(tmp_path / "tall", job.source.make(Scale(quick=True)))
    entries = jobs.perform(job, tmp_path / "tall", race.Rules(repeat=1))["entries"]
    assert [(name, entry["status"]) for name, entry in entries.items()] == [("separatrix", "done"), ("earlier", "done")]
    assert entries["separatrix"]["figures"] == entries["earlier"]["figures"]


def test_the_interpreter_of_an_earlier_version(monkeypatch):
    monkeypatch.setenv(adapters.EARLIER_PYTHON, "/elsewhere/bin/python")
    assert adapters.interpreter("earlier") == "/elsewhere/bin/python"
    assert adapters.interpreter("separatrix") == sys.executable


def test_runs_are_merged_and_what_was_skipped_replaces_nothing():
    old = results.empty() | {"runs": [1], "problems": {"a": {"best": 1}, "b": {"best": 2}}}
    new = results.empty() | {"runs": [2], "problems": {"a": {"best": 3}, "b": {"skipped": "no data"}, "c": {"best": 4}}}
    merged = results.merge(old, new)
    assert merged["runs"] == [1, 2]
    assert merged["problems"] == {"a": {"best": 3}, "b": {"best": 2}, "c": {"best": 4}}


def test_the_page_keeps_what_is_around_the_tables(record, tmp_path):
    page, source = tmp_path / "page.md", tmp_path / "results.json"
    (tmp_path / "pictures").mkdir()
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    run = results.machine() | {"quick": True, "repeat": 2, "limit": 60.0}
    results.save(source, results.empty() | {"runs": [run], "problems": {PROBLEM.name: record}})
    for _ in range(2):
        insert(page, source)
    text = page.read_text()
    assert text.startswith(f"before\n{BEGIN}\n{SHOWN}\n\nMeasured ")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text
    assert text.count("### To the same objective") == 1
    assert (tmp_path / "pictures" / "benchmarks.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("name", adapters.RIVALS)
def test_every_rival_solves_the_same_problem(name, data):
    contestant = adapters.adapter(name)
    if adapters.installed(name) is None:
        pytest.skip(f"{contestant.PACKAGE} is not installed")
    rows = store.load(data)
    for problem in (
        Problem("logistic", "logistic", PROBLEM.source, intercept=False),
        Problem("sparse logistic", "logistic", PROBLEM.source, intercept=False, sparse=True),
        Problem("sparse squared hinge", "squared hinge", PROBLEM.source, intercept=False, sparse=True),
        PROBLEM,
        Problem("rbf", "rbf", PROBLEM.source, gamma=0.5),
    ):
        best = value(adapters.adapter("separatrix"), problem, rows, "auto", 1e-7)
        for route in contestant.routes(problem, SIZE):
            assert value(contestant, problem, rows, route.solver, 1e-7) == pytest.approx(best, rel=1e-5), route.solver


def value(contestant, problem, rows, solver, tol):
    from benchmarks.objective import objective

    fitted = contestant.fit(problem, contestant.prepare(problem, *rows), solver, tol)
    return objective(problem, *rows, contestant.solution(fitted))


def test_real_files_are_found_and_read(tmp_path):
    import gzip

    from benchmarks import read

    (tmp_path / "a9a").mkdir()
    (tmp_path / "a9a" / "a9a.gz").write_bytes(gzip.compress(b"-1 1:0.5 3:1\n+1 2:2\n"))
    X, y = read.two(tmp_path, "a9a")
    assert X.toarray().tolist() == [[0.5, 0, 1], [0, 2, 0]]
    assert (X.indices.dtype, X.indptr.dtype) == ("int32", "int32")
    assert y.tolist() == [-1, 1]
    with pytest.raises(read.MissingData, match="has no w8a"):
        read.two(Path(tmp_path), "w8a")
    with pytest.raises(read.MissingData, match="--data"):
        read.two(None, "a9a")
