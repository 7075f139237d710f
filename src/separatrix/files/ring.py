"""Blocks of a file read ahead of use: two buffers for each thread that works on rows, and never more.

The file is not mapped into memory: if a mapped file shrinks or its disk fails, a signal ends the process, where a read
gives an error.

While cores are idle, threads of our own read ahead. If each core has a working thread, they would slow it down: then
the system is told which bytes come next, and fetches them from the disk meanwhile (only if they come from the disk: to
tell it of bytes in memory takes a third of the time of reading them). A loop over dense rows may also read these itself
then, some at a time, to find them in the second-level cache.

A checksum costs a tenth of a pass, so a block that was right is taken to be so for the next few times, unless the
system says that anyone wrote to the file since.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast
from weakref import WeakSet

import numpy as np

from separatrix._typing import Array
from separatrix.errors import StorageError
from separatrix.loops import threads
from separatrix.loops.checksum import checksum

FROM_MEMORY = 2e9  # bytes a second: what comes slower is on its way from a disk
TRUSTED = 15  # times that a block is read without another look at its checksum


@dataclass(eq=False)
class _Slot:
    """A buffer, the block in it, and who is reading it, if anyone still is."""

    buffer: Array
    block: int = -1
    reading: threads.Job | None = None

    def ready(self) -> None:
        """Wait for the block; if it cannot be read, the slot is empty again."""
        if self.reading is None:
            return
        try:
            self.reading.result()
        except BaseException:
            self.free()
            raise
        self.reading = None

    def free(self) -> None:
        """Wait until the buffer is not written to, even if that fails."""
        if self.reading is not None:
            self.reading.close()
        self.block, self.reading = -1, None


class Ring:
    """The blocks of a file, by their number. ``name`` is for messages, ``index`` as in `layout`."""

    def __init__(self, descriptor: int, name: str, index: Array) -> None:
        self.descriptor, self.name, self.index = descriptor, name, index
        self.bytes = int(index["size"].max(initial=64))
        self._trusted = np.zeros(len(index), dtype=np.int64)  # how often a block need not be checked again
        self._stamp = (0, 0, 0)
        self._cold = True
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._here = threading.local()
        self._slots: WeakSet[_Slot] = WeakSet()  # of all threads
        self._lock = threading.Lock()

    def trusts(self, i: int, begins: bool) -> bool:
        """Whether block i, or rows of it, can be read without a checksum, from memory, while no core is idle."""
        if self._cold or threads.count() < threads.cores() or not self.unchanged():
            return False
        with self._lock:
            trusted = bool(self._trusted[i] > 0)
            self._trusted[i] -= trusted and begins  # once a block, however many threads read rows of it
            return trusted

    def unchanged(self) -> bool:
        """Whether nobody has written to the file since blocks of it were checked; then what was read is right."""
        return self._stamp == self._stamp_now()

    def _stamp_now(self) -> tuple[int, int, int]:
        status = os.fstat(self.descriptor)
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size

    def block(self, i: int) -> Array:
        """The bytes of block i, until this thread asks for another; the next one is read meanwhile."""
        if self._process != os.getpid():  # threads do not survive a fork
            self._begin()
        slots: list[_Slot] | None = getattr(self._here, "slots", None)
        if slots is None:
            slots = self._here.slots = [_Slot(np.empty(self.bytes, dtype=np.uint8)) for _ in range(2)]
            self._slots.update(slots)
        if slots[1].block == i:
            slots.reverse()
        now, ahead = slots
        if now.block != i:
            now.free()
            self.read(i, now.buffer)
            now.block = i
        now.ready()
        if i + 1 == len(self.index) or ahead.block == i + 1:
            pass
        elif threads.count() >= threads.cores():
            if self._cold:
                self._announce(i + 1)
        else:
            ahead.free()
            ahead.reading = threads.Job([i + 1], lambda block: self.read(block, ahead.buffer))
            ahead.block = i + 1
            ahead.reading.offer(1)
        return now.buffer[: int(self.index["size"][i])]

    def _announce(self, i: int) -> None:
        """Tell the system which bytes come next."""
        if hasattr(os, "posix_fadvise"):
            at, size = int(self.index["offset"][i]), int(self.index["size"][i])
            os.posix_fadvise(self.descriptor, at, size, os.POSIX_FADV_WILLNEED)

    def close(self) -> None:
        """Wait until no thread reads; buffers go with the ring."""
        if self._process == os.getpid():
            for slot in list(self._slots):
                slot.free()
        self._begin()

    def read(self, i: int, buffer: Array) -> None:
        """Read block i to the start of a buffer, and check it."""
        size, offset = int(self.index["size"][i]), int(self.index["offset"][i])
        part = buffer[:size]
        start = perf_counter()
        got = read_at(self.descriptor, part, offset, f"{self.name}, block {i + 1} of {len(self.index)}")
        self._cold = perf_counter() - start > size / FROM_MEMORY
        if got < size:
            raise StorageError(
                f"{self.name}: block {i + 1} of {len(self.index)} is cut off, {got:,} of {size:,} bytes: the file was "
                "shortened while it was in use. Open the source again."
            )
        stamp = self._stamp_now()  # asked after the bytes were read: whoever changed them left a later time
        with self._lock:
            if stamp != self._stamp:
                self._trusted[:], self._stamp = 0, stamp
            if self._trusted[i] > 0:
                self._trusted[i] -= 1
                return
        if checksum(part) != int(self.index["sum"][i]):
            raise StorageError(
                f"{self.name}: block {i + 1} of {len(self.index)} is not what was written (its checksum is wrong): the "
                "file was changed, or the disk is damaged. Open the source again; remove the file first if it was kept."
            )
        with self._lock:
            self._trusted[i] = TRUSTED if stamp == self._stamp else 0


_seeking = threading.Lock()


def read_at(descriptor: int, buffer: Array, offset: int, name: str) -> int:
    """Fill a buffer from a place in a file; how many bytes there were."""
    view, got = memoryview(cast(Any, buffer)), 0
    try:
        while got < len(view):
            if hasattr(os, "preadv"):
                more = os.preadv(descriptor, [view[got:]], offset + got)
            else:  # Windows: the position is shared by all threads
                with _seeking:
                    os.lseek(descriptor, offset + got, os.SEEK_SET)
                    data = os.read(descriptor, len(view) - got)
                view[got : got + len(data)] = data
                more = len(data)
            if not more:
                break
            got += more
    except OSError as error:
        raise StorageError(f"{name} cannot be read: {error.strerror or error}. Open the source again.") from error
    return got
