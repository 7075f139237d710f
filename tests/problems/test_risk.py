"""A risk is a loss, a penalty and a design: a loss without a compiled pass is minimised too, by each solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

from separatrix.design import as_design
from separatrix.losses import Logistic, MarginLoss, Softmax, Squared, SquaredHinge
from separatrix.penalties import Ridge
from separatrix.problems.risk import Risk
from separatrix.problems.scored import Classes, TwoClasses, symmetric_basis
from separatrix.solvers.driver import run
from separatrix.solvers.lbfgs import lbfgs
from separatrix.solvers.newton import newton
from separatrix.solvers.precondition import diagonal
from separatrix.solvers.truncated import truncated
from separatrix.targets import Targets


@dataclass(frozen=True)
class HuberisedHinge(MarginLoss):
    """0 beyond 1, (1 - u)²/2 down to 0, 1/2 - u below: what someone may add, in one class."""

    name: ClassVar[str] = "huberised_hinge"
    convex: ClassVar[bool] = True
    smoothness: ClassVar[float] = 1.0

    def _phi(self, u):
        return np.where(u >= 1, 0.0, np.where(u <= 0, 0.5 - u, 0.5 * (1 - u) ** 2))

    def _dphi(self, u):
        return -np.clip(1 - u, 0.0, 1.0)

    def _d2phi(self, u):
        return np.where((u >= 0) & (u < 1), 1.0, 0.0)

    def _phi_conjugate(self, m):
        return np.where((m <= 0) & (m >= -1), m + 0.5 * m * m, np.inf)


@dataclass(frozen=True)
class UncompiledLogistic(Logistic):
    name: ClassVar[str] = "log, by blocks"


def problem(loss, n=300, d=6, seed=0, storage=np.asarray):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    codes = (X @ rng.normal(size=d) + 0.5 + rng.normal(size=n) > 0).astype(np.intp)
    c = rng.uniform(0.5, 2.0, size=n)
    penalty = Ridge.on_weights(d, d + 1)
    return X, codes, c, Risk(TwoClasses(loss), penalty, as_design(storage(X)), Targets(np.arange(2), codes), c)


def solved(risk, solver):
    V = np.zeros((risk.design.p, 1))
    states = {
        "newton": lambda: newton(risk, V),
        "lbfgs": lambda: lbfgs(risk, V, diagonal(risk, V)),
        "truncated": lambda: truncated(risk, V, lambda gradient, value: False),
    }[solver]()
    state, _ = run(states, lambda s: float(np.abs(s.gradient).max()) < 1e-10, 500)
    return state.V


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "truncated"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_squared_errors_have_the_minimum_of_the_normal_equations(solver, storage):
    X, codes, c, risk = problem(Squared(), storage=storage)
    assert risk.loss.compiled is None
    Z, y = np.column_stack([X, np.ones(len(X))]), 2.0 * codes - 1.0
    curvature = Squared().curvature(1.0, 0.0)  # of (y - z)² or half of it
    H = curvature * (Z.T * c) @ Z + np.diag(risk.ridge)
    expected = np.linalg.solve(H, curvature * (Z.T @ (c * y)))
    np.testing.assert_allclose(solved(risk, solver)[:, 0], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "truncated"])
def test_a_new_loss_is_minimised_as_a_quadratic_program_says(solver):
    """min 1/2 ‖w‖² + sum c (1/2 s² + t) over s + t >= 1 - y (w.x + b), s in [0, 1], t >= 0."""
    import clarabel

    X, codes, c, risk = problem(HuberisedHinge(), n=80, d=3)
    y, n, d = 2.0 * codes - 1.0, 80, 3
    P = sparse.diags_array(np.concatenate([np.ones(d), [0.0], c, np.zeros(n)])).tocsc()
    q = np.concatenate([np.zeros(d + 1 + n), c])
    eye, zero = sparse.eye_array(n), sparse.csr_array((n, n))
    left = sparse.csr_array(np.column_stack([y[:, None] * X, y]))
    none = sparse.csr_array((n, d + 1))
    A = sparse.vstack(
        [
            sparse.hstack([-left, -eye, -eye]),
            sparse.hstack([none, -eye, zero]),
            sparse.hstack([none, eye, zero]),
            sparse.hstack([none, zero, -eye]),
        ]
    ).tocsc()
    b = np.concatenate([-np.ones(n), np.zeros(n), np.ones(n), np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    solution = clarabel.DefaultSolver(P, q, A, b, [clarabel.NonnegativeConeT(4 * n)], settings).solve()
    value, _ = risk.value_and_gradient(solved(risk, solver))
    assert value == pytest.approx(solution.obj_val, rel=1e-7)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_by_blocks_and_compiled_are_the_same_risk(storage):
    _, _, c, compiled = problem(Logistic(), n=60_000, d=9, storage=storage)  # several blocks
    by_blocks = Risk(TwoClasses(UncompiledLogistic()), compiled.penalty, compiled.design, compiled.targets, c)
    assert compiled.loss.compiled is not None
    assert by_blocks.loss.compiled is None
    V, D = np.random.default_rng(1).normal(size=(2, 10, 1))
    value, gradient, bend = compiled.expand(V)
    other, other_gradient, other_bend = by_blocks.expand(V)
    assert other == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(other_gradient, gradient, rtol=1e-10, atol=1e-9 * np.abs(gradient).max())
    np.testing.assert_allclose(other_bend, bend, rtol=1e-12)
    np.testing.assert_allclose(by_blocks.product(bend, D), compiled.product(bend, D), rtol=1e-10, atol=1e-8)


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Squared(), HuberisedHinge()], ids=lambda loss: loss.name)
def test_gradient_and_product_are_derivatives(loss):
    _, _, _, risk = problem(loss, n=40, d=4, seed=2)
    rng = np.random.default_rng(3)
    V, D = rng.normal(size=(2, 5, 1))
    _, gradient, bend = risk.expand(V)
    h = 1e-6
    slope = (risk.value_and_gradient(V + h * D)[0] - risk.value_and_gradient(V - h * D)[0]) / (2 * h)
    assert slope == pytest.approx(float(np.vdot(gradient, D)), rel=1e-6, abs=1e-6)
    change = (risk.value_and_gradient(V + h * D)[1] - risk.value_and_gradient(V - h * D)[1]) / (2 * h)
    np.testing.assert_allclose(risk.product(bend, D), change, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(risk.hessian(V) @ D[:, 0], risk.product(bend, D)[:, 0], rtol=1e-9, atol=1e-9)


def test_the_curvature_of_softmax_times_a_direction():
    rng = np.random.default_rng(4)
    loss = Classes(symmetric_basis(4))
    Z, D, codes = rng.normal(size=(7, 3)), rng.normal(size=(7, 3)), rng.integers(0, 4, size=7)
    B = loss.basis
    of_classes = Softmax().curvature(codes, Z @ B.T)
    expected = np.einsum("ka,mkl,lb,mb->ma", B, of_classes, B, D)
    np.testing.assert_allclose(loss.bent(loss.bend(codes, Z), D), expected, rtol=1e-10, atol=1e-13)
