"""A path of sparse models: a gap for every C between its ends, not only for those that were fitted."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from separatrix.certificates._data import ALLOWED, EPS, TINY, read
from separatrix.certificates._elastic_net import Ends, Problem, both_sides
from separatrix.certificates._frame import Frame
from separatrix.certificates._logistic import Bounds
from separatrix.certificates._witness import shaped, tolerance
from separatrix.certificates.base import Certificate, Check, Verification
from separatrix.certificates.elastic_net_gap import ElasticNetGap


@dataclass(frozen=True, eq=False, repr=False)
class PathGap(Certificate):
    """For each C of [C_1, C_m], weights with F_C(w, b) - min F_C <= tol F_C, F_C = C sum_i c_i loss_i + penalty.

    Between neighbours C_k and C_k+1, at the share t of the way, the weights are (1 - t) w_k + t w_k+1.

    - F_C is linear in C and convex in the weights: it is at most (1 - t) F_k + t F_k+1 + t (1 - t) (C_k+1 - C_k)
      (L_k - L_k+1) there, L being the sums of the losses.
    - The dual value is concave in the dual point and C together, and so are its constraints: mixed dual points are
      feasible, and their value is at least (1 - t) D_k + t D_k+1.

    So a parabola bounds the gap, and no row has to be read but for the C_k. The wider the step the higher it is, so
    the way from one C_k to the next is cut into equal parts, and the mixtures at their ends are evaluated too: from the
    scores and dual points of both neighbours.

    Parameters
    ----------
    C : array of shape (m,)
        In rising order.
    l1_ratio : float
        The share of ‖w‖₁ in the penalty, from 0 to 1.
    classes : array of shape (k,)
        The labels.
    coef, intercept : arrays of shape (m K, d) and (m, K)
        The weights for each C, the K rows of one after those of another; K = 1 for two classes.
    fit_intercept : bool
        Whether b is free.
    primal, dual, losses : arrays of shape (q (m - 1) + 1,)
        The objective, rounded up, a lower bound on its minimum, rounded down, and the sum of the losses: for each C and
        for those that cut the way to the next one into q parts.
    tol : float
        The largest relative gap of any C, at most 1.
    """

    C: Any
    l1_ratio: float
    classes: Any
    coef: Any
    intercept: Any
    fit_intercept: bool
    primal: Any
    dual: Any
    losses: Any
    tol: float

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        return (
            f"For every C from {self.C[0]:.4g} to {self.C[-1]:.4g}, of the {len(self.C)} that were fitted and between "
            f"these, the objective is within {self.worst:.1e} of its minimum, relative to itself."
        )

    @property
    def short(self) -> str:
        """What is claimed, in a few words."""
        return f"gap {self.worst:.0e} of the optimum or less for every C from {self.C[0]:.3g} to {self.C[-1]:.3g}"

    @property
    def worst(self) -> float:
        """The largest relative gap of any C, as far as the numbers stated prove it."""
        return float(worst_gaps(self._cut, self.primal, self.dual, self.losses).max())

    @property
    def _cut(self) -> Any:
        """The C_k, and those between them for which the objective is stated."""
        return cut(self.C, self._parts)

    @property
    def _parts(self) -> int:
        """How many parts each way from a C_k to the next is cut into."""
        return max((np.size(self.primal) - 1) // max(np.size(self.C) - 1, 1), 1)

    def gap(self, C: float) -> float:
        """The relative gap that is proved for one C between the ends."""
        k, t = place(self._cut, C)
        return gap_between(self._cut, self.primal, self.dual, self.losses, k, t)

    def part(self, k: int) -> ElasticNetGap:
        """What the path claims of its k-th C alone."""
        K = np.shape(self.intercept)[1]
        coef = np.asarray(self.coef)[k * K : (k + 1) * K]
        return ElasticNetGap(
            loss="log",
            C=float(self.C[k]),
            l1_ratio=self.l1_ratio,
            classes=self.classes,
            class_weight=None,
            positive=None if K > 1 else 1,
            task=None,
            coef=coef,
            intercept=np.asarray(self.intercept)[k],
            fit_intercept=self.fit_intercept,
            dual_weights=None,
            multipliers=None,
            zeros=np.zeros(coef.shape, dtype=bool),
            primal=float(self.primal[k * self._parts]),
            dual=float(self.dual[k * self._parts]),
            tol=self.tol,
        )

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        self._validate()
        data = read(X, y, sample_weight, self.classes, None)
        if np.shape(self.coef)[1] != data.X.shape[1] or data.values.ndim != 1:
            raise ValueError(f"X or y does not fit to coef of shape {np.shape(self.coef)}.")
        points = self._points(data)
        primal = np.array([point.primal + point.primal_error for point in points])
        dual = np.array([point.dual - point.dual_error for point in points])
        losses, slips = np.array([[point.losses, point.slip] for point in points]).T
        errors = np.array([point.error / max(point.primal, TINY) for point in points])
        # how far the losses fall from one C to the next is known up to the slips of both
        gaps = worst_gaps(self._cut, primal, dual, losses, slips)
        above = np.max((np.asarray(self.dual) - np.array([point.dual for point in points])) / primal)
        checks = (
            Check("objectives as stated, off by relative", float(np.max(np.abs(primal / self.primal - 1.0))),
                  ALLOWED * self.tol),
            Check("losses as stated, off by relative", float(np.max(np.abs(losses - self.losses) / losses)),
                  ALLOWED * self.tol, float(np.max(slips / losses))),
            Check("stated lower bounds above the bounds, by relative", float(above), 0.0, float(errors.max())),
            Check("largest relative gap of any C", float(gaps.max()), self.tol),
            Check("rounding in these checks", float(errors.max()), ALLOWED * self.tol),
        )  # fmt: skip
        return Verification(checks)

    def _points(self, data: Any) -> list[Point]:
        """Both sides for each C that is stated."""
        frame = Frame(data, bool(self.fit_intercept), several=True)
        points: list[Point] = []
        last: Located | None = None
        for k in range(len(self.C)):
            part = self.part(k)
            part._validate()
            here = located(data, part, frame)
            points += [*(between(data, last, here, self._parts) if last is not None else ()), here.point]
            last = here
        return points

    def _validate(self) -> None:
        """`ValueError` for a field without meaning, by name."""
        tolerance(self.tol)
        m = np.size(self.C)
        C = shaped(self.C, "C", m)
        if not (m and (C > 0).all() and (C[:-1] < C[1:]).all()):
            raise ValueError("The field 'C' must hold numbers above 0, each larger than the one before.")
        if np.ndim(self.coef) != 2 or np.ndim(self.intercept) != 2:
            raise ValueError("The fields 'coef' and 'intercept' must have two axes.")
        K = np.shape(self.intercept)[1]
        shaped(self.intercept, "intercept", m, K)
        shaped(self.coef, "coef", m * K, np.shape(self.coef)[1])
        count = np.size(self.primal)
        if count != self._parts * (m - 1) + 1:
            raise ValueError(f"The field 'primal' must have a number for each of {m} values of C, or of equal parts.")
        for name in ("primal", "dual", "losses"):
            shaped(getattr(self, name), name, count)


@dataclass(frozen=True)
class Point(Bounds):
    """Both sides for one C, and the sum of the losses with what rounding can do to it."""

    losses: float
    slip: float

    @classmethod
    def of(cls, claim: ElasticNetGap, sides: Bounds) -> Point:
        r, size = claim.l1_ratio, np.abs(claim.coef)
        penalty = r * float(size.sum()) + 0.5 * (1.0 - r) * float((size * size).sum())
        slip = (sides.primal_error + 64 * EPS * sides.primal) / claim.C
        return cls(**asdict(sides), losses=(sides.primal - penalty) / claim.C, slip=slip)


@dataclass(frozen=True)
class Located:
    """A claim about one C, both sides of it, and where they were taken."""

    claim: ElasticNetGap
    point: Point
    ends: Ends
    frame: Frame


def located(data: Any, claim: ElasticNetGap, frame: Frame) -> Located:
    """Both sides of a claim, in two readings of the rows."""
    found = both_sides(data, claim, frame)
    assert found.ends is not None  # the frame is one of several claims
    return Located(claim, Point.of(claim, found.bounds), found.ends, frame)


def between(data: Any, first: Located, last: Located, parts: int) -> list[Point]:
    """The mixtures of two neighbours that cut the way from one to the other into equal parts."""
    points, values = [], cut([first.claim.C, last.claim.C], parts)
    near, far = np.asarray(first.claim.coef), np.asarray(last.claim.coef)
    used = near.any(axis=0) | far.any(axis=0)  # of the weights only the penalty is asked for: zeros add nothing to it
    near, far = near[:, used], far[:, used]
    for k in range(1, parts):
        t = k / parts
        coef = (1.0 - t) * near + t * far
        claim = replace(first.claim, C=float(values[k]), coef=coef)
        sides = Problem(data, claim, first.frame).mixed(t, first.ends, first.claim.C, last.ends, last.claim.C)
        points.append(Point.of(claim, sides))
    return points


def cut(C: Any, parts: int) -> Any:
    """The values of C, and those that cut the way from each to the next into so many equal parts."""
    C, share = np.asarray(C, dtype=np.float64), np.arange(parts) / max(parts, 1)
    return np.append(((1.0 - share) * C[:-1, None] + share * C[1:, None]).ravel(), C[-1])


def place(values: Any, C: float) -> tuple[int, float]:
    """Which of the values is the last one not above C, and how far C is on the way to the next, from 0 to 1."""
    values = np.asarray(values)
    if not values[0] <= C <= values[-1]:
        raise ValueError(f"C must be from {values[0]:.6g} to {values[-1]:.6g}, the ends of the path; it is {C!r}.")
    k = min(int(np.searchsorted(values, C, side="right")) - 1, max(len(values) - 2, 0))
    return k, 0.0 if len(values) == 1 else float((C - values[k]) / (values[k + 1] - values[k]))


def gap_between(C: Any, primal: Any, dual: Any, losses: Any, k: int, t: float) -> float:
    """The relative gap at the share t of the way from C_k to the next: see `PathGap`."""
    following = min(k + 1, len(C) - 1)
    falls = max(losses[k] - losses[following], 0.0)
    bend = t * (1.0 - t) * (C[following] - C[k]) * falls
    lower = (1.0 - t) * dual[k] + t * dual[following]
    upper = (1.0 - t) * primal[k] + t * primal[following] + bend
    return float((upper - lower) / max(upper, TINY) * (1.0 + 64 * EPS))


def worst_gaps(C: Any, primal: Any, dual: Any, losses: Any, slips: Any = 0.0) -> Any:
    """The largest relative gap between each C and the next, (m - 1,) or (1,) of a single one.

    The gap is a parabola in t, of which the top is known; it is divided by the lesser lower bound, and
    no relative gap is above 1, for no objective is below 0.
    """
    C, primal, dual, losses = (np.asarray(a, dtype=np.float64) for a in (C, primal, dual, losses))
    if len(C) == 1:
        return (primal - dual) / np.maximum(primal, TINY)
    slips = np.broadcast_to(slips, C.shape)
    falls = np.maximum(losses[:-1] - losses[1:] + slips[:-1] + slips[1:], 0.0)
    bend, gaps = np.diff(C) * falls, primal - dual
    first, last = gaps[:-1], gaps[1:]
    with np.errstate(all="ignore"):
        top = np.where(bend > 0, np.clip(0.5 + 0.5 * (last - first) / bend, 0.0, 1.0), (last > first).astype(float))
    highest = (1.0 - top) * first + top * last + top * (1.0 - top) * bend
    relative = highest / np.maximum(np.minimum(dual[:-1], dual[1:]), TINY) * (1.0 + 64 * EPS)
    return np.minimum(relative, 1.0)
