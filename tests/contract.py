"""The estimators of the package, found by themselves, so that later ones are tested without being named."""

import inspect

from problems import islands

import separatrix
from separatrix.estimators.base import Classifier


def estimator_classes():
    public = (getattr(separatrix, name) for name in separatrix.__all__)
    return [item for item in public if inspect.isclass(item) and issubclass(item, Classifier)]


def all_estimators():
    """One of each; a search that has a time limit gets a short one, since random labels use all of it."""
    return [
        estimator(**({"time_limit": 0.5} if "time_limit" in inspect.signature(estimator).parameters else {}))
        for estimator in estimator_classes()
    ]


def suited(estimator, k=2, **size):
    """Rows and labels of k classes on which the estimator, as its tags describe it, can certify itself."""
    tags = estimator.__sklearn_tags__()
    assert tags.input_tags.two_d_array, "write a problem for estimators of this input"
    X, y = islands(k, **size)
    return X, y
