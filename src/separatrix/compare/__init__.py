"""The work behind ``separatrix compare``: no printing, no files."""

from separatrix.compare.result import Entry, Run
from separatrix.compare.run import Event, compare

__all__ = ["Entry", "Event", "Run", "compare"]
