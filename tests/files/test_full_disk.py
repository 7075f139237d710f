"""A disk that fills up, a small one in memory: one error that says so, and nothing left on it."""

import os
import subprocess

import numpy as np
import polars as pl
import pytest
from cli.commandline import run

from separatrix import LogisticRegression, StorageError
from separatrix.data import open as open_rows

SIZE = 4 << 20


@pytest.fixture
def disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    try:
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", place], capture_output=True)
    except OSError:
        pytest.skip("there is no mount here")
    if made.returncode:
        pytest.skip("only who may mount has a small disk to fill")
    yield place
    subprocess.run(["umount", place], check=True)


def source_of(folder, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    path = folder / "rows.parquet"
    pl.DataFrame({**{f"x{j}": X[:, j] for j in range(20)}, "y": X[:, 0] > 0}).write_parquet(path)
    return path


def free(place):
    status = os.statvfs(place)
    return status.f_bavail * status.f_frsize


# of 50 MB to work in, an eighth is for the table put aside: the first stays in memory and the block file is too long,
# the second is put aside on the disk
@pytest.mark.parametrize(("n", "kept"), [(30_000, True), (30_000, False), (60_000, False)])
def test_a_full_disk_is_one_error_and_leaves_nothing(disk, tmp_path, monkeypatch, n, kept):
    source = source_of(tmp_path, n)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path if kept else disk))
    before, open_files = free(disk), len(os.listdir("/dev/fd"))
    cache = disk / "rows.block" if kept else None
    with pytest.raises(StorageError, match=r"the disk is full|No space left on device") as caught:
        open_rows(source, "y", memory="50MB", cache=cache)
    assert "\n" not in str(caught.value)
    assert os.listdir(disk) == []
    assert free(disk) == before
    assert len(os.listdir("/dev/fd")) == open_files


def test_what_fits_is_read_though_another_was_too_long(disk, tmp_path):
    cache = disk / "rows.block"
    with pytest.raises(StorageError, match="the disk is full"):
        open_rows(source_of(tmp_path, 30_000), "y", memory="50MB", cache=cache)
    with open_rows(source_of(tmp_path, 10_000), "y", memory="50MB", cache=cache) as rows:
        assert os.listdir(disk) == ["rows.block"]
        with pytest.raises(StorageError, match="the disk is full"):  # what was there stays until another is whole
            open_rows(source_of(tmp_path, 30_000), "y", memory="50MB", cache=cache)
        assert os.listdir(disk) == ["rows.block"]
        model = LogisticRegression().fit(rows.X, rows.y)
        assert model.certificate_.verify(rows.X, rows.y)


def test_a_sample_that_does_not_fit_is_one_error_of_the_command(disk, tmp_path):
    done = run("compare", source_of(tmp_path, 60_000), "-t", "y", "--memory", "80MB", "--out", disk)
    assert done.exit_code == 4
    assert "rows.parquet cannot be written" in done.stderr
    assert "No space left" in done.stderr
    assert os.listdir(disk) == []
