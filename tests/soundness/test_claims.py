"""Every classifier x solver x start x step on tables that are hard for floating point: no claim is false."""

import numpy as np
import pytest
from contract import estimator_classes
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from soundness import configurations
from soundness.configurations import CHOICES, Asked, Configuration, configuration
from soundness.data import Table
from soundness.tables import FAMILIES, adversarial, benign
from soundness.trial import attempt

from separatrix import (
    LeastSquaresClassifier,
    LinearSVC,
    LogisticRegression,
    MinimumErrorClassifier,
    Perceptron,
    separability,
)


def faults(table, seed, fits, choose=configuration):
    """What is wrong with so many fits to the table, each as something to run again."""
    rng = np.random.default_rng([16, seed])
    found = []
    for _ in range(fits):
        chosen = choose(rng, table)
        found += [f"{table.name}: {chosen.options}: {fault}" for fault in attempt(chosen, table).faults]
    return found


def test_every_classifier_is_fitted():
    assert {estimator.__name__ for estimator in estimator_classes()} == set(CHOICES)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_claim_is_false(family):
    found = []
    for seed in range(4):
        found += faults(adversarial(seed, family), seed, 12)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", CHOICES)
def test_no_claim_of_this_classifier_is_false(name):
    found = []
    for seed in range(100, 117):
        found += faults(adversarial(seed), seed, 1 if name == "LogisticRegressionCV" else 2, CHOICES[name][1])
    assert not found, "\n".join(found)


# a smaller seed is no simpler table: nothing to shrink
@settings(
    max_examples=120,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(seed=st.integers(200, 10**6), fit=st.integers(0, 10**6))
def test_no_claim_is_false_on_any_table(seed, fit):
    assert not faults(adversarial(seed), fit, 1)


STARTS = ("zeros", "least_squares", -60.0, -300.0, -800.0)


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "gradient", "sgd"])
@pytest.mark.parametrize("start", STARTS)
def test_log_loss_from_every_start_with_every_step(solver, start):
    found = []
    for C in (1.0, np.inf):
        for rate in configurations.RATES if solver in ("gradient", "sgd") else (None,):
            for table in (adversarial(3), adversarial(7), benign(0)):
                options = {"C": C, "solver": solver, "init": _start(start, table), "max_iter": 50, "random_state": 0}
                options |= {} if rate is None else {"learning_rate": rate}
                found += _one(LogisticRegression, options, table)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("solver", ["auto", "newton", "gauss-newton", "gradient", "sgd"])
@pytest.mark.parametrize("start", STARTS)
def test_squared_error_from_every_start(solver, start):
    found = []
    for C in (1.0, np.inf):
        for table in (adversarial(3), adversarial(7), benign(0)):
            options = {"C": C, "loss": "squared_error", "solver": solver, "init": _start(start, table), "max_iter": 50}
            found += _one(LogisticRegression, options | {"random_state": 0}, table)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("C", configurations.PENALTIES)
def test_every_penalty(C):
    found = []
    for seed in (0, 4, 6, 8):
        table = adversarial(seed)
        for loss in ("hinge", "squared_hinge"):
            found += _one(LinearSVC, {"C": C, "loss": loss}, table)
        found += _one(LogisticRegression, {"C": C}, table)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("seed", range(6))
def test_whole_numbers_beyond_2_to_the_53(seed):
    """Exact, or a typed error: never a verdict about the rounded numbers."""
    table = adversarial(seed, "large_integers")
    found = []
    for options in ({"exact": True}, {"exact": False}):
        question = Configuration(lambda options=options: Asked(separability, **options), ("", "", ""), f"{options}")
        found += attempt(question, table).faults
    found += _one(MinimumErrorClassifier, {}, table)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (LogisticRegression, {}),
        (LogisticRegression, {"C": np.inf}),
        (LogisticRegression, {"C": np.inf, "bias_reduction": "firth"}),
        (LogisticRegression, {"loss": "squared_error"}),
        (LeastSquaresClassifier, {}),
    ],
)
def test_a_matrix_of_labels(estimator, options):
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(12, 2)) * 10.0 ** rng.uniform(-3, 3, size=2)
        y = np.column_stack([np.arange(12) % 2, rng.permutation(np.arange(12) % 3 == 0)]).astype(int)
        found += _one(estimator, options, Table(f"labels#{seed}", X, y))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("eta0", [0.1, 0.3, 1.0, 1e-3])
@pytest.mark.parametrize("update", ["online", "batch", "worst"])
def test_every_step_of_the_perceptron(eta0, update):
    found = []
    for labels in ([0, 0, 0, 1], [0, 1, 1, 1]):
        table = Table("and, or", np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array(labels))
        found += _one(Perceptron, {"eta0": eta0, "update": update}, table)
    assert not found, "\n".join(found)


def _start(start, table):
    return start if isinstance(start, str) else np.append(np.zeros(table.X.shape[1]), start)


def _one(estimator, options, table):
    chosen = Configuration(lambda: estimator(**options), ("", "", ""), f"{estimator.__name__}({options})")
    return [f"{table.name}: {chosen.options}: {fault}" for fault in attempt(chosen, table).faults]


@pytest.mark.parametrize("seed", range(5))
def test_ordinary_tables_end_certified(seed):
    """No certificate is withheld where nothing is hard: default settings on noisy tables."""
    table = benign(seed)
    for estimator in (LogisticRegression, LinearSVC):
        chosen = Configuration(estimator, ("", "", ""), estimator.__name__)
        ending = attempt(chosen, table)
        assert (ending.end, ending.faults) == ("certified", [])
