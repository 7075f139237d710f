"""Separability for a comparison: in a process of its own, which works while cheap classifiers are compared.

It is proved of the columns in the units of the table. Whether a hyperplane separates does not depend on scale, but
what exact arithmetic costs does: a column divided by its standard deviation has numbers of many more digits.

The search may do a counted amount of work, so that the verdict does not depend on the machine. What --time-limit ends
cannot be stopped half way, but a process can be.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import separatrix
from separatrix._typing import Integers
from separatrix.errors import SeparatrixError, UndecidedError

SMALL = 20_000  # entries, rows times columns, that are decided at once
WORK = 1e8  # products of whole numbers, which take about a minute
LARGEST = 20_000_000_000  # products that a Newton step may take
FACTORED = 2_000  # columns beyond which no Hessian is formed


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
        answer = separatrix.separability(X, codes, max_work=WORK)
    except SeparatrixError as error:
        claim = str(error) if isinstance(error, UndecidedError) else f"Not decided: {error}"
        if isinstance(error, UndecidedError) and error.max_work is not None:  # the limit is one of comparisons
            limit = f"max_work={error.max_work:.0e} products of numbers"
            claim = f"Not decided within {limit}; `separatrix separable` has no limit."
        return Proof("undecided", claim, False, [])
    checks = [str(check) for check in answer.verify(X, codes).checks]
    return Proof(answer.verdict, answer.certificate.claim, answer.exact, checks)


def late_proof(waited: float) -> Proof:
    """What is said where --time-limit ended the search."""
    claim = f"Not decided in time: --time-limit left {waited:.0f} s for it. `separatrix separable` has no such limit."
    return Proof("undecided", claim, False, [])


def too_much(X: Any, codes: Integers) -> str | None:
    """Why a table is too large for a search beside a comparison: a Newton step costs n d² for each pair of classes."""
    n, d = X.shape
    k = int(codes.max()) + 1
    entries = X.nnz if sparse.issparse(X) else n * d
    if entries * min(d, FACTORED) * (k * (k - 1) // 2) <= LARGEST:
        return None
    return (
        f"Not tried: {n:,} rows of {d:,} features in {k} classes are more than a comparison takes on. "
        "`separatrix separable` has no such limit."
    )


class Search:
    """A search under way; `result` waits for it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def result(self, seconds: float) -> Proof:
        """The proof, given up after so many seconds more."""
        started = time.monotonic()
        try:
            out, error = self._process.communicate(timeout=max(0.01, seconds))
        except subprocess.TimeoutExpired:
            self.stop()
            return late_proof(time.monotonic() - started)
        if self._process.returncode:  # as when the system is out of memory: the classifiers are there all the same
            why = error.strip()[-300:] or f"its process ended with {self._process.returncode}"
            return Proof("undecided", f"Not decided, since the search failed: {why}", False, [])
        return Proof(**json.loads(out))

    def stop(self) -> None:
        """End the process, if it has not ended."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


@contextmanager
def searching(X: Any, codes: Integers) -> Iterator[Search]:
    """A search in a process of its own, which ends with the block at the latest."""
    with tempfile.TemporaryDirectory(prefix="separatrix-") as folder:
        if sparse.issparse(X):
            sparse.save_npz(Path(folder, "X.npz"), X, compressed=False)
        else:
            np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "codes.npy"), codes)
        words = [sys.executable, "-m", "separatrix.compare.proving", folder]
        pipe = subprocess.PIPE
        process = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, stdin=subprocess.DEVNULL)
        search = Search(process)
        try:
            yield search
        finally:
            search.stop()


def main() -> None:
    """What the process does: rows from a folder, the proof as JSON on standard output."""
    folder = Path(sys.argv[1])
    wide = folder / "X.npz"
    X = sparse.load_npz(wide) if wide.exists() else np.load(folder / "X.npy", allow_pickle=False)
    print(json.dumps(asdict(prove(X, np.load(folder / "codes.npy", allow_pickle=False)))))


if __name__ == "__main__":
    main()
