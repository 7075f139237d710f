"""Where to draw, and in which colours: what every picture made by matplotlib shares."""

from __future__ import annotations

from typing import Any

from separatrix.errors import SeparatrixError

COLOURS = ("#1f5fa8", "#b4500f", "#2b7a4b", "#7a3fa0", "#8a6d00", "#a3305f", "#3a7f8c", "#6b6b6b")


def axes(ax: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:  # pragma: no cover - the extra is installed wherever this is tested
        raise SeparatrixError("Plots need matplotlib: pip install 'separatrix[cli]'.") from error
    return plt.subplots(layout="compressed")[1]


def legend_beside(ax: Any) -> Any:
    """A legend to the right of the axes, where it covers nothing: our own figures make room for it."""
    return ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)
