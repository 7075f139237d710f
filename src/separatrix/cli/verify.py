"""``separatrix verify``: a saved claim, recomputed from the data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.common import UNCERTIFIED, Debug, Format, Json, clean, guarded, labelled, out, print_json
from separatrix.cli.separable import PROOF, SCHEMA
from separatrix.cli.streaming import Memory, going_through, opened_rows, streams

MOST_BYTES = 1 << 30  # of a proof: more is no proof of a table that fits in memory


@guarded
def verify(
    file: Annotated[Path, typer.Argument(help="A model file, or a proof of `separatrix separable --out`.")],
    data: Annotated[
        str | None,
        typer.Argument(
            help="The table that it is about, or its files; - for standard input. Without it, the embedded one."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The target column, if not the saved one.", show_default=False)
    ] = None,
    memory: Memory = None,
    format: Format = None,
    json_: Json = False,
    debug: Debug = False,
) -> int:
    """Recompute the claim of a model or a proof from the data; exit code 3 if it does not hold."""
    import numpy as np

    from separatrix.compare.tuning import sample_rows
    from separatrix.data import embedded
    from separatrix.persistence.agreement import about_the_data_only

    certificate, encoder, fingerprint, bundle = _claim(file)
    X: Any
    if streams(data, memory) and data is not None:
        rows_in_file = opened_rows(data, target or encoder.target, format, memory, encoder=encoder)
        X, y, found = rows_in_file.X, rows_in_file.y, rows_in_file.fingerprint
    else:
        table = embedded() if data is None else labelled(data, target or encoder.target, format)
        X, y, found = encoder.transform(table)[0], np.asarray(table.y), table.fingerprint
    same = fingerprint is None or fingerprint == found
    notes = [] if same else ["this is not the table that the file was made from (its fingerprint differs)"]
    if bundle is not None and bundle.sample is not None:
        rows = sample_rows(y, *bundle.sample)
        notes.append(
            f"the model learned from {len(rows):,} of the {len(y):,} rows, drawn at random: the claim is of these"
        )
        X, y = X[rows], y[rows]
    if certificate is None:
        checks, holds, claim = [], False, "This model carries no certificate: its fit was not certified."
    else:
        try:
            with going_through(X, "verifying"):
                verification = certificate.verify(X, y)
            checks, holds, claim = [str(check) for check in verification.checks], bool(verification), certificate.claim
        except ValueError as error:
            checks, holds, claim = [f"FAILS  {error}"], False, certificate.claim
    if certificate is not None and bundle is not None:
        # a claim about other weights than the model has would say nothing of the model
        other = bundle.differences(X, y)
        checks += [f"FAILS  the model: {difference}" for difference in other]
        holds = holds and not other
        if about_the_data_only(bundle.model):
            notes.append("the claim is about the data; the weights of the model are no optimum, and nothing is claimed")
    if json_:
        print_json(
            {
                "command": "verify",
                "file": str(file),
                "holds": holds,
                "claim": claim,
                "checks": checks,
                "same_data": same,
                "notes": notes,
            }
        )
        return 0 if holds else UNCERTIFIED
    console = out()
    console.print(f"Claim: {clean(claim)}")
    for check in checks:
        console.print(f"  {clean(check)}", soft_wrap=True)
    for note in notes:
        console.print(f"Note: {note}.", soft_wrap=True)
    console.print("The claim holds." if holds else "The claim does NOT hold for these data.", style="bold")
    return 0 if holds else UNCERTIFIED


def _claim(file: Path) -> tuple[Any, Any, str | None, Any]:
    """The certificate, the encoder and the fingerprint of a proof or a model file, and what else the latter holds."""
    from separatrix.errors import ModelFileError
    from separatrix.persistence import load_bundle

    with open(file, "rb") as stream:
        start = stream.read(64).lstrip()
    if start.startswith(b"{") and b"\0" not in start[:8]:  # a model file starts with a length, high bytes 0
        return *_proof(file), None
    bundle = load_bundle(file)
    if bundle.encoder is None:
        raise ModelFileError(f"{file} holds no encoder: it was saved from Python without one, so it takes no tables.")
    return bundle.model.certificate_, bundle.encoder, bundle.fingerprint, bundle


def _proof(file: Path) -> tuple[Any, Any, str | None]:
    from separatrix.certificates import Certificate
    from separatrix.data import Encoder
    from separatrix.errors import ModelFileError

    if file.stat().st_size > MOST_BYTES:
        raise ModelFileError(f"{file} is too large for a proof.")
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(plain, Mapping) or plain.get("format") != PROOF:
            raise ValueError("it is neither a model nor a proof of separatrix")
        if plain.get("schema") != SCHEMA:
            raise ValueError(f"its schema is {plain.get('schema')!r}, this version reads {SCHEMA}")
        certificate = Certificate.from_dict(plain["certificate"])
        return certificate, Encoder.from_dict(plain["encoder"]), plain.get("fingerprint")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(f"{file} cannot be read: {error}") from None
