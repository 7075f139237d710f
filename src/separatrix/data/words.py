"""Free text: TF-IDF, a number for each word that several rows have.

x_w = c_w idf_w / ‖(c_v idf_v)_v‖ with c_w how often the row has the word w, and idf_w = 1 + ln((1 + n) / (1 + n_w))
where n_w of the n rows have it: words that tell rows apart count more, and long texts no more than short ones.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse as sp

from separatrix._typing import Floats, Integers
from separatrix.data.plans import Block, Filler, Plan, finite, is_missing, only, text_of, texts
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

MOST_WORDS = 2000  # of a column: those that the most rows have
FEWEST_ROWS = 3  # that have a word
MOST_WEIGHT = 100.0  # no table has e^99 rows
_WORD = re.compile(r"\w\w+")


@dataclass(frozen=True)
class WordsPlan(Plan):
    """A column for each word."""

    vocabulary: tuple[str, ...] = ()  # the words, in order
    idf: tuple[float, ...] = ()  # the weight of each

    kind = "text"

    @property
    def parts(self) -> list[str]:
        return [f"{self.name}: {word}" for word in self.vocabulary]

    def words(self) -> str:
        text = f"text, as {len(self.vocabulary)} words (TF-IDF), those that {FEWEST_ROWS} rows or more have"
        return text + "; where missing, zeros, and a column that says so" * self.missing

    def block(self, column: polars.Series, source: str, rows: Integers, sparse: bool) -> Block:
        import polars as pl

        missing = is_missing(column)
        cells = column if column.dtype == pl.String else column.cast(pl.String, strict=False)
        places = self._places()
        indptr, indices, data = [0], [], []
        for row, cell in enumerate(cells.to_list()):
            found = self._row(cell, places) if cell is not None else []
            if missing[row] and self.missing:
                found = [(len(self.vocabulary), 1.0)]
            indices += [at for at, _ in found]
            data += [value for _, value in found]
            indptr.append(len(indices))
        shape = (len(column), len(self.output))
        block = sp.csr_matrix(
            (np.array(data, dtype=np.float64), np.array(indices, dtype=np.int32), indptr), shape=shape
        )
        return Block(block if sparse else block.toarray(), self.unexpected(missing))

    def filler(self, first: int) -> Filler:
        absent, places = self.fill_missing(first), self._places()

        def fill(x: Floats, value: Any, met: list[str]) -> bool:
            if not (value is None or isinstance(value, str | float | int)):
                return False
            text = text_of(value)
            if text is None:
                return absent(x, met)
            for at, part in self._row(text, places):
                x[first + at] = part
            return True

        return fill

    def _places(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.vocabulary)}

    def _row(self, cell: str, places: dict[str, int]) -> list[tuple[int, float]]:
        """The words of a text that are known, in order, and their numbers."""
        counts = Counter(at for word in words_of(cell) if (at := places.get(word)) is not None)
        found = [(at, times * self.idf[at]) for at, times in sorted(counts.items())]
        length = math.sqrt(sum(value * value for _, value in found))
        return [(at, value / length) for at, value in found]

    def state(self) -> dict[str, Any]:
        return {"vocabulary": list(self.vocabulary), "idf": list(self.idf)}

    @classmethod
    def from_state(cls, name: str, missing: bool, kind: str, state: dict[str, Any]) -> Plan:
        words, idf = only(state, "vocabulary", "idf")
        vocabulary = texts(words)
        if not isinstance(idf, list) or len(idf) != len(vocabulary):
            raise DataError("its words and their weights are not as many")
        weights = tuple(finite(weight) for weight in idf)
        if not all(1 <= weight <= MOST_WEIGHT for weight in weights):
            raise DataError("the weight of a word is malformed")
        return cls(name, missing, vocabulary, weights)


def words_of(cell: str) -> list[str]:
    """The words of two letters or digits and more, in lower case."""
    return _WORD.findall(cell.lower())


def words_plan(column: polars.Series) -> WordsPlan:
    """The plan for texts; of no words if none is in several rows."""
    cells = [cell for cell in column.to_list() if cell is not None]
    rows: Counter[str] = Counter()
    for cell in cells:
        rows.update(set(words_of(cell)))
    often = sorted((-n, word) for word, n in rows.items() if n >= FEWEST_ROWS)[:MOST_WORDS]
    vocabulary = tuple(sorted(word for _, word in often))
    idf = tuple(1.0 + math.log((1 + len(column)) / (1 + rows[word])) for word in vocabulary)
    return WordsPlan(column.name, bool(column.null_count()), vocabulary, idf)
