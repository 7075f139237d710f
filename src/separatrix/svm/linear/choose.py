"""Which method finds a linear machine: a table over the shape, the first row that fits.

                      hinge      squared
small                 small      small      1,797 x 64: 6, 7 ms, others 17, 57; even at 1e8. One compiled loop a machine
dense, few and wide   interior   interior   in the space of the rows: 900 x 1,999 in 1.3 s, by columns 6 to 12 s
sparse and wide       descent    descent    text of 50,000 columns, squared: .16 s, gradient .26; at C = 100 .5, 1.4 s
dense, many and wide  descent    gradient   a pass takes longer, and tells more of the weights
dense, tall           sample     sample     5,000 x 663 at C = .001, .1, 10: .4, .9, 5 s, interior 1.9, 2.1, 3.1 s
dense                 interior   interior   3,000 x 1,000 at C = 100: 2.9 and 1.7 s; sample 13.7 s, and never
                                            2,500 x 1,990: 11 and 8 s, or 1.2 and .5 s where the passes before it do
sparse, n >= p²       sample     gradient   32,561 x 123 at C = 1: 54 ms, brief 93 ms; squared 30 ms, sample 39 ms
sparse                brief      gradient   49,749 x 300 at C = 1: .08 s; 20,000 x 1,500 .4 s; squared 20, sample 200 ms

descent    dual coordinate descent
brief      the same for some passes, then Newton steps on the hinge smoothed about its multipliers
sample     these Newton steps from the solution of some rows; of the square, L-BFGS with the Hessian of some rows
gradient   L-BFGS with the diagonal of the Hessian
interior   some passes of descent, then an interior-point method; what others leave open comes to it, unless the rows
           are many and wide
"""

from __future__ import annotations

from typing import NamedTuple

from separatrix.design import Design
from separatrix.design.row_space import ROTATED
from separatrix.errors import InvalidInputError
from separatrix.solvers.newton import FACTORED_ORDER

SMALL = 3e7  # multiplications of a pass with a Gram matrix, where 16 columns stand for what else it does with a row
TALL_ROWS = 5  # for each column


class Shape(NamedTuple):
    """All that the choice depends on."""

    n: int
    d: int
    p: int
    sparse: bool
    in_memory: bool = True  # coordinate descent needs single rows, in any order

    @classmethod
    def of(cls, design: Design) -> Shape:
        """The shape of a design."""
        return cls(design.n, design.d, design.p, design.sparse, design.in_memory)

    @property
    def small(self) -> bool:
        """Whether twenty passes with a Gram matrix each are over in a moment, so that there is no use in stopping."""
        order = self.n if self.spanned else self.p
        return self.n * (order + 16) ** 2 <= SMALL

    @property
    def spanned(self) -> bool:
        """Whether dense rows are so few that the space they span is where to solve."""
        return not self.sparse and 2 * self.n < self.d and self.n * self.d <= ROTATED

    @property
    def wide(self) -> bool:
        """Whether a system of the order of the columns is too large."""
        return self.p > FACTORED_ORDER

    @property
    def factored(self) -> bool:
        """Whether an interior-point method is in reach: by columns or, in the space of the rows, by rows."""
        return not self.wide or (self.n <= FACTORED_ORDER and self.n * self.d <= ROTATED)


def method(shape: Shape, squared: bool) -> str:
    """The name of the method."""
    if shape.small:
        return "small"
    if shape.sparse or not shape.factored:
        if shape.wide and (shape.sparse or not squared) and shape.in_memory:
            return "descent"
        if shape.wide and not squared:
            raise InvalidInputError(
                f"The hinge of rows not in memory is for up to {FACTORED_ORDER} columns, and these have {shape.d}: use "
                "loss='squared_hinge', or LogisticRegression.",
                "loss",
            )
        if squared:
            return "gradient"
        # of sparse rows a pass is cheap beside systems of order p
        return "sample" if shape.n >= shape.p**2 else "brief" if shape.in_memory else "interior"
    return "sample" if shape.n >= TALL_ROWS * shape.p else "interior"
