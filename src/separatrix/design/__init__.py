"""Rows of data as the solvers see them: the only place that knows how they are stored."""

from separatrix.design.base import Design
from separatrix.design.block import Block
from separatrix.design.dense import DenseDesign
from separatrix.design.sparse import SparseDesign
from separatrix.design.wrap import as_design, homogeneous, mapped

__all__ = ["Block", "DenseDesign", "Design", "SparseDesign", "as_design", "homogeneous", "mapped"]
