"""The columns as the classifiers of a comparison see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.data import Encoder, Table


def fit_encoder(table: Table) -> Encoder:
    """Numbers divided by their standard deviations.

    A penalty on ‖w‖² and a kernel of distances depend on units; without this, whether a length is in metres or in
    millimetres would decide the ranking.
    """
    return Encoder.fit(table, scale=True)


def scales_of(encoder: Encoder) -> Floats:
    """What each column was divided by."""
    return np.asarray(encoder.scales, dtype=np.float64)


def in_units(table: Table, X: Any, scales: Floats) -> Any:
    """X in the units of the table: encoded again without scales, since multiplying would round."""
    if (scales == 1).all():
        return X
    return Encoder.fit(table).transform(table)[0]
