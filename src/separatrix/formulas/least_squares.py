"""Linear regression on the ±1 labels: min over (w, b) of sum_i c_i (y_i - w.x_i - b)², then min ‖w‖.

Three routes to the same answer, by shape: normal equations for tall data, the dual (w is a combination of
rows) for wide data, and LSMR where neither matrix fits or both fail. The first two are refined against the data
itself until the correction is at rounding level, so squaring the condition number costs no accuracy.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats
from separatrix.design import Block, Design
from separatrix.design.reducing import Parts
from separatrix.design.rounding import check_lengths
from separatrix.design.row_space import ROTATED
from separatrix.design.sample import Sample
from separatrix.formulas.claims import SHARP
from separatrix.formulas.squares import EPS, Problem, Step, claim, dual_matrix, iterated, published, refine
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status
from separatrix.solvers.newton import FACTORED_ORDER
from separatrix.targets import Targets

STEPS = 1000  # of LSMR, for a start
CLEAR = 1e-10  # a reciprocal condition above this is not rounding: the matrix has full rank


def _squares(block: Block, w: Floats, W: Floats, far: Floats, centre: Floats) -> Parts:
    """‖column‖² about the centre, and the sum of squares of what the score of a row is the sum of."""
    terms = abs(block.x) @ W + far
    return block.spread(w[:, None], centre[None], np.zeros(len(w), dtype=np.intp))[0], w @ terms**2


def learn(sample: Sample, max_iter: int, low: float = -1.0) -> Fit:
    """Solve for all tasks at once; see the module for the objective and the routes.

    ``low`` is the target of the rows that are not in a class; the certificate is for -1.
    """
    design, targets = sample.design, sample.targets
    weight = sample.weight / sample.weight.max()  # the same minimum, and products that stay in range
    problem = Problem(design.centred(weight), targets, weight, low)
    V = problem.start()
    order = min(design.n, design.d)
    rank: int | None = None
    converged = False
    if order <= FACTORED_ORDER or 8 * order**2 <= design.nbytes:  # else the matrix is larger than the data
        step, rank, clear = _wide(problem) if design.n < design.d else _tall(problem)
        n_iter = refine(step, V[: design.d], V)
        converged = clear or _stationary(problem, V, 1e-3 * SHARP)
    if not converged:
        rank = None
        V, n_iter = iterated(problem, np.ones(design.d), 1e-13, max_iter)
        converged = _stationary(problem, V, SHARP)
    coef, intercept = problem.design.user_units(V)
    coef, intercept = design.rounded(coef), design.rounded(intercept)
    tol = claim(problem, coef, intercept) if converged else None
    singular = (min(design.n - design.intercept, design.d) if rank is None else rank) < design.d
    status = Status.MINIMUM_NORM if singular else Status.FORMULA
    fit = Fit(Hyperplanes(coef, intercept), None, status, n_iter, attributes={"rank_": rank})
    return published("least_squares", sample, tol, fit, "leave out what nearly depends on others")


def least_squares_start(design: Design, targets: Targets, weight: Floats) -> tuple[Floats, Floats]:
    """Where to start: the same with the targets 0 and 1, as coef (k, d) and intercept (k,)."""
    fit = learn(Sample(design, targets, weight, slice(None), design.n), STEPS, low=0.0)
    return np.asarray(fit.model.coef, dtype=np.float64), np.asarray(fit.model.intercept, dtype=np.float64)


def _stationary(problem: Problem, V: Floats, tolerance: float) -> bool:
    """Whether the normal equations hold, as a cosine between each column and the residual target."""
    design, weight, d = problem.design, problem.weight, problem.design.d
    rest = np.zeros(d) if design.rest is None else design.rest
    W = np.abs(V[:d])
    length2, terms2 = design.reduce(_squares, weight, args=(W, np.abs(rest) @ W + 1.0, design.shift))
    allowed = tolerance + EPS * np.sqrt(terms2 / weight.sum())
    return bool((np.abs(problem.gradient(V)) <= allowed * np.sqrt(length2 * weight.sum())[:, None]).all())


def _tall(problem: Problem) -> tuple[Step, int, bool]:
    """W += (Z'CZ)^+ gradient, by Cholesky if Z'CZ is clearly of full rank (the third value returned).

    Otherwise by repeated equilibration. The eigenvalues of a Gram matrix are known to about eps of the largest,
    so singular values below sqrt(eps) of it drown. Dividing each eigenvector by its root and forming the Gram
    matrix anew, of the rows Z T, brings them up: after two rounds singular values down to eps are told from 0.
    """
    d, n = problem.design.d, problem.design.n
    weight = problem.weight
    G = problem.design.gram(None if (weight == 1).all() else weight)[:d, :d]
    length = np.sqrt(np.maximum(np.diag(G), 0.0))  # of a constant column, rounding is all that is left
    check_lengths(problem.design, length)
    alive = length > 0  # the others are constant: their weight is 0
    T = np.diag(np.divide(1.0, length, out=np.zeros(d), where=alive))[:, alive]
    G = G[np.ix_(alive, alive)] / np.outer(length[alive], length[alive])
    factor = _cholesky(G)
    if factor is not None:
        return lambda V: T @ linalg.cho_solve((factor, True), T.T @ problem.gradient(V)), T.shape[1], True

    for _ in range(2):
        values, Q = linalg.eigh(G)
        T = T @ (Q / np.sqrt(np.maximum(values, 1e-13 * values[-1])))
        G = problem.gram_of(T)
    values, Q = linalg.eigh(G)
    T = T @ Q
    even = length[alive, None] * T[alive]  # T where columns have unit length
    # ‖Z t‖ over the length of t there: a singular value, up to a factor sqrt(d)
    live = np.sqrt(np.maximum(values, 0.0)) > max(n, d) * EPS * np.linalg.norm(even, axis=0)
    null, even = _split(even, live)
    shortest = _shortest(null, length[alive])
    T, values = np.zeros((d, even.shape[1])), values[live]
    T[alive] = even / length[alive, None]

    def step(V: Floats) -> Floats:
        W = V[:d] + T @ ((T.T @ problem.gradient(V)) / values[:, None])
        W[alive] = shortest(W[alive])
        return np.asarray(W - V[:d])

    return step, int(live.sum()), False


def _split(T: Floats, live: Array) -> tuple[Floats, Floats]:
    """An orthonormal basis of the columns of T that are not live, and the live ones without their part in it."""
    null = T[:, ~live]
    if null.shape[1]:
        null, _ = linalg.qr(null / np.linalg.norm(null, axis=0), mode="economic")
    return null, T[:, live] - null @ (null.T @ T[:, live])


def _shortest(null: Floats, length: Floats) -> Step:
    """W without what the rows do not see, which only adds to its norm.

    ``null`` is an orthonormal basis of that where columns have unit length, and there it is known up to rounding. In
    the user's units its rows differ in size by 1 / length: pivoted QR, the largest rows first, is accurate for each.
    """
    if not null.shape[1]:
        return lambda W: W
    null = np.where(np.abs(null).max(axis=1, keepdims=True) > len(length) * EPS, null, 0.0)  # columns of no dependence
    first = np.argsort(length)
    Q, R, pivots = linalg.qr((null / length[:, None])[first], mode="economic", pivoting=True)
    kept = np.abs(np.diag(R)) > len(length) * EPS * abs(R[0, 0])  # the others change the norm by rounding only
    Q, R, null = Q[:, kept], R[np.ix_(kept, kept)], null[:, pivots[kept]]
    return lambda W: W - null @ linalg.solve_triangular(R, Q.T @ W[first]) / length[:, None]


def _wide(problem: Problem) -> tuple[Step, int, bool]:
    """W += Z'(ZZ')^+ residual: of all solutions, the one in the span of the rows has minimum norm."""
    design, root = problem.design, np.sqrt(problem.weight)
    d, n = design.d, design.n
    length = np.sqrt(design.reduce(_squares, problem.weight, args=(np.zeros((d, 1)), np.zeros(1), design.shift))[0])
    check_lengths(design, length)
    K = dual_matrix(problem)
    factor = _cholesky(K)
    if factor is None and n * d <= ROTATED:
        Z = root[:, None] * design.block(0, n).written_out()
        even = Z / np.where(length > 0, length, 1.0)
        s = linalg.svdvals(even)
        rank = int((s > max(n, d) * EPS * s[0]).sum())
        # Z = M Q' with orthonormal Q (d, rank): the longest columns first, so that short ones keep their digits
        order = np.argsort(-length)
        Q, R, pivots = linalg.qr(Z[:, order].T, mode="economic", pivoting=True)
        basis, M = np.empty((d, rank)), np.empty((n, rank))
        basis[order], M[pivots] = Q[:, :rank], R[:rank].T
        U, R = linalg.qr(M, mode="economic")
        return lambda V: basis @ linalg.solve_triangular(R, U.T @ problem.residual(V)), rank, False

    if factor is not None:
        solve: Step = lambda R: linalg.cho_solve((factor, True), R)  # noqa: E731
        rank = n
    else:
        values, Q = linalg.eigh(K)
        live = values > n * EPS * values[-1]
        values, Q = values[live], Q[:, live]
        solve = lambda R: Q @ ((Q.T @ R) / values[:, None])  # noqa: E731
        rank = len(values)
    step: Step = lambda V: design.tdot(root[:, None] * solve(problem.residual(V)))[:d]  # noqa: E731
    return step, max(rank - design.intercept, 0), factor is not None


def _cholesky(G: Floats) -> Floats | None:
    """The lower factor of G if G is clearly of full rank, else None."""
    if not G.size:
        return np.zeros((0, 0))
    try:
        L = linalg.cholesky(G, lower=True)
    except linalg.LinAlgError:
        return None
    reciprocal_condition, _ = linalg.lapack.dpocon(L, np.abs(G).sum(axis=0).max(), uplo="L")
    return L if reciprocal_condition > CLEAR else None
