"""Rows that no hyperplane gets all right, or a hyperplane that does.

A score of 0 predicts +. With an intercept that changes nothing: b can be raised a little. Without, a positive row may
lie on the hyperplane w.x = 0, so only negative rows must be strictly on their side; and w = 0 is no hyperplane.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from separatrix._typing import Array, Floats, Integers
from separatrix.errors import UndecidedError
from separatrix.fewest_errors.budget import Budget
from separatrix.separation.cone import Cone
from separatrix.separation.faces import Faces, prove
from separatrix.separation.integers import WholeRows, null_space
from separatrix.separation.programs import lead_program
from separatrix.separation.work import Work

PROVABLE = 40  # coefficients up to which a conflict is proved in whole numbers
HINTS = 200  # rows that the exact search looks at first
PRODUCTS = 10_000  # of whole numbers, in the exact search, that count as one node
HELD = 1e-9  # share of the largest weight from which on a row is part of a combination


@dataclass(frozen=True)
class Verdict:
    """A conflict among the rows asked about, or coefficients that get them all right.

    Neither if HiGHS cannot tell, or the budget is spent.
    """

    conflict: Integers | None = None
    v: Floats | None = None


def find(cone: Cone, Z: Floats, rows: Integers, price: Floats, budget: Budget) -> Verdict:
    """Look for a conflict among some rows, cheap ones first.

    min sum price_i lambda_i over lambda >= 0 with sum lambda_i z_i = 0 and sum lambda_i = 1: the rows of a vertex of
    this polyhedron are a conflict, and none of them can be left out. If it is empty, the rows are separable.

    Parameters
    ----------
    cone, Z : Cone and array (n, q)
        The rows z_i = y_i (x_i, 1), and the same as an array.
    rows : integer array
        Those that are to be right.
    price : array (n,)
    budget : Budget
    """
    if not len(rows):
        return Verdict(v=np.eye(cone.q)[-1 if cone.design.intercept else 0])
    z = Z[rows]
    size = np.abs(z).max(axis=1, initial=0.0)
    z = z / np.where(size > 0, size, 1.0)[:, None]
    budget.program(z.size)
    A = np.vstack([z.T, np.ones(len(rows))])
    target = np.append(np.zeros(z.shape[1]), 1.0)
    result = linprog(price[rows], A_eq=A, b_eq=target, bounds=(0, None), method="highs-ds")
    used = rows
    if result.status == 0:
        used = rows[result.x > HELD * result.x.max()]
    elif result.status != 2:  # neither solved nor infeasible
        return Verdict()
    if cone.q > PROVABLE:
        if result.status == 0:  # HiGHS is trusted; without an intercept positive rows alone may be no conflict
            negative = cone.design.intercept or (cone.codes[used] == 0).any()
            return Verdict(conflict=used) if negative else Verdict()
        budget.program(z.size)
        program = lead_program(z, Work())
        return Verdict(v=None if program is None else program[0])
    for some in (used, rows) if len(used) < len(rows) else (rows,):  # the few should do; all of them decide
        verdict = decide(cone, some, budget)
        if verdict.conflict is not None or len(some) == len(rows) or not budget.left:
            return verdict
    raise AssertionError("All rows decide.")


def decide(cone: Cone, rows: Integers, budget: Budget) -> Verdict:
    """The same in whole numbers, which never errs; neither only if the budget does not suffice."""
    part, work = WholeRows(cone.only(rows)), Work(PRODUCTS * budget.left)
    codes = part.cone.codes
    try:
        faces = prove(part, [(i, int(1 - codes[i])) for i in range(min(len(rows), HINTS))], work)
    except UndecidedError:
        return Verdict()
    finally:
        budget.spend((work.most - work.left) / PRODUCTS)
    support = [i for i, _ in faces.support]
    if not support and faces.direction is not None:
        return Verdict(v=_coefficients(cone, part, faces.direction))
    if cone.design.intercept or (codes[support] == 0).any():
        return Verdict(conflict=rows[support])
    return _around_the_origin(cone, part, faces, rows, support)


def _around_the_origin(cone: Cone, part: WholeRows, faces: Faces, rows: Integers, support: list[int]) -> Verdict:
    """b = 0, and positive rows with sum lambda_i x_i = 0: the hyperplane must hold them, and all that they span.

    So a negative row in their span is wrong beside them; without one, a direction that is positive on all others gets
    every row right. If they span everything, there is no hyperplane left.
    """
    normals = null_space([part.row(pair) for pair in faces.support], cone.q)
    held = np.flatnonzero(~part.outside(normals).any(axis=1) & (part.cone.codes == 0))
    if len(held):
        return Verdict(conflict=rows[[*support, int(held[0])]])
    if faces.direction is not None:
        return Verdict(v=_coefficients(cone, part, faces.direction))
    if normals.shape[1]:
        return Verdict(v=_coefficients(cone, part, normals[:, 0]))
    return Verdict(conflict=rows[support])


def _coefficients(cone: Cone, part: WholeRows, v: Array) -> Floats:
    """Whole numbers for the unshifted columns as floats for the shifted ones: exact up to 53 bits without a shift."""
    bits = max(abs(int(entry)).bit_length() for entry in v)
    floats = np.array([int(entry) / (1 << bits) for entry in v])
    design = cone.design
    if design.intercept:
        for shift in (design.offset, design.rest):
            if shift is not None:
                floats[-1] += float((shift * part.scale) @ floats[:-1])
    return floats
