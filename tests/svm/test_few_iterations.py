"""A fit with few iterations takes no longer than one with all: what comes after an answer is for answers nearby."""

import warnings

import numpy as np
import pytest

from separatrix import LinearSVC
from separatrix.design import as_design
from separatrix.errors import ConvergenceWarning
from separatrix.outcome import Status
from separatrix.svm import binding as bound
from separatrix.svm import linear_svc
from separatrix.svm.linear.hard_margin import widest


def barely_separable(n=400, d=100, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X @ rng.normal(size=d) > 0, 1.0, -1.0)


@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_without_iterations_left_no_other_method_begins(max_iter, monkeypatch):
    X, y = barely_separable()

    def begun(*args):
        raise AssertionError("the search for a hard margin began")

    monkeypatch.setattr(linear_svc, "search", begun)
    with pytest.warns(ConvergenceWarning):
        model = LinearSVC(C=1e6, max_iter=max_iter).fit(X, y)
    assert model.status_ is Status.UNCERTIFIED
    assert model.n_iter_ <= max_iter


@pytest.mark.parametrize("max_iter", [1, 3, 5, 8, 1000])
def test_rows_that_bind_are_looked_for_near_the_answer_alone(max_iter, monkeypatch):
    X, y = barely_separable()
    systems = []
    solve = bound.Rows.solve
    monkeypatch.setattr(bound.Rows, "solve", lambda self, S: systems.append(len(S)) or solve(self, S))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = widest(as_design(X), y, 1e-4, max_iter)
    assert len(systems) <= 10
    assert max_iter < 1000 or found.relative_gap < 1e-12


class NeverRight:
    """Points of which one always should leave."""

    def __init__(self):
        self.solved = 0

    def independent(self, S):
        return S

    def solve(self, S):
        self.solved += 1
        c = np.ones(len(S))
        c[:1] = -1.0
        return c, 0.0

    def scores(self, S, c):
        raise AssertionError("no weights are all positive")


@pytest.mark.parametrize(("m", "most"), [(100, 160), (600, 46), (2000, 20)])
def test_the_larger_the_systems_the_fewer_are_solved(m, most):
    points = NeverRight()
    bound.binding(points, np.ones(m), np.ones(m))
    assert points.solved <= most
