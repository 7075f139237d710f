"""Sequential minimal optimisation forced on problems of which the answer is known otherwise."""

import numpy as np
import pytest
from problems import noisy
from scipy import sparse

from separatrix import SVC
from separatrix.kernels import KernelRows, Laplacian, Linear, Poly, Precomputed, Rbf
from separatrix.loops.working_set import optimised
from separatrix.solvers import smo
from separatrix.solvers.active_set import polished
from separatrix.solvers.kernel_columns import KernelColumns
from separatrix.solvers.row_cache import RowCache
from separatrix.solvers.smo import Smo
from separatrix.solvers.soft_margin import (
    best_intercept,
    best_squared_intercept,
    dual,
    gap,
    may_fall,
    may_rise,
    relative_gap,
)
from separatrix.svm import kernel_svm, together


def approached(K, y, U, violation, steps, start=None):
    """alpha after as many moves of pairs, and how many there were; the residuals of a start are brought up to date."""
    alpha, F = (np.zeros(len(y)), y.copy()) if start is None else (start[0].copy(), start[1])
    return alpha, optimised(K, K.diagonal().copy(), y, U, alpha, F, violation, steps, True)[0]


def problem(n=300, seed=0):
    X, y = noisy(n, 4, seed=seed)
    return X, np.where(y == 1, 1.0, -1.0)


@pytest.mark.parametrize("kernel", [Rbf(0.3), Poly(2, 0.3, 1.0), Linear(), Laplacian(0.3), Precomputed()], ids=str)
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_the_same_optimum_as_the_interior_point_method(kernel, tol):
    X, y = problem()
    K = Rbf(0.4)(X, X) if isinstance(kernel, Precomputed) else kernel(X, X)
    rows = KernelRows(kernel, K if isinstance(kernel, Precomputed) else X)
    scale = float(rows.diagonal().max())
    U = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) * scale
    descent = Smo(rows, scale, y, U, 1e6).solve(tol, 10**7)
    assert relative_gap(descent.alpha, descent.F, y, U, True)[1] <= tol
    exact, _ = kernel_svm.interior_optimum(K / scale, y, U, True)
    best = dual(exact, y - K / scale @ (exact * y), y)
    F = y - K / scale @ (descent.alpha * y)
    np.testing.assert_allclose(descent.F, F, atol=1e-9)
    np.testing.assert_allclose(dual(descent.alpha, F, y), best, rtol=2 * tol)
    assert (descent.alpha >= 0).all()
    assert (descent.alpha <= U).all()
    np.testing.assert_allclose(descent.alpha @ y, 0.0, atol=1e-12 * U.sum())


@pytest.mark.parametrize("spread", [1e-3, 1.0, 10.0])
def test_some_pairs_moved_in_numpy_lead_near_the_same_optimum(spread):
    X, y = problem(100)
    K, U = Rbf(0.3)(X, X), spread * np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    alpha, steps = approached(K, y, U, 1e-2, 10**5)
    assert 0 < steps < 10**5
    assert (alpha >= 0).all()
    assert (alpha <= U).all()
    np.testing.assert_allclose(alpha @ y, 0.0, atol=1e-12 * U.sum())
    F = y - K @ (alpha * y)
    assert F[may_rise(alpha, y, U)].max() - F[may_fall(alpha, y, U)].min() <= 1e-2 + 1e-9
    exact, _ = kernel_svm.interior_optimum(K, y, U, True)
    np.testing.assert_allclose(polished(K, y, U, alpha).alpha, exact, atol=1e-8 * U.max())
    assert approached(K, y, U, 1e-2, 3)[1] == 3


@pytest.mark.parametrize("bytes_", [0.0, 30_000.0, 1e8])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array])
def test_a_small_cache_is_slower_and_as_right(bytes_, wrap, monkeypatch):
    X, y = problem(400)
    X[np.abs(X) < 0.5] = 0.0
    rows = KernelRows(Rbf(0.3), wrap(X))
    monkeypatch.setattr("separatrix.solvers.smo.WORKING_SET", 64)
    solver = Smo(rows, 1.0, y, np.full(len(y), 3.0), bytes_)
    assert solver.cache._memory.nbytes <= max(bytes_, 16 * 4 * len(y))
    descent = solver.solve(1e-7, 10**7)
    assert relative_gap(descent.alpha, descent.F, y, np.full(len(y), 3.0), True)[1] <= 1e-7


def test_the_cache_holds_what_it_says_through_shrinking():
    X, _ = problem(100)
    rows = KernelRows(Rbf(0.3), X)
    K = Rbf(0.3)(X, X)
    cache = RowCache(KernelColumns.of(rows, 1.0, np.float32), 4 * 100 * 30)
    rng = np.random.default_rng(0)
    active = np.arange(100)
    for size in (100, 100, 70, 70, 31, 100, 40):
        active = np.sort(rng.choice(100 if size == 100 else active, size, replace=False))
        cache.use(active)
        for _ in range(4):
            chosen = rng.choice(size, 20, replace=False)
            slots = cache.slots(chosen)
            assert len(np.unique(slots)) == 20
            np.testing.assert_allclose(cache.table[slots], K[np.ix_(active[chosen], active)], atol=2e-6)


def test_large_problems_of_the_estimator_take_this_way(monkeypatch):
    X, y = noisy(700, 4)
    reference = SVC(C=5.0).fit(X, y)
    monkeypatch.setattr(kernel_svm, "held_in_full", lambda n: n <= 100)
    model = SVC(C=5.0, tol=1e-7, cache_size=0.5).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-7
    assert model.certificate_.verify(X, y)
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(model.certificate_.primal, reference.certificate_.primal, rtol=1e-7)
    sparse_model = SVC(C=5.0, tol=1e-7).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(sparse_model.certificate_.primal, reference.certificate_.primal, rtol=1e-7)


def test_the_best_intercept_is_the_best():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 12))
        F, U = np.round(rng.normal(size=n), 1), rng.integers(1, 4, n).astype(float)
        y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        y[0], y[-1] = 1.0, -1.0
        b = best_intercept(F, y, U)
        loss = [float(U @ np.maximum(0, y * (F - t))) for t in [*F, b]]
        assert loss[-1] <= min(loss) + 1e-12
        best = [t for t, value in zip(F, loss, strict=False) if value <= min(loss) + 1e-12]
        np.testing.assert_allclose(b, 0.5 * (min(best) + max(best)), atol=1e-12)


def test_the_gap_is_the_primal_less_the_dual():
    X, y = problem(30)
    K, U = Rbf(0.5)(X, X), np.full(30, 2.0)
    alpha = np.where(y > 0, 0.3, 0.0)
    alpha[y < 0] = alpha.sum() / (y < 0).sum()
    f = K @ (alpha * y)
    F, b = y - f, 0.2
    primal = 0.5 * (alpha * y) @ f + U @ np.maximum(0, 1 - y * (f + b))
    value = alpha.sum() - 0.5 * (alpha * y) @ f
    np.testing.assert_allclose(dual(alpha, F, y), value)
    np.testing.assert_allclose(gap(alpha, F, y, U, b), primal - value)
    assert 0 < relative_gap(alpha, F, y, U, True)[1] <= (primal - value) / primal + 1e-12


@pytest.mark.parametrize("classes", [2, 3])
def test_warm_start_moves_fewer_pairs_to_the_same_optimum(monkeypatch, classes):
    for module in (kernel_svm, together):
        monkeypatch.setattr(module, "held_in_full", lambda n: False)
    X, y = noisy(400, 4, seed=3)
    y = y if classes == 2 else y + (X[:, 0] > 0.5)
    model = SVC(kernel="rbf", warm_start=True, tol=1e-6)
    for C in (1.0, 1.1):
        model.set_params(C=C).fit(X, y)
    cold = SVC(kernel="rbf", C=1.1, tol=1e-6).fit(X, y)
    assert np.sum(model.n_iter_) < np.sum(cold.n_iter_)
    np.testing.assert_allclose(model.decision_function(X), cold.decision_function(X), atol=1e-2)
    assert model.certificate_.verify(X, y)


def test_pairs_can_be_moved_from_any_start_and_the_residuals_follow():
    X, y = problem(100)
    K, U = Rbf(0.3)(X, X), np.full(100, 2.0)
    first, _ = approached(K, y, U, 1e-2, 20)
    F = y - K @ (first * y)
    alpha, steps = approached(K, y, U, 1e-2, 10**5, (first.copy(), F))
    assert steps > 0
    np.testing.assert_allclose(F, y - K @ (alpha * y), atol=1e-12)
    assert F[may_rise(alpha, y, U)].max() - F[may_fall(alpha, y, U)].min() <= 1e-2 + 1e-9
    assert approached(K, y, U, 1.01e-2, 10**5, (alpha, F))[1] == 0


@pytest.mark.parametrize("bytes_", [30_000.0, 1e8])
def test_working_sets_of_any_size_lead_to_the_same_optimum(bytes_, monkeypatch):
    X, y = problem(400)
    rows, U = KernelRows(Rbf(0.3), X), np.full(400, 3.0)
    large = Smo(rows, 1.0, y, U, bytes_).solve(1e-8, 10**6)
    monkeypatch.setattr(smo, "WORKING_SET", 64)
    small = Smo(rows, 1.0, y, U, bytes_).solve(1e-8, 10**6)
    for found in (large, small):
        assert relative_gap(found.alpha, found.F, y, U, True)[1] <= 1e-8
        np.testing.assert_allclose(found.F, y - Rbf(0.3)(X, X) @ (found.alpha * y), atol=1e-9)
        np.testing.assert_allclose(found.alpha @ y, 0.0, atol=1e-10)
    np.testing.assert_allclose(dual(small.alpha, small.F, y), dual(large.alpha, large.F, y), rtol=2e-8)
    # steps are limited there too
    assert Smo(rows, 1.0, y, U, bytes_).solve(1e-8, 10).steps == 10


def test_what_a_working_set_gains_is_what_the_dual_gains():
    X, y = problem(200)
    rows, U = KernelRows(Rbf(0.3), X), np.full(200, 3.0)
    for intercept in (True, False):
        one = Smo(rows, 1.0, y, U, 1e8, intercept=intercept)
        one._activate(np.arange(200))
        gained = one._optimise(np.arange(60), 2.0, 10**6)
        one._refresh()
        np.testing.assert_allclose(gained, dual(one.alpha, one.F, y), rtol=1e-5)
        assert gained > 0


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("U", [1.0e30, 1.0e99, np.inf])
def test_a_bound_far_above_every_alpha_leaves_them_alone(U, intercept):
    """Two points at -1 and 1 with k = x z: alpha = 1/2 each, or 1 in all without an intercept."""
    x, y = np.array([-1.0, 1.0]), np.array([-1.0, 1.0])
    alpha, F = np.zeros(2), y.copy()
    optimised(np.outer(x, x), np.ones(2), y, np.full(2, U), alpha, F, 1e-9, 100, intercept)
    assert alpha.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(F, 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_the_best_intercept_of_the_squared_hinge_is_no_worse_than_any_other(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    F, U = rng.normal(size=n).round(int(rng.integers(0, 4))), 10.0 ** rng.uniform(-3, 3, n)
    y = np.where(rng.random(n) < rng.random(), 1.0, -1.0)

    def loss(b):
        return (U * np.maximum(0.0, y * (F - b)) ** 2).sum()

    best = best_squared_intercept(F, y, U)
    others = np.concatenate([F, np.linspace(F.min() - 1.0, F.max() + 1.0, 1001), best + np.array([-1e-6, 1e-6])])
    assert loss(best) <= min(map(loss, others)) * (1 + 1e-12) + 1e-30
