"""Ctrl-C at any instruction while a block file is written or read: no one writes on, and no one waits for ever."""

import os

import numpy as np
import pytest
from interrupting import interrupted_at

from separatrix.files import place, ring
from separatrix.files.place import Draft
from separatrix.loops import threads

PARTS = [np.full(5_000, i, dtype=np.uint8) for i in range(4)]


@pytest.mark.usefixtures("many_cores")
def test_a_draft_is_whole_or_left_alone(tmp_path):
    def written():
        file = os.open(tmp_path / "draft", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        try:
            with Draft(lambda: file, "draft") as draft:
                for part in PARTS:
                    draft.append(part)
                draft.settle()
        finally:
            os.close(file)
            other = os.open(tmp_path / "other", os.O_RDWR | os.O_CREAT | os.O_TRUNC)  # gets the same number
            os.close(other)

    step = 0
    while interrupted_at(step, [threads, place], written):
        step += 1
        assert (tmp_path / "other").stat().st_size == 0
    assert step > 30
    assert (tmp_path / "draft").read_bytes() == b"".join(part.tobytes() for part in PARTS)


def test_blocks_that_are_read_ahead_are_right_after_ctrl_c(tmp_path, monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 3)  # more than threads: then one is read ahead
    monkeypatch.setattr(threads, "count", lambda: 2)
    data = b"".join(part.tobytes() for part in PARTS)
    (tmp_path / "blocks").write_bytes(data)
    index = np.zeros(len(PARTS), dtype=[("offset", np.int64), ("size", np.int64), ("sum", np.uint64)])
    index["offset"], index["size"] = np.arange(len(PARTS)) * 5_000, 5_000
    index["sum"] = [ring.checksum(part) for part in PARTS]
    file = os.open(tmp_path / "blocks", os.O_RDONLY)
    blocks = ring.Ring(file, "blocks", index)

    def read():
        for i, part in enumerate(PARTS):
            np.testing.assert_array_equal(blocks.block(i), part)

    step = 0
    while interrupted_at(step, [threads, ring], read):
        step += 1
        read()  # in the same buffers
    assert step > 30
    blocks.close()
    os.close(file)
