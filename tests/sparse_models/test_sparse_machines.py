"""LinearSVC with an L1 penalty, of both losses, against an interior-point method and scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sparse_models.sparse_oracle import objective
from sparse_models.test_sparse_optimum import penalty, table, within

from separatrix import LinearSVC
from separatrix.errors import InvalidInputError

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


def test_the_squared_hinge_proves_zeros_and_the_hinge_none():
    squared = LinearSVC(penalty="l1", loss="squared_hinge", C=1e-3).fit(X, Y)
    assert squared.certificate_.zeros.any()
    hinge = LinearSVC(penalty="l1", loss="hinge", C=1e-3).fit(X, Y)
    assert not hinge.certificate_.zeros.any()
    for model in (squared, hinge):
        zeros = np.ones_like(model.certificate_.zeros)
        assert not replace(model.certificate_, zeros=zeros).verify(X, Y)


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


def test_a_hard_margin_is_not_for_the_l1_penalty():
    with pytest.raises(InvalidInputError, match="hard margin"):
        LinearSVC(penalty="l1", C=np.inf).fit(X, Y)
