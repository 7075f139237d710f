"""``separatrix lab``: draw points, watch the algorithms, see the proof, on a page served to this machine alone."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from separatrix.cli.common import Debug, Format, Target, bad_option, clean, guarded, labelled, out, told


@guarded
def lab(
    data: Annotated[str | None, typer.Argument(help="A table to begin with.", show_default=False)] = None,
    target: Target = None,
    x: Annotated[str | None, typer.Option("--x", help="The column across.", show_default=False)] = None,
    y: Annotated[str | None, typer.Option("--y", help="The column upward.", show_default=False)] = None,
    port: Annotated[int, typer.Option(help="The port on this machine; 0 for any that is free.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    format: Format = None,
    debug: Debug = False,
) -> None:
    """Draw points in a browser and watch every algorithm on them, step by step, with its certificate."""
    import webbrowser
    from threading import Thread

    from separatrix.lab.fits import answer
    from separatrix.lab.server import LabServer

    if data is None and (x or y or target):
        raise bad_option("--target, --x and --y are about a table: name the file.")
    start = {} if data is None else points(data, target, x, y, format)
    server = LabServer(answer, start, port)
    console = out()
    console.print(f"The lab is at {server.address}", soft_wrap=True)
    console.print("The address opens once, in one browser. Ctrl-C ends the lab.")
    if browser:  # one in this terminal is there until it is left
        Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
    try:
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        console.print("The lab has ended.")
    finally:
        server.server_close()


def points(data: str, target: str | None, x: str | None, y: str | None, format: str | None) -> dict[str, Any]:
    """Two columns of a table and its labels, as the page begins with them."""
    from separatrix.data import Encoder
    from separatrix.lab.start import two_columns

    table = labelled(data, target, format)
    encoder = Encoder.fit(table)
    X, names = encoder.transform(table)
    told(table, encoder)
    numeric = [column.name for column in table.columns if column.name in names]
    for name in (x, y):
        if name is not None and name not in numeric:
            raise bad_option(f"There is no column of numbers {clean(name)!r}. There are: {clean(', '.join(numeric))}.")
    return two_columns(X, names, numeric, table.y, x, y)
