"""What is written comes back, as small as its numbers allow; what was changed on the way is an error with words."""

import gzip
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
from files.blocks import stored
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix
from separatrix import SVC
from separatrix.data import read_table
from separatrix.design import as_design, streamed
from separatrix.errors import DataError, InvalidInputError, StorageError
from separatrix.files import Stored, opened, place, ring
from separatrix.files.layout import MAGIC, VERSION, block_rows
from separatrix.files.place import kept
from separatrix.loops import threads
from separatrix.loops.passes import segment_rows


def batches_of(X, cuts):
    ends = [0, *sorted(cuts), X.shape[0]]
    return [X[a:b] for a, b in pairwise(ends)]


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(0, 9000), max_size=6), st.sampled_from([3, 300]), st.data())
def test_rows_come_back_however_they_were_cut_into_batches(cuts, d, data):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(9000, d))
    with stored(*batches_of(X, cuts)) as rows:
        assert rows.shape == X.shape
        assert not rows.sparse
        start, stop = sorted(data.draw(st.tuples(st.integers(0, 9000), st.integers(0, 9000))))
        assert np.array_equal(rows[start:stop], X[start:stop])
        at = rng.integers(-9000, 9000, size=50)
        assert np.array_equal(rows[at], X[at])
        assert np.array_equal(rows[::-7], X[::-7])
        assert np.array_equal(rows[-1], X[-1])
        assert np.array_equal(rows[X[:, 0] > 1], X[X[:, 0] > 1])
        assert np.array_equal(np.concatenate([x for x, _, _ in rows.blocks()]), X)
        assert rows.ends == (X.min(), X.max())


@pytest.mark.parametrize("cuts", [[], [1], [4000, 4001, 15_000]])
def test_sparse_rows_come_back(cuts):
    X = sparse.random(20_000, 500, density=0.1, format="csr", random_state=0)
    X.data[::3] = 0.25
    with stored(*batches_of(X, cuts)) as rows:
        assert rows.sparse
        assert len(rows.block_rows) > 1
        assert (rows.block_rows[:-1] % 64 == 0).all()
        assert rows.nnz == X.nnz
        at = np.random.default_rng(0).integers(0, 20_000, size=300)
        for key in (slice(None), slice(63, 15_001), slice(5, 5), at):
            assert (rows[key] != X[key]).nnz == 0
            assert rows[key].has_canonical_format
        assert np.array_equal(rows.counts, np.bincount(X.indices, minlength=500))


def test_blocks_hold_whole_segments_of_passes():
    for d in (1, 7, 64, 1000, 70_000):
        assert block_rows(d) % (2 * segment_rows(d)) == 0


def test_each_block_is_as_short_as_its_numbers_allow():
    rng = np.random.default_rng(0)
    step = block_rows(4)
    X = rng.integers(-99, 99, size=(3 * step, 4)) + 0.5
    X[step + 5, 2] = 0.1  # float32 has no such number
    with stored(X) as rows:
        assert rows._ring.index["item"].tolist() == [4, 8, 4]
        assert np.array_equal(rows[:], X)
        assert rows.dtype == np.float64  # the model is as precise as the rows that were given
    with stored(X.astype(np.float32)) as rows:
        assert rows.dtype == np.float32
    X[0, 0] = 1e300  # beyond float32
    with stored(X) as rows:
        assert rows._ring.index["item"][0] == 8
        assert rows[0, 0] == 1e300


@pytest.mark.parametrize("density", [0.02, 0.9])
def test_dense_rows_that_are_mostly_zero_are_stored_as_such(density):
    X = sparse.random(30_000, 40, density=density, random_state=0).toarray()
    with stored(X) as rows:
        assert rows.sparse == (density < 0.5)
        found = rows[:]
        assert np.array_equal(found.toarray() if rows.sparse else found, X)


def test_duplicates_are_added_up():
    X = sparse.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 3))
    with stored(X) as rows:
        assert rows[:].toarray().tolist() == [[4.0, 3.0, 0.0]]


def test_a_kept_file_is_opened_again(tmp_path):
    X = np.random.default_rng(0).normal(size=(5000, 3))
    path = tmp_path / "rows"
    with stored(X, path=path):
        pass
    assert os.listdir(tmp_path) == ["rows"]
    descriptor, contents = opened(path)
    again = Stored(descriptor, "rows", contents)
    assert np.array_equal(again[:], X)
    again.close()
    with pytest.raises(StorageError, match="closed"):
        again[:]


def flipped(path, at, mask=0x80):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ mask]))


def test_a_changed_block_is_refused_by_name(tmp_path):
    X = np.random.default_rng(0).normal(size=(4 * block_rows(50), 50))
    path = tmp_path / "rows"
    with stored(X, path=path) as rows:
        assert np.array_equal(rows[:], X)  # so that each block is known to be right
        time.sleep(0.05)  # longer than a tick of the clock that files have
        flipped(path, int(rows._ring.index["offset"][2]) + 777)
        assert np.array_equal(rows[: 2 * block_rows(50)], X[: 2 * block_rows(50)])
        for _ in range(2):  # and again: nothing of it is taken for read
            with pytest.raises(StorageError, match=r"rows: block 3 of 4 is not what was written"):
                rows[:]
        assert np.array_equal(rows[-5:], X[-5:])


@pytest.mark.parametrize("how", ["changed", "changed while it is read", "shortened"])
def test_a_block_that_a_pass_reads_by_itself_is_refused_too(tmp_path, monkeypatch, how):
    X = np.random.default_rng(0).normal(size=(4 * block_rows(50), 50))
    path, ones = tmp_path / "rows", np.ones((len(X), 1))
    monkeypatch.setattr(ring, "FROM_MEMORY", 1.0)  # bytes a second: however slow, it comes from memory
    separatrix.set_threads(threads.cores())
    read, calls, armed = streamed.pass_file, [], []

    def counted(*arguments):
        calls.append(arguments)
        if armed:
            flipped(path, armed.pop())
        return read(*arguments)

    monkeypatch.setattr(streamed, "pass_file", counted)
    with stored(X, path=path) as rows:
        design, spot = as_design(rows), int(rows._ring.index["offset"][2]) + 777
        expected = as_design(X).tdot(ones)
        for passes in range(3):
            assert np.array_equal(design.tdot(ones), expected)
            assert len(calls) >= 4 * passes
        time.sleep(0.05)  # longer than a tick of the clock that files have
        if how == "changed":
            flipped(path, spot)
        elif how == "shortened":
            os.truncate(path, spot)
        else:
            armed.append(spot)
        with pytest.raises(StorageError, match=r"rows: block [34] of 4 is (not what was written|cut off)"):
            [design.tdot(ones) for _ in range(2)]
        assert not armed
    separatrix.set_threads(None)


def test_a_shortened_file_is_refused_by_name(tmp_path):
    X = np.random.default_rng(0).normal(size=(4 * block_rows(50), 50))
    path = tmp_path / "rows"
    with stored(X, path=path) as rows:
        os.truncate(path, int(rows._ring.index["offset"][3]) + 100)
        with pytest.raises(StorageError, match=f"rows: block 4 of 4 is cut off, 100 of {400 * block_rows(50):,} bytes"):
            rows[:]
    with pytest.raises(StorageError, match=r"it should have .* bytes, and has"):
        opened(path)


def test_a_removed_file_can_be_read_to_the_end(tmp_path):
    X = np.random.default_rng(0).normal(size=(3 * block_rows(50), 50))
    with stored(X, path=tmp_path / "rows") as rows:
        os.unlink(tmp_path / "rows")
        assert np.array_equal(rows[:], X)


def test_a_file_of_another_version_is_refused_by_its_number(tmp_path):
    path = tmp_path / "rows"
    with stored(np.eye(3), path=path):
        pass
    flipped(path, len(MAGIC), VERSION ^ 1)
    with pytest.raises(StorageError, match=f"it is of version 1, this is version {VERSION}. Make the file anew"):
        opened(path)


@pytest.mark.parametrize("where", ["magic", "header", "tail", "start"])
def test_damage_outside_of_blocks_is_seen_when_the_file_is_opened(tmp_path, where):
    path = tmp_path / "rows"
    with stored(np.eye(3), path=path):
        pass
    size = path.stat().st_size
    if where == "start":
        os.truncate(path, 50)
    else:
        flipped(path, {"magic": 3, "header": 30, "tail": size - 70}[where])
    with pytest.raises(StorageError, match="Make the file anew"):
        opened(path)


def test_a_full_disk_is_one_error_and_leaves_nothing(tmp_path, monkeypatch):
    write, room = os.write, [3_000_000]

    def full(descriptor, data):
        if room[0] <= 0:
            raise OSError(28, "No space left on device")
        room[0] -= len(data)
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    X = np.random.default_rng(0).normal(size=(4 * block_rows(50), 50))
    before = set(os.listdir("/dev/fd"))
    for path in (tmp_path / "rows", None):
        room[0] = 3_000_000
        with pytest.raises(StorageError, match="the disk is full"), stored(X, path=path):
            pass
    assert os.listdir(tmp_path) == []
    assert set(os.listdir("/dev/fd")) == before


def test_a_file_that_may_not_grow_is_an_error(tmp_path):
    script = f"""
import resource, numpy as np
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
from files.blocks import stored
from separatrix.errors import StorageError
from pathlib import Path
try:
    with stored(np.random.default_rng(0).normal(size=(40_000, 50)), path=Path({str(tmp_path / "rows")!r})):
        pass
except StorageError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment(), check=True)
    assert "the disk is full" in done.stdout
    assert os.listdir(tmp_path) == []


def environment():
    here = os.path.dirname(os.path.dirname(__file__))
    source = os.path.dirname(os.path.dirname(separatrix.__file__))
    return os.environ | {"PYTHONPATH": os.pathsep.join([source, here])}


def test_a_kill_leaves_one_draft_which_the_next_writer_removes(tmp_path):
    script = f"""
import time, numpy as np
from pathlib import Path
from separatrix.files import BlockWriter
from separatrix.files.place import kept
with kept(Path({str(tmp_path / "rows")!r})) as draft:
    BlockWriter(draft, 50).add(np.random.default_rng(0).normal(size=(40_000, 50)))
    print("written", flush=True)
    time.sleep(60)
"""
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment())
    assert child.stdout.readline() == b"written\n"
    (tmp_path / ".rows.notours1.tmp").write_text("of another program")  # but named as ours are: nobody holds it
    (tmp_path / ".other.00000000.tmp").write_text("of another file")
    with kept(tmp_path / "rows") as draft:  # a writer that lives keeps its draft
        assert len([name for name in os.listdir(tmp_path) if name.startswith(".rows.")]) == 2
        os.close(os.dup(draft.descriptor))
    os.close(draft.descriptor)
    os.unlink(tmp_path / "rows")
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert sum(name.startswith(".rows.") for name in os.listdir(tmp_path)) == 1
    with stored(np.eye(3), path=tmp_path / "rows"):
        pass
    assert sorted(os.listdir(tmp_path)) == [".other.00000000.tmp", "rows"]


def test_rows_without_a_name_leave_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with stored(np.random.default_rng(0).normal(size=(1000, 50))) as rows:
        assert os.listdir(tmp_path) == []
        assert rows[:].shape == (1000, 50)


def test_a_file_is_given_back_with_its_rows():
    before = len(os.listdir("/dev/fd"))
    with stored(np.random.default_rng(0).normal(size=(9000, 50))) as rows:
        rows[:]
    assert len(os.listdir("/dev/fd")) == before


def test_a_draft_that_another_process_takes_for_left_behind_is_made_again(tmp_path, monkeypatch):
    """Between its making and its lock, whoever cleans up there may remove it: then it is made anew, not lost."""
    lock, drafts = place._lock, []

    def late(descriptor, wait=False):
        drafts.append(sorted(os.listdir(tmp_path)))
        if len(drafts) == 1:
            place.clean(tmp_path / "rows")
        return lock(descriptor, wait)

    monkeypatch.setattr(place, "_lock", late)
    with stored(np.eye(3), path=tmp_path / "rows") as rows:
        assert len(drafts) > 1
        assert drafts[0] != drafts[-1]
        assert os.listdir(tmp_path) == ["rows"]
        assert np.array_equal(rows[:], np.eye(3))


def test_rows_that_are_not_there_are_refused():
    X = np.arange(12.0).reshape(6, 2)
    with stored(X) as rows, stored(sparse.csr_matrix(X), sparse=True) as others:
        for wrong in (6, -7, [1, 9], 1.5, [0.5], "a", None, ..., [True, False], [[1, 2]], (0, 1, 2)):
            with pytest.raises(IndexError):
                rows[wrong]
        assert rows[[]].shape == others[[]].shape == (0, 2)
        at = np.array([4, 0])
        assert np.array_equal(rows[at, ...], X[at])  # as scikit-learn does
        assert np.array_equal(others[at, ...].toarray(), X[at])
        assert np.array_equal(rows[at, 1], X[at, 1])


def test_rows_that_are_closed_meanwhile_say_so(monkeypatch):
    """By another thread, in the middle of a fit: the system would say that a descriptor is bad."""
    with stored(np.random.default_rng(0).normal(size=(9000, 50))) as rows:
        block = ring.Ring.block
        monkeypatch.setattr(ring.Ring, "block", lambda self, i: (rows.close(), block(self, i))[1])
        for read in (lambda: rows[:], lambda: rows[3], rows.unchanged):
            with pytest.raises(StorageError, match=r"was closed: open the source again"):
                read()


def test_no_folder_for_temporary_files_is_one_error(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: [str(tmp_path / "none")])
    with pytest.raises(StorageError, match=r"No usable temporary directory .* TMPDIR"), stored(np.eye(3)):
        pass
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(DataError, match=r"a.parquet.gz cannot be read: No usable temporary directory"):
        read_table(tmp_path / "a.parquet.gz")


def test_nobody_makes_one_array_of_it_by_accident():
    with stored(np.eye(3)) as rows:
        with pytest.raises(InvalidInputError, match=r"X\[:\]"):
            np.asarray(rows)
        with pytest.raises(InvalidInputError, match=r"X\[:\]"):  # a kernel would compare them with its own rows
            SVC().fit(np.eye(3), [0, 1, 1]).predict(rows)
        assert np.array_equal(rows @ np.arange(3.0), np.arange(3.0))
