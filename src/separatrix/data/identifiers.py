"""Columns that only say which row it is: names and numbers of records, from which nothing can be learned."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from separatrix._typing import Floats

FEW = 10  # different texts that are categories in a table of any size
WHOLE = 2.0**53  # up to which whole numbers are floats
ALMOST = 0.9  # the share of different numbers from which on a column called "id" is one: some records come twice
EVEN = 0.98  # correlation with the row from which on numbers that rise with it count records; of squares it is .97
NEAR = 3.0  # steps between records, as a rule, if some were left out
FEWEST = 3  # rows of which anything can be said
_ROW_NAME = re.compile(
    r"|#|(.*[ _.-])?(id|ids|uuid|guid)|unnamed: ?\d+|(row|record|sample)[ _.-]?(names?|numbers?|no\.?|nr\.?|index|id)"
    r"|index|idx|no\.|nr\.?"
)
_CAMEL_ID = re.compile(r".*[a-z](Id|ID)")
_UNNAMED = re.compile(r"column \d+")


def identifies_rows(values: Floats, unique: int, named: bool, digits: bool) -> bool:
    """Whether whole numbers, none missing, only say which row it is.

    They do if (nearly) all differ and the column is called so; if they differ and rise or fall from row to row in small
    steps or at an even pace, as numbers of records do where some were left out; or if they are beyond 2^53 and written
    out in digits, as hashes are, where 6.02e23 is a quantity. A table may be sorted by a quantity, but few are as
    evenly spread: their extremes are further apart.
    """
    n = len(values)
    enough = n > 2 * FEW
    if unique < (ALMOST if enough else 1.0) * n or n < FEWEST or (not named and not enough):
        return False
    if not (np.isfinite(values) & (np.round(values) == values)).all():
        return False
    if named:
        return True
    if unique < n:
        return False
    steps = np.diff(values)
    if (steps == 1.0).all() or (digits and np.abs(values).max() >= WHOLE):
        return True
    rises, falls = (steps > 0).all(), (steps < 0).all()
    if not (rises or falls):
        return False
    return bool(np.median(np.abs(steps)) <= NEAR or abs(np.corrcoef(values, np.arange(n))[0, 1]) >= EVEN)


def named_as_row_numbers(names: Iterable[str]) -> set[str]:
    """Those called id, customer_id, PassengerId, rownames, index, Unnamed: 0, or nothing beside others with a name."""
    every = list(names)
    found = {name for name in every if _ROW_NAME.fullmatch(name.strip().lower()) or _CAMEL_ID.fullmatch(name.strip())}
    unnamed = {name for name in every if _UNNAMED.fullmatch(name)}
    return found | unnamed if len(unnamed) < len(every) else found
