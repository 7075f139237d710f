"""Categories: a column of 0 and 1 for each, but for the one that the others are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse as sp

from separatrix._typing import Floats, Integers
from separatrix.data.plans import Block, Filler, Plan, is_missing, only, text_of, texts
from separatrix.data.spelling import SHORT
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

UNKNOWN = "{}: a category that is not known"


@dataclass(frozen=True)
class CategoryPlan(Plan):
    """1 in the column of the category, 0 in those of the others; all 0 for the reference, a rare or an unknown one.

    The reference is the most frequent of two, or of any number when coefficients are to be told apart, because the
    columns of all categories add up to 1, as the intercept does.
    """

    categories: tuple[str, ...] = ()  # those with a column, in order
    reference: str | None = None
    rare: int = 0  # how many categories have no column of their own, because there are few rows of each

    kind = "category"

    @property
    def parts(self) -> list[str]:
        return [f"{self.name}={value}" for value in self.categories]

    def words(self) -> str:
        if self.reference is None:
            text = f"{len(self.categories)} categories, one column of 0 and 1 each"
        elif len(self.categories) == 1 and not self.rare:
            text = f"1 for {self.categories[0]}, 0 for {self.reference}"
        else:
            text = f"{len(self.categories)} categories, one column of 0 and 1 each, compared with {self.reference}"
        text += f"; {self.rare} rare categories give zeros" if self.rare else ""
        return text + "; where missing, zeros, and a column that says so" * self.missing

    def block(self, column: polars.Series, source: str, rows: Integers, sparse: bool) -> Block:
        missing = is_missing(column)
        width = len(self.categories)
        found = _codes(_texts(column), (*self.categories, *self._silent()))
        surprises = self.unexpected(missing)
        if not self.rare and (n := int(((found < 0) & ~missing).sum())):
            surprises[UNKNOWN.format(self.name)] = n
        found = np.where(found < width, found, -1)
        codes = np.where(missing & self.missing, width, found)
        at = np.flatnonzero(codes >= 0)
        shape = (len(codes), width + self.missing)
        if sparse:
            return Block(sp.csr_matrix((np.ones(len(at)), (at, codes[at])), shape=shape), surprises)
        block = np.zeros(shape)
        block[at, codes[at]] = 1.0
        return Block(block, surprises)

    def filler(self, first: int) -> Filler:
        places: dict[Any, int] = dict.fromkeys(self._silent(), -1)
        places.update({text: first + at for at, text in enumerate(self.categories)})
        absent, known = self.fill_missing(first), places.get
        unknown, new = -1 if self.rare else None, UNKNOWN.format(self.name)

        def fill(x: Floats, value: Any, met: list[str]) -> bool:
            at = known(value)
            if at is None:
                if not (value is None or isinstance(value, str | float | int)):
                    return False
                text = text_of(value)
                if text is None:
                    return absent(x, met)
                at = known(text, unknown)
                if at is None:
                    met.append(new)
                    return True
            if at >= 0:
                x[at] = 1.0
            return True

        return fill

    def _silent(self) -> tuple[str, ...]:
        return () if self.reference is None else (self.reference,)

    def known(self) -> set[str]:
        """All categories that it knows by name."""
        return {*self.categories, *self._silent()}

    def state(self) -> dict[str, Any]:
        return {"categories": list(self.categories), "reference": self.reference, "rare": self.rare}

    @classmethod
    def from_state(cls, name: str, missing: bool, kind: str, state: dict[str, Any]) -> Plan:
        categories, reference, rare = only(state, "categories", "reference", "rare")
        found = texts(categories)
        if reference is not None and (not isinstance(reference, str) or reference in found):
            raise DataError("the reference is malformed")
        if type(rare) is not int or rare < 0:
            raise DataError("the number of rare categories is malformed")
        return cls(name, missing, found, reference, rare)


def category_plan(column: polars.Series, reference: bool, least: int = 1, most: int | None = None) -> CategoryPlan:
    """The plan for categories; those with fewer than ``least`` rows, or beyond the first ``most``, get no column."""
    cells = _texts(column).drop_nulls()
    counts = dict(cells.alias("").value_counts().iter_rows())  # its own name may be "count"
    often = sorted((-n, text) for text, n in counts.items() if n >= least)[:most]
    kept = sorted(text for _, text in often)
    rare = len(counts) - len(kept)
    base = None
    if (reference and kept) or (len(counts) == len(kept) == 2):
        base = often[0][1]
        kept.remove(base)
    return CategoryPlan(column.name, bool(column.null_count()), tuple(kept), base, rare)


def _codes(cells: polars.Series, categories: tuple[str, ...]) -> Integers:
    """The position of each text among the categories; -1 for one that is not there."""
    import polars as pl

    places = {category: position for position, category in enumerate(categories)}
    if len(cells) <= SHORT:
        return np.array([places.get(text, -1) for text in cells.to_list()], dtype=np.int64)
    codes = cells.replace_strict(list(places), list(places.values()), default=-1, return_dtype=pl.Int64)
    return np.asarray(codes.fill_null(-1).to_numpy())


def _texts(column: polars.Series) -> polars.Series:
    """The cells as text; whole numbers without a point."""
    import polars as pl

    if column.dtype.is_float() and bool((column.drop_nulls() % 1 == 0).all()):
        column = column.cast(pl.Int64, strict=False)
    return column.cast(pl.String, strict=False)
