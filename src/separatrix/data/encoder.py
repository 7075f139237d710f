"""Encoder: a table becomes a matrix of numbers, by rules made once and kept as plain JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats
from separatrix.data.kinds import plain_numbers
from separatrix.data.plans import Plan, apply_plan, category_plan, number_plan, plain_plan
from separatrix.data.suggest import unknown_column
from separatrix.data.table import Column, Table, feature_name
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

SCHEMA = 1
LARGE = 200 << 20  # bytes of a dense matrix from which on a sparse one is worth its price
NAMED = 20  # columns that a note names
_FIELDS = {"schema", "target", "plans", "indices", "dropped", "sparse"}
_WHY = {
    "constant": "one value only",
    "empty": "no value at all",
    "identifier?": "a different value in (nearly) every row, as names and numbers of records have",
}


class Encoder:
    """Numbers as they are, 0 and 1 for truth values, one column of 0 and 1 for each category.

    A missing number becomes the mean, a missing category a row of zeros, and a further column says where values were
    missing. Columns with one value, and those that only identify rows, are left out. Made by `Encoder.fit`.

    Attributes
    ----------
    target : str or None
        The column of the labels, which is never encoded.
    names : list of str
        The columns of the result, in the words of the table: ``"age"``, ``"sex=female"``, ``"age is missing"``.
    left_out : dict
        The columns that are left out, each with the reason.
    notes : list of str
        What was decided about columns when the encoder was made, in sentences: which are left out and why, and how
        numbers were read that are written in another way than 1234.5. Not kept in files.
    surprises : Counter
        What `transform` has met so far that was not there when the encoder was made, and how often.
    """

    def __init__(
        self,
        target: str | None,
        plans: tuple[Plan, ...] | None,
        indices: Array | None,
        dropped: Mapping[str, str],
        sparse: bool,
    ) -> None:
        self.target = target
        self._plans = plans
        self._indices = indices
        self._dropped = dict(dropped)
        self._sparse = sparse
        self.names = _unique(list(self._output()))
        self.notes: list[str] = []
        self.surprises: Counter[str] = Counter()

    def _output(self) -> Iterator[str]:
        if self._plans is None:
            assert self._indices is not None
            yield from map(feature_name, self._indices.tolist())
        else:
            for plan in self._plans:
                yield from plan.output

    # ------------------------------------------------------------------ made from a table
    @classmethod
    def fit(cls, table: Table, *, scale: bool = False) -> Encoder:
        r"""The rules for a table, and for others like it.

        Parameters
        ----------
        table : Table
        scale : bool, default=False
            Whether numbers are divided by their standard deviation, so that a penalty treats all columns alike. The
            features of a libsvm file are taken as they are.

        Returns
        -------
        Encoder

        Raises
        ------
        DataError
            A column is text, dates or nested; or no column is left.

        Examples
        --------
        >>> import io
        >>> from separatrix.data import Encoder, read_table
        >>> table = read_table(io.BytesIO(b"age,sex,ill\n30,f,no\n41,m,yes\n?,f,no\n"), target="ill")
        >>> X, names = Encoder.fit(table).transform(table)
        >>> names
        ['age', 'age is missing', 'sex=f', 'sex=m']
        >>> X.tolist()
        [[30.0, 0.0, 1.0, 0.0], [41.0, 0.0, 0.0, 1.0], [35.5, 1.0, 1.0, 0.0]]
        """
        columns = table.columns
        refused = [column for column in columns if column.kind in ("text", "date", "nested")]
        if refused:
            raise _refusal(table, refused)
        dropped = {column.name: column.kind for column in columns if column.kind in _WHY}
        if table.frame is None:
            indices = np.array([int(c.name.split()[1]) for c in columns if c.kind == "number"], dtype=np.int64)
            density = table.matrix.nnz / max(1, table.n_rows * len(indices))
            encoder = cls(table.target, None, indices, dropped, density < 0.5 or len(indices) > 10_000)
        else:
            kept = [column for column in columns if column.kind not in ("empty", "identifier?")]
            values, plain = plain_numbers(table.frame, [column.name for column in kept if column.kind == "number"])
            easy = {
                column.name: x
                for column, x in zip(plain, values.T, strict=True)
                if np.isfinite(x).sum() == len(x) - column.null_count()
            }
            series = {column.name: column for column in table.frame.get_columns()}
            plans = tuple(
                plain_plan(column.name, easy[column.name], scale)
                if column.name in easy
                else _plan(series[column.name], table, column, scale)
                for column in kept
            )
            plans = tuple(plan for plan in plans if plan.output)
            width = sum(len(plan.output) for plan in plans)
            large = 8 * table.n_rows * width > LARGE and 4 * len(plans) < width
            encoder = cls(table.target, plans, None, dropped, large)
        if not encoder.names:
            raise DataError(
                f"{table.source} has no column that could tell the classes apart: {encoder._why_dropped()}."
            )
        encoder.notes = _notes(columns, encoder.left_out)
        return encoder

    @property
    def left_out(self) -> dict[str, str]:
        """The columns that are left out, each with the reason."""
        kept = {plan.name for plan in self._plans or ()}
        return {name: _WHY[kind] for name, kind in self._dropped.items() if name not in kept}

    @property
    def scales(self) -> Array:
        """What each column of the result was divided by: a weight over its scale is per unit of the table."""
        found = np.ones(len(self.names))
        first = 0
        for plan in self._plans or ():
            found[first] = plan.scale  # the number comes first, then where it is missing
            first += len(plan.output)
        return found

    def report(self) -> list[str]:
        """What is done with the columns, in words."""
        lines = []
        if self._plans is None:
            lines.append(f"{len(self.names)} features are numbers, taken as they are; what is not written is 0.")
        for plan in self._plans or ():
            text = {
                "number": f"{plan.name}: a number, taken as it is",
                "boolean": f"{plan.name}: 1 for true, 0 for false",
                "category": f"{plan.name}: {len(plan.categories)} categories, one column of 0 and 1 each",
                "constant": f"{plan.name}: one value only, so that all it says is where it is missing",
            }[plan.kind]
            text += f", with {plan.spelling}" if plan.spelling is not None else ""
            if plan.missing and plan.kind in ("number", "boolean"):
                text += f"; where missing, the mean {plan.mean:.4g}, and a column that says so"
            elif plan.missing and plan.kind == "category":
                text += "; where missing, zeros, and a column that says so"
            lines.append(text + ".")
        return lines + [f"{name}: left out ({why})." for name, why in self.left_out.items()]

    def _why_dropped(self) -> str:
        return (
            "; ".join(f"{name!r} has {_WHY[kind]}" for name, kind in list(self._dropped.items())[:5]) or "it has none"
        )

    # ------------------------------------------------------------------ applied to tables
    def transform(self, table: Table) -> tuple[Any, list[str]]:
        """The table as numbers.

        Parameters
        ----------
        table : Table
            Of the same columns, in any order; others are ignored. A category that was not there when the encoder was
            made gives zeros, a missing number the mean; both are counted in `surprises`.

        Returns
        -------
        X : array or CSR matrix of shape (n_rows, p), float64
        names : list of str
            The names of its columns.

        Raises
        ------
        DataError
            A column is not there, or holds something else than it did.
        """
        if self._plans is None:
            return self._select(table), list(self.names)
        if table.frame is None:
            raise DataError(f"{table.source} is a libsvm file, but the model was fitted to a table with named columns.")
        frame, places = table.frame, self._places()
        columns = {column.name: column for column in frame.get_columns()}
        absent = next((plan.name for plan in self._plans if plan.name not in columns), None)
        if absent is not None:
            raise unknown_column(table.source, absent, frame.columns)
        if self._sparse:
            blocks = [sparse.csr_matrix(self._block(plan, columns[plan.name], table)) for plan in self._plans]
            return sparse.hstack(blocks, format="csr"), list(self.names)
        X = np.zeros((table.n_rows, len(self.names)))
        done = self._fill_numbers(X, frame, places)
        for plan in self._plans:
            if plan.name not in done:
                block, first = self._block(plan, columns[plan.name], table), places[plan.name]
                X[:, first : first + block.shape[1]] = block
        return X, list(self.names)

    def _places(self) -> dict[str, int]:
        """The first column of the result that comes from each column."""
        ends = np.cumsum([0, *(len(plan.output) for plan in self._plans or ())])
        return {plan.name: int(first) for plan, first in zip(self._plans or (), ends, strict=False)}

    def _fill_numbers(self, X: Floats, frame: polars.DataFrame, places: Mapping[str, int]) -> set[str]:
        """Put plain numbers in their place, all columns at once; the names of those, as others take a closer look."""
        plain = {plan.name: plan for plan in self._plans or () if plan.kind == "number" and plan.spelling is None}
        values, columns = plain_numbers(frame, plain)
        missing = np.isnan(values)
        nulls = np.array([column.null_count() for column in columns], dtype=np.int64)
        # infinite numbers, and NaN in the table itself, are errors for which the row has to be found
        easy = (missing.sum(axis=0) == nulls) & ~np.isinf(values).any(axis=0)
        plans = [plain[column.name] for column, good in zip(columns, easy, strict=True) if good]
        if not plans:
            return set()
        values, missing = values[:, easy], missing[:, easy]
        means, scales = (np.array([getattr(plan, name) for plan in plans]) for name in ("mean", "scale"))
        first = np.array([places[plan.name] for plan in plans])
        X[:, first] = np.where(missing, means, values) / scales
        told = np.array([plan.missing for plan in plans])
        X[:, first[told] + 1] = missing[:, told]
        for at in np.flatnonzero(missing.any(axis=0) & ~told):
            self._surprise(plans[at], int(missing[:, at].sum()))
        return {plan.name for plan in plans}

    def _surprise(self, plan: Plan, times: int) -> None:
        self.surprises[f"{plan.name}: missing, which it never was before"] += times

    def _block(self, plan: Plan, column: polars.Series, table: Table) -> Any:
        """The columns that come from one column."""
        cells = apply_plan(plan, column, table.source, table.row_numbers)
        n = table.n_rows
        if cells.unknown:
            self.surprises[f"{plan.name}: a category that is not known"] += cells.unknown
        if not plan.missing and cells.missing.any():
            self._surprise(plan, int(cells.missing.sum()))
        indicator = cells.missing[:, None].astype(np.float64) if plan.missing else np.zeros((n, 0))
        if plan.kind == "constant":
            return indicator
        if plan.kind != "category":
            return np.hstack([cells.values[:, None] / plan.scale, indicator])
        codes = np.where(cells.missing & plan.missing, len(plan.categories), cells.values)
        rows = np.flatnonzero(codes >= 0)
        shape = (n, len(plan.categories) + plan.missing)
        if not self._sparse:
            block = np.zeros(shape)
            block[rows, codes[rows]] = 1.0
            return block
        return sparse.csr_matrix((np.ones(len(rows)), (rows, codes[rows])), shape=shape)

    def _select(self, table: Table) -> Any:
        """The known features of a libsvm file; others are counted."""
        if table.matrix is None:
            raise DataError(f"{table.source} has named columns, but the model was fitted to a libsvm file.")
        assert self._indices is not None
        matrix = table.matrix.tocsr()
        place = np.searchsorted(self._indices, matrix.indices)
        place[place == len(self._indices)] = 0
        known = self._indices[place] == matrix.indices
        dropped = np.isin(matrix.indices, [int(name.split()[1]) for name in self._dropped])
        if not (known | dropped).all():
            self.surprises["a feature that is not known"] += int((~(known | dropped)).sum())
        kept = np.concatenate([[0], np.cumsum(known)])[matrix.indptr]
        shape = (table.n_rows, len(self._indices))
        X = sparse.csr_matrix((matrix.data[known].astype(np.float64), place[known], kept), shape=shape)
        return X if self._sparse else X.toarray()

    # ------------------------------------------------------------------ as plain JSON
    def to_dict(self) -> dict[str, Any]:
        """The rules as plain JSON."""
        return {
            "schema": SCHEMA,
            "target": self.target,
            "plans": None if self._plans is None else [plan.to_dict() for plan in self._plans],
            "indices": None if self._indices is None else self._indices.tolist(),
            "dropped": dict(self._dropped),
            "sparse": self._sparse,
        }

    @classmethod
    def from_dict(cls, plain: Any) -> Encoder:
        """The encoder that `to_dict` described; `DataError` if a field is missing, unknown or malformed."""
        if not isinstance(plain, Mapping) or plain.get("schema") != SCHEMA:
            raise DataError(f"the encoder is malformed, or of another version than {SCHEMA}")
        if set(plain) != _FIELDS:
            raise DataError(f"an encoder has the fields {', '.join(sorted(_FIELDS))}")
        target, dropped, plans, indices = (plain[name] for name in ("target", "dropped", "plans", "indices"))
        if target is not None and not isinstance(target, str):
            raise DataError("the target of the encoder is malformed")
        if not isinstance(dropped, dict) or not all(isinstance(n, str) and k in _WHY for n, k in dropped.items()):
            raise DataError("the columns that the encoder leaves out are malformed")
        if type(plain["sparse"]) is not bool or (plans is None) == (indices is None):
            raise DataError("the encoder is malformed")
        if indices is not None:
            places = _indices(indices, dropped)
            return cls(target, None, places, dropped, plain["sparse"])
        if not isinstance(plans, list) or not plans:
            raise DataError("the columns of the encoder are malformed")
        read = tuple(map(Plan.from_dict, plans))
        if len({plan.name for plan in read}) < len(read) or not all(plan.output for plan in read):
            raise DataError("the columns of the encoder are malformed")
        return cls(target, read, None, dropped, plain["sparse"])


def _plan(series: polars.Series, table: Table, column: Column, scale: bool) -> Plan:
    if column.kind == "constant":
        return Plan(column.name, "constant", missing=bool(column.n_missing))
    if column.kind == "category":
        return category_plan(series)
    blank = Plan(column.name, column.kind, spelling=column.spelling)
    return number_plan(series, blank, table.source, table.row_numbers, scale)


def _notes(columns: list[Column], left_out: Mapping[str, str]) -> list[str]:
    """What was decided about columns: each that is left out by name, and each that was read in a way of its own."""
    notes = [column.note for column in columns if column.note]
    said = {column.name for column in columns if column.note}
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


def _refusal(table: Table, refused: list[Column]) -> DataError:
    notes = " ".join(column.note for column in refused[:5])
    more = f" And {len(refused) - 5} more columns of this kind." if len(refused) > 5 else ""
    return DataError(f"{table.source}: {notes}{more}")


def _indices(indices: Any, dropped: Mapping[str, str]) -> Array:
    good = (
        isinstance(indices, list)
        and len(indices) > 0
        and all(type(index) is int and 0 <= index < 1 << 31 for index in indices)
        and all(before < after for before, after in pairwise(indices))
        and all(name.startswith("feature ") and name[8:].isascii() and name[8:].isdigit() for name in dropped)
    )
    if not good:
        raise DataError("the features of the encoder are malformed")
    return np.array(indices, dtype=np.int64)


def _unique(names: list[str]) -> list[str]:
    """The names, with a number after those that come again."""
    seen: Counter[str] = Counter()
    out = []
    taken = set(names)
    for name in names:
        seen[name] += 1
        while seen[name] > 1 and f"{name} ({seen[name]})" in taken:
            seen[name] += 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out
