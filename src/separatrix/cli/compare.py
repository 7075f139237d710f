"""``separatrix compare``: a table in, a ranked and certified answer out."""

from __future__ import annotations

import json
import shlex
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.common import (
    UNCERTIFIED,
    Debug,
    Drop,
    Format,
    Json,
    Target,
    bad_option,
    check_new_folder,
    guarded,
    labelled,
    out,
    print_json,
    told,
    watched,
)

FILES = ("report.html", "model.separatrix", "run.json")


@guarded
def compare(
    data: Annotated[
        str | None, typer.Argument(help="A table; - for standard input. Without it, the embedded breast-cancer table.")
    ] = None,
    target: Target = None,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Where to write the files.")] = Path(),
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of folds, samples and draws.")] = 0,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds of the cross-validation.")] = 5,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=1, help="Seconds; classifiers that would exceed it are left out.")
    ] = 300.0,
    drop: Drop = None,
    format: Format = None,
    json_: Json = False,
    debug: Debug = False,
) -> int:
    """Say whether the classes are separable, rank every classifier, and write report, model and run.json."""
    from separatrix.cli.progress import progress
    from separatrix.cli.show import show_run
    from separatrix.compare import compare as run_comparison
    from separatrix.data import embedded
    from separatrix.persistence.atomic import write_together
    from separatrix.persistence.files import dump
    from separatrix.report import render

    if data is None and target is not None:
        raise bad_option("--target needs DATA; the embedded table has a target of its own.")
    check_new_folder(folder, FILES)
    with progress() as tell:
        table = embedded() if data is None else labelled(data, target, format, drop)
        run = run_comparison(table, folds=folds, seed=seed, time_limit=time_limit, tell=tell)
    told(table, run.encoder)
    words = ["separatrix", "compare", *([data, *(["--target", target] if target else [])] if data else [])]
    words += ["--seed", str(seed), "--folds", str(folds)]
    for name in drop or ():
        words += ["--drop", name]
    check = ["separatrix", "verify", "model.separatrix", *([data] if data else [])]
    page = render(run, shlex.join(words), shlex.join(check))
    model = dump(run.best.model, encoder=run.encoder, fingerprint=table.fingerprint)
    files = {"report.html": page.encode(), "model.separatrix": model}
    record = {**run.to_dict(), "files": {name: {"sha256": sha256(data).hexdigest()} for name, data in files.items()}}
    files["run.json"] = (json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    with watched(*(folder / name for name in FILES), partly="without run.json, they need not belong together"):
        write_together(folder, files)
        if json_:
            print_json(record)
        else:
            console = out()
            show_run(run, console)
            console.print()
            console.print(f"Wrote {', '.join(str(folder / name) for name in FILES)}.", soft_wrap=True)
    return 0 if run.verified and run.best.certified else UNCERTIFIED
