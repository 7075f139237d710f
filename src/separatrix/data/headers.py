"""Whether the first line of a table names its columns, or is a row of data like the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from separatrix.data.missing import MISSING
from separatrix.data.spelling import like_numbers

LOOK = 200  # rows that are compared with the first line
REPEATED = 0.5  # the share of different cells up to which a column of text has values that come again


def is_data(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first line is a row like those below it.

    It is if it has a number wherever they have numbers; or, where there are none, if it has in every column whose
    values come again one of these values. Whole numbers that count are names: 0, 1, 2, ...
    """
    if not rows or _count_up(first):
        return False
    columns = list(zip(*rows, strict=True))
    numeric = [_numbers(cells) for cells in columns]
    if any(numeric):
        cells = [cell for cell, is_number in zip(first, numeric, strict=True) if is_number]
        known = [cell for cell in cells if cell not in MISSING]
        return bool(known) and all(like_numbers([cell]) for cell in known)
    again = [(cell, set(below)) for cell, below in zip(first, columns, strict=True) if _come_again(below)]
    return bool(again) and all(cell in below for cell, below in again)


def _numbers(cells: Sequence[str]) -> bool:
    present = [cell for cell in cells if cell not in MISSING]
    return bool(present) and all(like_numbers([cell]) for cell in present)


def _come_again(cells: Sequence[str]) -> bool:
    present = [cell for cell in cells if cell not in MISSING]
    return len(present) > 1 and len(set(present)) <= REPEATED * len(present)


def _count_up(cells: Sequence[str]) -> bool:
    whole = [int(cell) for cell in cells if re.fullmatch(r"\d{1,9}", cell)]
    return len(whole) == len(cells) > 1 and all(after == before + 1 for before, after in pairwise(whole))
