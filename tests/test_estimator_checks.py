"""scikit-learn's own checks, on every estimator of the package, found by themselves."""

import pytest
from contract import all_estimators
from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix.testing import EXPECTED_FAILURES


@pytest.mark.filterwarnings("ignore::separatrix.LikelihoodWarning")  # some checks use columns constant in a class
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # and labels that nothing separates
@parametrize_with_checks(
    all_estimators(), expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator).__name__, {})
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
