"""Rows in a file: written once in blocks, read again and again through a few buffers, each block checked."""

from separatrix.files.elsewhere import RowsElsewhere
from separatrix.files.stored import Stored, opened
from separatrix.files.writer import BlockWriter

__all__ = ["BlockWriter", "RowsElsewhere", "Stored", "opened"]
