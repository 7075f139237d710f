"""Sequential minimal optimisation inside a working set of m points, whose kernel matrix K (m, m) is held in full.

F = y - K (alpha y) are the residuals. Moving the multipliers of two points i, j apart by t, along F_i - F_j, gains

    t (F_i - F_j) - 1/2 t² (K_ii + K_jj - 2 K_ij)

and without an intercept a single alpha_i moves, which gains t s - 1/2 t² K_ii with s = y_i F_i. K is known no better
than to `noise`: 2 or so units of its last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.loops.binding import native
from separatrix.loops.rows import dense_dot, in_turn

TINY = float(np.finfo(np.float64).tiny)
FIRST = 1e-7  # of a margin, by which two points may differ when the gap is first looked at
LAST = 1e-15  # and below which they need not come
STEEP, FLAT = 1e-3, 0.1  # parts of what they may differ by, that they may when the gap is looked at again
SNAP = 1e-12  # of the upper bound, within which alpha is at it; of what alpha was, below which it is 0
EACH = 4  # pairs to move for each point, before another method has its turn
LEAST = 100_000  # kernel values that may be read in any case before that: some 50 us
MOVES = 1 << 24  # kernel values that are read before a loop returns: about 10 ms, for they come from the cache


@native("gather", "f4[] i8 i8[] i8[] f8[] i8 f4[]")
def gather(table: Array, width: int, slots: Integers, chosen: Integers, diagonal: Floats, m: int, K: Array) -> None:
    """K = the columns `chosen` of the rows `slots` of the table; symmetric, as rounding may not have left it."""
    K[:] = np.tril(table[slots[:, None], chosen], -1)
    K += K.T
    K[np.arange(m), np.arange(m)] = diagonal


@native("compact_rows", "f4[] i8 i8[] i8 i8[] i8")
def compact_rows(table: Array, width: int, slots: Integers, count: int, kept: Integers, columns: int) -> None:
    """Of the rows `slots` of a flat table (, width) the columns `kept`, both ascending, as rows of a table (, columns).

    In place: what is written is never ahead of what is still to be read.
    """
    for r in range(count):
        row = table[slots[r] * width : (slots[r] + 1) * width]
        table[r * columns : (r + 1) * columns] = row[kept]


@native("add_rows", "f4[] i8 i8[] f8[] i8 f8[] i8 i8")
def add_rows(
    table: Array, width: int, slots: Integers, change: Floats, count: int, out: Floats, first: int, last: int
) -> None:
    """out[first:last] += sum_i change_i table[slots_i, first:last], four rows at a time."""
    rows = table[slots, first:last].astype(np.float64) * change[:, None]
    whole = count // 4 * 4
    for r in range(0, whole, 4):
        out[first:last] += (rows[r] + rows[r + 1]) + (rows[r + 2] + rows[r + 3])
    for row in rows[whole:]:
        out[first:last] += row


@native("move_pairs", "T[] i8 f8[] f8[] f8[] f8[] f8[] f8[] f8 f8 i8 f8[] i8", returns="i8")
def move_pairs(
    K: Array, m: int, diagonal: Floats, y: Floats, U: Floats, alpha: Floats, F: Floats, room: Floats, noise: float,
    enough: float, most: int, gained: Floats, budget: int,
) -> int:  # fmt: skip
    """Move pairs, in place, until no two points differ by more than `enough`, or `most` times.

    i has the largest F of those whose alpha y may rise; j, of those that may fall, promises the largest gain. Returns
    the number of pairs moved if the budget ended first, and -1 minus that number if it is done. `room` is for 2 m
    numbers; gained[0] grows by what the dual does.
    """
    rise, fall = np.zeros(m), np.zeros(m)
    _mark(slice(None), y, U, alpha, rise, fall)
    steps = 0
    with np.errstate(all="ignore"):
        while True:
            up, down = F + rise, F + fall
            i = int(np.argmax(np.where(up > -np.inf, up, -np.inf))) if m else -1
            if steps >= most or i < 0 or not up[i] > -np.inf or not up[i] - np.fmin.reduce(down) > enough:
                return -1 - steps
            if budget <= 0:
                return steps
            lead = np.maximum(up[i] - down, 0.0)
            least = noise * (abs(diagonal[i]) + np.abs(diagonal))
            curvature = np.maximum((diagonal[i] + diagonal) - 2.0 * K[i].astype(np.float64), least) + 0.0  # 0 for -0
            gain = lead * lead / curvature  # NaN for 0 / 0, which is not above 0
            j = int(np.argmax(np.where(gain > 0.0, gain, 0.0)))
            if not gain[j] > 0.0:
                return -1 - steps
            limit = min(U[i] - alpha[i] if y[i] > 0 else alpha[i], alpha[j] if y[j] > 0 else U[j] - alpha[j])
            step = limit if lead[j] >= curvature[j] * limit else lead[j] / curvature[j]
            gained[0] += step * (lead[j] - 0.5 * curvature[j] * step)
            alpha[i] = _snapped(alpha[i] + y[i] * step, alpha[i], U[i])
            alpha[j] = _snapped(alpha[j] - y[j] * step, alpha[j], U[j])
            _mark(np.array([i, j]), y, U, alpha, rise, fall)
            F -= step * (K[i].astype(np.float64) - K[j].astype(np.float64))
            steps += 1
            budget -= 2 * m


@native("move_points", "T[] i8 f8[] f8[] f8[] f8[] f8[] f8 f8 i8 f8[] i8", returns="i8")
def move_points(
    K: Array, m: int, diagonal: Floats, y: Floats, U: Floats, alpha: Floats, F: Floats, noise: float, enough: float,
    most: int, gained: Floats, budget: int,
) -> int:  # fmt: skip
    """Without an intercept: move the point that gains most, until none lacks more than `enough` of its margin.

    Returns the number of points moved, as `move_pairs` does.
    """
    curvature, steps = np.maximum(diagonal, noise), 0
    with np.errstate(all="ignore"):
        while steps < most:
            if budget <= 0:
                return steps
            s = y * F
            move = np.minimum(np.maximum(alpha + s / curvature, 0.0), U) - alpha
            gain = np.where(np.abs(s) > enough, move * (s - 0.5 * curvature * move), 0.0)
            i = int(np.argmax(np.where(gain > 0.0, gain, 0.0))) if m else -1
            if i < 0 or not gain[i] > 0.0:
                break
            gained[0] += gain[i]
            alpha[i] = _snapped(min(max(alpha[i] + move[i], 0.0), U[i]), alpha[i], U[i])
            F -= move[i] * y[i] * K[i].astype(np.float64)
            steps += 1
            budget -= 2 * m
    return -1 - steps


@native("move_all", "T[] i8 i8[] i8 i8 i8 f8[] f8[] f8[] f8[] f8[] i8[] f8 f8 i8 i8 i8 T[] f8[] i8", returns="i8")
def move_all(
    K: Array, n: int, places: Integers, width: int, problem: int, count: int, y: Floats, U: Floats, alpha: Floats,
    F: Floats, sizes: Floats, steps: Integers, noise: float, goal: float, each: int, least: int, intercept: int,
    square: Array, room: Floats, budget: int,
) -> int:  # fmt: skip
    """Problems one after the other, each about the points of two ranges of K (n, n), by moves from alpha = 0.

    places (count, 4): where the ranges begin, and how many points they have; y, U, alpha, F and sizes (count, width)
    begin with these points. Moves until the relative gap is within `goal`, `each` for a point at most, or as many as
    read `least` values; then F anew, and sizes_i = sum_j |K_ij| alpha_j. Returns the first problem that is left;
    `square` has room for width² values, `room` for 4 width.
    """
    while problem < count and budget > 0:
        first, some, second, others = places[problem].tolist()
        chosen, m = np.r_[first : first + some, second : second + others], some + others
        inside = np.ascontiguousarray(K[np.ix_(chosen, chosen)])
        diagonal = inside.diagonal().astype(np.float64)
        signs, bound, a, f = (rows[problem, :m] for rows in (y, U, alpha, F))
        most, gained, moved, enough = max(each * m, least // (2 * m)), np.zeros(1), 0, FIRST
        loop: Any = move_pairs.reference if intercept else move_points.reference
        pair_room = (np.empty(2 * m),) if intercept else ()
        while enough >= LAST:
            more = loop(
                inside, m, diagonal, signs, bound, a, f, *pair_room, noise, enough, most - moved, gained, np.inf
            )
            moved, left = moved - 1 - more, _gap_left(signs, bound, a, f, intercept)
            if left <= goal or moved >= most:
                break
            enough *= min(max(0.5 * goal / left, STEEP), FLAT)
        c = a * signs
        f[:] = [sign - dense_dot(row, c) for sign, row in zip(signs, inside, strict=True)]
        sizes[problem, :m] = [dense_dot(np.abs(row), np.abs(c)) for row in inside]
        steps[problem], problem = moved, problem + 1
        budget -= 2 * m * (moved + m)
    return problem


def optimised(
    K: Array, diagonal: Floats, y: Floats, U: Floats, alpha: Floats, F: Floats, enough: float, most: int,
    intercept: bool,
) -> tuple[int, float]:  # fmt: skip
    """Move pairs, or without an intercept points, in place until it is done: how many, and the gain of the dual."""
    m, gained, steps = len(y), np.zeros(1), 0
    y, U = np.ascontiguousarray(y), np.ascontiguousarray(U)
    noise, room = 2.0 * float(np.finfo(K.dtype).eps), (np.empty(2 * m),) if intercept else ()
    loop: Any = move_pairs if intercept else move_points
    while True:
        moved = loop(K, m, diagonal, y, U, alpha, F, *room, noise, enough, most - steps, gained, MOVES)
        if moved < 0:
            return steps - 1 - moved, float(gained[0])
        steps += moved


def _gap_left(y: Floats, U: Floats, alpha: Floats, F: Floats, intercept: int) -> float:
    """P - D, of P, by the intercept amid those that leave least."""
    rise, fall = np.zeros(len(y)), np.zeros(len(y))
    _mark(slice(None), y, U, alpha, rise, fall)
    top, bottom = np.fmax.reduce(F + rise, initial=-np.inf), np.fmin.reduce(F + fall, initial=np.inf)
    s = y * (F - (0.5 * top + 0.5 * bottom if intercept else 0.0))
    gap, value = in_turn(np.where(s > 0.0, U - alpha, -alpha) * s), in_turn(alpha * (1.0 + y * F))
    return float(np.float64(gap) / max(0.5 * value + gap, TINY))


def _mark(points: slice | Integers, y: Floats, U: Floats, alpha: Floats, rise: Floats, fall: Floats) -> None:
    """0 where alpha y may rise (fall), and where not, what leaves a point out of the maximum (minimum) of F."""
    below, above = alpha[points] < U[points], alpha[points] > 0
    rise[points] = np.where(np.where(y[points] > 0, below, above), 0.0, -np.inf)
    fall[points] = np.where(np.where(y[points] > 0, above, below), 0.0, np.inf)


def _snapped(alpha: float, before: float, U: float) -> float:
    """The new alpha, or the bound that it is at but for rounding; a bound far above all alpha says nothing about 0."""
    if alpha < SNAP * min(before, U):
        return 0.0
    return U if np.isfinite(U) and alpha > (1.0 - SNAP) * U else alpha


def moved_all(
    K: Floats, places: Integers, y: Floats, U: Floats, goal: float, intercept: bool
) -> tuple[Floats, Floats, Floats, Integers]:
    """alpha, F and sizes (B, M) of problems that are parts of K, and the moves of each; see `move_all`.

    Beyond the points of a problem alpha is 0, and F as large as the largest.
    """
    (count, width), n = y.shape, len(K)
    alpha, F, sizes, steps = np.zeros_like(y), y.copy(), np.zeros_like(y), np.zeros(count, dtype=np.int64)
    square, room = np.empty(0 if count == 1 and width == n else width * width), np.empty(4 * width)
    places, problem = np.ascontiguousarray(places), 0
    noise = 2.0 * float(np.finfo(K.dtype).eps)
    while problem < count:
        problem = move_all(
            K, n, places, width, problem, count, y, U, alpha, F, sizes, steps, noise, goal, EACH, LEAST,
            int(intercept), square, room, MOVES,
        )  # fmt: skip
    beyond = np.arange(width) >= (places[:, 1] + places[:, 3])[:, None]
    if beyond.any():
        F[beyond] = np.broadcast_to(np.where(beyond, -np.inf, F).max(axis=1)[:, None], F.shape)[beyond]
    return alpha, F, sizes, steps
