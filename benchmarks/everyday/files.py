"""A folder of Parquet bigger than the memory it is fitted in: from opening it to a proved optimum.

The data of a job are two numbers, rows and columns: the folder is made of them where the job runs, and removed after.
Beside it one epoch of averaged stochastic gradient descent, as `partial_fit` offers it, over the same files; it has no
gap to go by, so that its figure is the relative excess of its objective over ours. Vowpal Wabbit, if it is installed,
is beside us on rows of which the last file is held out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.adapters import interpreter, package_version
from benchmarks.everyday.jobs import Action, Entry, Job
from benchmarks.problems import Source

PART = 250_000  # rows of a file, unless that makes fewer than FILES
FILES = 4
MEMORY = 10**9  # bytes
ENTRIES = 80  # of a sparse row


def folder_of(n: int, d: int) -> Path:
    """A folder of Parquet files, n rows of d normal columns; gone when this process ends."""
    import polars as pl

    folder = Path(tempfile.mkdtemp(prefix="bench-files-"))
    weakref.finalize(folder_of, shutil.rmtree, folder, ignore_errors=True)
    w = np.random.default_rng(0).normal(size=d) / np.sqrt(d)
    step = min(PART, -(-n // FILES))
    for part in range(-(-n // step)):
        rng = np.random.default_rng([1, part])
        X = rng.standard_normal(size=(min(step, n - part * step), d))
        y = X @ w + rng.logistic(size=len(X)) > 0
        pl.DataFrame({**{f"x{j}": X[:, j] for j in range(d)}, "y": y}).write_parquet(folder / f"{part:04}.parquet")
    return folder


class Anonymous:
    """The most memory without a file behind it that this process has held, beyond what it held before."""

    def __enter__(self) -> Anonymous:
        self._before, self._most, self._done = self._now(), 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def megabytes(self) -> float:
        return (self._most - self._before) / 1e6

    def _watch(self) -> None:
        while not self._done.wait(0.01):
            self._most = max(self._most, self._now())

    @staticmethod
    def _now() -> int:
        status = Path("/proc/self/status").read_text() if os.path.exists("/proc/self/status") else ""
        lines = [line for line in status.splitlines() if line.startswith("RssAnon")]
        return 1024 * int(lines[0].split()[1]) if lines else 0


def folder_at_hand(n: int, d: int) -> Path:
    """The same, and as much memory as its numbers take is the system's to give, whatever it did before.

    A virtual machine gets memory that it has not used lately from its host, at 0.5 GB/s here: a file written and
    removed just before the clock starts brings it back.
    """
    folder, piece = folder_of(n, d), np.ones(1 << 19)
    with tempfile.TemporaryFile(buffering=0) as file:
        for _ in range(-(-n * d // len(piece))):
            file.write(piece.tobytes())
    return folder


def csr_batches(n: int, d: int) -> Iterator[tuple[Any, Any]]:
    """Batches of sparse rows with ENTRIES entries each."""
    from scipy import sparse

    w = np.random.default_rng(0).normal(size=d)
    for part in range(-(-n // PART)):
        rng, m = np.random.default_rng([2, part]), min(PART, n - part * PART)
        columns = rng.integers(0, d, size=(m, ENTRIES), dtype=np.int32)
        X = sparse.csr_matrix(
            (rng.standard_normal(size=m * ENTRIES), columns.ravel(), np.arange(m + 1) * ENTRIES), shape=(m, d)
        )
        yield X, X @ w + rng.logistic(size=m) > 0


def ours(X: Any, y: Any) -> Action:
    """Open a folder, fit to a relative gap of 1e-6, verify."""
    return _measured(folder_of(*map(int, X[0])), "y")


def ours_sparse(X: Any, y: Any) -> Action:
    """The same of batches, which are made while they are opened."""
    return _measured(lambda: csr_batches(*map(int, X[0])), None)


def _measured(source: Any, target: str | None) -> Action:
    from separatrix import LogisticRegression
    from separatrix.data import open as open_rows

    def action() -> dict[str, Any]:
        with Anonymous() as watch:
            start = time.perf_counter()
            rows = open_rows(source, target, memory=MEMORY)
            opened = time.perf_counter()
            model = LogisticRegression(tol=1e-6).fit(rows.X, rows.y)
            fitted = time.perf_counter()
            holds = bool(model.certificate_.verify(rows.X, rows.y))
            verified = time.perf_counter()
        times = {"open": opened - start, "fit": fitted - opened, "verify": verified - fitted}
        return {"times": times, "holds": holds, "megabytes": watch.megabytes, "rows": rows, "model": model}

    return action


def theirs(X: Any, y: Any) -> Action:
    """One epoch of scikit-learn's SGDClassifier with the penalty of the same C, file by file."""
    from sklearn.linear_model import SGDClassifier

    n, d = map(int, X[0])
    folder = folder_of(n, d)

    def parts() -> Iterator[tuple[Any, Any]]:
        yield from map(_arrays, sorted(folder.iterdir()))

    def action() -> dict[str, Any]:
        # its own choice of steps, 1 / (alpha t), is far too long for so small a penalty
        steps = {"learning_rate": "constant", "eta0": 0.01, "average": True}
        model = SGDClassifier(loss="log_loss", alpha=1 / n, random_state=0, **steps)
        for rows, labels in parts():
            model.partial_fit(rows, labels, classes=[False, True])
        return {"model": model, "parts": parts}

    return action


def opened(X: Any, y: Any) -> Action:
    """Open a folder: decode it, learn its encoder, write its block file."""
    from separatrix.data import open as open_rows

    folder = folder_at_hand(*map(int, X[0]))
    return lambda: open_rows(folder, "y", memory=MEMORY).close()


def decoded(X: Any, y: Any) -> Action:
    """What polars needs to give the same files to NumPy, one after the other."""
    folder = folder_at_hand(*map(int, X[0]))

    def action() -> None:
        for path in sorted(folder.iterdir()):
            _arrays(path)

    return action


def decoded_and_written(X: Any, y: Any) -> Action:
    """The same, and the rows written to a file, as `open` does."""
    import polars as pl

    folder = folder_at_hand(*map(int, X[0]))

    def action() -> None:
        with tempfile.TemporaryFile() as file:
            for path in sorted(folder.iterdir()):
                pl.read_parquet(path).drop("y").to_numpy(order="c").tofile(file)

    return action


def held_out(X: Any, y: Any) -> Action:
    """Open all files but the last and fit; the probabilities of the last one are not timed."""
    from separatrix import LogisticRegression
    from separatrix.data import open as open_rows

    folder = folder_of(*map(int, X[0]))
    *learned, last = sorted(folder.iterdir())

    def action() -> dict[str, Any]:
        with open_rows(learned, "y", memory=MEMORY) as rows:
            model = LogisticRegression(tol=1e-6).fit(rows.X, rows.y)
        x, t = _arrays(last)
        return {"scores": x @ model.coef_[0] + model.intercept_[0], "truth": t}

    return action


def wabbit(X: Any, y: Any) -> Action:
    """The same by Vowpal Wabbit, ten passes with its own choice of steps; its text is made before the clock starts."""
    import polars as pl

    folder = folder_of(*map(int, X[0]))
    *learned, last = sorted(folder.iterdir())
    names = [f"x{j}" for j in range(int(X[0][1]))]
    for name, paths in (("learned.vw", learned), ("last.vw", [last])):
        with open(folder / name, "w") as file:
            for part in (part for path in paths for part in pl.read_parquet(path).iter_slices(25_000)):
                label = pl.when(pl.col("y")).then(pl.lit("1 |")).otherwise(pl.lit("-1 |"))
                cells = [pl.format(f" {column}:{{}}", pl.col(column).round(7)) for column in names]
                file.write("\n".join(part.select(pl.concat_str([label, *cells])).to_series().to_list()) + "\n")

    def run(*words: str) -> None:
        program = [interpreter("vowpalwabbit"), "-m", "vowpalwabbit", "--quiet", "--loss_function", "logistic"]
        subprocess.run([*program, *words], cwd=folder, check=True)

    def action() -> dict[str, Any]:
        run("-d", "learned.vw", "-c", "--passes", "10", "--holdout_off", "-f", "model.vw")
        return {"run": run, "folder": folder, "truth": _arrays(last)[1]}

    return action


def describe_held_out(result: dict[str, Any], X: Any, y: Any) -> dict[str, Any]:
    """The mean log loss of the file that nobody learned from."""
    if "run" in result:
        result["run"]("-d", "last.vw", "-t", "-i", "model.vw", "-r", "scores.txt")
        result["scores"] = np.loadtxt(result["folder"] / "scores.txt", usecols=0)
    losses = np.logaddexp(0.0, -np.where(result["truth"], 1.0, -1.0) * result["scores"])
    return {"held-out loss": round(float(losses.mean()), 6)}


def _arrays(path: Path) -> tuple[Any, Any]:
    import polars as pl

    frame = pl.read_parquet(path)
    return frame.drop("y").to_numpy(), frame["y"].to_numpy()


def describe(result: dict[str, Any], X: Any, y: Any) -> dict[str, Any]:
    """Objectives, times and bytes; of ours also how fast a pass is beside plain reading."""
    coef, intercept = result["model"].coef_[0], float(result["model"].intercept_[0])
    rows = result.get("rows")
    blocks = ((x, labels) for x, labels, _ in rows.blocks()) if rows is not None else result["parts"]()
    loss = sum(np.logaddexp(0.0, -np.where(t, 1.0, -1.0) * (x @ coef + intercept)).sum() for x, t in blocks)
    found: dict[str, Any] = {"objectives": [float(loss) + 0.5 * float(coef @ coef)]}
    if rows is None:
        return found
    seconds = {f"{name} (s)": round(took, 2) for name, took in result["times"].items()}
    found |= {"anonymous MB": round(result["megabytes"]), "verified": result["holds"], **seconds, **speeds(rows)}
    rows.close()
    return found


def speeds(rows: Any) -> dict[str, float]:
    """GB/s of a pass over the warm file, and of reading it from start to end in one stream: the best of five each."""
    from separatrix.design import as_design

    design, size = as_design(rows.X), float(rows.X._ring.index["size"].sum())
    ones, ring = np.ones((rows.X.shape[0], 1)), rows.X._ring
    buffer = np.empty(ring.bytes, dtype=np.uint8)

    def plainly() -> None:
        for at, length in zip(ring.index["offset"].tolist(), ring.index["size"].tolist(), strict=True):
            os.preadv(ring.descriptor, [memoryview(buffer)[:length]], at)  # type: ignore[arg-type]

    times: dict[str, list[float]] = {"pass (GB/s)": [], "reading (GB/s)": []}
    actions: tuple[Action, Action] = (lambda: design.tdot(ones), plainly)
    for _ in range(5):  # in turn, so that whatever else the machine does is shared
        for name, action in zip(times, actions, strict=True):
            start = time.perf_counter()
            action()
            times[name].append(time.perf_counter() - start)
    return {name: round(size / min(took) / 1e9, 1) for name, took in times.items()}


JOBS = (
    Job(
        "a folder of Parquet, 8 GB as float64, in 1 GB",
        "files",
        Source("folder", lambda s: (np.array([[s.rows(10_000_000), 100]]), np.array([0]))),
        {"separatrix": Entry(ours), "scikit-learn": Entry(theirs)},
        describe,
        warm=False,
        repeat=1,
    ),
    Job(
        "sparse rows, 200 million entries in 2,000 columns, in 1 GB",
        "files",
        Source("sparse batches", lambda s: (np.array([[s.rows(2_500_000), 2000]]), np.array([0]))),
        {"separatrix": Entry(ours_sparse)},
        describe,
        warm=False,
        repeat=1,
    ),
    Job(
        "a folder of Parquet, the last file held out",
        "files",
        Source("folder", lambda s: (np.array([[s.rows(1_000_000), 100]]), np.array([0]))),
        {"separatrix": Entry(held_out)} | ({"Vowpal Wabbit": Entry(wabbit)} if package_version("vowpalwabbit") else {}),
        describe_held_out,
        warm=False,
        repeat=1,
    ),
    Job(
        "a folder of Parquet, 2 GB as float64, decoded once",
        "files",
        Source("folder", lambda s: (np.array([[s.rows(2_500_000), 100]]), np.array([0]))),
        {"separatrix": Entry(opened), "polars": Entry(decoded), "polars, to a file": Entry(decoded_and_written)},
        warm=False,
        repeat=5,
    ),
)
