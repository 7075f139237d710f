"""Walks that repeat themselves end there, and say so; others are as they were, bit for bit."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import xor
from scipy import sparse

from separatrix import ConvergenceWarning, Perceptron, Status, separability
from separatrix.data import open as open_rows

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
SIDES = np.array([0, 1, 0, 1])


def plain(Z, passes):
    """Rosenblatt's rule pass by pass from 0: the weights after each pass, and the updates of each."""
    w, after, updates = np.zeros(Z.shape[1]), [np.zeros(Z.shape[1])], []
    for _ in range(passes):
        count = 0
        for z in Z:
            if z @ w <= 0:
                w, count = w + z, count + 1
        after.append(w)
        updates.append(count)
        if count == 0:
            break
    return after, updates


@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
@pytest.mark.parametrize("trace", [False, True])
def test_xor_repeats_every_four_updates(make, trace):
    with pytest.warns(ConvergenceWarning, match="same 4 updates for ever"):
        model = Perceptron(trace=trace).fit(make(XOR), SIDES)
    assert model.status_ is Status.REPEATING
    assert not model.status_.certified
    assert model.certificate_ is None
    assert model.n_iter_ < 10
    weights = plain((2 * SIDES - 1)[:, None] * np.column_stack([XOR, np.ones(4)]), model.n_iter_)[0]
    np.testing.assert_array_equal(np.append(model.coef_, model.intercept_), weights[-1])


@pytest.mark.parametrize("update", ["batch", "worst"])
def test_other_rules_repeat_as_well(update):
    problem = xor()
    with pytest.warns(ConvergenceWarning, match="repeats itself"):
        model = Perceptron(update=update).fit(problem.X, problem.y)
    assert model.status_ is Status.REPEATING
    assert model.n_iter_ < 40


def test_random_orders_and_averages_go_on():
    for more in ({"shuffle": True, "random_state": 0}, {"average": True}):
        with pytest.warns(ConvergenceWarning, match="max_iter=50"):
            model = Perceptron(max_iter=50, **more).fit(XOR, SIDES)
        assert model.n_iter_ == 50
        assert model.status_ is Status.UNCERTIFIED


def test_classes_of_which_one_repeats():
    X = np.vstack([XOR, [[9.0, 9.0]]])
    with pytest.warns(ConvergenceWarning, match=r"repeats itself \(classes 0, 1 against the rest\)"):
        model = Perceptron().fit(X, [0, 1, 0, 1, 2])
    assert model.status_ is Status.REPEATING


def test_rows_in_a_file_repeat_as_well():
    rows = open_rows(lambda: iter([(XOR, SIDES)]))
    with pytest.warns(ConvergenceWarning, match="same 4 updates for ever"):
        model = Perceptron().fit(rows.X, rows.y)
    rows.close()
    assert model.status_ is Status.REPEATING


@given(st.integers(0, 10_000), st.integers(3, 10), st.integers(1, 3), st.sampled_from([1.0, 0.25, 0.3]))
@settings(max_examples=80, deadline=None)
def test_it_ends_repeating_only_where_the_plain_walk_does(seed, n, d, eta):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, size=(n, d)).astype(float), np.arange(n) % 2
    Z = (2 * y - 1)[:, None] * np.column_stack([X, np.ones(n)])
    after, updates = plain(Z, 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Perceptron(max_iter=300, eta0=eta).fit(X, y)
    p = model.n_iter_
    assert model.n_updates_ == sum(updates[:p])
    np.testing.assert_array_equal(np.append(model.coef_, model.intercept_), eta * after[p])
    if updates[-1] == 0:
        assert p == len(updates)
        assert model.status_ is not Status.REPEATING
        return
    assert separability(X, y).verdict != "separable" or len(updates) == 300
    seen = {tuple(w) for w in after[:p]}
    assert (model.status_ is Status.REPEATING) == (p < 300)
    if p < 300:
        assert tuple(after[p]) in seen
    first = next((t for t, w in enumerate(after) if any((w == v).all() for v in after[:t])), None)
    if first is not None and 3 * first < 300:  # Brent's method is not three times as late
        assert p <= 3 * first
