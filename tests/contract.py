"""The estimators of the package, found by themselves, so that later ones are tested without being named."""

import inspect

import numpy as np
from problems import islands

import separatrix
from separatrix.estimators.base import Classifier


def estimator_classes():
    public = (getattr(separatrix, name) for name in separatrix.__all__)
    return [item for item in public if inspect.isclass(item) and issubclass(item, Classifier)]


def all_estimators():
    """One of each; a search of counted nodes gets few of them, since random labels use them all.

    Categories that only rows without a weight have get room, so that these rows can be scored as well.
    """
    settings = {"max_nodes": 60, "min_categories": 64}
    return [
        estimator(**{name: settings[name] for name in settings if name in inspect.signature(estimator).parameters})
        for estimator in estimator_classes()
    ]


def suited(estimator, k=2, **size):
    """Rows and labels of k classes on which the estimator, as its tags describe it, can certify itself."""
    tags = estimator.__sklearn_tags__()
    assert tags.input_tags.two_d_array, "write a problem for estimators of this input"
    X, y = islands(k, **size)
    return (np.floor(X) if tags.input_tags.categorical else X), y
