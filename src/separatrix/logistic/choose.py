"""Which method minimises a logistic risk: a table over the shape of the problem, the first row that fits.

newton          a Hessian costs no more than a pass: 569 x 30 in 5 ms, exact to rounding
descent         two classes in wide sparse rows, from V = 0: a few sweeps over 50,000 x 50,000 words
truncated       other small tables: 1,797 x 64 of 10 classes in .11 s of one core, sampled rows take .19 s
preconditioned  tall tables: 200,000 x 100 in .18 s of one core, its passes read each row a dozen times
diagonal        what is left: wide, and too large to factor

Where a sampled Hessian has not done within 60 passes, Newton's method goes on by conjugate gradients, which factor the
Hessian only once that costs less than they have: 9,298 x 256 of 10 classes with C = 100 takes 7 s of one core, and 43 s
if it is factored at once.
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
from separatrix.solvers.newton import newton
from separatrix.solvers.precondition import diagonal, easy, renewed, sampled, sampled_at
from separatrix.solvers.truncated import truncated

Within: TypeAlias = Callable[[Floats, float], bool]  # told a gradient and a value

NEWTON_MULTIPLICATIONS = 2e6  # of a Hessian that costs no more than a pass over the rows
NEWTON_MULTIPLICATIONS_UNPENALISED = 3e8  # where the likelihood alone is to be exact to rounding
TRUNCATED_BYTES = 1 << 21  # of a table of two classes whose passes cost next to nothing
TRUNCATED_BYTES_WIDE = 1 << 24  # with too few rows to sample
TRUNCATED_BYTES_CLASSES = 1 << 23  # of several classes, which a sampled Hessian knows less well
FACTORED_ORDER = 3000  # largest order of a Hessian to factor
TALL_ROWS = 3  # for each column, of a table whose sampled rows tell its Hessian
DESCENT_ROW_ENTRIES = 40  # of many sparse rows, beside which the rest of what a sweep does for a row is little
SAMPLED_PASSES = 60  # in which a sampled Hessian should have done
CLOSE = 2e-6  # relative gap to which conjugate gradients solve small tables even if tol allows more


class Shape(NamedTuple):
    """All that the choice depends on: rows, coefficients of a column of V, columns, entries, bytes, storage."""

    n: int
    p: int
    k: int
    entries: int
    nbytes: float
    sparse: bool
    anchored: bool

    @classmethod
    def of(cls, risk: Risk) -> Shape:
        """The shape of a risk."""
        d = risk.design
        return cls(d.n, d.p, risk.k, d.entries, d.nbytes, d.sparse, d.offset is not None)

    @property
    def tall(self) -> bool:
        """Whether a sample of the rows tells the Hessian."""
        return self.p <= FACTORED_ORDER and self.n > TALL_ROWS * self.p

    @property
    def many(self) -> bool:
        """Whether sparse rows are so many that passes tell more of the weights than the same time in products would."""
        return self.sparse and self.n >= self.p

    @property
    def multiplications(self) -> float:
        """Of a Hessian of all columns, about."""
        return float(self.n) * self.p**2 * self.k


def method(shape: Shape, solver: str, told: bool, from_zero: bool) -> str:
    """The name of the method.

    Conjugate gradients and coordinate descent need to be ``told`` what gradient is within what is asked for. Who cannot
    say goes by what steps promise to gain, which only a good Hessian knows. The descent has alphas to start from for
    V = 0 only.
    """
    if solver == "newton":
        return "newton"
    if solver != "auto":
        return "diagonal"
    if not told:
        exact = shape.multiplications <= NEWTON_MULTIPLICATIONS_UNPENALISED and shape.p * shape.k <= FACTORED_ORDER
        return "newton" if exact else "sampled" if shape.tall else "diagonal"
    if 0.5 * shape.multiplications * shape.k <= NEWTON_MULTIPLICATIONS:
        return "newton"
    long_rows = not shape.many or shape.entries >= DESCENT_ROW_ENTRIES * shape.n
    if shape.k == 1 and from_zero and shape.sparse and not shape.anchored and not shape.tall and long_rows:
        return "descent"
    few = TRUNCATED_BYTES if shape.tall or shape.many else TRUNCATED_BYTES_WIDE
    if shape.nbytes <= (TRUNCATED_BYTES_CLASSES if shape.k > 1 else few):
        return "truncated"
    return "preconditioned" if shape.tall else "diagonal"


def choose(risk: Risk, solver: str, within: Within | None = None, from_zero: bool = False) -> tuple[Solver, float]:
    """The solver, and the accuracy that it reaches at next to no cost: 0 for machine precision, inf for none."""
    shape = Shape.of(risk)
    name = method(shape, solver, within is not None, from_zero)
    if name == "newton":
        return newton, 0.0 if shape.multiplications <= NEWTON_MULTIPLICATIONS_UNPENALISED else np.inf
    told = _never if within is None else within
    if name == "truncated":
        return lambda r, V: truncated(r, V, told), CLOSE
    if name == "preconditioned":
        return lambda r, V: _preconditioned(r, V, told), np.inf
    if name == "sampled":
        return lambda r, V: _by_sample(r, V, told), np.inf
    if name == "descent":
        otherwise, _ = choose(risk, solver, within)
        return lambda r, V: logistic_descent(r, told, otherwise), np.inf
    return _by_diagonal, np.inf


def _never(gradient: Floats, value: float) -> bool:
    return False


def _by_diagonal(risk: Risk, V: Floats) -> Iterator[State]:
    return lbfgs(risk, V, diagonal(risk, V))


def _preconditioned(risk: Risk, V: Floats, within: Within) -> Iterator[State]:
    """L-BFGS, preconditioned by the diagonal where that seems to do, and by a sample of the rows where it does not."""
    found = easy(risk, V)
    if found is None:
        yield from _by_sample(risk, V, within)
        return
    V, precondition, worth = found
    for state in islice(lbfgs(risk, V, precondition), worth):
        yield state
    states = lbfgs(risk, state.V, sampled_at(risk, state.V))
    yield from islice(_patiently(risk, states, within), 1, None)


def _by_sample(risk: Risk, V: Floats, within: Within) -> Iterator[State]:
    """L-BFGS, preconditioned by a sample of the rows, from near its optimum."""
    renew = risk.design.sparse and risk.k == 1
    return _patiently(risk, renewed(risk, V) if renew else lbfgs(risk, *sampled(risk, V)), within)


def _patiently(risk: Risk, states: Iterator[State], within: Within) -> Iterator[State]:
    """These states, and those of Newton's method with conjugate gradients from where many passes were not enough."""
    few = 10 + risk.design.p * risk.k // 2  # where a factored Hessian costs a few passes
    for state in islice(states, min(SAMPLED_PASSES, few)):
        yield state
    yield from islice(truncated(risk, state.V, within), 1, None)
