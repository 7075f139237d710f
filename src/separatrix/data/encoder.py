"""Encoder: a table becomes a matrix of numbers, by rules made once and kept as plain JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats
from separatrix.data.categories import CategoryPlan
from separatrix.data.collected import encoded, is_frame_of_dask, learned
from separatrix.data.kinds import plain_numbers
from separatrix.data.making import aliased_columns, make_plans, unique_names, worth_sparse
from separatrix.data.notes import WHY, no_columns, note_on_aliased, notes_on, refusal
from separatrix.data.numbers import NumberPlan
from separatrix.data.plans import NEVER_MISSING, Plan
from separatrix.data.rows import Rows, as_table, count, row_filler
from separatrix.data.state import read_aliased, read_indices, read_plan
from separatrix.data.suggest import unknown_column
from separatrix.data.table import Column, Table, feature_index, feature_name
from separatrix.errors import DataError, SeparatrixError

if TYPE_CHECKING:
    import polars

SCHEMA = 2
_FIELDS = {"schema", "target", "plans", "indices", "dropped", "sparse", "aliased"}


class Encoder:
    """Numbers as they are, 0 and 1 for truth values, one column of 0 and 1 for each category, dates in parts, words.

    Of two categories one column is enough. A missing number becomes the mean, a missing category a row of zeros, and a
    further column says where values were missing. Columns with one value, and those that only identify rows, are left
    out. Made by `Encoder.fit`.

    Attributes
    ----------
    target : str or None
        The column of the labels, which is never encoded.
    names : list of str
        The columns of the result, in the words of the table: ``"age"``, ``"sex=female"``, ``"age is missing"``,
        ``"born: year"``, ``"letter: dear"``.
    groups : dict
        For each column of the table that is used, the places of the columns that come from it.
    left_out : dict
        The columns that are left out, each with the reason.
    notes : list of str
        What was decided about columns when the encoder was made, in sentences: which are left out and why, and how
        numbers were read that are written in another way than 1234.5. Not kept in files.
    sparse : bool
        Whether the result is a sparse matrix.
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
        aliased: Sequence[int] = (),
    ) -> None:
        self.target = target
        self._plans = plans
        self._indices = indices
        self._dropped = dict(dropped)
        self.sparse = sparse
        given = indices.tolist() if indices is not None else ()
        every = unique_names([*map(feature_name, given), *(name for plan in plans or () for name in plan.output)])
        self._aliased = tuple(aliased)
        self._kept = np.delete(np.arange(len(every)), self._aliased)
        self.names = [every[place] for place in self._kept]
        self.notes: list[str] = []
        self.surprises: Counter[str] = Counter()

    # ------------------------------------------------------------------ made from a table
    @classmethod
    def fit(cls, table: Table, *, scale: bool = False, reference: bool = False) -> Encoder:
        r"""The rules for a table, and for others like it.

        Parameters
        ----------
        table : Table, or data frame of Dask without the column of the labels
        scale : bool, default=False
            Whether numbers are divided by their standard deviation, so that a penalty treats all columns alike. The
            features of a libsvm file are taken as they are.
        reference : bool, default=False
            Whether every category is compared with the most frequent one of its column, which has no column of its own:
            needed where coefficients are estimated without a penalty, because those of all categories could not be told
            from the intercept. Other columns that follow from those before them are left out too.

        Returns
        -------
        Encoder

        Raises
        ------
        DataError
            A column is of mixed or nested values; or no column is left.

        Examples
        --------
        >>> import io
        >>> from separatrix.data import Encoder, read_table
        >>> table = read_table(io.BytesIO(b"age,sex,ill\n30,f,no\n41,m,yes\n?,f,no\n"), target="ill")
        >>> X, names = Encoder.fit(table).transform(table)
        >>> names
        ['age', 'age is missing', 'sex=m']
        >>> X.tolist()
        [[30.0, 0.0, 0.0], [41.0, 0.0, 1.0], [35.5, 1.0, 0.0]]
        """
        if is_frame_of_dask(table):
            return learned(table, scale, reference)
        columns = table.columns
        if refused := [column for column in columns if column.kind in ("mixed", "nested")]:
            raise refusal(table.source, refused)
        dropped = {c.name: c.kind for c in columns if c.kind in ("constant", "empty", "identifier?")}
        if table.frame is None:
            indices = np.array([feature_index(c.name) for c in columns if c.kind == "number"], dtype=np.int64)
            density = table.matrix.nnz / max(1, table.n_rows * len(indices))
            encoder = cls(table.target, None, indices, dropped, density < 0.5 or len(indices) > 10_000)
        else:
            made = make_plans(table, columns, scale, reference)
            encoder = cls.of_plans(made, dropped, table.target, table.n_rows)
        encoder.announce(columns, table.source)
        return encoder._told_apart(table) if reference and table.frame is not None else encoder

    @classmethod
    def of_plans(cls, made: Sequence[Plan], dropped: Mapping[str, str], target: str | None, n_rows: int) -> Encoder:
        """The encoder of the plans for all columns, in their order; whether it is sparse is a matter of their width."""
        plans = tuple(plan for plan in made if plan.output)
        left = {**dropped, **{plan.name: plan.kind for plan in made if not plan.output}}
        return cls(target, plans, None, left, worth_sparse(plans, n_rows))

    def announce(self, columns: list[Column], source: str) -> None:
        """Note what was decided about the columns; refuse if nothing is left of them."""
        if not self.names:
            raise no_columns(source, self._dropped)
        self.notes = notes_on(columns, self.left_out)

    def _told_apart(self, table: Table) -> Encoder:
        """The encoder without columns that follow from those before them, whose coefficients could not be told."""
        X, names = self.transform(table)
        if sparse.issparse(X) or not (places := aliased_columns(X)):
            return self
        encoder = Encoder(self.target, self._plans, None, self._dropped, self.sparse, places)
        encoder.notes = [*self.notes, note_on_aliased([names[place] for place in places])]
        return encoder

    @property
    def left_out(self) -> dict[str, str]:
        """The columns that are left out, each with the reason."""
        kept = {plan.name for plan in self._plans or ()}
        return {name: WHY[kind] for name, kind in self._dropped.items() if name not in kept}

    @property
    def scales(self) -> Array:
        """What each column of the result was divided by: a weight over its scale is per unit of the table."""
        if self._plans is None:
            return np.ones(len(self.names))
        return np.array([scale for plan in self._plans for scale in plan.scales])[self._kept]

    @property
    def groups(self) -> dict[str, list[int]]:
        """For each column of the table that is used, the places of the columns that come from it."""
        if self._plans is None:
            return {name: [place] for place, name in enumerate(self.names)}
        groups: dict[str, list[int]] = {plan.name: [] for plan in self._plans}
        source = [plan.name for plan in self._plans for _ in plan.output]
        for place, kept in enumerate(self._kept.tolist()):
            groups[source[kept]].append(place)
        return groups

    def named(self, message: str) -> str:
        """A sentence about ``column 3`` of the matrix, with the name of that column in its place."""
        names = {str(place): repr(name) for place, name in enumerate(self.names)}
        return re.sub(r"\bcolumn (\d+)\b", lambda found: f"column {names.get(found[1], found[1])}", message)

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Errors inside, about columns of the matrix, name these columns."""
        try:
            yield
        except SeparatrixError as error:
            error.args = (self.named(str(error)), *error.args[1:])
            raise

    def report(self) -> list[str]:
        """What is done with the columns, in words."""
        numbers = f"{len(self.names)} features are numbers, taken as they are; what is not written is 0."
        lines = [numbers] if self._plans is None else []
        lines += [f"{plan.name}: {plan.words()}." for plan in self._plans or ()]
        return lines + [f"{name}: left out ({why})." for name, why in self.left_out.items()]

    # ------------------------------------------------------------------ applied to tables
    def transform(self, rows: Table | Rows) -> tuple[Any, list[str]]:
        """Rows as numbers.

        Parameters
        ----------
        rows : Table, DataFrame of pandas, polars or Dask, dict, or list of dicts
            Of the same columns, in any order; others are ignored. A dict is one row; of Dask, X is an array to be made.
            A category that the encoder has not met gives zeros, a missing number the mean; `surprises` counts both.

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
        if is_frame_of_dask(rows):
            return encoded(self, rows), list(self.names)
        table = rows if isinstance(rows, Table) else as_table(rows, self._wanted())
        if self._plans is None:
            return self._select(table), list(self.names)
        if table.frame is None:
            raise DataError(f"{table.source} is a libsvm file, but the model was fitted to a table with named columns.")
        frame = table.frame
        columns = {column.name: column for column in frame.get_columns()}
        if absent := [plan.name for plan in self._plans if plan.name not in columns]:
            raise unknown_column(table.source, absent[0], frame.columns)
        if self.sparse:
            blocks = [sparse.csr_matrix(self._block(plan, columns[plan.name], table)) for plan in self._plans]
            return sparse.csr_matrix(sparse.hstack(blocks, format="csr")), list(self.names)
        *first, width = np.cumsum([0, *(len(plan.output) for plan in self._plans)]).tolist()
        places = {plan.name: place for plan, place in zip(self._plans, first, strict=True)}
        X = np.zeros((table.n_rows, width))
        done = self._fill_numbers(X, frame, places)
        for plan in self._plans:
            if plan.name not in done:
                block, place = self._block(plan, columns[plan.name], table), places[plan.name]
                X[:, place : place + block.shape[1]] = block
        return X[:, self._kept] if self._aliased else X, list(self.names)

    def _fill_numbers(self, X: Floats, frame: polars.DataFrame, places: Mapping[str, int]) -> set[str]:
        """Put plain numbers in their place, all columns at once; the names of those, as others take a closer look."""
        numbers = [plan for plan in self._plans or () if isinstance(plan, NumberPlan)]
        plain = {plan.name: plan for plan in numbers if not plan.boolean and plan.spelling is None}
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
        X[:, first] = (np.where(missing, means, values) if missing.any() else values) / scales
        told = np.array([plan.missing for plan in plans])
        X[:, first[told] + 1] = missing[:, told]
        new = np.flatnonzero(missing.any(axis=0) & ~told)
        count(self.surprises, {NEVER_MISSING.format(plans[at].name): int(missing[:, at].sum()) for at in new})
        return {plan.name for plan in plans}

    def _block(self, plan: Plan, column: polars.Series, table: Table) -> Any:
        """The columns that come from one column; what is new in it is counted."""
        block = plan.block(column, table.source, table.row_numbers, self.sparse)
        count(self.surprises, block.surprises)
        return block.values

    def _wanted(self) -> dict[str, set[str]] | None:
        """The columns to look for in rows, each with the texts that are values as they are; None for a libsvm file."""
        if self._plans is None:
            return None
        return {plan.name: plan.known() if isinstance(plan, CategoryPlan) else set() for plan in self._plans}

    def filler(self) -> Callable[[Mapping[str, Any]], Floats | None]:
        """How one row, a dict, becomes a vector in some microseconds; None if it takes a closer look: `transform`."""
        return row_filler(self._plans, self._kept if self._aliased else None, self.surprises)

    def _select(self, table: Table) -> Any:
        """The known features of a libsvm file; others are counted."""
        if table.matrix is None:
            raise DataError(f"{table.source} has named columns, but the model was fitted to a libsvm file.")
        assert self._indices is not None
        matrix = table.matrix.tocsr()
        place = np.searchsorted(self._indices, matrix.indices)
        place[place == len(self._indices)] = 0
        known = self._indices[place] == matrix.indices
        gone = np.array([feature_index(name) for name in self._dropped], dtype=np.int64)
        dropped = np.isin(matrix.indices, gone)
        if not (known | dropped).all():
            count(self.surprises, {"a feature that is not known": int((~(known | dropped)).sum())})
        kept = np.concatenate([[0], np.cumsum(known)])[matrix.indptr]
        arrays = matrix.data[known].astype(np.float64), place[known], kept
        X = sparse.csr_matrix(arrays, shape=(table.n_rows, len(self._indices)))
        return X if self.sparse else X.toarray()

    # ------------------------------------------------------------------ as plain JSON
    def to_dict(self) -> dict[str, Any]:
        """The rules as plain JSON."""
        return {
            "schema": SCHEMA,
            "target": self.target,
            "plans": None if self._plans is None else [plan.to_dict() for plan in self._plans],
            "indices": None if self._indices is None else self._indices.tolist(),
            "dropped": dict(self._dropped),
            "sparse": self.sparse,
            "aliased": list(self._aliased),
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
        if not isinstance(dropped, dict) or not all(
            isinstance(n, str) and isinstance(k, str) and k in WHY for n, k in dropped.items()
        ):
            raise DataError("the columns that the encoder leaves out are malformed")
        if type(plain["sparse"]) is not bool or (plans is None) == (indices is None):
            raise DataError("the encoder is malformed")
        if indices is not None:
            places = read_indices(indices, dropped)
            read_aliased(plain["aliased"], 1, True)
            return cls(target, None, places, dropped, plain["sparse"])
        read = tuple(map(read_plan, plans)) if isinstance(plans, list) else ()
        if not read or len({plan.name for plan in read}) < len(read) or not all(plan.output for plan in read):
            raise DataError("the columns of the encoder are malformed")
        width, aliased = sum(len(plan.output) for plan in read), plain["aliased"]
        return cls(target, read, None, dropped, plain["sparse"], read_aliased(aliased, width, plain["sparse"]))
