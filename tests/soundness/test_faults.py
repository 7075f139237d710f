"""Tables on which a fit once ended in an untyped error, a warning of NumPy's, or never: each ends in a proper way."""

import warnings

import numpy as np
import pytest

from separatrix import (
    SVC,
    HardMarginSVC,
    Kozinec,
    LogisticRegression,
    SeparatrixError,
    mistake_bound,
)

from .tables import adversarial

ML = {"C": np.inf, "fit_intercept": False}
FAULTS = [
    *[(LogisticRegression(**ML, solver="sgd"), seed) for seed in (1000479, 1000785)],
    *[(LogisticRegression(**ML, solver="sgd", loss="squared_error"), seed) for seed in (1000479, 1000785)],
    *[(LogisticRegression(**ML, solver=solver), 1000377) for solver in ("auto", "newton", "lbfgs")],
    (HardMarginSVC(kernel="poly", gamma=57.8, degree=3, coef0=0), 1000819),
    (SVC(kernel="poly", gamma=173.6, degree=3, coef0=0, C=np.inf), 1000064),
    *[(SVC(kernel="sigmoid", C=1e100), seed) for seed in (1000085, 1000203)],
    (SVC(kernel="sigmoid", C=100, gamma=339.8, fit_intercept=False), 1000033),
    (SVC(kernel="poly", degree=4, coef0=1, C=0.01), 1000371),
    (LogisticRegression(loss="squared_error", solver="newton"), 1000256),
    (Kozinec(max_iter=200), 1000187),
    (
        LogisticRegression(loss="squared_error", solver="gauss-newton", C=1e100, max_iter=20, init=[0.0, -300.0]),
        20261120001316,  # whose first steps are longer than floats
    ),
]


@pytest.mark.parametrize(("estimator", "seed"), FAULTS)
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_ends_with_finite_weights_or_a_typed_error(estimator, seed):
    table = adversarial(seed)
    try:
        model = estimator.fit(table.X, table.y, table.sample_weight)
    except SeparatrixError:
        return
    assert np.isfinite(model.intercept_).all()
    assert model.certificate_ is None or model.certificate_.verify(table.X, table.y, table.sample_weight)


@pytest.mark.parametrize("intercept", [-300.0, -800.0])
@pytest.mark.parametrize("seed", [1000128, 1000138])
def test_firth_from_a_start_without_information(seed, intercept):
    """The estimate does not depend on the start: where every p (1 - p) vanishes, it is that from zeros."""
    table = adversarial(seed)
    start = np.append(np.zeros(table.X.shape[1]), intercept)
    fits = []
    for init in ("zeros", start):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = LogisticRegression(C=np.inf, bias_reduction="firth", init=init)
            fits.append(model.fit(table.X, table.y, table.sample_weight))
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


def test_rows_of_zeros_have_no_margin_through_the_origin():
    found = mistake_bound(np.zeros((4, 2)), [0, 1, 0, 1], fit_intercept=False)
    assert found.bound == np.inf
    assert found.margin[0] <= 0.0 <= found.margin[1] < 1e-300
