"""F = sum_i c_i loss_i + ridge at any weights, and points as low as Newton's method in 60 digits finds.

A point with F below a claimed lower bound refutes the claim, however it was found; so nothing here need be trusted but
the value of F.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from soundness.decimals import ONE, ZERO, D, dot, exactly, log1p, sigma, softplus, solve
from soundness.exact import Ints, strict_rows

CLOSE = D("1e-12")
Losses = Callable[[int, Sequence[D]], tuple[D, list[D], list[list[D]]]]


@dataclass
class Objective:
    """sum_i c_i loss_i(V z_i) + 1/2 sum of squares of the penalised weights; V has k rows, some weights being 0."""

    z: list[list[D]]
    c: list[D]
    k: int
    losses: Losses
    penalised: list[list[bool]]
    free: list[tuple[int, int]]
    longest: D | None = None  # change of a score in one step
    seen: bool = True  # whether the last step left no slope where the curvature vanishes

    def scores(self, V: Sequence[Sequence[D]]) -> list[list[D]]:
        return [[dot(v, row) for v in V] for row in self.z]

    def value(self, V: Sequence[Sequence[D]]) -> D:
        total = sum((self.c[i] * self.losses(i, s)[0] for i, s in enumerate(self.scores(V))), ZERO)
        for v, marks in zip(V, self.penalised, strict=True):
            total += sum((w * w for w, mark in zip(v, marks, strict=True) if mark), ZERO) / 2
        return total

    def expand(self, V: Sequence[Sequence[D]]) -> tuple[D, list[D], list[list[D]]]:
        """F, and its first and second derivatives by the weights that are free."""
        p, at = len(self.free), {place: n for n, place in enumerate(self.free)}
        total, g, H = ZERO, [ZERO] * p, [[ZERO] * p for _ in range(p)]
        for i, s in enumerate(self.scores(V)):
            loss, slope, curve = self.losses(i, s)
            z, c = self.z[i], self.c[i]
            total += c * loss
            pulled = [c * value for value in slope]
            bent = [[c * value for value in row] for row in curve]
            for n, (a, j) in enumerate(self.free):
                if not z[j]:
                    continue
                g[n] += pulled[a] * z[j]
                row, h = H[n], bent[a]
                for m in range(n + 1):
                    b, other = self.free[m]
                    if h[b] and z[other]:
                        row[m] += h[b] * z[j] * z[other]
        for n in range(p):
            for m in range(n):
                H[m][n] = H[n][m]
        for a, marks in enumerate(self.penalised):
            for j, mark in enumerate(marks):
                if mark:
                    total += V[a][j] * V[a][j] / 2
                    if (a, j) in at:
                        g[at[a, j]] += V[a][j]
                        H[at[a, j]][at[a, j]] += ONE
        return total, g, H

    def newton(self, V: Sequence[Sequence[D]]) -> tuple[D, list[list[D]], D]:
        """F, Newton's step, and the decrement: half the gradient times the step, about F - min F near the minimum."""
        total, g, H = self.expand(V)
        step = solve(H, [-value for value in g])
        sizes = [max(abs(h * x) for h, x in zip(row, step, strict=True)) + abs(v) for row, v in zip(H, g, strict=True)]
        self.seen = all(abs(dot(row, step) + v) <= D("1e-10") * size for row, v, size in zip(H, g, sizes, strict=True))
        out = [[ZERO] * len(V[0]) for _ in V]
        for (a, j), value in zip(self.free, step, strict=True):
            out[a][j] = value
        return total, out, -dot(g, step) / 2

    def descend(self, V: Any, close: D = CLOSE, below: D | None = None, steps: int = 150) -> tuple[D, Any]:
        """A point with F as low as `below`, or within `close` of the minimum (as the decrement tells), or the last."""
        F = self.value(V)
        for _ in range(steps):
            F, step, decrement = self.newton(V)
            if (below is not None and below > F) or decrement <= close * abs(F) or not F:
                break
            t = ONE
            if self.longest is not None:
                moved = max(abs(value) for row in self.scores(step) for value in row)
                t = self.longest / moved if moved > self.longest else ONE
            for _ in range(80):
                trial = [[a + t * b for a, b in zip(v, s, strict=True)] for v, s in zip(V, step, strict=True)]
                G = self.value(trial)
                if G < F:
                    break
                t /= 4
            else:
                break
            V, F = trial, G
        return F, V


def zeros(objective: Objective) -> list[list[D]]:
    return [[ZERO] * len(objective.z[0]) for _ in range(objective.k)]


# ---------------------------------------------------------------------- cross-entropy
def logistic(
    z: list[list[D]],
    targets: list[Any],
    c: list[D],
    C: D | None,
    k: int,
    intercept: bool,
    reference: bool,
    left: set[tuple[int, int]] | None = None,
) -> Objective:
    """C sum_i c_i -log P(t_i) + 1/2 ‖W‖²; k = 1: t_i = 0 or 1. z ends in 1 for an intercept; C None is infinite.

    `left`, for k > 1: the classes c that row i still has beside its own, as pairs (i, c).
    """

    def two(i: int, s: Sequence[D]) -> tuple[D, list[D], list[list[D]]]:
        sign = 1 if targets[i] else -1
        p, q = sigma(s[0]), sigma(-s[0])
        return softplus(-sign * s[0]), [p if sign < 0 else -q], [[p * q]]

    def many(i: int, s: Sequence[D]) -> tuple[D, list[D], list[list[D]]]:
        own = targets[i]
        rivals = [a for a in range(k) if a != own and (left is None or (i, a) in left)]
        top = max([s[own], *(s[a] for a in rivals)])
        e = {a: (s[a] - top).exp() for a in (own, *rivals)}
        total = sum(e.values(), ZERO)
        small = sum((e[a] for a in rivals), ZERO)  # what the row's own class leaves to the others
        loss = log1p(small) if s[own] == top else top - s[own] + total.ln()
        P = [e.get(a, ZERO) / total for a in range(k)]
        slope = [P[a] if a != own else -small / total for a in range(k)]
        others = [sum((P[b] for b in range(k) if b != a), ZERO) for a in range(k)]
        return loss, slope, [[P[a] * others[a] if a == b else -P[a] * P[b] for b in range(k)] for a in range(k)]

    p = len(z[0])
    d = p - intercept
    rows = k - 1 if k > 1 and (reference or C is None) else k
    free = [(a, j) for a in range(rows) for j in range(p)]
    if k > 1 and rows == k and intercept:
        free.remove((k - 1, p - 1))  # a constant added to all scores changes nothing
    ridge = [[C is not None and j < d and a < rows for j in range(p)] for a in range(k)]
    factor = ONE if C is None else C
    return Objective(z, [factor * value for value in c], k, two if k == 1 else many, ridge, free, D(6))


def likelihood_infimum(
    z: list[list[D]], targets: list[Any], c: list[D], k: int, intercept: bool, vectors: list[Ints], close: D
) -> D:
    """inf of sum_i -c_i log P(t_i), attained or not.

    `vectors` are the leads (e_t - e_c) ⊗ z of each row over each other class, in whole numbers. A lead that some
    direction of recession takes to infinity plays no part; for what is left the minimum exists (Farkas).
    """
    strict = strict_rows(vectors)
    if all(strict):
        return ZERO
    if k == 1:
        kept = [i for i, gone in enumerate(strict) if not gone]
        part = logistic(
            [z[i] for i in kept], [targets[i] for i in kept], [c[i] for i in kept], None, 1, intercept, True
        )
    else:
        leads = [(i, a) for i, own in enumerate(targets) for a in range(k) if a != own]
        left = {lead for lead, gone in zip(leads, strict, strict=True) if not gone}
        part = logistic(z, targets, c, None, k, intercept, True, left)
    return part.descend(zeros(part), close)[0]


# ---------------------------------------------------------------------- hinges
def hinge_value(scores: Sequence[D], signs: Sequence[int], bound: Sequence[D], squared: bool) -> D:
    """sum_i bound_i max(0, 1 - y_i s_i), squared or not."""
    slack = [max(ZERO, ONE - y * s) for s, y in zip(scores, signs, strict=True)]
    return dot(bound, [x * x for x in slack] if squared else slack)


def hinge_dual(
    rows: list[list[D]], signs: Sequence[int], bound: Sequence[D], alpha: Sequence[D], free: bool, squared: bool
) -> D:
    """The lower bound that alpha proves once it is feasible: cut to [0, C c_i], and its heavier side scaled down."""
    alpha = [min(max(a, ZERO), a if squared else c) for a, c in zip(alpha, bound, strict=True)]
    if free:
        plus = sum((a for a, y in zip(alpha, signs, strict=True) if y > 0), ZERO)
        minus = sum((a for a, y in zip(alpha, signs, strict=True) if y < 0), ZERO)
        if not plus or not minus:
            return ZERO
        shrink = {1: min(ONE, minus / plus), -1: min(ONE, plus / minus)}
        alpha = [a * shrink[y] for a, y in zip(alpha, signs, strict=True)]
    pull = [sum((a * y * row[j] for a, y, row in zip(alpha, signs, rows, strict=True) if a), ZERO)
            for j in range(len(rows[0]))]  # fmt: skip
    value = sum(alpha, ZERO) - dot(pull, pull) / 2
    if squared:
        value -= sum((a * a / (4 * c) for a, c in zip(alpha, bound, strict=True) if a), ZERO)
    return value


def lowest_hinge(
    rows: list[list[D]], signs: Sequence[int], bound: Sequence[D], free: bool, squared: bool, start: list[D], below: D
) -> D:
    """The lowest 1/2 ‖w‖² + sum_i bound_i hinge found; the hinge is rounded off less and less on the way down."""
    z = [[*row, ONE] if free else row for row in rows]
    p, d = len(z[0]), len(rows[0])

    def true_value(v: Sequence[D]) -> D:
        scores = [dot(v, row) for row in z]
        return dot(v[:d], v[:d]) / 2 + hinge_value(scores, signs, bound, squared)

    def quadratic(i: int, s: Sequence[D]) -> tuple[D, list[D], list[list[D]]]:
        slack = max(ZERO, ONE - signs[i] * s[0])
        return slack * slack, [-2 * signs[i] * slack], [[D(2) if slack else ZERO]]

    def rounded(i: int, s: Sequence[D]) -> tuple[D, list[D], list[list[D]]]:
        u = (ONE - signs[i] * s[0]) / width
        on, off = sigma(u), sigma(-u)
        return width * softplus(u), [-signs[i] * on], [[on * off / width]]

    free_at = [(0, j) for j in range(p)]
    ridge = [[j < d for j in range(p)]]
    V = [list(start)]
    best = true_value(V[0])
    if best < below:
        return best
    if squared:
        low, V = Objective(z, list(bound), 1, quadratic, ridge, free_at).descend(V, D("1e-14"), below)
        return min(best, low)
    total = sum(bound, ZERO)
    width = ONE
    for _ in range(30):
        _, V = Objective(z, list(bound), 1, rounded, ridge, free_at).descend(V, D("1e-9"), None, 15)
        best = min(best, true_value(V[0]))
        if best < below or width * total <= D("1e-9") * best:
            break
        width /= 8
    return best


# ---------------------------------------------------------------------- margins
def nearest_to_origin(points: list[list[D]]) -> D:
    """min ‖sum alpha_i z_i‖ over alpha >= 0 of sum 1, by Wolfe's method: the best margin, if it is above 0.

    In 60 digits; and in rational arithmetic, where the method ends by itself, if these do not settle 12 of them.
    """
    if not points[0]:
        return ZERO
    square = _wolfe(points, _decimal_affine, 60)
    if square is None:
        exact_points = [[Fraction(value) for value in row] for row in points]
        square = exactly(_wolfe(exact_points, _rational_affine, 10_000))
    return square.sqrt()


def _wolfe(points: list[list[Any]], affine: Callable[..., list[Any]], steps: int) -> Any:
    """‖x‖² of the nearest point x, settled when x.z_i >= (1 - 1e-12) ‖x‖² for every i; None if it does not settle."""
    columns = range(len(points[0]))
    sizes = [sum(v * v for v in z) for z in points]
    corral = [min(range(len(points)), key=sizes.__getitem__)]
    weight = [sizes[0] * 0 + 1]
    for _ in range(steps):
        x = [sum(a * points[i][j] for a, i in zip(weight, corral, strict=True)) for j in columns]
        products = [sum(a * b for a, b in zip(x, z, strict=True)) for z in points]
        i = min(range(len(points)), key=products.__getitem__)
        here = sum(v * v for v in x)
        if here - products[i] <= here / 10**12:
            return here
        if i in corral:
            return None
        corral, weight = [*corral, i], [*weight, weight[0] * 0]
        while True:
            goal = affine(points, corral)
            if all(a >= 0 for a in goal):
                corral = [i for i, a in zip(corral, goal, strict=True) if a]
                weight = [a for a in goal if a]
                break
            t = min(w / (w - a) for w, a in zip(weight, goal, strict=True) if a < 0)
            weight = [w + t * (a - w) for w, a in zip(weight, goal, strict=True)]
            least = min(range(len(weight)), key=weight.__getitem__)
            corral.pop(least)
            weight.pop(least)
    return None


def _differences(points: Any, corral: Sequence[int]) -> tuple[Any, Any, Any]:
    """For alpha of sum 1 that minimises ‖sum alpha_i z_i‖, the normal equations of differences from the first point."""
    base = points[corral[0]]
    apart = [[a - b for a, b in zip(points[i], base, strict=True)] for i in corral[1:]]
    G = [[sum(p * q for p, q in zip(a, b, strict=True)) for b in apart] for a in apart]
    return G, [-sum(p * q for p, q in zip(a, base, strict=True)) for a in apart], apart


def _decimal_affine(points: Any, corral: Sequence[int]) -> list[D]:
    G, right, apart = _differences(points, corral)
    rest = solve(G, right) if apart else []
    return [ONE - sum(rest, ZERO), *rest]


def _rational_affine(points: Any, corral: Sequence[int]) -> list[Fraction]:
    """Points of a corral are affinely independent, so that no pivot is 0."""
    G, right, apart = _differences(points, corral)
    rows = [[*row, value] for row, value in zip(G, right, strict=True)]
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            if rows[j][i]:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [p - factor * q for p, q in zip(rows[j], rows[i], strict=True)]
    rest = [Fraction(0)] * len(apart)
    for i in reversed(range(len(rows))):
        known = sum((rows[i][j] * rest[j] for j in range(i + 1, len(rows))), Fraction(0))
        rest[i] = (rows[i][-1] - known) / rows[i][i]
    return [1 - sum(rest, Fraction(0)), *rest]
