"""``separatrix fit``: one classifier, fitted, certified and saved."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.common import (
    UNCERTIFIED,
    Debug,
    Drop,
    Format,
    Json,
    Target,
    bad_option,
    check_folder,
    clean,
    guarded,
    labelled,
    out,
    print_json,
    told,
)
from separatrix.cli.models import MODELS, find_model, read_options


@guarded
def fit(
    context: typer.Context,
    data: Annotated[str, typer.Argument(help="A table; - for standard input.")],
    model: Annotated[str, typer.Option("--model", "-m", help=f"One of {', '.join(MODELS)}.")],
    file: Annotated[Path, typer.Option("--out", "-o", help="The model file, named as given.")],
    target: Target = None,
    drop: Drop = None,
    format: Format = None,
    json_: Json = False,
    debug: Debug = False,
) -> int:
    """Fit one classifier to a table. Its parameters are options too, as in: --model logistic --C 0.5."""
    import separatrix
    from separatrix.compare.quiet import quietly
    from separatrix.compare.wording import certificate_words, seconds
    from separatrix.data import Encoder
    from separatrix.errors import SeparatrixError
    from separatrix.persistence import save

    params = read_options(model, context.args)
    estimator = getattr(separatrix, find_model(model).estimator)(**params)
    check_folder(file)
    table = labelled(data, target, format, drop)
    encoder = Encoder.fit(table)
    X, names = encoder.transform(table)
    notes = told(table, encoder)
    started = time.monotonic()
    try:
        with quietly() as warnings:
            estimator.fit(X, table.y)
    except ValueError as error:
        named = re.match(r"(\w+)", str(error))
        # the classifier names the parameter that it cannot use; scikit-learn, in a plain ValueError, may not
        untyped = not isinstance(error, SeparatrixError) and bool(params)
        if untyped or (named is not None and named[1] in params):
            raise bad_option(str(error)) from None
        raise
    elapsed = time.monotonic() - started
    save(estimator, file, encoder=encoder, fingerprint=table.fingerprint)
    certificate, status = estimator.certificate_, estimator.status_
    certified = certificate is not None and not str(status).startswith("Not certified")
    accuracy = float(estimator.score(X, table.y))
    if json_:
        print_json(
            {
                "command": "fit",
                "model": model,
                "parameters": _plain(params),
                "file": str(file),
                "rows": int(X.shape[0]),
                "features": len(names),
                "classes": [str(label) for label in estimator.classes_],
                "training_accuracy": accuracy,
                "seconds": elapsed,
                "status": str(status),
                "certified": certified,
                "certificate": certificate_words(certificate, status),
                "claim": None if certificate is None else certificate.claim,
                "warnings": warnings,
                "notes": notes,
                "left_out": encoder.left_out,
                "fingerprint": table.fingerprint,
            }
        )
    else:
        console = out()
        shape = f"{X.shape[0]:,} rows, {len(names):,} features"
        console.print(f"{type(estimator).__name__} on {shape}: {seconds(elapsed)}, training accuracy {accuracy:.3f}")
        console.print(str(status))
        if certificate is not None:
            console.print(clean(certificate.claim))
        for warning in warnings:
            console.print(f"Warning: {clean(warning)}")
        if getattr(estimator, "standard_errors_", None) is not None:
            estimator.feature_names_in_ = names
            console.print(clean(estimator.summary()), soft_wrap=True)
        console.print(f"Wrote {file}.", soft_wrap=True)
    return 0 if certified else UNCERTIFIED


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    from separatrix.compare.result import plain

    return {name: plain(value) for name, value in params.items()}
