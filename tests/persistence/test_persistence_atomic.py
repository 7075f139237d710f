"""Whatever happens while a model is saved, the old file or the new one is there."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

import separatrix.persistence.atomic
from separatrix import NearestCentroid, load, save
from separatrix.persistence.atomic import write_atomically

X, Y = np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1])
OLD, NEW = NearestCentroid().fit(X, Y), NearestCentroid().fit(X + 5, Y)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.separatrix"
    save(OLD, path)
    return path


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), SystemExit()])
@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
def test_failures_leave_the_old_file_and_nothing_else(monkeypatch, path, step, error):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        save(NEW, path)
    monkeypatch.undo()
    assert os.listdir(path.parent) == [path.name]
    np.testing.assert_array_equal(load(path).coef_, OLD.coef_)
    np.testing.assert_array_equal(load(path).intercept_, OLD.intercept_)


def test_a_failure_after_the_rename_leaves_the_new_file(monkeypatch, path):
    real = os.fsync
    calls = []

    def second_fails(descriptor):
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError("the folder cannot be flushed")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", second_fails)
    save(NEW, path)
    np.testing.assert_array_equal(load(path).intercept_, NEW.intercept_)


def test_a_disk_that_is_full_while_writing(path, monkeypatch):
    real = os.fdopen

    def short(descriptor, mode):
        file = real(descriptor, mode, 0)

        class Full:
            def __enter__(self):
                return self

            def __exit__(self, *error):
                file.close()

            def write(self, data):
                file.write(data[:100])
                raise OSError(errno.ENOSPC, "No space left on device")

        return Full()

    monkeypatch.setattr(os, "fdopen", short)
    with pytest.raises(OSError, match="No space left"):
        save(NEW, path)
    assert os.listdir(path.parent) == [path.name]
    np.testing.assert_array_equal(load(path).intercept_, OLD.intercept_)


def test_permissions_and_links(path, tmp_path):
    os.chmod(path, 0o640)
    save(NEW, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    mask = os.umask(0o027)
    try:
        save(NEW, tmp_path / "new")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    link = tmp_path / "link"
    link.symlink_to(path)
    save(OLD, link)
    assert link.is_symlink()
    np.testing.assert_array_equal(load(path).intercept_, OLD.intercept_)
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "later")
    save(OLD, dangling)
    assert (tmp_path / "later").exists()


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError):
        save(OLD, tmp_path / "no folder" / "m")
    for place in (tmp_path, "/dev/null"):
        with pytest.raises(OSError, match="not an ordinary file"):
            save(OLD, place)


# the file alone, because the package takes a second to import
WRITER = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("atomic", sys.argv[2])
atomic = importlib.util.module_from_spec(spec)
spec.loader.exec_module(atomic)
print("ready", flush=True)
n = 0
while True:
    n += 1
    atomic.write_atomically(sys.argv[1], bytes([n % 256]) * 3_000_000)
"""
SET_WRITER = """
import importlib.util, pathlib, sys
spec = importlib.util.spec_from_file_location("atomic", sys.argv[2])
atomic = importlib.util.module_from_spec(spec)
spec.loader.exec_module(atomic)
print("ready", flush=True)
n = 0
while True:
    n += 1
    mark = bytes([n % 256])
    atomic.write_together(pathlib.Path(sys.argv[1]), {"a": mark * 200_000, "b": mark * 200_000, "last": mark})
"""
SAVER = """
import sys
import numpy as np
from separatrix import NearestCentroid, save
X = np.zeros((3, 50_000))
X[2] = 1
models = [NearestCentroid().fit(X + n, [0, 0, 1]) for n in range(2)]
print("ready", flush=True)
while True:
    for model in models:
        save(model, sys.argv[1])
"""


def killed(script, arguments, delay, how=signal.SIGKILL):
    with subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(how)
        process.wait()


def test_killed_while_writing(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"\xff" * 3_000_000)
    seen = set()
    for round_ in range(20):
        how = signal.SIGKILL if round_ % 3 else signal.SIGINT
        killed(WRITER, [str(path), separatrix.persistence.atomic.__file__], 0.003 * round_, how)
        content = path.read_bytes()
        assert len(content) == 3_000_000  # all of one file
        assert len(set(content)) == 1
        seen.add(content[0])
    write_atomically(path, b"at last")
    assert path.read_bytes() == b"at last"
    assert len(seen) > 1


def test_killed_while_writing_a_set(tmp_path):
    complete = 0
    for round_ in range(20):
        killed(SET_WRITER, [str(tmp_path), separatrix.persistence.atomic.__file__], 0.003 * round_)
        if not (tmp_path / "last").exists():
            continue
        complete += 1
        mark = (tmp_path / "last").read_bytes()
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == mark * 200_000
    assert complete


def test_killed_while_saving(path):
    for delay in (0.0, 0.005, 0.03):
        killed(SAVER, [str(path)], delay)
        assert load(path).predict(np.zeros((1, load(path).n_features_in_))).tolist() == [0]
