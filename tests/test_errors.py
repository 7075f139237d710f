"""Errors say by a field, not only in words, which parameter has to change; pickles keep the fields."""

import pickle
import warnings

import numpy as np
import pytest
from contract import all_estimators, suited

from separatrix import SVC, HardMarginSVC, InvalidInputError, Kozinec, LogisticRegression, NotSeparableError
from separatrix.kernels import Poly, Rbf
from separatrix.kernels.resolve import resolve

#: What no parameter of these kinds can be.
IMPOSSIBLE = (object(), -1.0, "nonsense")


def refusal(estimator, X, y):
    """The error of a fit, or None: scikit-learn has errors of its own, and so have parameters never honoured."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator.fit(X, y)
        except (ValueError, TypeError) as error:
            return error


@pytest.mark.parametrize("estimator", all_estimators(), ids=lambda estimator: type(estimator).__name__)
def test_the_parameter_that_cannot_be_used_is_the_one_that_is_named(estimator):
    X, y = suited(estimator)
    named = set()
    for name, before in estimator.get_params(deep=False).items():
        for value in IMPOSSIBLE:
            estimator.set_params(**{name: value})
            error = refusal(estimator, X, y)
            if isinstance(error, InvalidInputError):
                assert error.parameter == name, error
                assert name in str(error)
                named.add(name)
        estimator.set_params(**{name: before})
    assert {"C", "tol", "max_iter", "kernel", "fit_intercept", "class_weight", "family"} & set(
        estimator.get_params(deep=False)
    ) <= named


def test_data_that_cannot_be_used_blame_no_parameter():
    with pytest.raises(InvalidInputError, match="NaN") as caught:
        LogisticRegression(C=1.0).fit([[np.nan], [1.0]], [0, 1])
    assert caught.value.parameter is None


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: Rbf(-1.0), "gamma"),
        (lambda: Poly(degree=0.5, gamma=1.0), "degree"),
        (lambda: Poly(degree=2, gamma=1.0, coef0=np.inf), "coef0"),
        (lambda: resolve("sphere", gamma=1.0, degree=1, coef0=0, X=np.eye(2)), "kernel"),
        (lambda: resolve("rbf", gamma="wide", degree=1, coef0=0, X=np.eye(2)), "gamma"),
        (lambda: SVC(C=1e300).fit(1e50 * np.eye(2), [0, 1]), "C"),
        (lambda: LogisticRegression(C=np.inf, bias_reduction="firth").fit(np.eye(2), [0, 1]), "bias_reduction"),
        (lambda: LogisticRegression(loss="squared_error").fit(np.eye(3), [0, 1, 2]), "loss"),
        (lambda: LogisticRegression(threshold="high").fit(np.eye(2), [0, 1]), "threshold"),
        (lambda: LogisticRegression(trace=np.ones(2)).fit(np.eye(2), [0, 1]), "trace"),
        (lambda: Kozinec("small").fit(np.eye(2), [0, 1]), "epsilon"),
    ],
)
def test_the_parameter_at_fault_is_named_where_it_shows_later(make, parameter):
    with pytest.raises(InvalidInputError) as caught:
        make()
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("parameter", [None, "C"])
def test_a_pickle_keeps_message_and_parameter(parameter):
    error = InvalidInputError("C must be above 0; got -1.", parameter)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is InvalidInputError
    assert (str(again), again.parameter) == (str(error), parameter)
    assert isinstance(again, ValueError)


def test_a_pickle_keeps_the_proof_that_nothing_separates():
    X, y = [[0.0], [1.0], [1.0]], [0, 0, 1]
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC(kernel="linear").fit(X, y)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.certificate.verify(X, y)
