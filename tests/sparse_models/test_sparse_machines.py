"""LinearSVC with an L1 penalty, of both losses, against an interior-point method and scikit-learn."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_iris
from sparse_models.sparse_oracle import objective
from sparse_models.test_sparse_optimum import penalty, table, within

from separatrix import LinearSVC
from separatrix.certificates import Certificate
from separatrix.errors import ConvergenceWarning, InvalidInputError
from separatrix.sparse_models import hinge

X, Y = load_breast_cancer(return_X_y=True)
IRIS, KINDS = load_iris(return_X_y=True)
LOSSES = ["squared_hinge", "hinge"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(100))
def test_optimum(seed, loss):
    rng = np.random.default_rng(5000 + seed)
    X, y, weight = table(rng)
    C, _ = penalty(rng, X, y, weight)
    fit_intercept = bool(rng.random() < 0.75)
    given = sparse.csr_array(X) if rng.random() < 0.5 else X
    model = LinearSVC(C=C, penalty="l1", loss=loss, fit_intercept=fit_intercept).fit(given, y, weight)
    coef = within(model, X, y, C, 1.0, weight, fit_intercept, loss)
    claim = model.certificate_
    assert claim.verify(given, y, weight)
    spread = X.std(axis=0) if fit_intercept else np.sqrt((X**2).mean(axis=0))
    assert (np.abs(coef) * spread)[claim.zeros].max(initial=0.0) <= 1e-3


@pytest.mark.parametrize("loss", LOSSES)
def test_each_class_against_the_rest(loss):
    model = LinearSVC(penalty="l1", loss=loss).fit(IRIS, KINDS)
    assert model.certificate_.verify(IRIS, KINDS)
    assert model.n_nonzero_ == np.count_nonzero(model.coef_) < model.coef_.size
    for k in range(3):
        alone = LinearSVC(penalty="l1", loss=loss).fit(IRIS, k == KINDS)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], rtol=1e-9)
        reached = objective(IRIS, (k == KINDS).astype(int), alone.coef_, alone.intercept_, 1.0, 1.0, None, loss)
        assert abs(float(reached) - alone.certificate_.primal) <= 1e-9 * alone.certificate_.primal


def largest_in_an_optimum(X, y, C, j, best):
    """max |w_j| over all (w, b) whose objective is at most ``best``: a linear program for each sign."""
    n, d = X.shape
    sign = (2.0 * y - 1)[:, None]
    cost = np.concatenate([np.ones(2 * d), [0.0], np.full(n, C)])
    rows = np.vstack([np.hstack([-sign * X, sign * X, -sign, -np.eye(n)]), cost])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    most = 0.0
    for direction in (1.0, -1.0):
        goal = np.zeros(2 * d + 1 + n)
        goal[[j, d + j]] = -direction, direction
        most = max(most, -linprog(goal, A_ub=rows, b_ub=np.append(-np.ones(n), best), bounds=bounds).fun)
    return most


@pytest.mark.parametrize("seed", range(12))
def test_what_the_hinge_proves_0_is_so_in_every_optimum(seed):
    """Whole numbers, so that optima are many; a repeated column has a weight in some of them, and is proved nothing."""
    rng = np.random.default_rng(seed)
    rows = np.round(2 * rng.normal(size=(25, 6)))
    rows[:, 5] = rows[:, 0]
    codes = (rows[:, 0] + rng.normal(size=25) > 0).astype(int)
    model = LinearSVC(penalty="l1", loss="hinge", C=1 / 16).fit(rows, codes)
    claim = model.certificate_
    assert claim.verify(rows, codes)
    assert Certificate.from_dict(claim.to_dict()).verify(rows, codes)
    best = float(objective(rows, codes, model.coef_, model.intercept_, 1 / 16, 1.0, None, "hinge")) * (1 + 1e-9)
    for j in range(6):
        most = largest_in_an_optimum(rows, codes, 1 / 16, j, best)
        if claim.zeros[0, j]:
            assert most <= 1e-6
        elif most > 1e-3:
            forged = claim.zeros.copy()
            forged[0, j] = True
            assert not replace(claim, zeros=forged).verify(rows, codes)
    assert claim.zeros.any()


def test_zeros_of_the_hinge_need_an_exact_optimum():
    claim = LinearSVC(penalty="l1", loss="hinge", C=1e-2).fit(X, Y).certificate_
    assert claim.zeros.any()
    assert not claim.coef[claim.zeros].any()
    weights, multipliers = claim.dual_weights.copy(), claim.multipliers.copy()
    inner = next(i for i, a in enumerate(multipliers) if 0 < a < Fraction(1, 100))
    weights[0, np.flatnonzero(weights[0])[0]] *= 1 + Fraction(1, 10**40)
    multipliers[inner] -= Fraction(1, 10**40)
    for change in (
        {"dual_weights": weights},
        {"multipliers": multipliers},
        {"multipliers": claim.multipliers.astype(float)},
        {"dual_weights": None},
        {"zeros": np.ones_like(claim.zeros)},
    ):
        forged = replace(claim, **change)
        assert not forged.verify(X, Y)
        assert "zeros" in change or replace(forged, zeros=np.zeros_like(claim.zeros)).verify(X, Y)


def test_the_squared_hinge_proves_zeros():
    claim = LinearSVC(penalty="l1", loss="squared_hinge", C=1e-3).fit(X, Y).certificate_
    assert claim.zeros.any()
    assert not replace(claim, zeros=np.ones_like(claim.zeros)).verify(X, Y)


def test_other_multipliers_are_refused():
    claim = LinearSVC(penalty="l1", loss="hinge", C=1e-2).fit(X, Y).certificate_
    assert claim.verify(X, Y)
    assert not replace(claim, multipliers=claim.multipliers * 1.5).verify(X, Y)
    assert not replace(claim, multipliers=claim.multipliers[::-1].copy()).verify(X, Y)
    with pytest.raises(ValueError, match="multipliers"):
        replace(claim, multipliers=claim.multipliers[1:]).verify(X, Y)


@pytest.mark.parametrize("loss", LOSSES)
def test_multipliers_and_slacks_are_those_of_the_weights(loss):
    model = LinearSVC(penalty="l1", loss=loss, C=0.01).fit(X, Y)
    signs = 2.0 * Y - 1
    slack = np.maximum(0.0, 1.0 - signs * model.decision_function(X))
    np.testing.assert_allclose(model.slack_, slack, atol=1e-9)
    alpha = np.zeros(len(Y))
    alpha[model.support_] = model.dual_coef_[0]
    pull = np.abs(alpha @ X)
    assert abs(alpha.sum()) <= 1e-6 * np.abs(alpha).sum()
    assert pull.max() <= 1 + 1e-5
    np.testing.assert_allclose(pull[model.coef_[0] != 0], 1.0, atol=1e-5)


def test_of_a_tall_table_the_linear_program_has_a_row_for_each_column():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, 4))
    codes = rows[:, 0] + rng.normal(size=1500) > 0
    model = LinearSVC(penalty="l1", loss="hinge").fit(rows, codes)
    assert model.n_iter_ < 150  # a step for each row otherwise
    assert model.certificate_.verify(rows, codes)


@pytest.mark.parametrize("rows", [X[:40, :10], X[:40, :10].T])
def test_a_linear_program_that_takes_too_long_is_told(rows, monkeypatch):
    monkeypatch.setattr(hinge, "MOST", 2)
    codes = np.arange(len(rows)) % 2
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = LinearSVC(penalty="l1", loss="hinge").fit(rows, codes)
    assert model.certificate_ is None or model.certificate_.verify(rows, codes)
    assert np.isfinite(model.coef_).all()


def test_a_hard_margin_is_not_for_the_l1_penalty():
    with pytest.raises(InvalidInputError, match="hard margin"):
        LinearSVC(penalty="l1", C=np.inf).fit(X, Y)


def test_short_steps_far_from_the_optimum_are_not_taken_for_rounding():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 150)).round(1) * 100, rng.integers(2, size=120)  # separable: few losses are bent
    model = LinearSVC(penalty="l1", loss="squared_hinge").fit(X, y)
    assert model.certificate_.verify(X, y)
    assert model.certificate_.relative_gap <= 1e-4
