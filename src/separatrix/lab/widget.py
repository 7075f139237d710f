"""The lab as a widget for notebooks: the same page, with the kernel in the server's place."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from separatrix.lab.files import module, styles
from separatrix.lab.fits import answer
from separatrix.lab.start import beginning, start


class Lab(anywidget.AnyWidget):
    """Draw points and watch the algorithms on them, in Jupyter, VS Code, Colab or marimo.

    Parameters
    ----------
    X : array-like of shape (n, 2) or None
        Points to begin with.
    y : array-like of shape (n,) or None
        Their labels, of up to six classes.
    names : pair of str
        What the columns are called; those of a data frame by default.

    Attributes
    ----------
    start : dict
        What the page began with.

    Examples
    --------
    >>> from separatrix.lab import Lab  # doctest: +SKIP
    >>> Lab([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])  # doctest: +SKIP
    """

    _esm = module()
    _css = styles()
    start = traitlets.Dict().tag(sync=True)

    def __init__(self, X: Any = None, y: Any = None, names: Any = None) -> None:
        if (X is None) is not (y is None):
            raise ValueError("X and y come together: the points, and a label for each.")
        begin: dict[str, Any] = {}
        if X is not None:
            columns = list(names if names is not None else getattr(X, "columns", ("x₁", "x₂")))
            begin = start(X, y, [str(name) for name in columns])
        super().__init__(start={**beginning(begin), "notebook": True})
        self.on_msg(self._answer)

    def _answer(self, widget: Any, content: Any, buffers: Any) -> None:
        """A request of the page, answered by its id; a fault of ours is a sentence there too."""
        number = content.get("id")
        try:
            self.send({"id": number, "answer": answer(content)})
        except Exception as error:
            self.send({"id": number, "error": f"The lab failed: {error}"})
