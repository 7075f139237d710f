"""A file that is either the old one or the new one, whatever happens in between."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace the file by ``data``: written beside it, flushed to the disk, then renamed over it in one step.

    An existing file keeps its permissions; a symbolic link goes on pointing to the file it points to. An error or
    Ctrl-C removes what was written beside it; only a kill or a power cut can leave that, a hidden ``.name.*.tmp``.
    After an `OSError` (the folder does not exist, the disk is full) the file is as it was.
    """
    target = Path(os.path.realpath(path))
    part = _written(target, data)
    try:
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def write_together(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace several files of a folder; the last one is there only beside the others that belong to it.

    All are written under hidden names first. Then the old last file is removed, the others are renamed, and the new
    last file comes at the end: stopped in between, the set shows that it is incomplete.
    """
    targets = [Path(os.path.realpath(folder / name)) for name in files]
    parts: list[Path] = []
    try:
        for target, data in zip(targets, files.values(), strict=True):
            parts.append(_written(target, data))
        targets[-1].unlink(missing_ok=True)
        _flush_folder(targets[-1].parent)
        for part, target in zip(parts, targets, strict=True):
            os.replace(part, target)
            _flush_folder(target.parent)
    except BaseException:
        for part in parts:
            part.unlink(missing_ok=True)
        raise


def _written(target: Path, data: bytes) -> Path:
    """The data on the disk under a hidden name beside the target, with its permissions."""
    mode = _mode(target)
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or a power cut after the rename could leave an empty file
            if mode is not None:
                os.chmod(part, mode)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return part


def _mode(target: Path) -> int | None:
    """The permissions of an existing file; None for a new one, which gets those of any new file."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{target} is not an ordinary file, so it cannot be replaced by one.")
    return stat.S_IMODE(status.st_mode)


def _flush_folder(folder: Path) -> None:
    """The rename itself on the disk, where the system has a way to ask for it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
