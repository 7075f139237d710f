"""``separatrix predict``: rows of any number through a saved model, a piece at a time."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from separatrix.cli.common import Debug, Format, Json, bad_option, check_folder, clean, err, guarded
from separatrix.cli.streaming import chunks_of

ROWS = 10_000  # in memory at a time


@guarded
def predict(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    data: Annotated[
        str, typer.Argument(help="A table, a glob or a folder; - for standard input. A target is ignored.")
    ],
    file: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write; else standard output.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="A column to keep beside the predictions.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add a column of probability for each class.")] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Add the decision scores.")] = False,
    format: Format = None,
    json_: Json = False,
    debug: Debug = False,
) -> None:
    """Predict the rows of a table, as CSV (or, with --json, one JSON object a line)."""
    from separatrix.errors import ModelFileError
    from separatrix.persistence import load
    from separatrix.scoring.scorer import Scorer

    scorer = load(model)
    if not isinstance(scorer, Scorer):
        raise ModelFileError(f"{model} holds no encoder: it was saved from Python without one, so it takes no tables.")
    if proba and not hasattr(scorer, "predict_proba"):
        raise bad_option(f"{type(scorer.model).__name__} gives no probabilities; --scores gives its scores.")
    if file is not None:
        check_folder(file)
    labels = [str(label) for label in scorer.classes_]
    head = [*([id_] if id_ else []), "prediction", *_names(scorer.model, labels, proba, scores)]
    with _writer(file) as stream:
        write = None
        for table in chunks_of(data, ROWS, format):
            columns: list[Any] = [_ids(table, id_)] if id_ else []
            X, _ = scorer.encoder.transform(table)
            columns.append(scorer.predict_encoded(X).tolist())
            if proba:
                columns += scorer.probabilities_encoded(X).T.tolist()
            if scores:
                found = scorer.model.decision_function(X)
                columns += [found.tolist()] if found.ndim == 1 else found.T.tolist()
            if write is None:  # with the first rows: data that cannot be read leave no header behind
                write = _json_lines(stream, head) if json_ else _csv_lines(stream, head)
            for row in zip(*columns, strict=True):
                write(row)
    for surprise, times in scorer.encoder.surprises.items():
        err().print(f"Note: {clean(surprise)} ({times:,} times).")


def _names(model: Any, labels: list[str], proba: bool, scores: bool) -> list[str]:
    names = [f"probability {label}" for label in labels] if proba else []
    if scores:
        pairs = len(labels) * (len(labels) - 1) // 2
        ovo = hasattr(model, "dual_coef_") and getattr(model, "decision_function_shape", "ovr") == "ovo"
        names += ["score"] if len(labels) == 2 else [f"score {label}" for label in (range(pairs) if ovo else labels)]
    return names


def _ids(table: Any, name: str) -> list[Any]:
    if table.frame is None or name not in table.frame.columns:
        raise bad_option(f"--id: there is no column {name!r} in the data.")
    return list(table.frame[name].to_list())


def _csv_lines(stream: TextIO, head: list[str]) -> Any:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(head)
    return writer.writerow


def _json_lines(stream: TextIO, head: list[str]) -> Any:
    def write(row: tuple[Any, ...]) -> None:
        stream.write(json.dumps(dict(zip(head, row, strict=True)), ensure_ascii=False, default=str) + "\n")

    return write


@contextmanager
def _writer(file: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that appears when all rows are written and not before."""
    if file is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    target = Path(os.path.realpath(file))  # a link goes on pointing to the file it points to
    part = target.with_name(f".{target.name[:100]}.{os.getpid()}.part")
    try:
        with open(part, "w", encoding="utf-8", newline="") as stream:
            yield stream
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
