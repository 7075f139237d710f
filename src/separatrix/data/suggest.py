"""Errors about columns that are not there, with the name that was probably meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from separatrix.errors import DataError


def unknown_column(source: str, name: str, names: Sequence[str], what: str = "column") -> DataError:
    """The error for a name that no column has."""
    folded = {known.casefold().strip(): known for known in names}
    close = get_close_matches(name.casefold().strip(), folded, n=1, cutoff=0.6)
    hint = f" Did you mean {folded[close[0]]!r}?" if close else ""
    if len(names) == 1 and name in names[0].split():
        hint = " Its cells are separated by blanks: make these commas, as by sed -E 's/ +/,/g'."
    elif not close and names and all(re.fullmatch(r"column \d+", known) for known in names):
        hint = " Its first line is a row of data: name the column by its place, or add a header line with names."
    elif not close and any(re.fullmatch(r"[-+]?\d*\.?\d+", known) for known in names):
        hint = " If its first line is a row of data, add a header line."
    shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
    return DataError(f"{source} has no {what} {name!r}.{hint} Its columns: {shown}.")
