"""The one place that knows Dask: who holds the partitions of its collections, and how all of them are called.

With a client of a cluster, a partition is a future: the scheduler loads it anew from its source if its worker is lost.
A pass is one task for each thread of each worker, on the partitions that are there already; others may take it over.
Without a client the partitions are computed by Dask's own scheduler and are then in this process.

Nothing of Dask is imported before a collection of it is seen.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

import numpy as np

import separatrix
from separatrix.design import parts
from separatrix.design.partitions import Here, Holder, Partitions, shared_out
from separatrix.design.parts import Answers, Job, Order, Told
from separatrix.errors import ClusterError, InvalidInputError

POLL = 1.0  # seconds between looks whether anyone is there to do the work
ALONE = 30.0  # seconds without a worker after which nobody is waited for any more


def is_collection(X: Any) -> bool:
    """Whether this is a collection of Dask, or a list of delayed ones; asked without importing it."""
    if isinstance(X, (list, tuple)) and X:
        X = X[0]
    # arrays of other libraries, as those of xarray, have such a method too, whether or not Dask holds their numbers
    return hasattr(type(X), "__dask_graph__") and any(kind.__module__.startswith("dask.") for kind in type(X).__mro__)


@contextmanager
def held(X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The rows of a collection as `Partitions`, labels and weights as arrays; freed at the end, whatever happens."""
    checked(X)
    delayed = _delayed(X)
    with _connected() as client:
        holder: Holder = _here(delayed) if client is None else Cluster(client, delayed)
        given: list[Any] = []
        try:
            # what labels and rows are both made of is made once, and labels come here while rows are looked at
            for values in (y, sample_weight):
                given.append((values, _begun(_delayed(values), client) if is_collection(values) else None))
            if isinstance(holder, Cluster):
                holder.begin()
            labels, weights = (v if begun is None else np.concatenate(_ended(begun, client)) for v, begun in given)
            yield Partitions(holder), labels, weights
        finally:
            holder.close()
            given.clear()


def computed(X: Any, fn: Callable[..., Any], *args: Any) -> list[Any]:
    """[fn(block, *args)] of all blocks of a collection, in their order, found where these are."""
    import dask

    call = dask.delayed(fn, pure=False)
    with _connected() as client:
        return _ended(_begun([call(block, *args) for block in _delayed(X)], client), client)


def fetched(values: Any) -> Any:
    """Labels or weights in memory, if a collection holds them."""
    return np.concatenate(computed(values, np.asarray)) if is_collection(values) else values


def _begun(blocks: list[Any], client: Any) -> list[Any]:
    """Futures of what is to be made; without a client nothing is begun."""
    if client is None:
        return blocks
    with _explained(client):
        return list(client.compute(blocks))


def _ended(blocks: list[Any], client: Any) -> list[Any]:
    """What was begun, in this process."""
    import dask

    if client is None:
        return list(dask.compute(*blocks))
    with _explained(client):
        return _results(client, blocks)


def _connected() -> AbstractContextManager[Any]:
    """The current client, or None."""
    if "distributed" not in sys.modules:  # nobody can have made one
        return nullcontext()
    from distributed import get_client, get_worker, worker_client

    with suppress(ValueError):
        get_worker()  # this is a task itself: its thread is free for the partitions meanwhile
        return worker_client()
    with suppress(ValueError):
        client = get_client()
        if client.asynchronous:
            raise ClusterError("The current client is asynchronous, and a fit waits: make it by Client(...), and fit.")
        return nullcontext(client)
    return nullcontext()


def checked(X: Any) -> int | None:
    """How many columns a collection of rows of numbers has, if it knows; `InvalidInputError` if it is none."""
    dimensions = X.ndim if hasattr(type(X), "ndim") else 2  # asked of the type: a delayed object has every attribute
    if dimensions != 2:
        kind = f"{type(X).__name__.lower()} of {dimensions} dimension{'s' * (dimensions != 1)}"
        raise InvalidInputError(f"X is a Dask {kind}: rows and columns are expected.")
    if hasattr(type(X), "dtypes"):  # a data frame
        parts.check_columns(X.dtypes)
        return len(X.columns)
    return X.shape[1] if _is_array(X) and not math.isnan(X.shape[1]) else None


def _is_array(X: Any) -> bool:
    return hasattr(type(X), "chunks")


def _delayed(X: Any) -> list[Any]:
    """The blocks of a collection."""
    if isinstance(X, (list, tuple)):
        return list(X)
    if _is_array(X):  # as it stands, for fused tasks would have other names than those of X
        return list((_whole_rows(X) if X.ndim == 2 else X).to_delayed(optimize_graph=False).ravel())
    return list(X.to_delayed()) if hasattr(type(X), "to_delayed") else [X]


def _whole_rows(X: Any) -> Any:
    """The array in blocks of whole rows."""
    return X if len(X.chunks[1]) == 1 else X.rechunk({1: -1})


def _here(delayed: list[Any]) -> Here:
    import dask

    load = dask.delayed(parts.load, pure=False)
    return Here(dask.compute(*(load(block, number) for number, block in enumerate(delayed))))


class Cluster:
    """Partitions on the workers of a client: see `Holder`."""

    def __init__(self, client: Any, delayed: list[Any]) -> None:
        self.client = client
        self._delayed = delayed
        self._parts: dict[int, Any] = {}  # futures
        self._homes: list[tuple[str, list[int]]] = []  # a worker, and partitions that one of its threads goes through
        self._running: list[Any] = []

    def begin(self) -> None:
        """Have the partitions loaded; `load` waits for them."""
        import dask

        load = dask.delayed(parts.load, pure=False)
        with _explained(self.client):
            _greet(self.client)
            found = self.client.compute([load(block, number) for number, block in enumerate(self._delayed)])
            self._parts = dict(enumerate(found))

    def load(self) -> list[Told]:
        """See `Holder`."""
        with _explained(self.client):
            _wait(self.client, list(self._parts.values()))
            self._find_homes()  # a task costs more than the scan of a partition: one for all that a thread has
            told = self._results([self._submit(parts.tell_all, home, numbers) for home, numbers in self._homes])
        return [part for some in told for part in some]

    def call(self, orders: Mapping[int, Order], job: Job) -> Answers:
        """See `Holder`."""
        with _explained(self.client):
            asked = [(home, some) for home, held in self._homes if (some := [i for i in held if i in orders])]
            found = self._results(
                [self._submit(_perform, home, some, [orders[number] for number in some], job) for home, some in asked]
            )
            if any(home != done_by for (home, _), (_, done_by) in zip(asked, found, strict=True)):
                self._find_homes()  # a worker was lost
        return {number: answer for answers, _ in found for number, answer in answers.items()}

    def _submit(self, fn: Callable[..., Any], home: str, numbers: list[int], *args: Any) -> Any:
        held = [self._parts[number] for number in numbers]
        return self.client.submit(fn, held, *args, workers=[home], allow_other_workers=True, pure=False)

    def _find_homes(self) -> None:
        """Who has which partitions, as they are shared out."""
        found = list(self._parts.values())
        who, size = self.client.who_has(found), {}
        with suppress(KeyError):  # a partition that is gone for good: whoever asks for it is told so
            size = self.client.nbytes([part.key for part in found], summary=False)
        holders = {number: sorted(who.get(part.key, ())) for number, part in self._parts.items()}
        sizes = {number: size.get(part.key, math.inf) for number, part in self._parts.items()}
        self._homes = shared_out(holders, sizes, self.client.scheduler_info(n_workers=-1)["workers"])

    def _results(self, futures: list[Any]) -> list[Any]:
        self._running = futures
        return _results(self.client, futures)

    def close(self) -> None:
        """See `Holder`."""
        futures = [*self._parts.values(), *self._running]
        self._parts, self._running = {}, []
        with suppress(Exception):
            self.client.cancel(futures)


def _results(client: Any, futures: list[Any]) -> list[Any]:
    """What tasks return; these are let go (not cancelled: those of labels may be the user's own)."""
    try:
        _wait(client, futures)
        found = asyncio.run_coroutine_threadsafe(client.gather(futures, asynchronous=True), client.loop.asyncio_loop)
        try:  # what was lost on its way is made again, and waited for
            return list(_patiently(client, lambda: found.result(timeout=POLL)))
        finally:
            found.cancel()
    finally:
        with suppress(Exception):  # of a client that is closed, there is nothing left to free
            for future in futures:  # an error that Dask caught, as after a long wait, may hold on to them
                future.release()


def _wait(client: Any, futures: list[Any]) -> None:
    """Wait until tasks have ended; the error of the first that failed."""
    from distributed import wait

    _patiently(client, lambda: wait(futures, timeout=POLL))
    for future in futures:
        if future.status in ("error", "cancelled"):
            future.result()


def _patiently(client: Any, look: Callable[[], Any]) -> Any:
    """What ``look`` finds, asked until it is in time; an error if nobody is left to do the work."""
    alone_since: float | None = None
    while True:
        try:
            return look()
        except TimeoutError:
            if client.status in ("closing", "closed"):
                raise CancelledError from None
            if _anybody(client):
                alone_since = None
            elif alone_since is None:
                alone_since = time.monotonic()
            elif time.monotonic() - alone_since > ALONE:
                raise ClusterError(
                    f"The cluster has had no worker for {ALONE:.0f} seconds that takes tasks: start some, or, if they "
                    "are paused, give them more memory, or make partitions smaller."
                ) from None


def _anybody(client: Any) -> bool:
    """Whether a worker takes tasks, or is at one: workers that lack memory are paused."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return any(worker["status"] != "paused" or worker["metrics"]["task_counts"].get("executing") for worker in workers)


def _greet(client: Any) -> None:
    """See that workers have what they are asked to run: one that cannot read a task would be lost by it."""
    for worker, version in client.run(_version, on_error="return").items():
        if version != separatrix.__version__ and not isinstance(version, OSError):  # those who do not answer are gone
            raise ClusterError(
                f"Worker {worker} has not separatrix {separatrix.__version__}, as here, but {version!r}: install the "
                "same there."
            )


def _version() -> str:
    return separatrix.__version__


def _perform(held: list[parts.Part], orders: list[Order], job: Job) -> tuple[Answers, str]:
    """`parts.perform` in a worker, and which worker that is."""
    from distributed import get_worker

    return parts.perform(held, orders, job), get_worker().address


@contextmanager
def _explained(client: Any) -> Iterator[None]:
    """Errors of the cluster in our own words; those of the data as they are."""
    import dask
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        # labels and weights go to workers once, and Dask would warn of so large a task
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            yield
    except KilledWorker as error:
        raise ClusterError(
            "Workers were lost again and again while they worked on the same partitions: they may need more memory "
            f"than their limit. Give them more, or make partitions smaller ({error})."
        ) from error
    except (CancelledError, asyncio.CancelledError) as error:
        if client.status != "running":
            raise ClusterError("The client was closed during the fit: keep it open until the fit ends.") from error
        raise ClusterError(
            "Rows of X are gone and cannot be made again: a worker was lost that held data which were sent to it "
            "(client.scatter, or arrays that were in this process), or their futures were cancelled, as by "
            "client.restart. Let the workers read the data themselves, such as by dask.dataframe.read_parquet "
            f"({error})."
        ) from error
    except CommClosedError as error:
        raise ClusterError(
            f"The scheduler of the cluster does not answer ({error}): start one, and fit again."
        ) from error


# ------------------------------------------------------------------ predictions, and checks
def mapped(fn: Callable[..., Any], first: Any, X: Any, empty: Any) -> Any:
    """fn(block, first, empty) of all blocks of a collection, as an array of Dask of which nothing is computed yet.

    ``empty`` is what it gives for no rows.
    """
    import dask
    import dask.array as da

    if _is_array(X):
        chunks = (X.chunks[0], *((k,) for k in empty.shape[1:]))
        how = {"chunks": chunks, "meta": empty, "drop_axis": [] if empty.ndim == 2 else [1]}
        return _whole_rows(X).map_blocks(fn, first, empty=empty, **how)
    held, call = dask.delayed(first, pure=False), dask.delayed(fn, pure=False)
    shape = math.nan, *empty.shape[1:]
    made = [da.from_delayed(call(block, held, empty), shape, meta=empty) for block in _delayed(X)]
    return da.concatenate(made, allow_unknown_chunksizes=True)


def verified(verify: Callable[..., Any], certificate: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """What a certificate says of a collection: by sums made where its rows are, or by a worker to which these come."""
    check = partial(_verified, verify, certificate, X, y, sample_weight)  # which Dask does not look into, to compute X
    with _connected() as client:
        if client is None or certificate.in_sums:
            return check()
        with _explained(client):
            _greet(client)
            return _results(client, [client.submit(check, pure=False)])[0]


def _verified(verify: Callable[..., Any], certificate: Any, *given: Any) -> Any:
    with held(*given) as (rows, y, sample_weight):
        return verify(certificate, rows, y, sample_weight)
