"""A pytest plugin: scikit-learn's own test modules, run with the classes of separatrix in place of theirs.

``python -m pytest -p substitution --substituted-results FILE --pyargs sklearn.svm.tests.test_svm`` rebinds the shared
names before any test module is imported, and writes the outcome of every test to FILE, with whether it ever made one of
our classifiers: a test that did not says nothing about them.
"""

import importlib
import json

import pytest

# where scikit-learn's tests import each shared class from
NAMES = {
    "LogisticRegression": ("sklearn.linear_model", "sklearn.linear_model._logistic"),
    "LogisticRegressionCV": ("sklearn.linear_model", "sklearn.linear_model._logistic"),
    "Perceptron": ("sklearn.linear_model", "sklearn.linear_model._perceptron"),
    "RidgeClassifier": ("sklearn.linear_model", "sklearn.linear_model._ridge"),
    "LinearSVC": ("sklearn.svm", "sklearn.svm._classes"),
    "SVC": ("sklearn.svm", "sklearn.svm._classes"),
    "NearestCentroid": ("sklearn.neighbors", "sklearn.neighbors._nearest_centroid"),
    "GaussianNB": ("sklearn.naive_bayes",),
    "BernoulliNB": ("sklearn.naive_bayes",),
    "MultinomialNB": ("sklearn.naive_bayes",),
    "ComplementNB": ("sklearn.naive_bayes",),
    "CategoricalNB": ("sklearn.naive_bayes",),
}


class Made:
    """Whether the running test has made one of our classifiers; said with its reports."""

    made = False

    def note(self):
        self.made = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.made = _mentions_ours(getattr(getattr(item, "callspec", None), "params", {}))
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        report.user_properties = [("made", self.made)]
        return report


class Outcomes:
    """What became of each test."""

    def __init__(self, path):
        self.path, self.tests = path, {}

    def pytest_runtest_logreport(self, report):
        test = self.tests.setdefault(report.nodeid, {"outcome": "passed", "message": "", "made": False, "seconds": 0.0})
        test["made"] |= dict(report.user_properties).get("made", False)
        test["seconds"] += report.duration
        if report.outcome != "passed" and test["outcome"] == "passed":
            test["outcome"] = "xfailed" if hasattr(report, "wasxfail") else report.outcome
            test["message"] = _last_line(report)

    def pytest_sessionfinish(self):
        with open(self.path, "w") as file:
            json.dump(self.tests, file, indent=0)


def _last_line(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    return (crash.message if crash is not None else str(report.longrepr)).strip()[:400]


def _mentions_ours(value, depth=0):
    """Whether a parameter of a test is, or holds, one of our classes or classifiers."""
    from separatrix.estimators.base import Classifier

    if isinstance(value, Classifier) or (isinstance(value, type) and issubclass(value, Classifier)):
        return True
    if depth > 4:
        return False
    if isinstance(value, dict):
        value = list(value.values())
    elif hasattr(value, "get_params") and not isinstance(value, type):
        value = list(vars(value).values())
    return isinstance(value, (list, tuple)) and any(_mentions_ours(entry, depth + 1) for entry in value)


def pytest_addoption(parser):
    parser.addoption("--substituted-results", default="substituted.json")


def pytest_configure(config):
    import separatrix
    from separatrix.estimators.base import Classifier

    made = Made()
    config.pluginmanager.register(made, "substituted-made")
    if not hasattr(config, "workerinput"):  # with several processes, the first one collects
        config.pluginmanager.register(Outcomes(config.getoption("--substituted-results")), "substituted-outcomes")
    make = Classifier.__new__

    def making(cls, *arguments, **keywords):
        made.note()
        return make(cls, *arguments, **keywords)

    Classifier.__new__ = making
    for name, modules in NAMES.items():
        if not hasattr(separatrix, name):
            continue
        for module in modules:
            setattr(importlib.import_module(module), name, getattr(separatrix, name))
