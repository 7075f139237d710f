"""Newton's method on the hinge of few rows: C and Python the same bits, wherever the budget cuts it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from loops.twins import EXTREME, copied, same_bits

from separatrix.loops.margin_newton import margin_newton, room

MOVED = range(12, 18)  # v, a, m, alpha, at, place


def arguments(Z, y, c, squared, intercept, budget, most=60):
    n, p = Z.shape
    ridge = np.ones(p)
    ridge[p - intercept :] = 0.0
    a, cap, width = (np.zeros(n), np.full(n, np.inf), 0.5) if squared else (0.5 * c, c, 4.0)
    state = [np.zeros(p), a, np.zeros(n), np.zeros(n), np.array([width, np.inf]), np.zeros(2, dtype=np.int64)]
    how = [int(squared), 0.5, 1e-14, 50, most]
    return [np.ascontiguousarray(Z), n, p, y, c, cap, ridge, *how, *state, *room(n, p), budget]


def agree(given):
    found, expected = copied(given), copied(given)
    with np.errstate(all="ignore"):
        wanted = margin_newton.reference(*expected)
    assert margin_newton(*found) == wanted
    for number in MOVED:
        assert same_bits(found[number], expected[number]), number
    return found


def table(rng, n, p, intercept):
    Z = rng.standard_normal((n, p))
    if intercept:
        Z[:, -1] = 1.0
    y = np.where(Z[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return Z, y, rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@given(n=st.sampled_from([1, 3, 8, 41]), p=st.sampled_from([1, 2, 5, 9, 17]), seed=st.integers(0, 50))
def test_steps_are_those_of_the_reference(squared, intercept, n, p, seed):
    given = arguments(*table(np.random.default_rng(seed), n, p, intercept), squared, intercept, 10**9)
    agree(given)


@pytest.mark.parametrize("squared", [False, True])
@given(data=st.data())
def test_steps_on_any_numbers(squared, data):
    n, p = data.draw(st.integers(0, 6)), data.draw(st.integers(1, 4))
    any_number = st.one_of(EXTREME, st.sampled_from([np.nan, np.inf]))
    Z = data.draw(arrays(np.float64, (n, p), elements=any_number))
    y = data.draw(arrays(np.float64, n, elements=st.sampled_from([-1.0, 1.0])))
    agree(arguments(Z, y, np.ones(n), squared, data.draw(st.booleans()), 10**9, most=20))


@pytest.mark.parametrize("squared", [False, True])
def test_where_the_budget_ends_changes_no_bit(squared):
    given = arguments(*table(np.random.default_rng(3), 60, 6, True), squared, True, 10**9)
    whole, parts = copied(given), copied(given)
    assert margin_newton(*whole) == 1
    calls = 1
    while not margin_newton(*parts[:-1], 1000):
        calls += 1
    assert calls > 3
    assert all(same_bits(whole[number], parts[number]) for number in MOVED)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_end_is_the_optimum(intercept):
    Z, y, c = table(np.random.default_rng(5), 80, 5, intercept)
    done = arguments(Z, y, c, False, intercept, 10**9, most=300)
    assert margin_newton(*done) == 1
    v, _, _, alpha = done[12:16]
    lack = 1.0 - y * (Z @ v)
    # Karush, Kuhn and Tucker: stationary, and each alpha at the bound that its margin asks for
    ridge = done[6]
    np.testing.assert_allclose(Z.T @ (y * alpha), ridge * v, atol=1e-12)
    assert (alpha >= 0).all()
    assert (alpha <= c).all()
    assert np.all(alpha[lack < -1e-9] == 0)
    assert np.all(alpha[lack > 1e-9] == c[lack > 1e-9])
