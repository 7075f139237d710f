"""The command ``separatrix``: one file a command."""

from __future__ import annotations

import signal
import sys
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Run the command and exit: 0 fine, 2 usage, 3 not certified, 4 bad data or file, 130 interrupted."""
    try:
        import jinja2  # noqa: F401
        import polars  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(
            f"separatrix: the command needs {error.name}. Install it with: pip install 'separatrix[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    from separatrix.cli.app import app

    signal.signal(signal.SIGTERM, _stop)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # a terminal without ‖ shows ?, and the command goes on
    app(prog_name="separatrix")


def _stop(number: int, frame: FrameType | None) -> None:
    """A polite kill unwinds the stack, so that unfinished files are removed."""
    raise SystemExit(128 + number)
