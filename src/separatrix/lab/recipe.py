"""Copy as Python: a script that makes the same fit from the same points, to the last bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.lab.algorithms import MAPS
from separatrix.lab.facts import WORK
from separatrix.lab.request import Sample

ACROSS = 4  # points on a line


def recipe(
    name: str, estimator: str | None, parameters: Mapping[str, Any], settings: Mapping[str, Any], sample: Sample
) -> str:
    """The script as text; numbers are written so that Python reads the same floats.

    Without an estimator, as none could be fitted, it is the script of the proof.
    """
    points = [f"[{x!r}, {y!r}]" for x, y in sample.X.tolist()]
    rows = [", ".join(points[i : i + ACROSS]) for i in range(0, len(points), ACROSS)]
    arguments = ", ".join(f"{key}={written(value)}" for key, value in parameters.items())
    lines = [
        "import numpy as np",
        f"from separatrix import {estimator or 'separability'}",
        "",
        "X = np.array([",
        *[f"    {row}," for row in rows],
        "])",
        f"y = np.array({sample.y.tolist()!r})",
    ]
    if name == "lift":
        lines.append(f"X = np.column_stack([X, {MAPS[settings['map']][0]}])")
    if estimator is None:
        lines += [
            f"found = separability(X, y, exact=True, max_work={WORK:g})",
            "print(found.verdict)",
            "print(found.certificate.claim)",
        ]
    else:
        lines += [
            f"model = {estimator}({arguments}).fit(X, y)",
            "print(model.status_)",
            "print(model.certificate_.claim if model.certificate_ else 'no certificate')",
        ]
    return "\n".join(lines) + "\n"


def written(value: Any) -> str:
    """The value as Python source."""
    return "np.inf" if isinstance(value, float) and np.isinf(value) else repr(value)
