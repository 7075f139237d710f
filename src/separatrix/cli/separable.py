"""``separatrix separable``: the verdict, and its proof as a file that anyone can check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.common import (
    Debug,
    Drop,
    Format,
    Json,
    Target,
    check_folder,
    clean,
    guarded,
    out,
    print_json,
)
from separatrix.cli.streaming import Memory, encoded_rows, going_through

PROOF = "separatrix proof"
SCHEMA = 1


@guarded
def separable(
    data: Annotated[str, typer.Argument(help="A table, a glob or a folder of files; - for standard input.")],
    target: Target = None,
    exact: Annotated[bool, typer.Option("--exact", help="Prove it in rational arithmetic.")] = False,
    file: Annotated[Path | None, typer.Option("--out", "-o", help="Write the proof to this file.")] = None,
    drop: Drop = None,
    memory: Memory = None,
    format: Format = None,
    json_: Json = False,
    debug: Debug = False,
) -> None:
    """Is there a hyperplane with every row strictly on its own side? The answer, with a proof either way."""
    from separatrix import separability
    from separatrix.persistence.atomic import write_atomically

    if file is not None:
        check_folder(file)
    X, y, encoder, notes, fingerprint = encoded_rows(data, target, format, memory, drop)
    with encoder.naming(), going_through(X, "deciding"):
        answer = separability(X, y, exact=exact)
    if file is not None:
        proof = {
            "format": PROOF,
            "schema": SCHEMA,
            "verdict": answer.verdict,
            "claim": answer.certificate.claim,
            "certificate": answer.certificate.to_dict(),
            "encoder": encoder.to_dict(),
            "fingerprint": fingerprint,
        }
        write_atomically(file, (json.dumps(proof, ensure_ascii=False, allow_nan=False) + "\n").encode())
    if json_:
        print_json(
            {
                "command": "separable",
                "rows": int(X.shape[0]),
                "features": int(X.shape[1]),
                "verdict": answer.verdict,
                "exact": answer.exact,
                "claim": answer.certificate.claim,
                "margin": answer.margin,
                "proof": None if file is None else str(file),
                "notes": notes,
                "left_out": encoder.left_out,
                "fingerprint": fingerprint,
            }
        )
        return
    console = out()
    console.print(f"{answer.verdict}: {clean(answer.certificate.claim)}")
    if answer.verdict != "separable" and not answer.exact:
        console.print("Proved up to rounding; --exact proves it in rational arithmetic.", style="dim")
    if file is not None:
        console.print(f"Wrote {file}; check it with: separatrix verify {file} {clean(data)}", soft_wrap=True)
