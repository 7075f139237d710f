"""The parts of an encoder, read from plain JSON: every field is checked."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from separatrix._typing import Array
from separatrix.data.categories import CategoryPlan
from separatrix.data.dates import DatePlan
from separatrix.data.numbers import NumberPlan
from separatrix.data.plans import ConstantPlan, Plan
from separatrix.data.table import feature_index
from separatrix.data.words import WordsPlan
from separatrix.errors import DataError

_KINDS: dict[str, type[Plan]] = {
    "number": NumberPlan,
    "boolean": NumberPlan,
    "category": CategoryPlan,
    "constant": ConstantPlan,
    "date": DatePlan,
    "text": WordsPlan,
}


def read_plan(plain: Any) -> Plan:
    """The plan that `Plan.to_dict` described; `DataError` if it describes none."""
    if not isinstance(plain, dict) or not {"name", "kind", "missing"} <= set(plain):
        raise DataError("a column of the encoder is malformed")
    state = dict(plain)
    name, kind, missing = (state.pop(field) for field in ("name", "kind", "missing"))
    if not isinstance(name, str) or type(missing) is not bool or not isinstance(kind, str) or kind not in _KINDS:
        raise DataError(f"the column {name!r:.80} of the encoder is malformed")
    try:
        return _KINDS[kind].from_state(name, missing, kind, state)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"the column {name!r:.80} of the encoder is malformed: {error}") from error


def read_indices(indices: Any, dropped: Mapping[str, str]) -> Array:
    """The features of a libsvm file, rising."""
    if not _rising(indices, 1 << 31) or not indices or None in map(feature_index, dropped):
        raise DataError("the features of the encoder are malformed")
    return np.array(indices, dtype=np.int64)


def read_aliased(places: Any, width: int, sparse: bool) -> list[int]:
    """The columns that are left out because they follow from others, rising; none of a sparse matrix."""
    if not _rising(places, width) or len(places) >= width or (sparse and places):
        raise DataError("the columns that follow from others are malformed")
    return list(places)


def _rising(places: Any, below: int) -> bool:
    """Whether these are whole numbers from 0 up to a limit, each larger than the one before."""
    whole = isinstance(places, list) and all(type(place) is int and 0 <= place < below for place in places)
    return whole and all(before < after for before, after in pairwise(places))
