"""The estimators of the package, found by themselves, so that later ones are tested without being named."""

import inspect

import separatrix
from separatrix.estimators.base import Classifier


def estimator_classes():
    public = (getattr(separatrix, name) for name in separatrix.__all__)
    return [item for item in public if inspect.isclass(item) and issubclass(item, Classifier)]


def all_estimators():
    return [estimator() for estimator in estimator_classes()]
