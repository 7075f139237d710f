"""What is said of columns: why some are left out, how others were read, and what cannot be used at all."""

from __future__ import annotations

from collections.abc import Mapping

from separatrix.data.table import Column
from separatrix.data.words import FEWEST_ROWS
from separatrix.errors import DataError

NAMED = 20  # columns that a note names
WHY = {
    "constant": "one value only",
    "empty": "no value at all",
    "identifier?": "a different value in (nearly) every row, as names and numbers of records have",
    "category": f"no value that {FEWEST_ROWS} rows have",
    "date": "one date only",
    "text": f"no word that {FEWEST_ROWS} rows have",
}


def notes_on(columns: list[Column], left_out: Mapping[str, str]) -> list[str]:
    """What was decided about columns: each that is left out by name, and each that was read in a way of its own."""
    # what is left out after all is not said to be used; an identifier has a note only where it says why
    said = {c.name for c in columns if c.note and (c.name not in left_out or c.kind == "identifier?")}
    notes = [column.note for column in columns if column.name in said]
    for why in dict.fromkeys(left_out.values()):
        names = [column for column in columns if left_out.get(column.name) == why and column.name not in said]
        if names:
            shown = ", ".join(
                f"{column.name!r}{f' ({column.example[:40]!r}, ...)' if column.n_unique > 1 else ''}"
                for column in names[:NAMED]
            )
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            many = len(names) > 1
            notes.append(f"Column{'s' * many} {shown}{more} {'are' if many else 'is'} left out: {why}.")
    return notes


def refusal(source: str, refused: list[Column]) -> DataError:
    """The error for columns that no classifier can use."""
    notes = " ".join(column.note for column in refused[:5])
    more = f" And {len(refused) - 5} more columns of this kind." if len(refused) > 5 else ""
    return DataError(f"{source}: {notes}{more}")


def note_on_aliased(names: list[str]) -> str:
    """That columns of the matrix are left out because they follow from others."""
    shown = ", ".join(map(repr, names[:NAMED])) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    return f"Left out, because other columns say the same, so that no coefficient could be told from theirs: {shown}."


def no_columns(source: str, dropped: Mapping[str, str]) -> DataError:
    """The error for a table of which every column is left out."""
    why = "; ".join(f"{name!r} has {WHY[kind]}" for name, kind in list(dropped.items())[:5]) or "it has none"
    return DataError(
        f"{source} has no column that could tell the classes apart: {why}. Add columns that describe the rows."
    )
