"""The columns as the classifiers of a comparison see them."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.data import Encoder, Table


def fit_encoder(table: Table) -> Encoder:
    """Numbers divided by their standard deviations, if the encoder offers that.

    A penalty on ‖w‖² and a kernel of distances depend on units; without this, whether a length is in metres or in
    millimetres would decide the ranking.
    """
    fit: Any = Encoder.fit
    return fit(table, scale=True) if "scale" in signature(fit).parameters else fit(table)


def scales_of(encoder: Encoder) -> Floats:
    """What each column was divided by."""
    return np.asarray(getattr(encoder, "scales", np.ones(len(encoder.names))), dtype=np.float64)
