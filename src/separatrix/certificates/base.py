"""The common base of the certificates: a claim, its witnesses, its check, and its plain-dict form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.certificates._fields import check_field
from separatrix.certificates._plain import from_plain, to_plain


@dataclass(frozen=True)
class Check:
    """One figure that must be at most its tolerance plus the rounding error of computing it in float64."""

    name: str
    figure: float
    tolerance: float = 0.0
    rounding: float = 0.0

    def __bool__(self) -> bool:
        allowed = self.tolerance + self.rounding
        return bool(self.figure <= allowed < np.inf)  # False for NaN, and for an error that nothing bounds

    def __str__(self) -> str:
        return (
            f"{'holds' if self else 'FAILS'}  {self.name}: {self.figure:.3g} <= {self.tolerance:.3g}"
            f" + {self.rounding:.3g} for rounding"
        )


@dataclass(frozen=True)
class Verification:
    """The checks of a certificate; true when all hold."""

    checks: tuple[Check, ...]

    def __bool__(self) -> bool:
        return bool(self.checks) and all(self.checks)

    def __str__(self) -> str:
        return "\n".join(map(str, self.checks))


# what reading or checking something malformed may raise before anyone can say what is wrong with it
_MALFORMED = (TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError)


def _guarded(verify: Callable[..., Verification]) -> Callable[..., Verification]:
    """`ValueError` for witnesses or data of the wrong form; NaN and overflow make a check fail, without a warning."""

    @wraps(verify)
    def guarded(*args: Any, **kwargs: Any) -> Verification:
        try:
            with np.errstate(all="ignore"):
                if _delayed(args[1] if len(args) > 1 else kwargs.get("X")):
                    # it reads the rows in blocks from where they are, and calls this again: the check is made here
                    there = import_module("separatrix.design.partitions_dask")
                    return there.verified(guarded, *args, **kwargs)
                return verify(*args, **kwargs)
        except _MALFORMED as error:
            raise ValueError(f"Certificate and data do not fit together, or are malformed: {error}") from error

    return guarded


def _delayed(X: Any) -> bool:
    """Whether X is a collection of Dask, or a list of its delayed objects."""
    kind = type(X[0] if isinstance(X, (list, tuple)) and X else X)
    return hasattr(kind, "__dask_graph__") and any(base.__module__.startswith("dask.") for base in kind.__mro__)


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(ABC):
    """A claim about a fitted classifier with all that is needed to check it against the data."""

    schema: ClassVar[int] = 1
    _kinds: ClassVar[dict[str, type[Certificate]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Certificate._kinds[cls.__name__] = cls
        if "verify" in cls.__dict__:
            cls.verify = _guarded(cls.verify)  # type: ignore[method-assign]

    @property
    @abstractmethod
    def claim(self) -> str:
        """What is claimed, in one sentence."""

    @property
    def short(self) -> str:
        """What is claimed, in a few words, for a table."""
        return self.claim

    @classmethod
    def short_of(cls, parts: Sequence[Certificate]) -> str:
        """The claims of several certificates of this class, in a few words."""
        words = [part.short for part in parts]
        return words[0] if len(set(words)) == 1 else f"{words[0]}; and {len(words) - 1} more parts"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.short})"  # the witnesses may be thousands of numbers

    @property
    def all_parts(self) -> Sequence[Certificate]:
        """The certificates that this one consists of: one, unless it is an `All`."""
        return (self,)

    @property
    def in_sums(self) -> bool:
        """Whether the check is sums over a few rows at a time, which can be made where these are: see `_blocks.py`."""
        return False

    @property
    def column(self) -> int | None:
        """The column of a 0/1 matrix y that this is about; None if y holds labels."""
        return getattr(self, "task", None)

    def about_column(self, j: int, classes: Any) -> Certificate | None:
        """The same claim, so far about a 0/1 vector, as one about column j of a matrix; None if it cannot be that."""
        return None

    def for_column(self, j: int) -> Certificate:
        """The part that is about column j of a 0/1 matrix y; `LookupError` if there is none."""
        if self.column != j:
            raise LookupError(f"{type(self).__name__} has no part about column {j} of y.")
        return self

    @abstractmethod
    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Recompute the claim from the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The rows the classifier was fitted to.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,) or None
            Their weights, before any class weight.

        Returns
        -------
        Verification
            True when the claim holds; lists every check.
        """

    def to_dict(self) -> dict[str, Any]:
        """The certificate as numbers, strings, lists and dicts only, fit for JSON."""
        witnesses = {field.name: to_plain(getattr(self, field.name)) for field in fields(self)}
        return {"kind": type(self).__name__, "schema": self.schema, **witnesses}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The certificate that `to_dict` described; `ValueError` that names a field which is missing or malformed."""
        if not isinstance(plain, Mapping):
            raise ValueError("A certificate must be a mapping.")
        name = str(plain.get("kind"))
        if name not in Certificate._kinds:
            getattr(import_module(__package__), name, None)  # which imports it, if there is such a kind
        kind = Certificate._kinds.get(name)
        if kind is None or not issubclass(kind, cls):
            raise ValueError(f"Not a {cls.__name__}: its kind is {plain.get('kind')!r}.")
        if plain.get("schema") != kind.schema:
            raise ValueError(
                f"This certificate has schema {plain.get('schema')!r}, but this version reads schema {kind.schema}."
            )
        names = {field.name for field in fields(kind)}
        given = set(plain) - {"kind", "schema"}
        if given != names:
            given_names = sorted(map(str, given))
            raise ValueError(f"{kind.__name__} needs the fields {sorted(names)}; this one has {given_names}.")
        witnesses = {name: _read(kind.__name__, name, plain[name]) for name in names}
        kind._check(witnesses)
        return kind(**witnesses)

    @classmethod
    def _check(cls, witnesses: Mapping[str, Any]) -> None:
        """`ValueError` if a field that was read is not of its type."""
        for field in fields(cls):
            check_field(cls.__name__, field.name, str(field.type), witnesses[field.name])


def _read(kind: str, name: str, plain: Any) -> Any:
    try:
        return from_plain(plain, Certificate.from_dict)
    except (ValueError, *_MALFORMED) as error:
        raise ValueError(f"The field {name!r} of this {kind} is malformed: {error}") from error
