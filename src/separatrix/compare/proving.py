"""Separability for a comparison: at once for small tables, in a process of its own with a time limit for large ones.

The search has no limit of its own and cannot be stopped half way, but a process can be.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import separatrix
from separatrix._typing import Integers
from separatrix.errors import SeparatrixError, UndecidedError

SMALL = 20_000  # entries, rows times columns


@dataclass(frozen=True)
class Proof:
    """The verdict on separability in words, and the checks of its proof; "undecided" has none."""

    verdict: str
    claim: str
    exact: bool
    checks: list[str]


def prove(X: Any, codes: Integers) -> Proof:
    """Whether the classes are separable; "undecided" where float64 cannot tell."""
    try:
        answer = separatrix.separability(X, codes)
    except UndecidedError as error:
        return Proof("undecided", str(error), False, [])
    checks = [str(check) for check in answer.verify(X, codes).checks]
    return Proof(answer.verdict, answer.certificate.claim, answer.exact, checks)


def prove_within(X: Any, codes: Integers, seconds: float) -> Proof:
    """The same, given up after so many seconds if the table is large."""
    if X.shape[0] * X.shape[1] <= SMALL:
        return prove(X, codes)
    with tempfile.TemporaryDirectory(prefix="separatrix-") as folder:
        if sparse.issparse(X):
            sparse.save_npz(Path(folder, "X.npz"), X, compressed=False)
        else:
            np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "codes.npy"), codes)
        words = [sys.executable, "-m", "separatrix.compare.proving", folder]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            claim = f"Not decided within {seconds:.0f} s; `separatrix separable` has no such limit."
            return Proof("undecided", claim, False, [])
    if done.returncode:
        raise SeparatrixError(f"The search for a separating hyperplane failed: {done.stderr.strip()[-300:]}")
    return Proof(**json.loads(done.stdout))


def main() -> None:
    """What the process does: rows from a folder, the proof as JSON on standard output."""
    folder = Path(sys.argv[1])
    wide = folder / "X.npz"
    X = sparse.load_npz(wide) if wide.exists() else np.load(folder / "X.npy", allow_pickle=False)
    print(json.dumps(asdict(prove(X, np.load(folder / "codes.npy", allow_pickle=False)))))


if __name__ == "__main__":
    main()
