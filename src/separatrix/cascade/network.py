"""The objective of a cascade and its gradient, layer by layer, there and back.

    a_0 = z,  s_l = a_(l-1) W_l + b_l,  a_l = sigma(s_l),  F = C sum_i c_i loss(t_i, s_L) + 1/2 sum_l ‖W_l‖²

z are the columns about their mean in standard deviations. Backwards, with R_L = C c dloss/ds_L,

    dF/dW_l = a_(l-1)' R_l + W_l,    dF/db_l = sum_i R_l,    R_(l-1) = R_l W_l' a_(l-1) (1 - a_(l-1)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import expit, softmax

from separatrix._typing import Floats
from separatrix.design import Design


@dataclass(frozen=True)
class Network:
    """Its layers have (d, h_1, ..., outputs) units; the intercepts are the last row of each matrix.

    Parameters
    ----------
    design : Design
        The rows as z, with an intercept.
    T : array of shape (n, outputs)
        1 for the row's own class; of two classes one column, 1 for the second.
    weight : array of shape (n,)
        C c_i.
    sizes : sequence of int
    squared : bool
        (t - p)² in place of cross-entropy; p = sigma(s) of one output, softmax(s) of more.
    """

    design: Design
    T: Floats
    weight: Floats
    sizes: Sequence[int]
    squared: bool

    @property
    def scale(self) -> float:
        """C sum_i c_i: what derivatives are measured in."""
        return float(self.weight.sum())

    def layers(self, theta: Floats) -> list[Floats]:
        """The matrices (inputs + 1, outputs) that a vector of all weights holds."""
        found, start = [], 0
        for m, k in pairwise(self.sizes):
            found.append(theta[start : start + (m + 1) * k].reshape(m + 1, k))
            start += (m + 1) * k
        return found

    def start(self, random: np.random.RandomState) -> Floats:
        """Hidden units with normal weights, short enough not to begin saturated; the last layer 0.

        Then no class is preferred: with the labels swapped, the way is the mirror image. Intercepts are normal too:
        without them points x and -x would have mirrored activations, and XOR no slope to begin with.
        """
        hidden = [random.normal(size=(m + 1) * k) / np.sqrt(m + 1) for m, k in pairwise(self.sizes[:-1])]
        return np.concatenate([*hidden, np.zeros((self.sizes[-2] + 1) * self.sizes[-1])])

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """F and dF/dtheta: one pass over the rows there, one back."""
        layers = self.layers(theta)
        S, hidden = self.design.dot(layers[0]), []
        for V in layers[1:]:
            hidden.append(expit(S))
            S = hidden[-1] @ V[:-1] + V[-1]
        value, R = self._losses(S)
        gradient = [np.empty(0)] * len(layers)
        for number in range(len(layers) - 1, 0, -1):
            A, V = hidden[number - 1], layers[number]
            gradient[number] = np.vstack([A.T @ R, R.sum(axis=0)])
            R = (R @ V[:-1].T) * A * (1.0 - A)
        gradient[0] = self.design.tdot(R)
        for G, V in zip(gradient, layers, strict=True):
            G[:-1] += V[:-1]
            value += 0.5 * float(np.vdot(V[:-1], V[:-1]))
        return value, np.concatenate([G.ravel() for G in gradient])

    def _losses(self, S: Floats) -> tuple[float, Floats]:
        """sum_i C c_i loss_i, and its derivatives by the scores (n, outputs)."""
        c, T = self.weight[:, None], self.T
        P = expit(S) if S.shape[1] == 1 else softmax(S, axis=1)
        if not self.squared:
            if S.shape[1] == 1:
                losses = np.logaddexp(0.0, S) - T * S
            else:
                top = S.max(axis=1, keepdims=True)
                losses = T * (np.log(np.exp(S - top).sum(axis=1, keepdims=True)) + top - S)
            return float((c * losses).sum()), c * (P - T)
        miss = P - T
        value = float((c * miss**2).sum())
        if S.shape[1] == 1:
            return value, 2.0 * c * miss * P * (1.0 - P)
        return value, 2.0 * c * P * (miss - (miss * P).sum(axis=1, keepdims=True))
