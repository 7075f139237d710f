"""The smooth part of a sparse model, sum_i u_i loss(y_i, s_i) of scores s (K, n), and the dual value of its slopes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.losses.softmax import shares

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
BALANCED = 1e-14  # of the slopes' sizes that they may sum to: what rounding leaves
NEWTON = 60  # steps for the intercept alone, at most
LONGEST = 4.0  # step of the intercept: beyond, the losses are no parabola
ROUNDING = 4 * EPS  # of an objective that its differences are not known to
ROWS = 1 << 13  # that are worked on together: what is made on the way stays in cache, and is no new memory each time
FLOOR = 1e-12  # of a row's weight that its curvature is taken to be at least, where the loss is flat


@dataclass(frozen=True, eq=False)
class Smooth(ABC):
    """Rows of weights u_i = C c_i. Scores, slopes and curvatures are (K, n), K = 1 for two classes."""

    u: Floats

    @property
    @abstractmethod
    def K(self) -> int:
        """Columns of scores."""

    def expand(self, scores: Floats) -> tuple[float, Floats, Floats]:
        """The sum of the losses, their slopes, and what tells their curvatures."""
        value, slopes, bends = 0.0, np.empty_like(scores), np.empty_like(scores)
        for rows, some in self._parts():
            loss, slopes[:, rows], bends[:, rows] = some.expanded(scores[:, rows])
            value += loss
        return value, slopes, bends

    def value(self, scores: Floats) -> float:
        """The sum of the losses."""
        return sum(some.expanded(scores[:, rows])[0] for rows, some in self._parts())

    def dual(self, slopes: Floats, s: float) -> float:
        """The dual value of s times slopes that `expand` made; the penalty's conjugate not counted."""
        return sum(some.proved(s * slopes[:, rows]) for rows, some in self._parts())

    def _parts(self) -> Iterator[tuple[slice, Self]]:
        """Some rows after others."""
        n = len(self.u)
        if n <= ROWS:
            yield slice(0, n), self
            return
        for first in range(0, n, ROWS):
            rows = slice(first, first + ROWS)
            arrays = {field.name: getattr(self, field.name) for field in fields(self)}
            yield rows, replace(self, **{name: a[rows] for name, a in arrays.items() if isinstance(a, np.ndarray)})

    @abstractmethod
    def expanded(self, scores: Floats) -> tuple[float, Floats, Floats]:
        """`expand`, of few rows."""

    @abstractmethod
    def proved(self, slopes: Floats) -> float:
        """The dual value of the slopes of few rows."""

    @abstractmethod
    def moved(self, bends: Floats, before: Floats) -> float:
        """The share of the curvature that has changed."""

    @abstractmethod
    def centred(self, scores: Floats) -> tuple[Floats, float, Floats, Floats]:
        """What to add to the scores (K, 1) so that slopes sum to 0, and `expand` there."""


@dataclass(frozen=True, eq=False)
class Margins(Smooth):
    """Losses of the margins y_i s_i."""

    y: Floats

    @property
    def K(self) -> int:
        return 1

    def moved(self, bends: Floats, before: Floats) -> float:
        return float(np.abs(bends - before).sum() / bends.sum())

    def centred(self, scores: Floats) -> tuple[Floats, float, Floats, Floats]:
        """By Newton's method on a function of one variable that rises, held where it changes its sign."""
        shift, low, high = 0.0, -np.inf, np.inf
        value, slopes, curvatures = self.expand(scores)
        for _ in range(NEWTON):
            total, size = float(slopes.sum()), float(np.abs(slopes).sum())
            if abs(total) <= BALANCED * size:
                break
            low, high = (low, shift) if total > 0 else (shift, high)
            bend = float(curvatures.sum())
            following = shift + min(max(-total / bend if bend > 0 else -np.sign(total) * LONGEST, -LONGEST), LONGEST)
            if not low < following < high:
                following = 0.5 * (low + high)
                if not low < following < high:
                    break
            shift = following
            value, slopes, curvatures = self.expand(scores + shift)
        return np.full((1, 1), shift), value, slopes, curvatures


class LogLoss(Margins):
    """log(1 + exp(-m)); the dual value is the entropy of the probabilities."""

    def expanded(self, scores: Floats) -> tuple[float, Floats, Floats]:
        m = self.y * scores[0]
        e = np.exp(-np.abs(m))
        value = float(self.u @ (np.maximum(-m, 0.0) + np.log1p(e)))
        rest = 1.0 / (1.0 + e)
        less = e * rest
        h = self.u * np.maximum(less * rest, FLOOR)
        return value, (-self.y * self.u * np.where(m >= 0, less, rest))[None], h[None]

    def proved(self, slopes: Floats) -> float:
        p = np.abs(slopes[0]) / self.u
        entropy = -p * np.log(np.maximum(p, TINY)) - np.maximum(1.0 - p, 0.0) * np.log1p(-np.minimum(p, 1.0 - EPS))
        return float(self.u @ entropy)


class SquaredHingeLoss(Margins):
    """max(0, 1 - m)²; of a_i = 2 u_i max(0, 1 - m_i) the dual value is sum_i a_i - a_i² / (4 u_i)."""

    def expanded(self, scores: Floats) -> tuple[float, Floats, Floats]:
        slack = np.maximum(0.0, 1.0 - self.y * scores[0])
        h = 2.0 * self.u * np.where(slack > 0, 1.0, FLOOR)
        return float(self.u @ slack**2), (-2.0 * self.y * self.u * slack)[None], h[None]

    def proved(self, slopes: Floats) -> float:
        a = np.abs(slopes[0])
        return float(a.sum() - 0.25 * (a @ (a / self.u)))


@dataclass(frozen=True, eq=False)
class Softmax(Smooth):
    """-log softmax(s)[code]; the dual value is the entropy of the probabilities, which also tell the curvatures."""

    codes: Integers
    classes: int

    @property
    def K(self) -> int:
        return self.classes

    def moved(self, bends: Floats, before: Floats) -> float:
        change = np.abs(bends - before) @ self.u
        return float(change.sum() / ((bends * (1.0 - bends)) @ self.u).sum())

    def expanded(self, scores: Floats) -> tuple[float, Floats, Floats]:
        P, log_total, below = shares(scores)
        rows = np.arange(len(self.u))
        value = float(self.u @ (log_total - below[self.codes, rows]))
        R = P.copy()
        R[self.codes, rows] = 0.0
        R[self.codes, rows] = -R.sum(axis=0)  # without the cancellation of P - 1
        return value, R * self.u, P

    def proved(self, slopes: Floats) -> float:
        Q, rows = slopes / self.u, np.arange(len(self.u))
        own = np.minimum(-Q[self.codes, rows], 1.0 - EPS)
        Q[self.codes, rows] = 0.0
        entropy = -(Q * np.log(np.maximum(Q, TINY))).sum(axis=0) - (1.0 - own) * np.log1p(-own)
        return float(self.u @ entropy)

    def centred(self, scores: Floats) -> tuple[Floats, float, Floats, Floats]:
        """By Newton's method on K numbers, damped; what is the same for all classes changes nothing."""
        shift = np.zeros((self.K, 1))
        value, R, P = self.expand(scores)
        for _ in range(NEWTON):
            total = R.sum(axis=1)
            worst = float(np.abs(total).max())
            if worst <= BALANCED * float(np.abs(R).sum()):
                break
            H = np.diag(P @ self.u) - (P * self.u) @ P.T
            step = -np.linalg.lstsq(H, total, rcond=1e-12)[0]
            promised, t = float(total @ step), 1.0
            following = self.expand(scores + (shift + step[:, None]))
            while following[0] > value + 0.01 * t * promised + ROUNDING * value and t > 1e-8:
                t *= 0.5
                following = self.expand(scores + (shift + t * step[:, None]))
            if not float(np.abs(following[1].sum(axis=1)).max()) < worst and -promised <= ROUNDING * value:
                break
            shift, (value, R, P) = shift + t * step[:, None], following
        return shift, value, R, P
