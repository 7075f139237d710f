"""``separatrix compare``: a table in, a ranked and certified answer out."""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.common import (
    BAD_DATA,
    METRICS,
    UNCERTIFIED,
    USAGE,
    Data,
    Debug,
    Drop,
    Format,
    Json,
    Target,
    bad_option,
    check_metric,
    check_new_folder,
    clean,
    complain,
    guarded,
    labelled,
    out,
    print_json,
    told,
    watched,
)
from separatrix.cli.streaming import Memory, sampled_rows, streams

if TYPE_CHECKING:
    from separatrix.compare import Run

FILES = ("report.html", "model.separatrix", "run.json")
ROWS = "rows.parquet"  # the rows that were compared, where they are not those of one file


@guarded
def compare(
    data: Data = None,
    target: Target = None,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Where to write the files.")] = Path(),
    metric: Annotated[
        str, typer.Option("--metric", help=f"What ranks, chooses and sets the cut: {', '.join(METRICS)}.")
    ] = METRICS[0],
    save: Annotated[
        str | None,
        typer.Option("--save", help="Save this line of the leaderboard, by number or name.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of folds, samples and draws.")] = 0,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds of the cross-validation.")] = 5,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=1, help="Seconds; classifiers that would exceed it are left out.")
    ] = 300.0,
    drop: Drop = None,
    memory: Memory = None,
    format: Format = None,
    json_: Json = False,
    debug: Debug = False,
) -> int:
    """Rank every classifier, save the best with honest probabilities, and write report, model and run.json."""
    started = time.monotonic()  # what is imported below counts
    from separatrix.cli.progress import progress
    from separatrix.cli.show import show_run
    from separatrix.compare import compare as run_comparison
    from separatrix.compare.ranking import line_of
    from separatrix.errors import SeparatrixError
    from separatrix.persistence import Sample
    from separatrix.persistence.atomic import write_atomically, write_together
    from separatrix.persistence.files import dump

    metric = check_metric(metric)
    check_new_folder(folder, (*FILES, ROWS))
    notes: tuple[str, ...] = ()
    if data is not None and streams(data, memory):
        if target is None:
            raise bad_option("Give the column to predict: --target COLUMN.")
        notes = sampled_rows(data, target, format, memory, seed, folder / ROWS)
        started = time.monotonic()  # the limit is for what is compared
        if notes:  # or else it is one file, all of which fits
            data, format = str(folder / ROWS), None
    source = table_words(data, target, drop, format)
    with progress() as tell:
        table = labelled(data, target, format, drop)
        table = replace(table, notes=notes + table.notes)
        run = run_comparison(
            table,
            folds=folds,
            seed=seed,
            time_limit=max(1.0, time_limit - (time.monotonic() - started)),
            metric=metric,
            save=save,
            data=source,
            tell=tell,
            fork=True,
        )
    run.time_limit = time_limit
    told(table, run.encoder)
    best, saved = run.best, dict[str, bytes]()
    try:
        saved["model.separatrix"] = dump(
            best.model,
            encoder=run.encoder,
            fingerprint=table.fingerprint,
            calibration=best.calibration,
            decision=best.decision,
            sample=None if best.sample is None else Sample(best.sample, seed),
        )
    except SeparatrixError as error:  # such as names that no file has room for: the results are there all the same
        complain(f"model.separatrix cannot be written, but what was found is: {error}")
    folder.mkdir(parents=True, exist_ok=True)
    with watched(*(folder / name for name in FILES), partly="without run.json, they need not belong together"):
        # what was found is written before a page is drawn, which must not cost a finished run
        write_together(folder, {**saved, "run.json": _record(run, saved)[0]})
        for name in {"report.html", "model.separatrix"} - set(saved):  # those of an earlier run
            (folder / name).unlink(missing_ok=True)
        words = ["separatrix", "compare", *source, "--metric", metric, "--seed", str(seed), "--folds", str(folds)]
        page = _page(run, started + time_limit, words, data)
        files = saved | ({} if page is None else {"report.html": page})
        text, record = _record(run, files)
        if page is not None:
            write_atomically(folder / "report.html", page)
            write_atomically(folder / "run.json", text)
        if json_:
            print_json(record)
        else:
            console = out()
            show_run(run, console)
            console.print()
            console.print(f"Wrote {', '.join(str(folder / name) for name in [*files, 'run.json'])}.", soft_wrap=True)
    if save is not None and line_of(run.entries, save) is None:
        names = ", ".join(entry.title for entry in run.entries if entry.key)
        complain(f"--save: no line {clean(save)!r} can be saved, so {best.title} was. There are: {names}.")
        return USAGE
    return BAD_DATA if not saved else 0 if run.verified and best.certified else UNCERTIFIED


def table_words(data: str | None, target: str | None, drop: list[str] | None, format: str | None) -> list[str]:
    """What names the table on a command line."""
    words = [] if data is None else [data]
    words += [] if target is None else ["--target", target]
    for name in drop or ():
        words += ["--drop", name]
    return words + ([] if format is None else ["--format", format])


def _record(run: Run, files: dict[str, bytes]) -> tuple[bytes, dict[str, Any]]:
    """run.json, as bytes and as plain values: everything shown, and the checksums of the files beside it."""
    record = {**run.to_dict(), "files": {name: {"sha256": sha256(data).hexdigest()} for name, data in files.items()}}
    return (json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode(), record


def _page(run: Run, until: float, words: list[str], data: str | None) -> bytes | None:
    """report.html, or None with a word on standard error where it cannot be drawn."""
    from separatrix.compare.entering import entering
    from separatrix.compare.explain import traced
    from separatrix.report import render

    run.trace = traced(run, until - time.monotonic())
    run.path = entering(run, until - time.monotonic())
    check = ["separatrix", "verify", "model.separatrix", *([data] if data else [])]
    try:
        return render(run, shlex.join(words), shlex.join(check)).encode()
    except Exception as error:
        complain(f"report.html could not be drawn ({type(error).__name__}: {error}); the results are written.")
        return None
