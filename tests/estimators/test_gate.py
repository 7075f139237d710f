"""A certificate that its own check refuses is never attached."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import noisy

from separatrix import (
    SVC,
    ConvergenceWarning,
    InvalidInputError,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    NearestCentroid,
)
from separatrix.estimators import base
from separatrix.outcome import Status

FITS = [LogisticRegression(), LinearSVC(), NearestCentroid(), LogisticRegressionCV(Cs=2)]


@pytest.mark.parametrize("estimator", FITS)
def test_a_refused_certificate_is_dropped_with_a_warning(estimator, monkeypatch):
    X, y = noisy()
    X = X.tolist()  # of an array, the sums of the check itself are stated, and it need not be asked
    honest = estimator.fit(X, y)
    assert honest.certificate_ is not None
    # as rounding might: the check of this kind of certificate finds a figure out of bounds
    kind = type(honest.certificate_)
    verify = kind.verify

    def refuse(self, X, y, sample_weight=None):
        verification = verify(self, X, y, sample_weight)
        return replace(verification, checks=(replace(verification.checks[0], figure=np.nan), *verification.checks[1:]))

    monkeypatch.setattr(kind, "verify", refuse)
    with pytest.warns(ConvergenceWarning, match="no certificate"):
        model = estimator.fit(X, y)
    assert model.certificate_ is None
    assert model.status_ is Status.UNCERTIFIED
    np.testing.assert_array_equal(model.coef_, honest.coef_)


def test_a_check_that_cannot_be_made_refuses_too(monkeypatch):
    X, y = noisy()
    X = X.tolist()
    kind = type(LogisticRegression().fit(X, y).certificate_)

    def malformed(self, X, y, sample_weight=None):
        raise ValueError("The witness 'coef' must be finite.")

    monkeypatch.setattr(kind, "verify", malformed)
    with pytest.warns(ConvergenceWarning, match="coef"):
        assert LogisticRegression().fit(X, y).certificate_ is None


NEAR_ENOUGH = [
    LogisticRegression(),
    LogisticRegression(C=30.0, fit_intercept=False),
    LinearSVC(),
    LinearSVC(loss="squared_hinge", fit_intercept=False),
    SVC(C=3.0),
    SVC(kernel="poly", degree=2, coef0=1.0),
    SVC(kernel="laplacian", fit_intercept=False),
    SVC(kernel="linear"),
]


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
@pytest.mark.parametrize("estimator", NEAR_ENOUGH, ids=str)
@given(
    seed=st.integers(0, 10**6),
    n=st.sampled_from([6, 20, 90]),
    d=st.sampled_from([1, 3, 12]),
    k=st.sampled_from([2, 3, 5]),
    unit=st.sampled_from([1e-8, 1e-3, 1.0, 30.0, 1e5]),
    far=st.sampled_from([0.0, 1.0, 1e4, 1e8]),
    weighted=st.booleans(),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_what_is_not_checked_again_would_be_accepted(estimator, seed, n, d, k, unit, far, weighted, dtype):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = ((rng.normal(size=(n, d)) + rng.normal(size=(k, d))[y] + far) * unit).astype(dtype)
    X[rng.integers(n)] = X[0]
    weight = rng.integers(0, 3, n) + (np.arange(n) < 2 * k) if weighted else None
    fits = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "checked", lambda fit, *rest: fits.append(fit) or fit)
        try:
            model = estimator.fit(X, y, weight)
        except InvalidInputError:  # weights beyond float32 are refused
            assert dtype is np.float32
            return
    if fits[0].sure:
        assert model.certificate_.verify(X, y, weight)


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
@pytest.mark.parametrize("estimator", [LinearSVC(tol=1e-8), LinearSVC(loss="squared_hinge", tol=1e-8)], ids=str)
def test_what_underflows_is_not_taken_for_sure(estimator):
    X, y = noisy(n=12, d=5)
    model = estimator.set_params(C=1e-300).fit(X, y)  # 1/2 ‖w‖² has too few digits for this tol, as the check knows
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("estimator", [LinearSVC(), SVC(kernel="linear"), SVC(), SVC(kernel="laplacian")], ids=str)
def test_a_row_whose_bound_underflows_is_one_of_weight_0(estimator):
    X, y = noisy(n=12, d=2)
    weight = np.where(np.arange(12) == 5, 1e-100, 1.0)
    model = estimator.set_params(C=1e-250).fit(X, y, weight)
    assert model.certificate_.verify(X, y, weight)
