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
    except (ValueError, TypeError) as error:
        raise DataError(f"the column {name!r:.80} of the encoder is malformed: {error}") from error


def read_indices(indices: Any, dropped: Mapping[str, str]) -> Array:
    """The features of a libsvm file, rising."""
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


def read_aliased(places: Any, width: int, sparse: bool) -> list[int]:
    """The columns that are left out because they follow from others, rising; none of a sparse matrix."""
    good = (
        isinstance(places, list)
        and all(type(place) is int and 0 <= place < width for place in places)
        and all(before < after for before, after in pairwise(places))
        and len(places) < width
        and not (sparse and places)
    )
    if not good:
        raise DataError("the columns that follow from others are malformed")
    return places
