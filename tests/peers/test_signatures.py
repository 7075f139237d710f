"""docs/from_scikit_learn.md: every parameter of every shared class is in it, and is taken or refused as it says."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.discovery import all_estimators as theirs

import separatrix
from separatrix.errors import UnsupportedParameterError

THEIRS = dict(theirs("classifier"))
SHARED = sorted(name for name in separatrix.__all__ if name in THEIRS)
PAGE = (Path(__file__).parents[2] / "docs" / "from_scikit_learn.md").read_text(encoding="utf-8")
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0], [0.5, 0.5], [2.5, 2.5]] * 2)
Y = np.array([0, 0, 1, 1, 0, 1] * 2)
OVERLAPPING = 1 - Y  # the rows come twice, so that each has both labels
OVERLAPPING[:6] = Y[:6]


def section(name):
    """What the page says of a class: from the heading that names it to the next."""
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        if f"`{name}`" in part.splitlines()[0]:
            return part
    raise AssertionError(f"{name} has no heading")


@pytest.mark.parametrize("name", SHARED)
def test_every_parameter_is_in_the_table(name):
    said = set(re.findall(r"`(\w+)(?:=[^`]*)?`", section(name)))
    assert set(THEIRS[name]().get_params()) - said == set()


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, parameter) for name in SHARED for parameter in THEIRS[name]().get_params()]
)
def test_every_parameter_is_taken(name, parameter):
    """With scikit-learn's own default; except those that it only has to find out whether it was given."""
    kind, default = getattr(separatrix, name), THEIRS[name]().get_params()[parameter]
    model = kind(**{parameter: default})
    assert model.get_params()[parameter] is default
    assert clone(model).get_params()[parameter] == default
    model.fit(2 * X, Y)  # whole numbers, which any of them takes
    assert parameter in model._repr_html_() or not model._repr_html_()


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("LinearSVC", {"multi_class": "crammer_singer"}),
        ("LogisticRegressionCV", {"refit": False}),
        ("Perceptron", {"penalty": "l2"}),
        ("Perceptron", {"early_stopping": True}),
    ],
)
def test_what_cannot_be_honoured_is_refused_with_advice(name, parameters):
    model = getattr(separatrix, name)(**parameters)  # as in scikit-learn, not before the fit
    with pytest.raises(UnsupportedParameterError, match=next(iter(parameters))) as caught:
        model.fit(X, Y)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, TypeError)
    assert not hasattr(model, "classes_")


def test_without_a_penalty_is_C_infinite():
    none = separatrix.LogisticRegression(penalty=None).fit(X, OVERLAPPING)
    infinite = separatrix.LogisticRegression(C=np.inf).fit(X, OVERLAPPING)
    np.testing.assert_array_equal(none.coef_, infinite.coef_)
    np.testing.assert_array_equal(none.standard_errors_, infinite.standard_errors_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_perceptron_stops_when_it_no_longer_improves():
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(40, 2)), rng.integers(0, 2, size=40)  # with which it does not come back
    patient = separatrix.Perceptron(max_iter=300).fit(noise, labels)
    stopped = separatrix.Perceptron(max_iter=300, tol=1e-3).fit(noise, labels)
    assert patient.n_iter_ == 300
    assert 5 <= stopped.n_iter_ < 300
    assert stopped.certificate_ is None
