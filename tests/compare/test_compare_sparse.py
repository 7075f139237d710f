"""The line of the leaderboard with an L1 penalty: its values of C, its path, and the columns that come in."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from separatrix import LogisticRegression
from separatrix.compare import candidates, entering, logistic_path, run
from separatrix.compare.candidates import SPARSE
from separatrix.compare.logistic_path import sparse_Cs, steepest
from separatrix.data import read_table
from separatrix.report import charts, render


def rows(k, seed=0, n=120, d=12):
    """Columns 3 and 7 say which class it is, 3 more loudly; the others nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = rng.standard_normal((n, d))
    X[:, 3] += 1.6 * y
    X[:, 7] += 0.9 * (y == k - 1)
    return X, y


@pytest.fixture(scope="module", params=[2, 3])
def found(request):
    X, y = rows(request.param)
    lines = [",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])]
    lines += [",".join([*map(repr, row), f"class {label}"]) for row, label in zip(X.tolist(), y, strict=True)]
    first = run.first_candidates
    patch = pytest.MonkeyPatch()
    with patch.context() as context:
        context.setattr(run, "first_candidates", lambda facts, seed: [c for c in first(facts, seed) if c.key in KEYS])
        context.setattr(run, "later_candidates", lambda facts, seed: ([], []))
        return run.compare(read_table(io.BytesIO("\n".join(lines).encode()), target="y"), folds=3)


KEYS = ("", "logistic")


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_weights_are_0_up_to_the_steepest_slope(k, storage):
    X, y = rows(k)
    last = 1 / steepest(storage(X), y)
    assert not LogisticRegression(C=last * (1 - 1e-9), l1_ratio=1).fit(X, y).coef_.any()
    assert LogisticRegression(C=last * 1.01, l1_ratio=1).fit(X, y).coef_.any()


def test_values_of_C_are_round_and_where_columns_come_in():
    X, y = rows(2)
    Cs = sparse_Cs(X, y)
    assert all(f"{C:.0e}"[0] == "1" and float(f"{C:.0e}") == C for C in Cs)
    ratios = np.array(Cs) * steepest(X, y)
    assert 2 <= ratios.min() < 20
    assert 200 < ratios.max() <= 2000
    assert np.diff(np.log10(Cs)).max() < 1.01


def test_columns_that_say_nothing_have_values_of_C():
    assert sparse_Cs(np.zeros((6, 2)), np.arange(6) % 2)


def test_the_line_leaves_out_columns_and_says_so(found):
    entry = next(entry for entry in found.entries if entry.title == SPARSE)
    used = np.flatnonzero(entry.model.coef_.any(axis=0))
    assert {3, 7} <= set(used)
    assert f"uses {len(used)} of 12 features" in entry.note
    assert "--l1-ratio 1.0 --C" in entry.command
    assert entry.certified


def test_columns_come_in_by_what_they_say(found):
    path = entering.entering(found, 60.0)
    assert path.columns[:2] == ["x3", "x7"]
    assert (np.diff(path.enter) >= 0).all()
    for column, first, effects in zip(path.columns, path.enter, path.effects.T, strict=True):
        assert not effects[first > path.C].any(), column
        assert effects[first == path.C] != 0
    # up to here no optimum has a weight other than 0, and here the first one has
    X = found.X
    assert path.C[0] == pytest.approx(1 / steepest(X, found.truth), rel=1e-9)
    assert path.C[-1] >= 2 * path.chosen
    entry = next(entry for entry in found.entries if entry.title == SPARSE)
    assert path.used == np.count_nonzero(entry.model.coef_.any(axis=0))


def test_rows_of_a_sample_stand_for_all(found, monkeypatch):
    """C means the same on half of the rows, each of which counts twice."""
    whole = entering.entering(found, 60.0)
    monkeypatch.setattr(entering, "path_rows", lambda X, k: len(found.truth) // 2)
    half = entering.entering(found, 60.0)
    assert half.rows == len(found.truth) // 2
    assert half.C[0] == pytest.approx(whole.C[0], rel=0.3)


def test_the_page_draws_the_path_and_lists_the_columns_in_order(found):
    path = entering.entering(found, 60.0)
    drawn = replace(found, path=path)
    picture = charts.entering(drawn)
    assert [name for name, _ in picture.legend][:2] == ["x3", "x7"]
    assert picture.picture.count("<polyline") == len(path.columns) + 2  # the axis, and the C that was chosen
    page = render(drawn, "a", "b")
    listed = page[page.index("Which columns come in first") :]
    assert 0 < listed.index("<li>x3 ") < listed.index("<li>x7 ")
    assert "Which columns come in first" not in render(replace(found, path=None), "a", "b")
    assert [each["column"] for each in drawn.to_dict()["path"]["columns"]] == path.columns


@pytest.mark.parametrize("limit", ["WEIGHTS", "ENTRIES"])
def test_no_path_of_large_tables_or_without_time_or_line(found, limit, monkeypatch):
    assert entering.entering(found, 0.0) is None
    assert entering.entering(replace(found, entries=[e for e in found.entries if e.title != SPARSE]), 60.0) is None
    monkeypatch.setattr(entering, limit, 5)
    assert entering.entering(found, 60.0) is None


def test_C_is_chosen_on_the_rows_of_the_sample(monkeypatch):
    """Of a tenth of the rows slopes are a tenth, and values of C ten times as large."""
    X, y = rows(2, n=400)
    seen = []
    monkeypatch.setattr(logistic_path, "path_rows", lambda X, k: 40)
    monkeypatch.setattr(logistic_path, "sparse_Cs", lambda X, y: seen.append(len(y)) or (1.0,))
    logistic_path.choose_sparse(X, y, 0)
    assert seen == [40]


def test_many_weights_of_several_classes_are_left_out_with_the_reason():
    facts = candidates.facts_of(np.ones((6, 400)), np.arange(6) % 4, "overlapping")
    assert SPARSE not in [each.title for each in candidates.first_candidates(facts, 0)]
    assert any(left.title == SPARSE and "--l1-ratio 1" in left.why for left in candidates.later_candidates(facts, 0)[1])
    two = replace(facts, k=2)
    assert SPARSE in [each.title for each in candidates.first_candidates(two, 0)]
    assert SPARSE not in [left.title for left in candidates.later_candidates(two, 0)[1]]
