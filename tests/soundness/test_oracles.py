"""The oracles against other oracles: mpmath, HiGHS, Clarabel's and SciPy's optima, and answers worked out by hand."""

from fractions import Fraction

import clarabel
import mpmath
import numpy as np
import pytest
from scipy import optimize, sparse
from soundness import exact, objectives
from soundness.decimals import DIGITS, ONE, ZERO, D, factor, matrix, precisely, sigma, softplus, solve

mpmath.mp.dps = DIGITS + 20


@precisely
@pytest.mark.parametrize("u", [0, 1e-30, -1e-30, 3.7, -3.7, 60, -60, 800, -800, 1e6, -1e6])
def test_softplus_and_sigma_have_all_their_digits(u):
    for ours, theirs in [
        (softplus(D(u)), mpmath.log1p(mpmath.exp(mpmath.mpf(u)))),
        (sigma(D(u)), 1 / (1 + mpmath.exp(-mpmath.mpf(u)))),
    ]:
        assert abs(mpmath.mpf(str(ours)) / theirs - 1) < mpmath.mpf(10) ** (-DIGITS + 5)


@pytest.mark.parametrize("seed", range(30))
def test_which_rows_can_be_strictly_on_their_side_is_what_highs_says(seed):
    """max sum t over z_i.v >= t_i, 0 <= t_i <= 1: t_i = 1 where a direction has z_i.v > 0, and 0 elsewhere."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 12)), int(rng.integers(1, 4))
    z = exact.signed(rng.integers(-2, 3, size=(n, d)), rng.choice([-1, 1], n), True)
    A = np.column_stack([-np.array(z, dtype=float), np.eye(n)])
    bounds = [(None, None)] * (d + 1) + [(0, 1)] * n
    found = optimize.linprog(np.r_[np.zeros(d + 1), -np.ones(n)], A, np.zeros(n), bounds=bounds)
    assert exact.strict_rows(z) == (found.x[d + 1 :] > 0.5).tolist()


def test_verdicts_by_hand():
    corners = [[0, 0], [1, 1], [0, 1], [1, 0]]
    assert exact.verdict(exact.signed(corners, [-1, -1, 1, 1], True)) == "overlapping"  # XOR
    assert exact.verdict(exact.signed(corners, [-1, 1, -1, -1], True)) == "separable"  # AND
    assert exact.verdict(exact.signed([[0], [1], [1], [2]], [-1, -1, 1, 1], True)) == "quasi-separable"
    assert exact.verdict(exact.signed([[2**53], [2**53 + 1]], [-1, 1], True)) == "separable"  # not so in float64
    assert exact.verdict(exact.signed([[1.0], [2.0]], [-1, 1], False)) == "overlapping"
    assert exact.verdict(exact.softmax_rows([[0], [1], [2]], [0, 1, 2], 3, True)[0]) == "separable"
    assert exact.verdict(exact.softmax_rows([[0], [1], [0]], [0, 1, 2], 3, True)[0]) == "quasi-separable"


def test_fewest_errors_by_hand():
    one = [Fraction(1)] * 4
    xor = exact.whole(exact.points([[0, 0], [1, 1], [0, 1], [1, 0]], True))
    assert exact.beats(xor, [False, False, True, True], one, Fraction(3, 2))
    assert not exact.beats(xor, [False, False, True, True], one, Fraction(1))
    # through the origin: of x and -x with one label one is wrong, unless both are on the line, which predicts +
    line = exact.whole(exact.points([[1.0], [-1.0]], False))
    assert not exact.beats(line, [True, True], one[:2], Fraction(1))
    assert exact.beats(exact.whole(exact.points([[1.0, 0.0], [-1.0, 0.0]], False)), [True, True], one[:2], Fraction(1))


@pytest.mark.parametrize("seed", range(8))
def test_fewest_errors_of_random_points_by_trying_every_labelling(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, size=(6, 2)), rng.random(6) < 0.5
    least = min(
        np.sum(((code >> np.arange(6)) & 1).astype(bool) != y)
        for code in range(64)
        if _predicts(X, ((code >> np.arange(6)) & 1).astype(bool))
    )
    z = exact.whole(exact.points(X, True))
    assert not exact.beats(z, y.tolist(), [Fraction(1)] * 6, Fraction(int(least)))
    assert exact.beats(z, y.tolist(), [Fraction(1)] * 6, Fraction(int(least)) + Fraction(1, 2))


def _predicts(X, labels):
    """Whether some (w, b) scores at least 0 where the label is true and under 0 elsewhere, by HiGHS."""
    A = np.column_stack([X, np.ones(len(X))]) * np.where(labels, -1.0, 1.0)[:, None]
    limits = np.where(labels, 0.0, -1.0)
    return optimize.linprog(np.zeros(A.shape[1]), A, limits, bounds=(None, None)).status == 0


@precisely
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6, None])
@pytest.mark.parametrize("k", [1, 3])
def test_lowest_logistic_value_is_scipys(C, k):
    rng = np.random.default_rng(5)
    X, codes = rng.normal(size=(14, 2)), rng.permutation(np.arange(14) % max(k, 2))
    z = [[*row, ONE] for row in matrix(X)]
    objective = objectives.logistic(z, codes.tolist(), [ONE] * 14, None if C is None else D(C), k, True, C is None)
    found, V = objective.descend(objectives.zeros(objective))

    def plain(v):
        S = X @ v.reshape(k, 3)[:, :2].T + v.reshape(k, 3)[:, 2]
        S = np.column_stack([np.zeros(14), S]) if k == 1 else S
        losses = np.logaddexp.reduce(S, axis=1) - S[np.arange(14), codes]
        return losses.sum() * (C or 1.0) + (0.0 if C is None else 0.5 * np.sum(v.reshape(k, 3)[:, :2] ** 2))

    theirs = optimize.minimize(plain, np.zeros(3 * k), method="BFGS", options={"gtol": 1e-10}).fun
    assert float(found) == pytest.approx(plain(np.array(V, dtype=float).ravel()), rel=1e-12)
    assert float(found) == pytest.approx(theirs, rel=1e-8)
    assert float(found) <= theirs * (1 + 1e-12)


@precisely
def test_infimum_of_a_quasi_separable_likelihood():
    """x = 0, 1, 1, 2 with labels 0, 0, 1, 1: the ends go to loss 0, and the two at 1 are left with log 2 each."""
    X, y = [[0], [1], [1], [2]], [0, 0, 1, 1]
    z = [[*row, ONE] for row in matrix(np.array(X))]
    vectors = exact.signed(X, [-1, -1, 1, 1], True)
    assert objectives.likelihood_infimum(z, y, [ONE] * 4, 1, True, vectors, D("1e-12")) == 2 * D(2).ln()
    vectors, _ = exact.softmax_rows([[0], [1], [1], [2]], [0, 0, 1, 2], 3, True)
    found = objectives.likelihood_infimum(z, [0, 0, 1, 2], [ONE] * 4, 3, True, vectors, D("1e-12"))
    assert abs(found - 2 * D(2).ln()) < D("1e-12")


@precisely
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("free", [False, True])
def test_lowest_hinge_value_is_clarabels(squared, free):
    rng = np.random.default_rng(3)
    n, d = 12, 2
    X, y = rng.normal(size=(n, d)), rng.choice([-1, 1], n)
    # min 1/2 ‖w‖² + sum xi (or xi²) over y (w.x + b) >= 1 - xi, xi >= 0, b = 0 unless free
    P = np.diag([1.0] * d + [0.0] + [2.0 * squared] * n)
    q = np.r_[np.zeros(d + 1), np.full(n, 1.0 - squared)]
    A = np.vstack([-np.column_stack([y[:, None] * X, y * free, np.eye(n)]), -np.eye(n, d + 1 + n, d + 1)])
    cones = [clarabel.NonnegativeConeT(2 * n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(P), q, sparse.csc_matrix(A), np.r_[-np.ones(n), np.zeros(n)], cones, settings
    )
    theirs = solver.solve().obj_val
    start = [ZERO] * (d + free)
    found = objectives.lowest_hinge(matrix(X), y.tolist(), [ONE] * n, free, squared, start, D(-1))
    assert float(found) == pytest.approx(theirs, rel=1e-7)


@precisely
def test_nearest_point_by_hand():
    near = objectives.nearest_to_origin
    assert abs(near(matrix(np.array([[1.0, 1.0], [1.0, -1.0], [5.0, 0.0]]))) - 1) < D("1e-12")
    assert abs(near(matrix(np.eye(3))) - 1 / D(3).sqrt()) < D("1e-12")
    assert near(matrix(np.array([[1.0], [-2.0]]))) < D("1e-50")
    assert near(matrix(np.array([[2.0, 1.0], [-2.0, 1.0], [0.0, 1.0], [0.0, 3.0]]))) == 1  # (0, 1) in two ways
    # (1e12, 1) and (-1e12, 1) with (0, 2) out of reach: the midpoint, though its terms cancel
    assert abs(near(matrix(np.array([[1e12, 1.0], [-1e12, 1.0], [0.0, 2.0]]))) - 1) < D("1e-12")


@precisely
def test_solve_and_factor_see_what_is_dependent():
    A = matrix(np.array([[4.0, 2.0, 6.0], [2.0, 1.0, 3.0], [6.0, 3.0, 10.0]]))  # the second column is half the first
    x = solve(A, [D(8), D(4), D(13)])
    assert [sum((a * b for a, b in zip(row, x, strict=True)), ZERO) for row in A] == [8, 4, 13]
    L, lowest = factor(A)
    assert len(L[0]) == 2
    assert abs(lowest) < D("1e-50")
    assert factor(matrix(np.array([[1.0, 2.0], [2.0, 1.0]])))[1] < 0
