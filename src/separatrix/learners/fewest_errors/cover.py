"""The fewest rows whose removal leaves the rest separable: an exact cover of conflicts.

A conflict is a set of rows that no hyperplane gets all right: positive weights with sum lambda_i z_i = 0 on at most
p + 1 of them. Every hyperplane errs on one row of each conflict, so min sum c_i r_i over r in {0, 1} with
sum_{i in S} r_i >= 1 for the conflicts S known bounds the errors from below, without any large constant. If the rows
with r_i = 0 are separable, that bound is reached; if not, they hold new conflicts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from separatrix._typing import Array, Floats, Integers
from separatrix.learners.quiet import quiet
from separatrix.learners.separation.cone import Cone
from separatrix.learners.separation.faces import prove
from separatrix.learners.separation.integers import WholeRows
from separatrix.learners.separation.programs import lead_program

CLEAR = 1e-7  # a lead that HiGHS can tell from 0
PROVABLE = 40  # coefficients up to which a conflict is proved in whole numbers
ROUNDS = 100_000


@dataclass
class Cover:
    """Rows of a cone of two classes, their weights, and what is known of the fewest errors.

    Parameters
    ----------
    cone : Cone
    weight : array
    v, upper : array and float
        The best coefficients known and the weight of their errors.
    lower : float
        What no hyperplane goes below.
    until : float
        `time.monotonic` at which to stop.
    """

    cone: Cone
    weight: Floats
    v: Floats
    upper: float
    lower: float
    until: float
    conflicts: list[Integers] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = self.cone.design.n
        self.Z = self.cone.dense(np.arange(n), 1 - self.cone.codes)
        self.whole = bool((self.weight == np.rint(self.weight)).all())
        self._uses = np.zeros(n)
        self._stuck = False
        self._packed, self._packing = np.zeros(n, dtype=bool), 0.0

    @property
    def settled(self) -> bool:
        """Whether the bounds meet."""
        return self.lower >= self.upper - 1e-9 * max(1.0, self.upper)

    def run(self) -> None:
        """Alternate between the cover and the conflicts it leaves, until the bounds meet or time runs out."""
        removed = np.zeros(len(self.weight), dtype=bool)
        for _ in range(ROUNDS):
            found = self._split(removed)
            if not found or self._stuck or self.settled or time.monotonic() > self.until:
                return
            cover = self._cover()
            if cover is None or self.settled:
                return
            removed = cover

    def _split(self, removed: Array) -> bool:
        """Find conflicts among the rows not removed, taking one row of each out, until the rest separates."""
        kept = ~removed
        found = False
        while time.monotonic() < self.until:
            rows = np.flatnonzero(kept)
            conflict = self._conflict(rows)
            if conflict is None:
                break
            if not (self.cone.design.intercept or (self.cone.codes[conflict] == 0).any()):
                # b = 0 and positive rows around the origin: w.x = 0 on them is no error, so this is no conflict
                self._stuck = True
                return False
            found = True
            self.conflicts.append(conflict)
            if not self._packed[conflict].any():  # disjoint conflicts cost one row each
                self._packed[conflict] = True
                self._packing += float(self.weight[conflict].min())
                self.lower = max(self.lower, min(self._packing, self.upper))
            self._uses[conflict] += 1.0 / self.weight[conflict]
            kept[conflict[np.argmax(self._uses[conflict])]] = False
        return found

    def _conflict(self, rows: Integers) -> Integers | None:
        """Rows that cannot all be right, or None if these can: then their hyperplane is compared with the best."""
        remaining = self.until - time.monotonic()
        with quiet():
            solved = lead_program(self.Z[rows], time_limit=max(0.01, remaining)) if len(rows) else None
        if solved is None:
            return None
        v, t, lam = solved
        self.offer(v)
        if t > CLEAR:
            return None
        used = rows[lam > 1e-9 * lam.max(initial=0.0)]
        if self.cone.q > PROVABLE:
            return used
        for some in (used, rows):  # the few rows should do; all of them decide
            part = WholeRows(self.cone.only(some))
            codes = part.cone.codes
            faces = prove(part, [(i, int(1 - codes[i])) for i in range(min(len(some), 200))])
            if faces.support:
                return some[[i for i, _ in faces.support]]
            if faces.direction is not None:
                exact = np.array([entry / max(map(abs, faces.direction)) for entry in faces.direction])
                self._offer_user(part, exact)
        return None

    def offer(self, v: Floats) -> None:
        """Keep v if it makes fewer errors than the best so far."""
        errors = float(self.weight[self.Z @ v <= 0].sum())
        if errors < self.upper:
            self.v, self.upper = v, errors

    def _offer_user(self, part: WholeRows, v: Floats) -> None:
        """Coefficients of unshifted columns, brought to those of the shifted ones."""
        design = self.cone.design
        v = v.copy()
        if design.intercept:
            for shift in (design.offset, design.rest):
                if shift is not None:
                    v[-1] += float((shift * part.scale) @ v[:-1])
        self.offer(v)

    def _cover(self) -> Array | None:
        """A lightest set of rows that meets every conflict, and the bound it proves."""
        n = len(self.weight)
        columns = np.concatenate(self.conflicts)
        pointer = np.cumsum([0] + [len(conflict) for conflict in self.conflicts])
        A = sparse.csr_array((np.ones(len(columns)), columns, pointer), shape=(len(self.conflicts), n))
        remaining = self.until - time.monotonic()
        if remaining <= 0:
            return None
        with quiet():
            result = milp(
                self.weight / self.weight.max(),
                constraints=LinearConstraint(A, lb=1.0),
                integrality=np.ones(n),
                bounds=Bounds(0.0, 1.0),
                options={"time_limit": remaining, "mip_rel_gap": 0.0},
            )
        bound = getattr(result, "mip_dual_bound", None)
        if bound is not None and np.isfinite(bound):
            bound = float(bound) * float(self.weight.max())
            bound = float(np.ceil(bound - 1e-6)) if self.whole else bound * (1 - 1e-9)
            self.lower = max(self.lower, min(bound, self.upper))
        return None if result.x is None else np.asarray(result.x > 0.5)
