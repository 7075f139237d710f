"""``separatrix bench``: the benchmark against other libraries, where the source is checked out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.cli.common import Debug, Json, bad_option, check_new_folder, err, guarded, print_json, watched

if TYPE_CHECKING:
    from types import ModuleType

CHECKOUT = Path(__file__).parents[3]


@guarded
def bench(
    data: Annotated[
        Path | None, typer.Option("--data", help="A folder with real data: a9a, w8a, ijcnn1, news20, MNIST, SMS spam.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Part of the name of what to run, or its group; may be repeated.")
    ] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, help="Runs of each, of which the median counts.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny sizes, to see that it works.")] = False,
    limit: Annotated[float, typer.Option("--limit", min=0.1, help="Seconds that a run may take.")] = 60.0,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for results; partial runs add to it.")] = Path(
        "bench"
    ),
    json_: Json = False,
    debug: Debug = False,
) -> None:
    """Measure against scikit-learn, scikit-learn-intelex, LIBLINEAR and LIBSVM: ratios, times, memory, a plot."""
    benchmarks = _benchmarks()
    from benchmarks.problems import Scale
    from benchmarks.race import Rules

    if data is not None and not data.is_dir():
        raise FileNotFoundError(2, "No such folder", str(data))
    try:
        chosen = benchmarks.select(only or ())
    except benchmarks.NoSuchBenchmark as error:
        raise bad_option(str(error)) from None
    files = [folder / name for name in (benchmarks.RESULTS, benchmarks.TABLES, benchmarks.PLOT)]
    check_new_folder(folder, [file.name for file in files])
    console = err()
    rules = Rules(repeat, limit, lambda message: console.print(message, style="dim"))
    with watched(*files, partly="what was finished is in them, and --only runs the rest"):
        found = benchmarks.run(chosen, Scale(quick, data), rules, folder)
    if json_:
        print_json(found)
        return
    from benchmarks import tables

    typer.echo(tables.page(found))
    typer.echo(f"In {folder}: {', '.join(file.name for file in files if file.exists())}.")


def _benchmarks() -> ModuleType:
    """The runner, which is beside the package in a checkout and in no wheel."""
    if not (CHECKOUT / "benchmarks" / "adapters").is_dir():
        raise bad_option(
            "The benchmark comes with the source, not with the installed package. In a checkout: "
            "pip install -e '.[cli,bench]' && separatrix bench"
        )
    if str(CHECKOUT) not in sys.path:
        sys.path.append(str(CHECKOUT))
    from benchmarks import run

    return run
