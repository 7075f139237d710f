"""The command ``separatrix``: one file a command."""

from __future__ import annotations

import signal
import sys
from types import FrameType

__all__ = ["main"]

SUMMARY = "Linear classifiers that prove what they found."
EXIT_CODES = "Exit codes: 0 fine; 2 usage; 3 not certified, or verify fails; 4 bad data or bad file; 130 interrupted."
COMMANDS = {
    "compare": "Rank every classifier, save the best with honest probabilities, and write report, model and run.json.",
    "fit": "Fit one classifier to a table. Its parameters are options too, as in: --model logistic --C 0.5.",
    "predict": "Predict the rows of a table with a saved model.",
    "separable": "Is there a hyperplane with every row strictly on its own side? The answer, with a proof either way.",
    "verify": "Check a model's certificate, or a proof, against the data.",
    "lab": "Draw points in a browser and watch every algorithm on them, step by step, with its certificate.",
    "bench": "Measure against other libraries.",
}


def main() -> None:
    """Run the command and exit: 0 fine, 2 usage, 3 not certified, 4 bad data or file, 130 interrupted."""
    words = sys.argv[1:]
    if words == ["--version"]:
        from separatrix import __version__

        print(f"separatrix {__version__}")
        return
    if words in (["--help"], ["-h"]):  # at once: a list of commands needs none of them
        print(help_text())
        return
    from importlib.util import find_spec

    missing = [name for name in ("jinja2", "polars", "rich", "typer") if find_spec(name) is None]
    if missing:
        print(
            f"separatrix: the command needs {missing[0]}. Install it with: pip install 'separatrix[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(2)
    from separatrix.cli.app import app

    signal.signal(signal.SIGTERM, _stop)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # a terminal without ‖ shows ?, and the command goes on
    app(prog_name="separatrix")


def help_text() -> str:
    """What ``separatrix --help`` prints."""
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {name:<{width}}{words}" for name, words in COMMANDS.items()]
    return "\n".join(
        [
            "Usage: separatrix [--version] [--help] COMMAND ...",
            "",
            SUMMARY,
            "",
            "Commands (separatrix COMMAND --help says more):",
            *lines,
            "",
            EXIT_CODES,
        ]
    )


def _stop(number: int, frame: FrameType | None) -> None:
    """A polite kill unwinds the stack, so that unfinished files are removed."""
    raise SystemExit(128 + number)
