"""What a learner hands back: a model, a certificate, a status and, on request, a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from typing import Any

import numpy as np

from separatrix._typing import Array
from separatrix.errors import SeparatrixError

__all__ = ["Fit", "Status", "Trace"]


class Status(Enum):
    """How a fit ended; the value is the sentence shown to the user.

    Attributes
    ----------
    certified : bool
        Whether a fit that ended so claims what its certificate says.
    short : str
        What a table says of a fit that ended so without a certificate.
    """

    _value_: str
    certified: bool
    short: str

    CERTIFIED = "Certified: the optimum lies within the stated gap, which is within tol."
    FORMULA = "Solved by formula: the estimate is the optimum up to rounding, and the certificate checks it."
    MINIMUM_NORM = "Solved by formula: many weights are optimal (collinear columns); these have minimum norm."
    BOUNDED = "Solved by formula under a bound: the likelihood grows without limit, so some parameters are held there."
    SEPARATED = "Separated: every training row is strictly on its own side, and the certificate proves it."
    UNSTRICT = (
        "Not certified: the last pass was clean, but some rows are not strictly on their side (see the warning).",
        False,
        "the last pass was clean, but some rows are not strictly on their side (see the warning)",
    )
    STREAM = ("Learned from a stream: the rows seen are gone, so nothing is claimed about them.", False)
    POCKET = "Best of the weights tried: the certificate counts its errors and says how few are known to be possible."
    BRACKETED = "The best margin is bracketed as closely as was asked, and the certificate proves it."
    NO_MARGIN = "No margin: 0 is in the convex hull of the points y (x, 1) up to rounding, as the certificate shows."
    NO_MAXIMUM = "No finite maximum likelihood: the classes are separable, as the certificate shows."
    FEWEST_ERRORS = "The fewest errors of any hyperplane: as many are proven necessary as were found."
    BETWEEN_BOUNDS = "Not settled within max_nodes: the certificate has the errors found and those proven necessary."
    NO_MINIMUM = "No finite minimum: the objective goes on falling as the weights grow (see the warning)."
    STATIONARY = "Stationary: the gradient is zero as closely as the certificate says; no more is claimed."
    REPEATING = (
        "Not certified: the weights came back to what they were, so the updates repeat for ever (see the warning).",
        False,
        "the weights came back to what they were, so the updates repeat for ever",
    )
    UNCHECKED = (
        "Solved by formula, not certified: no check can repeat one's own function, or a class without rows.",
        False,
    )
    LOCAL = (
        "Local: the kernel is not known to be positive semidefinite, so no optimum is claimed (see the warning).",
        False,
    )
    UNCERTIFIED = (
        "Not certified: the iterations ran out; the warning states the accuracy reached.",
        False,
        "the iterations ran out",
    )

    def __new__(cls, sentence: str, certified: bool = True, short: str = "") -> Status:
        status = object.__new__(cls)
        status._value_, status.certified, status.short = sentence, certified, short or sentence.removesuffix(".")
        return status

    @property
    def no_optimum(self) -> bool:
        """Whether there was no optimum to find: a certificate, if there is one, is about the data, not the weights."""
        return self in (Status.NO_MAXIMUM, Status.NO_MINIMUM)

    def __str__(self) -> str:
        return self.value


class Trace(Mapping[str, Array]):
    """The steps of an iterative algorithm as columns: ``trace["objective"]`` plots directly.

    Columns in common are ``step``, ``point`` (index of the row used, -1 if all), ``objective``, ``gap``,
    ``mistakes`` and ``weights`` (steps, d+1); an algorithm records those that mean something for it.

    Examples
    --------
    >>> trace = Trace()
    >>> trace.record(step=0, objective=2.0)
    >>> trace.record(step=1, objective=0.5)
    >>> trace["objective"].tolist()
    [2.0, 0.5]
    """

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {}

    def record(self, **row: Any) -> None:
        """Append one step. All steps have the same columns; arrays are copied."""
        if not self._columns:
            self._columns = {name: [] for name in row}
        if row.keys() != self._columns.keys():
            raise ValueError(f"This trace has the columns {list(self._columns)}; the step has {list(row)}.")
        for name, value in row.items():
            self._columns[name].append(np.array(value))

    @property
    def n_steps(self) -> int:
        """Number of steps recorded."""
        return len(next(iter(self._columns.values()), []))

    def __getitem__(self, name: str) -> Array:
        return np.array(self._columns[name])

    def to_frame(self) -> Any:
        """The steps as a pandas DataFrame, a row each; the entries of a vector are columns: weights_0, weights_1, ...

        Examples
        --------
        >>> trace = Trace()
        >>> trace.record(step=0, weights=[0.0, 1.0])
        >>> trace.to_frame().columns.tolist()
        ['step', 'weights_0', 'weights_1']
        """
        try:
            pandas: Any = import_module("pandas")
        except ImportError as error:
            raise SeparatrixError("A frame needs pandas: pip install pandas.") from error
        columns: dict[str, Array] = {}
        for name in self:
            values = self[name]
            if values.ndim == 1:
                columns[name] = values
                continue
            for place in np.ndindex(values.shape[1:]):
                columns["_".join([name, *map(str, place)])] = values[(slice(None), *place)]
        return pandas.DataFrame(columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    __eq__ = object.__eq__  # a mapping compares values, and arrays have no truth value
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Trace({self.n_steps} steps of {', '.join(self._columns) or 'nothing'})"


@dataclass(frozen=True)
class Fit:
    """data → (model, certificate, status): what every learner of this package returns.

    Parameters
    ----------
    model : object
        Has ``scores(X) -> (n, k)``; `separatrix.geometry.Hyperplanes` for a linear model.
    certificate : certificate or None
        A claim that holds, or nothing.
    status : Status
    n_iter : int
        Iterations used; 1 for a formula.
    trace : Trace or None
    attributes : mapping
        What else the estimator publishes, by public name (``rank_``, ``centroids_``, ...).
    warnings : tuple of Warning
        What the estimator is to warn of; who learns does not warn by itself.
    sure : bool
        Whether the check of the certificate is certain to accept: its own sums are stated, or its rounding is bounded
        and far from what it allows.
    """

    model: Any
    certificate: Any
    status: Status
    n_iter: int = 1
    trace: Trace | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Warning, ...] = ()
    sure: bool = False
