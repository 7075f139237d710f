"""Tall sparse rows: the Hessian of the most curved of them, and what is done where it is not enough."""

from itertools import islice

import numpy as np
import pytest
from scipy import sparse

from separatrix.design import as_design
from separatrix.logistic.penalised import Settings, make_risk
from separatrix.solvers.driver import run
from separatrix.solvers.lbfgs import lbfgs
from separatrix.solvers.newton import newton
from separatrix.solvers.precondition import MOST, _most_curved, renewed, sampled
from separatrix.targets import Targets


def risk_of(C, n=4000, d=30, classes=2, intercept=True, steep=3.0, seed=0):
    """Rows of a few of the d columns, some of which are rare, with weights below 1 and noisy labels."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_array(rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5 / np.arange(1, d + 1)))
    scores = X @ (steep * rng.standard_normal((d, classes))) + rng.logistic(size=(n, classes))
    y = scores.argmax(axis=1)
    settings = Settings(C, "auto", 1e-4, 100, False)
    return make_risk(as_design(X, intercept), Targets(np.arange(classes), y), rng.uniform(0.05, 0.5, size=n), settings)


def best(risk):
    return run(newton(risk, np.zeros((risk.design.p, risk.k))), lambda state: False, 50)[0]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_the_most_curved_rows_have_most_of_the_hessian_and_no_more(C, classes):
    risk = risk_of(C, classes=classes)
    V = best(risk).V
    part, bend = _most_curved(risk, V)
    traces = risk.loss.mean_bend(risk.expand(V)[2], risk.weight)[1]
    whole = risk.design.gram(risk.weight * traces)
    held = part.design.gram(part.weight * part.loss.mean_bend(bend, part.weight)[1])
    assert np.linalg.eigvalsh(whole - held).min() >= -1e-10 * np.trace(whole)
    assert 0.6 * np.trace(whole) <= np.trace(held)
    count = part.design.n
    assert count <= MOST * risk.design.n
    largest = np.sort(risk.weight * traces)[-count:]
    np.testing.assert_allclose(np.sort(part.weight * part.loss.mean_bend(bend, part.weight)[1]), largest, rtol=1e-12)
    assert count == int(MOST * risk.design.n) or largest.sum() >= 0.8 * (risk.weight @ traces)


def test_rows_that_hardly_bend_are_left_out():
    risk = risk_of(1e3)
    part, _ = _most_curved(risk, best(risk).V * 20.0)
    assert part.design.n < 0.25 * risk.design.n


def test_where_the_first_hessian_is_not_enough_another_is():
    """Nearly separable, with columns so rare that the sample hardly knows them."""
    risk = risk_of(1e4, n=20_000, d=60, intercept=False, steep=30.0)
    goal = best(risk).value * (1 + 1e-9)
    start = np.zeros((risk.design.p, 1))

    def passes(states):
        return next(i for i, state in enumerate(islice(states, 300)) if state.value <= goal)

    assert passes(renewed(risk, start)) <= 0.75 * passes(lbfgs(risk, *sampled(risk, start)))
