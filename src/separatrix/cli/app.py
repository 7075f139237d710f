"""The commands, gathered."""

from __future__ import annotations

from typing import Annotated

import typer

from separatrix import __version__
from separatrix.cli import EXIT_CODES, SUMMARY
from separatrix.cli.bench import bench
from separatrix.cli.compare import compare
from separatrix.cli.fit import fit
from separatrix.cli.lab import lab
from separatrix.cli.predict import predict
from separatrix.cli.separable import separable
from separatrix.cli.verify import verify

app = typer.Typer(
    help=SUMMARY,
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(compare)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(fit)
app.command()(predict)
app.command()(separable)
app.command()(verify)
app.command()(lab)
app.command()(bench)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"separatrix {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Linear classifiers that prove what they found."""
