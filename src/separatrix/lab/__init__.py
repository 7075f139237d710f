"""The lab: draw points, watch every algorithm on them, see the proof.

``separatrix lab`` serves it to this machine's browser; `Lab` shows it in a notebook, with the extra ``lab``.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Lab"]


def __getattr__(name: str) -> Any:
    """`Lab` when it is first asked for: it needs anywidget, which the server does without."""
    if name != "Lab":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from separatrix.lab.widget import Lab
    except ModuleNotFoundError as error:
        if error.name not in ("anywidget", "traitlets"):
            raise
        raise ImportError("The lab in a notebook needs anywidget: pip install 'separatrix[lab]'") from error
    return Lab
