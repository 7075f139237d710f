"""Which method finds a linear machine: a table over the shape, the first row that fits.

small      a pass costs next to nothing: rows written out, one compiled loop a machine; 569 x 30 in 2 ms
row space  few rows of very many columns: an interior-point method of order n
descent    many columns: dual coordinate descent; 50,000 x 50,000 words in half the time that LIBLINEAR takes
sample     tall: Newton steps on the smoothed hinge, from the solution of some rows; 116,000 x 50 in .5 s
near       other sparse rows: a brief descent tells the rows near the margin, and an interior-point method is for these
interior   what is left

The squared hinge is smooth: where the hinge goes by sample, it goes by L-BFGS with the Hessian of sampled rows. What is
not within tol goes on by a surer method: an interior-point method, or Newton's.
"""

from __future__ import annotations

from typing import NamedTuple

from separatrix.design import Design
from separatrix.design.row_space import ROTATED

SMALL_MULTIPLICATIONS = 1e7  # of a pass with a Gram matrix
SMALL_MULTIPLICATIONS_A_ROW = 1000  # what else such a pass does with a row
FACTORED_ORDER = 2000  # largest order of a system to factor
TALL_ROWS = 5  # dense ones for each column; 5,000 x 663 at C = .001, .1, 10: .4, .9, 5.1 s, interior 1.9, 2.1, 3.1 s
TALL_ROWS_SQUARED = 3  # and of the squared hinge the Hessian


class Shape(NamedTuple):
    """All that the choice depends on."""

    n: int
    d: int
    p: int
    sparse: bool

    @classmethod
    def of(cls, design: Design) -> Shape:
        """The shape of a design."""
        return cls(design.n, design.d, design.p, design.sparse)

    @property
    def small(self) -> bool:
        """Whether twenty passes with a Gram matrix each are over in a moment, so that there is no use in stopping."""
        return self.n * (self.p**2 + SMALL_MULTIPLICATIONS_A_ROW) <= SMALL_MULTIPLICATIONS


def hinge_method(shape: Shape) -> str:
    """The name of the method for the hinge."""
    if shape.p > FACTORED_ORDER:
        few = shape.n <= FACTORED_ORDER and shape.n * shape.d <= ROTATED
        return "row space" if few else "descent"
    if shape.small:
        return "small"
    # of sparse rows a pass is cheap beside systems of order p
    if shape.n >= (shape.p**2 if shape.sparse else TALL_ROWS * shape.p):
        return "sample"
    return "near" if shape.sparse else "interior"


def squared_method(shape: Shape) -> str:
    """The name of the method for the squared hinge."""
    if shape.p > FACTORED_ORDER:
        return "descent" if shape.sparse else "diagonal"
    if shape.small:
        return "small"
    return "sample" if shape.n > TALL_ROWS_SQUARED * shape.p else "diagonal"
