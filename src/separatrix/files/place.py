"""Where a block file is written: without a name, for one process; or beside its path, and renamed when it is whole."""

from __future__ import annotations

import errno
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from separatrix._typing import Array
from separatrix.errors import StorageError
from separatrix.loops.threads import Job

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]


class Draft:
    """A file that is being written in one stream, by a thread of the pool: whoever makes the bytes goes on meanwhile.

    Parameters
    ----------
    made : callable
        Makes an empty file, and returns its descriptor.
    name : str
        For messages.
    """

    def __init__(self, made: Callable[[], int], name: str) -> None:
        self._made = made
        self.descriptor = made()
        self.name = name
        self.size = 0
        self._room = [np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.uint8)]  # one is written, one is filled
        self._writing: Job | None = None

    def anew(self) -> int:
        """Begin again with an empty file. Returns the descriptor of the one before, which has no name any more."""
        self.settle()
        before, self.descriptor, self.size = self.descriptor, self._made(), 0
        return before

    def append(self, data: Array) -> int:
        """Write bytes at the end; returns where they begin. The array may be used again at once."""
        at, self._room = self.size, self._room[::-1]
        if len(self._room[0]) < data.nbytes:
            self._room[0] = np.empty(data.nbytes, dtype=np.uint8)
        held = self._room[0][: data.nbytes]
        held[:] = data.reshape(-1).view(np.uint8)
        self.settle()
        self._writing = Job([held], lambda held: self._write(held, at))
        self._writing.offer(1)
        self.size += data.nbytes
        return at

    def write(self, data: Array | bytes, at: int) -> None:
        """Write bytes at a place, after all that came before."""
        self.settle()
        self._write(data, at)

    def settle(self) -> None:
        """Wait until the file holds what was appended; raises what hindered that."""
        if self._writing is not None:
            self._writing.result()
        self._writing = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._writing is not None:
            self._writing.close()  # then the file can be closed

    def _write(self, data: Array | bytes, at: int) -> None:
        rest = memoryview(cast(Any, data)).cast("B")
        try:
            os.lseek(self.descriptor, at, os.SEEK_SET)
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]
        except OSError as error:
            raise _unwritten(self.name, at, error) from error


def _unwritten(name: str, size: int, error: OSError) -> StorageError:
    full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)
    why = "the disk is full" if full else error.strerror or str(error)
    what, where = ("Free some space, or name", "on another disk") if full else ("Name", "that can be written to")
    return StorageError(
        f"{name} cannot be written beyond {size / 1e6:,.1f} MB: {why}. Nothing is left of it. {what} a folder {where}: "
        "cache= for a file to keep, the environment variable TMPDIR for one that is not."
    )


@contextmanager
def private() -> Iterator[Draft]:
    """A file in the folder for temporary files, which goes when its reader closes it."""
    try:
        folder = tempfile.gettempdir()
    except OSError as error:  # it tries to write to each that it knows
        raise _unwritten("A block file in any folder for temporary files", 0, error) from error

    def made() -> int:
        try:
            with tempfile.TemporaryFile(dir=folder, prefix="separatrix-", buffering=0) as file:  # no name where it can
                return os.dup(file.fileno())
        except OSError as error:
            raise _unwritten(f"A block file in {folder}", 0, error) from error

    draft = Draft(made, f"The block file in {folder}")
    try:
        with draft:
            yield draft
    except BaseException:
        os.close(draft.descriptor)
        raise


@contextmanager
def kept(path: Path) -> Iterator[Draft]:
    """A file beside ``path`` that takes its place once it is whole; drafts that a kill left there are removed first."""
    clean(path)
    target = Path(os.path.realpath(path))
    parts: list[Path] = []
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

    def made() -> int:
        with suppress(OSError):  # Windows removes no file that is open
            _remove(parts)
        while True:
            parts.append(target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.tmp"))
            try:
                descriptor = os.open(parts[-1], flags, 0o666)
            except OSError as error:
                raise _unwritten(str(path), 0, error) from error
            _lock(descriptor, wait=True)
            if os.fstat(descriptor).st_nlink or fcntl is None:
                return descriptor
            os.close(descriptor)  # another process took it for left behind, before it was locked

    draft = Draft(made, str(path))
    try:
        with draft:
            yield draft
        try:
            os.fsync(draft.descriptor)  # or a power cut after the rename could leave a file of zeros
            os.replace(parts[-1], target)
        except OSError as error:
            raise _unwritten(str(path), draft.size, error) from error
    except BaseException:
        os.close(draft.descriptor)
        raise
    finally:
        _remove(parts)


def _remove(parts: list[Path]) -> None:
    for part in parts:
        part.unlink(missing_ok=True)


def clean(path: Path) -> None:
    """Remove drafts of this file whose writer is gone: whoever writes one holds a lock on it."""
    if fcntl is None:
        return
    target = Path(os.path.realpath(path))
    for part in target.parent.glob(f".{_literal(target.name[:100])}.????????.tmp"):
        with suppress(OSError):
            descriptor = os.open(part, os.O_RDWR)
            try:
                if _lock(descriptor):
                    part.unlink()
            finally:
                os.close(descriptor)


def _literal(name: str) -> str:
    """A pattern that only this name fits."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _lock(descriptor: int, wait: bool = False) -> bool:
    """Whether nobody else has this file locked, and now we do; a lock ends with its process."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
