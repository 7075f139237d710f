"""Whether the first line of a table names its columns, or is a row of data like the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from separatrix.data.missing import MISSING
from separatrix.data.spelling import like_numbers

LOOK = 200  # rows that are compared with the first line
EVEN = 4  # numbers at equal steps that are taken for names; and cells of which something can be said
RISING = 12  # numbers that rise or fall all along and are taken for names
REPEATED = 0.5  # the share of different cells up to which a column of text has values that come again


def is_data(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first line is a row like those below it.

    It is if it has a number wherever they have numbers, and of the columns of text whose values come again, at least
    half the time one of these values (always, where there are no numbers). Numbers that count are names: 0, 1, 2, ...
    or the wavelengths of a spectrum.
    """
    if not rows or _count_up(first):
        return False
    columns = list(zip(*rows, strict=True))
    numeric = [_numbers(cells) for cells in columns]
    known = [cell for cell, is_number in zip(first, numeric, strict=True) if is_number and cell not in MISSING]
    if not all(like_numbers([cell]) for cell in known) or (any(numeric) and not known):
        return False
    again = [cell in below for cell, below in zip(first, columns, strict=True) if _come_again(below)]
    if not known:
        return bool(again) and all(again)
    return not again or 2 * sum(again) >= len(again)


def _numbers(cells: Sequence[str]) -> bool:
    present = [cell for cell in cells if cell not in MISSING]
    return bool(present) and all(like_numbers([cell]) for cell in present)


def _come_again(cells: Sequence[str]) -> bool:
    present = [cell for cell in cells if cell not in MISSING]
    different = len(set(present))
    return len(present) >= EVEN and different <= REPEATED * len(present) and not _numbers(present)


def _count_up(cells: Sequence[str]) -> bool:
    values = [float(cell) for cell in cells if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", cell)]
    steps = [after - before for before, after in pairwise(values)]
    if len(values) == len(cells) > 1 and all(step == 1 for step in steps):
        return True
    even = len(values) >= EVEN and all(abs(step - steps[0]) <= 1e-6 * abs(steps[0]) and step != 0 for step in steps)
    return even or (len(values) >= RISING and (all(step > 0 for step in steps) or all(step < 0 for step in steps)))
