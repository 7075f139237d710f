"""The command that fits a line of the leaderboard again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from separatrix.compare.result import Entry, plain


def fit_command(entry: Entry, data: Sequence[str], seed: int, folds: int, file: str = "model.separatrix") -> str:
    """``separatrix fit ...`` with the same rows, encoding, parameters, calibration and cut; "" where there is none.

    Numbers are written so that they are read back bit for bit, and so are the weights fitted.
    """
    if not entry.key:
        return ""
    words = ["separatrix", "fit", *data, "--model", entry.key, "--scale"]
    for name, value in entry.params.items():
        words += [f"--{name.replace('_', '-')}", str(value).lower() if isinstance(value, bool) else str(plain(value))]
    if entry.params.get("C") == float("inf"):
        words += ["--coding", "all"]  # as all lines of a comparison have it
    if entry.sample is not None:
        words += ["--sample", str(entry.sample)]
    if entry.calibration is not None:
        words += ["--calibrate", entry.calibration.kind, "--folds", str(folds)]
    if entry.decision is not None and entry.decision.threshold is not None:
        words += ["--threshold", repr(entry.decision.threshold)]
    if entry.decision is not None and entry.decision.offsets is not None:
        words += [f"--offsets={','.join(map(repr, entry.decision.offsets))}"]
    if entry.sample is not None or entry.calibration is not None:
        words += ["--seed", str(seed)]
    return shlex.join([*words, "--out", file])
