"""Whole comparisons of generated tables: what is chosen, calibrated, cut, warned of, and how it is reproduced."""

from __future__ import annotations

import shlex
import time

import numpy as np
import pytest
from cli.commandline import run as command
from cli.commandline import run_json
from compare.tables import csv, rare_table
from sklearn import metrics as theirs

from separatrix import LogisticRegression, load, separability
from separatrix.compare import candidates, proving
from separatrix.compare import run as running
from separatrix.compare.folds import notes_on_classes, stratified
from separatrix.compare.metrics import METRICS, Predictions, area_under_curve, figure
from separatrix.compare.verdict import linearity_words
from separatrix.data import read_table
from separatrix.errors import DataError
from separatrix.scoring.calibration import class_scores


@pytest.fixture(scope="module")
def rare():
    return running.compare(read_table(csv(*rare_table()), target="y"), folds=3, data=["t.csv", "--target", "y"])


def entry_of(found, title):
    return next(entry for entry in found.entries if entry.title == title)


def test_what_is_saved_has_honest_probabilities_and_leads(rare):
    baseline = entry_of(rare, "majority (baseline)")
    assert rare.best.honest
    assert rare.best.log_loss.value <= baseline.log_loss.value
    assert not rare.best.reference
    assert rare.best.balanced_accuracy.value > 0.7
    plain = entry_of(rare, "logistic regression")
    assert plain.decision.threshold == pytest.approx(np.mean(rare.truth), abs=0.08)  # not 1/2, which finds nobody
    assert plain.balanced_accuracy.value > 0.7
    assert rare.best.behind is None or rare.best.behind.near
    assert rare.verdict_words[0].text.startswith(("Good", "Usable", "Weak"))
    assert any("It recognises" in words.text for words in rare.verdict_words)


def test_margin_machines_are_calibrated(rare):
    for title in ("linear SVM", "SVM, rbf kernel", "averaged perceptron", "nearest centroid"):
        line = entry_of(rare, title)
        assert line.calibration.kind == "sigmoid"
        assert line.predictions.probabilities.sum(axis=1) == pytest.approx(1)
        assert line.honest


def test_margin_machines_balance_a_rare_class(rare):
    """Unbalanced, the hinge is least where nearly all rows are on one side, in an order that is noise."""
    for title in ("linear SVM", "SVM, rbf kernel"):
        line = entry_of(rare, title)
        assert "--class-weight balanced" in line.command
        assert line.auc.value > 0.8
        assert line.balanced_accuracy.value > 0.7


def test_figures_of_every_fold_are_those_of_scikit_learn(rare):
    k, truth = 2, rare.truth
    for entry in rare.entries:
        said = entry.predictions
        for fold in np.unique(said.fold):
            rows = said.fold == fold
            part = Predictions(said.codes[rows], said.scores[rows], said.probabilities[rows], said.fold[rows])
            mine = {name: figure(name, truth[rows], part, k).value for name in METRICS}
            t, c, p = truth[rows], part.codes, part.probabilities
            assert mine == pytest.approx(
                {
                    "balanced_accuracy": theirs.balanced_accuracy_score(t, c),
                    "accuracy": theirs.accuracy_score(t, c),
                    "auc": theirs.roc_auc_score(t, part.scores),
                    "log_loss": theirs.log_loss(t, p),
                    "brier": theirs.brier_score_loss(t, p[:, 1]),
                    "f1": theirs.f1_score(t, c),
                    "mcc": theirs.matthews_corrcoef(t, c),
                },
                abs=1e-12,
            )


def test_figures_of_three_classes_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    truth, chances = random.integers(0, 3, 200), random.dirichlet(np.ones(3), 200)
    codes = chances.argmax(axis=1)
    part = Predictions(codes, chances, chances, np.zeros(200, dtype=int))
    mine = {name: figure(name, truth, part, 3).value for name in METRICS}
    assert mine == pytest.approx(
        {
            "balanced_accuracy": theirs.balanced_accuracy_score(truth, codes),
            "accuracy": theirs.accuracy_score(truth, codes),
            "auc": theirs.roc_auc_score(truth, chances, multi_class="ovr"),
            "log_loss": theirs.log_loss(truth, chances),
            "brier": theirs.brier_score_loss(truth, chances),
            "f1": theirs.f1_score(truth, codes, average="macro"),
            "mcc": theirs.matthews_corrcoef(truth, codes),
        },
        abs=1e-12,
    )


def test_one_model_in_two_parametrisations_has_one_area():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    y = (X[:, :3] + random.gumbel(size=(300, 3))).argmax(axis=1)
    model = LogisticRegression(C=1.0).fit(X, y)
    other = LogisticRegression(C=1.0).fit(X, y)
    model.coef_ = model.coef_ + 5 * random.normal(size=(1, 4))  # a common term: the same probabilities
    area, same = (
        area_under_curve(y, Predictions(y, class_scores(each, X), None, np.zeros(300, dtype=int)), 3)
        for each in (model, other)
    )
    expected = theirs.roc_auc_score(y, other.predict_proba(X), multi_class="ovr")
    assert area.value == pytest.approx(same.value, abs=1e-9)
    assert area.value == pytest.approx(expected, abs=1e-9)


def test_calibration_and_cut_do_not_see_the_rows_they_are_judged_by(monkeypatch):
    from separatrix.compare import judge

    table = read_table(csv(*rare_table(200)), target="y")
    seen = []
    whole = judge.learn

    def learn(said, codes, k, metric, level):
        seen.append(len(codes))
        return whole(said, codes, k, metric, level)

    monkeypatch.setattr(judge, "learn", learn)
    found = running.compare(table, folds=4)
    lines = sum(bool(entry.key) for entry in found.entries)
    assert seen.count(150) == 4 * lines  # three quarters of the rows in each fold, all rows for what is saved
    assert seen.count(200) == lines


def test_noise_is_called_noise(few):
    random = np.random.default_rng(3)
    columns = {name: random.normal(size=300).round(3) for name in "abc"}
    found = running.compare(
        read_table(csv(columns, random.choice(["n", "y"], 300, p=[0.75, 0.25])), target="y"), folds=3
    )
    assert found.verdict_words[0].text.startswith("Nothing was learned")
    assert found.verdict_words[0].warning


@pytest.mark.parametrize("metric", ["auc", "log_loss", "mcc"])
def test_another_metric_ranks_and_cuts(few, metric):
    found = running.compare(read_table(csv(*rare_table(300)), target="y"), folds=2, metric=metric)
    values = [entry.figures[metric].value for entry in found.entries]
    assert values == sorted(values, reverse=metric != "log_loss")
    assert found.metric == metric
    cut = entry_of(found, "logistic regression").decision
    assert (cut is None) == (metric != "mcc")


def test_a_rare_class_costs_no_folds(few):
    columns, y = rare_table(300)
    y = y.astype("<U9")
    y[:2] = "very rare"
    found = running.compare(read_table(csv(columns, y), target="y"), folds=5)
    assert found.folds == 5
    assert any("'very rare' (2 rows)" in note for note in found.notes)
    assert len(found.classes) == 3
    assert found.best.predictions.probabilities.shape == (300, 3)


def test_folds_keep_two_classes_in_every_training_part():
    codes = np.array([0] * 20 + [1] * 3 + [2])
    split = stratified(codes, 5, 0)
    assert len(split) == 3
    assert all(len(np.unique(codes[train])) >= 2 for train, _ in split)
    assert sorted(np.concatenate([test for _, test in split])) == list(range(24))
    assert "3 folds instead of 5" in notes_on_classes(np.array(list("abc")), np.bincount(codes), 5, 3)[0]


def test_separability_is_proved_in_the_units_of_the_table(few, monkeypatch):
    seen = []
    monkeypatch.setattr(running, "prove", lambda X, codes: seen.append(X) or proving.prove(X, codes))
    columns, y = rare_table(200)
    running.compare(read_table(csv(columns, y), target="y"), folds=2)
    assert (seen[0][:, :3] == np.stack([columns["a"], columns["b"], columns["c"]], axis=1)).all()


def test_a_time_limit_is_kept_and_cheap_classifiers_are_first(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 30)).round(5)
    y = np.where(X[:, 0] + random.normal(size=20_000) > 0, "b", "a")
    path = tmp_path / "t.csv"
    path.write_bytes(csv({f"x{j}": X[:, j] for j in range(30)}, y).read())
    command("compare", "--out", tmp_path / "warm", "--folds", 2)  # compile first: that is not what is timed
    started = time.monotonic()
    done, record = run_json("compare", path, "-t", "y", "-o", tmp_path, "--time-limit", 5)
    assert time.monotonic() - started < 5.5
    assert done.exit_code in (0, 3)
    assert any(entry["model"] for entry in record["leaderboard"])
    assert (tmp_path / "run.json").exists()


def test_a_picture_that_fails_does_not_cost_the_run(few, tmp_path, monkeypatch):
    from separatrix import report

    path = tmp_path / "t.csv"
    path.write_bytes(csv(*rare_table(100)).read())
    monkeypatch.setattr(report, "render", lambda *words: 1 / 0)
    done, record = run_json("compare", path, "-t", "y", "-o", tmp_path, "--folds", 2)
    assert done.exit_code == 0
    assert "report.html could not be drawn" in done.stderr
    assert (tmp_path / "model.separatrix").exists()
    assert list(record["files"]) == ["model.separatrix"]


@pytest.mark.parametrize("classes", [2, 3, "separable"])
def test_every_command_gives_the_same_weights_bit_for_bit(tmp_path, monkeypatch, classes):
    columns, y = rare_table(150)
    monkeypatch.setattr(candidates, "kernel_rows", lambda n, d, k: 60)  # some lines learn from a part of the rows
    monkeypatch.setattr(candidates, "KERNEL_ROWS", 90)
    if classes == "separable":  # for the lines that such classes alone have, with columns of other kinds
        y = np.where(columns["a"] > 0, "yes", "no")
        columns["a"] = columns["a"] + np.where(columns["a"] > 0, 0.5, -0.5)
        columns["when"] = np.array([f"20{18 + i % 5}-0{1 + i % 9}-{10 + i % 17}" for i in range(150)])
        words = ["red", "green", "blue", "black", "white"]
        columns["note"] = np.array([f"{words[i % 5]} and {words[i // 5 % 5]} with number {i}" for i in range(150)])
    if classes == 3:
        y = np.where(columns["c"] > 0.8, "maybe", y)
    path, file = tmp_path / "t.csv", tmp_path / "again.separatrix"
    path.write_bytes(csv(columns, y).read())
    words = [str(path), "--target", "y", "--drop", "d"]
    found = running.compare(read_table(path, target="y").drop(["d"]), folds=2, data=words)
    lines = [entry for entry in found.entries if entry.key]
    assert len(lines) >= 8
    if classes == "separable":
        assert {"kozinec", "hard-margin"} <= {entry.key for entry in lines}
        assert {"note: blue", "when: month"} <= set(found.features)
    for entry in lines:
        words = shlex.split(entry.command.replace("model.separatrix", str(file)))
        done = command(*words[1:])
        assert done.exit_code in (0, 3), done.output
        loaded = load(file)
        again = getattr(loaded, "model", loaded)
        assert hasattr(entry.model, "coef_") or hasattr(entry.model, "dual_coef_"), entry.title
        for name in ("coef_", "intercept_", "dual_coef_", "centroids_"):
            if hasattr(entry.model, name):
                assert np.array_equal(getattr(entry.model, name), getattr(again, name)), (entry.title, name)
        assert loaded.decision == entry.decision, entry.title
        assert loaded.calibration == entry.calibration, entry.title
    assert {entry.key for entry in lines if entry.capped} == {"svm", "kernel-perceptron"}
    if classes == 2:  # which tries what is saved though the folds chose otherwise
        assert any("in the fit to all rows" in entry.note and entry.calibration is not None for entry in lines)


def test_commands_of_the_embedded_table_need_no_file(tmp_path):
    file = tmp_path / "again.separatrix"
    words = ("fit", "--model", "centroid", "--scale", "--calibrate", "sigmoid", "--threshold", "0.4", "--out", file)
    done, record = run_json(*words)
    assert done.exit_code == 0
    assert record["decision"] == {"threshold": 0.4, "offsets": None}
    assert record["calibration"]["kind"] == "sigmoid"


def test_another_line_is_saved_on_request_and_a_wrong_one_is_refused_with_the_results_kept(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(csv(*rare_table(120)).read())
    words = ("compare", path, "-t", "y", "-o", tmp_path, "--folds", 2)
    done, record = run_json(*words, "--save", "least squares")
    assert record["best"]["model"] == "least-squares"
    place = [entry["name"] for entry in record["leaderboard"]].index("nearest centroid") + 1
    _, record = run_json(*words, "--save", place)
    assert record["best"]["model"] == "centroid"
    done, record = run_json(*words, "--save", "gradient boosting")
    assert done.exit_code == 2
    assert "nearest centroid" in done.stderr
    assert (tmp_path / "model.separatrix").exists()


def test_maximum_likelihood_of_quasi_separable_classes_is_said_as_that(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "x,y\n" + "\n".join(f"{x},{y}" for x, y in [(0, "a"), (1, "a"), (2, "a"), (2, "b"), (3, "b"), (4, "b")])
    )
    assert separability([[0], [1], [2], [2], [3], [4]], list("aaabbb")).verdict == "quasi-separable"
    done = command("fit", path, "-t", "y", "-m", "logistic", "--C", "inf", "-o", tmp_path / "m")
    assert done.exit_code == 3
    assert "the classes are quasi-separable" in done.stdout
    assert "classes are separable" not in done.stdout


def test_columns_are_called_by_their_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,x,y\n" + "\n".join(f"{i % 5},{i // 10},{'ab'[i // 10]}" for i in range(20)))
    done = command("fit", path, "-t", "y", "-m", "logistic", "--C", "inf", "-o", tmp_path / "m")
    assert done.exit_code == 3
    said = " ".join(done.stdout.split())
    assert "column 'x'" in said
    assert "column 1" not in said


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_column_that_is_too_large_is_called_by_its_name():
    a, y = np.random.default_rng(0).normal(size=40) * 5e307, np.arange(40) % 2
    with pytest.raises(DataError, match=r"column 'a'\. The square of such a number overflows.*divide the column"):
        running.compare(read_table(csv({"a": a}, y), target="y"), fork=False)


def test_naive_bayes_is_no_boundary():
    from separatrix import LinearSVC, NaiveBayes
    from separatrix.compare.explain import intervals

    X, y = np.arange(10.0)[:, None], np.arange(10) > 4
    assert "boundary" not in intervals(NaiveBayes().fit(X, y))[1]
    assert "boundary" in intervals(LinearSVC().fit(X, y))[1]


def test_what_linearity_costs_is_said():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 600)).round(3)
    found = running.compare(read_table(csv({"a": a, "b": b}, np.where(a * b > 0, "s", "d")), target="y"), folds=3)
    assert found.linearity.startswith("Linearity costs 0.")
    assert "rows only" not in found.linearity
    entry_of(found, "gradient boosting").sample = 123  # as of a table with more rows than it learns from
    words = linearity_words(found.entries, found.truth, 2, "brier")
    assert "of Brier score (95% interval" in words
    words = linearity_words(found.entries, found.truth, 2, "balanced_accuracy")
    assert "which learned from 123 rows only" in words
    assert found.best.key == "svm"  # a kernel machine that leads is saved
    assert entry_of(found, "gradient boosting").reference


def test_guessing_is_as_good_as_guessing_can_be():
    """Of 10 and 9 rows, the training rows of some folds have more of the rarer class."""
    random = np.random.default_rng(3)
    y = np.repeat(["a", "b"], [10, 9])
    found = running.compare(read_table(csv({"x": random.normal(size=19).round(3)}, y), target="y"), folds=5)
    baseline = entry_of(found, "majority (baseline)")
    assert baseline.figures["balanced_accuracy"].value == 0.5
    assert baseline.figures["accuracy"].value == pytest.approx(10 / 19)
    assert (baseline.predictions.codes == 0).all()
