"""A certificate that its own check refuses is never attached."""

from dataclasses import replace

import numpy as np
import pytest
from problems import noisy

from separatrix import ConvergenceWarning, LinearSVC, LogisticRegression, LogisticRegressionCV, NearestCentroid
from separatrix.outcome import Status

FITS = [LogisticRegression(), LinearSVC(), NearestCentroid(), LogisticRegressionCV(Cs=2)]


@pytest.mark.parametrize("estimator", FITS)
def test_a_refused_certificate_is_dropped_with_a_warning(estimator, monkeypatch):
    X, y = noisy()
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
    kind = type(LogisticRegression().fit(X, y).certificate_)

    def malformed(self, X, y, sample_weight=None):
        raise ValueError("The witness 'coef' must be finite.")

    monkeypatch.setattr(kind, "verify", malformed)
    with pytest.warns(ConvergenceWarning, match="coef"):
        assert LogisticRegression().fit(X, y).certificate_ is None
