"""Newton's method with steps by conjugate gradients, and with a factored Hessian once they have cost as much.

How many products with the Hessian a step takes depends on the data: few where the penalty outweighs the losses, very
many in bad units. That is not known in advance; but a factor made when products have cost as much as it does takes at
most twice the time of whichever would have been better from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.linalg import lapack

from separatrix._typing import Floats
from separatrix.problems.risk import Risk
from separatrix.solvers.driver import State
from separatrix.solvers.precondition import kronecker

EPS = float(np.finfo(np.float64).eps)
INNER = 500  # products in a step after which what it has must do
PRODUCT = 3e5  # multiplications in the time that a product takes beside its own
BLOCK = 1.5e5  # and a block of the Hessian
APPROXIMATE = 40  # products that an approximate factor must be worth: it may save none

Inverse: TypeAlias = Callable[[Floats], Floats]


def truncated(
    risk: Risk, V: Floats, within: Callable[[Floats, float], bool], inverse: Inverse | None = None
) -> Iterator[State]:
    """V ← V - t s, where H s = g up to a residual of η λ, η² = min(1/10, λ² / F), λ = ‖g‖; t as for Newton.

    So the residual falls as fast as Newton's method converges. All lengths are in the norm of the factor's inverse.
    The last step ends as soon as a gradient as small as the residual is ``within`` what is asked for at the value F.
    ``inverse`` is what is known of H⁻¹ before a factor is made.
    """
    costs = _Costs(risk)
    value, gradient, bend = risk.expand(V)
    yield State(V, value, gradient)
    while True:
        made = costs.factor(V, bend)
        inverse = inverse if made is None else made
        if made is not None and costs.exact:
            step, products = -made(gradient), 0
        else:
            step, products = _conjugate_gradients(partial(risk.product, bend), gradient, inverse, value, within)
        costs.add(products)
        decrease = -float(np.vdot(gradient, step))
        t = 1.0
        while True:
            trial = V + t * step
            trial_value, trial_gradient, trial_bend = risk.expand(trial)
            if trial_value <= value - 0.1 * t * decrease + 4 * EPS * abs(value):
                break
            t *= 0.5
            if t < 1e-10:
                yield State(V, value, gradient, decrease, stalled=True)
                return
        V, value, gradient, bend = trial, trial_value, trial_gradient, trial_bend
        yield State(V, value, gradient, decrease, stalled=decrease <= 4 * EPS * EPS * abs(value))


def _conjugate_gradients(
    product: Inverse, gradient: Floats, inverse: Inverse | None, value: float, within: Callable[[Floats, float], bool]
) -> tuple[Floats, int]:
    """A step s with g + H s small, and how many products with H it took."""
    step, residual = np.zeros_like(gradient), gradient.copy()
    z = residual if inverse is None else inverse(residual)
    first = length = float(np.vdot(residual, z))
    goal = min(0.1, first / max(value, EPS * first)) * first
    last = goal <= 1e-5 * value  # otherwise there is no need to look
    direction = -z
    products = 0
    while products < INNER:
        products += 1
        curved = product(direction)
        curvature = float(np.vdot(direction, curved))
        if curvature <= 0.0:  # rounding
            break
        a = length / curvature
        step += a * direction
        residual += a * curved
        z = residual if inverse is None else inverse(residual)
        before, length = length, float(np.vdot(residual, z))
        if length <= goal or (last and within(2.0 * residual, value)):
            break
        direction *= length / before
        direction -= z
    return (step if step.any() else direction), products


class _Costs:
    """What products have cost since the last factor, what factors cost, and when to make one."""

    def __init__(self, risk: Risk) -> None:
        self.risk, self.exact = risk, False
        p, k = risk.design.p, risk.k
        entries = risk.design.nbytes / 8
        # multiplications are twice or thrice as fast in large products
        self._product = 2 * entries * k + PRODUCT * min(k, 2)
        self._mean_factor = (
            0.2 * entries * p + 0.12 * k * p**3 + BLOCK + (APPROXIMATE * self._product if k > 1 else 0.0)
        )
        self._full_factor = (0.4 * entries * p + BLOCK) * k**2 + 0.12 * (k * p) ** 3 if k > 1 else np.inf
        self._since_mean = self._since_full = 0.0

    def add(self, products: int) -> None:
        """The products of a step."""
        self._since_mean += products * self._product
        self._since_full += products * self._product

    def factor(self, V: Floats, bend: Floats) -> Inverse | None:
        """The inverse Hessian, of all columns of V or by their mean curvature; None if that is not worth it yet."""
        if self._since_full > self._full_factor:
            self._since_mean = self._since_full = 0.0
            self.exact = True
            return _inverse(self.risk.hessian(V, bend))
        if self._since_mean > self._mean_factor:
            self._since_mean = 0.0
            self.exact = self.risk.k == 1
            return kronecker(self.risk, bend)
        return None


def _inverse(H: Floats) -> Inverse | None:
    """H⁻¹ by Cholesky factors, for V of as many entries; None if H is not positive definite up to rounding."""
    H.ravel()[:: len(H) + 1] *= 1.0 + 1e-12
    factor, failed = lapack.dpotrf(H, lower=True, overwrite_a=True)
    if failed:
        return None
    return lambda R: np.asarray(lapack.dpotrs(factor, R.ravel(order="F"), lower=True)[0].reshape(R.shape, order="F"))
