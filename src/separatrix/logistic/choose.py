"""Which method minimises a logistic risk: a table over the shape of the problem, the first row that fits.

newton          a Hessian costs no more than a pass: 569 x 30 in 4 ms, exact to rounding
descent         two classes in sparse rows, no more than columns, from V = 0: a few sweeps over 20,000 x 47,000 words
preconditioned  tall tables: 200,000 x 100 in .18 s of one core, its passes read each row a dozen times
diagonal        what is left: wide, or too many columns to factor

Where L-BFGS has not done within 30 passes, Newton's method goes on by conjugate gradients, which factor the Hessian
only once that costs less than they have. So it need not be known in advance how hard a table is: 1,000 x 1,500 takes
.02 s by the diagonal alone where a few columns matter, and where all do .08 s, instead of .06 s by what is best there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple, TypeAlias

import numpy as np

from separatrix._typing import Floats
from separatrix.problems.risk import Risk
from separatrix.solvers.driver import State
from separatrix.solvers.lbfgs import lbfgs
from separatrix.solvers.logistic_descent import Solver, logistic_descent
from separatrix.solvers.newton import FACTORED_ORDER, newton
from separatrix.solvers.precondition import diagonal, easy, sampled, sampled_at, spacing
from separatrix.solvers.truncated import truncated

Within: TypeAlias = Callable[[Floats, float], bool]  # told a gradient and a value

# multiplications of a Hessian that costs no more than a pass over the rows: 2,000 x 64 takes 7.5 ms so, 5.3 ms sampled
NEWTON_MULTIPLICATIONS = 4e6
# the same where rounding is all that may be left of the gradient: 20,000 x 120 of two classes; 3,000 x 20 of twelve
# takes .19 s so, and .11 s by conjugate gradients
NEWTON_MULTIPLICATIONS_EXACT = 3e8
PASSES = 30  # of L-BFGS after which conjugate gradients go on
CLOSE = 2e-6  # relative gap to which small tables are solved even if tol allows more
SMALL_BYTES = 1 << 21  # of rows that stay in cache, so that it costs next to nothing


class Shape(NamedTuple):
    """All that the choice depends on: rows, coefficients of a column of V, columns, storage."""

    n: int
    p: int
    k: int
    sparse: bool
    anchored: bool

    @classmethod
    def of(cls, risk: Risk) -> Shape:
        """The shape of a risk."""
        return cls(risk.design.n, risk.design.p, risk.k, risk.design.sparse, risk.design.offset is not None)

    @property
    def tall(self) -> bool:
        """Whether half of the rows or fewer tell the Hessian, and its factor is worth having."""
        return self.p <= FACTORED_ORDER and spacing(self.n, self.p, self.k)[0] > 1

    def direct(self, most: float) -> bool:
        """Whether the Hessian of all columns takes no longer than so many multiplications, and can be factored.

        It is made of k² blocks, and the more there are the smaller are the products that make one.
        """
        return self.n * self.p**2 * self.k**3 <= most and self.p * self.k <= FACTORED_ORDER


def method(shape: Shape, solver: str, penalised: bool = True, from_zero: bool = False) -> str:
    """The name of the method; the descent has alphas to start from for V = 0 only, and for a penalty."""
    if solver != "auto":
        return "newton" if solver == "newton" else "diagonal"
    if shape.direct(NEWTON_MULTIPLICATIONS if penalised else NEWTON_MULTIPLICATIONS_EXACT):
        return "newton"
    if shape.tall:
        return "preconditioned"
    sums = shape.sparse and not shape.anchored and shape.k == 1 and penalised and from_zero
    # of more rows than columns, 40,000 x 20,000 words, passes take two thirds of the time that sweeps do; of as many,
    # 50,000 x 50,000, 1.4 times as long, and of fewer, 20,000 x 47,000, up to seven times
    return "descent" if sums and shape.n <= shape.p else "diagonal"


def choose(risk: Risk, solver: str, within: Within | None = None, from_zero: bool = False) -> tuple[Solver, float]:
    """The solver, and the accuracy that it reaches at next to no cost: 0 for machine precision, inf for none.

    ``within`` tells whether a gradient is within what is asked for; without a penalty, of orthonormal rows. Where it is
    not given, the fit ends by what steps promise to gain, which only a good Hessian knows.
    """
    shape = Shape.of(risk)
    from_zero &= risk.design.in_memory  # descent needs single rows
    name = method(shape, solver, bool(risk.ridge.any()), from_zero)
    if name == "newton":
        return newton, 0.0 if shape.direct(NEWTON_MULTIPLICATIONS_EXACT) else np.inf
    cheap = CLOSE if risk.design.nbytes <= SMALL_BYTES else np.inf
    told = _never if within is None else within
    if within is not None and not risk.ridge.any():  # orthonormal rows: products need no preconditioner
        return lambda r, V: truncated(r, V, within), np.inf
    if name == "preconditioned":
        return lambda r, V: _preconditioned(r, V, told), cheap
    if name == "descent":
        return lambda r, V: logistic_descent(r, told, lambda r, V: _by_diagonal(r, V, told)), cheap
    if solver == "lbfgs":
        return lambda r, V: lbfgs(r, V, diagonal(r, V)), np.inf
    return lambda r, V: _by_diagonal(r, V, told), cheap


def _never(gradient: Floats, value: float) -> bool:
    return False


def _by_diagonal(risk: Risk, V: Floats, within: Within) -> Iterator[State]:
    return _patiently(risk, lbfgs(risk, V, diagonal(risk, V)), within)


def _preconditioned(risk: Risk, V: Floats, within: Within) -> Iterator[State]:
    """L-BFGS, preconditioned by the diagonal where that seems to do, and by a sample of the rows where it does not."""
    found = None if within is _never else easy(risk, V)
    if found is None:
        yield from _patiently(risk, lbfgs(risk, *sampled(risk, V)), within)
        return
    V, precondition, worth = found
    for state in islice(lbfgs(risk, V, precondition), worth):
        yield state
    states = lbfgs(risk, state.V, sampled_at(risk, state.V))
    yield from islice(_patiently(risk, states, within), 1, None)


def _patiently(risk: Risk, states: Iterator[State], within: Within) -> Iterator[State]:
    """These states, and those of Newton's method with conjugate gradients from where many passes were not enough."""
    few = 10 + risk.design.p * risk.k // 2  # where a factored Hessian costs a few passes
    for state in islice(states, min(PASSES, few)):
        yield state
    yield from islice(truncated(risk, state.V, within, diagonal(risk, state.V)), 1, None)
