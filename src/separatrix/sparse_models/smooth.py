"""The smooth part of a sparse model: sum_i u_i phi(y_i (s_i - o_i)), and the dual value of its slopes.

The offsets o are 0 for two classes. Of softmax, the loss as a function of one class's scores alone is the logistic loss
against the others, whose share is in the offset.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from separatrix._typing import Floats

TINY = float(np.finfo(np.float64).tiny)
BALANCED = 1e-14  # of the slopes' sizes that they may sum to: what rounding leaves
NEWTON = 60  # steps for the intercept alone, at most: each one that is not Newton's halves an interval


@dataclass(frozen=True, eq=False)
class Smooth(ABC):
    """Signs y_i, weights u_i = C c_i and offsets o_i of the rows."""

    y: Floats
    u: Floats
    offset: Floats | float = 0.0

    def margins(self, scores: Floats) -> Floats:
        """y_i (s_i - o_i)."""
        return np.asarray(self.y * (scores - self.offset))

    @abstractmethod
    def value(self, scores: Floats) -> float:
        """The sum of the losses."""

    @abstractmethod
    def expand(self, scores: Floats) -> tuple[float, Floats, Floats]:
        """The sum of the losses, and for each row its slope and its curvature."""

    @abstractmethod
    def dual(self, slopes: Floats, s: float) -> float:
        """What slopes s R, made of scores by `expand`, have as dual value; the penalty's conjugate not counted."""

    def centred(self, scores: Floats) -> tuple[float, float, Floats, Floats]:
        """What to add to all scores so that slopes sum to 0, and `expand` there.

        Newton's method on a function of one variable that rises, held inside an interval where it changes its sign.
        """
        shift, low, high = 0.0, -np.inf, np.inf
        value, slopes, curvatures = self.expand(scores)
        for _ in range(NEWTON):
            total, size = float(slopes.sum()), float(np.abs(slopes).sum())
            if abs(total) <= BALANCED * size:
                break
            low, high = (low, shift) if total > 0 else (shift, high)
            bend = float(curvatures.sum())
            step = -total / bend if bend > 0 else np.inf
            following = shift + min(max(step, -4.0), 4.0)
            if not low < following < high:
                following = 0.5 * (low + high)
                if not low < following < high:
                    break
            shift = following
            value, slopes, curvatures = self.expand(scores + shift)
        return shift, value, slopes, curvatures


class LogLoss(Smooth):
    """phi(m) = log(1 + exp(-m)); the dual value is the entropy of the probabilities."""

    def value(self, scores: Floats) -> float:
        m = self.margins(scores)
        return float(self.u @ (np.maximum(-m, 0.0) + np.log1p(np.exp(-np.abs(m)))))

    def expand(self, scores: Floats) -> tuple[float, Floats, Floats]:
        m = self.margins(scores)
        e = np.exp(-np.abs(m))
        value = float(self.u @ (np.maximum(-m, 0.0) + np.log1p(e)))
        wrong = np.where(m >= 0, e, 1.0) / (1.0 + e)
        return value, -self.y * self.u * wrong, self.u * (e / (1.0 + e) ** 2)

    def dual(self, slopes: Floats, s: float) -> float:
        p = s * np.abs(slopes) / self.u
        q = np.maximum(1.0 - p, 0.0)
        entropy = -p * np.log(np.maximum(p, TINY)) - q * np.log1p(-np.minimum(p, 1.0 - 1e-16))
        return float(self.u @ entropy)


class SquaredHingeLoss(Smooth):
    """phi(m) = max(0, 1 - m)²; of a_i = 2 u_i max(0, 1 - m_i) the dual value is sum_i a_i - a_i² / (4 u_i)."""

    def value(self, scores: Floats) -> float:
        return float(self.u @ np.maximum(0.0, 1.0 - self.margins(scores)) ** 2)

    def expand(self, scores: Floats) -> tuple[float, Floats, Floats]:
        slack = np.maximum(0.0, 1.0 - self.margins(scores))
        return float(self.u @ slack**2), -2.0 * self.y * self.u * slack, 2.0 * self.u * (slack > 0)

    def dual(self, slopes: Floats, s: float) -> float:
        a = s * np.abs(slopes)
        return float(a.sum() - 0.25 * (a @ (a / self.u)))
