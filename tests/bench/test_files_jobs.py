"""The benchmarks of rows in a file, on small ones: opened, fitted, verified, and beside another's fit of the same."""

import numpy as np
import pytest

from benchmarks.everyday.files import JOBS


@pytest.fixture(autouse=True)
def _folders(tmp_path, monkeypatch):
    """Their folders go with the process, which those of parallel tests do not end by themselves: so pytest's own."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def told(job, name, n, d):
    shape = np.array([[n, d]])
    return job.describe(job.entries[name].prepare(shape, None)(), shape, None)


def test_a_folder_is_fitted_with_a_proof_and_no_worse_than_another_does():
    ours, theirs = (told(JOBS[0], name, 20_000, 10) for name in ("separatrix", "scikit-learn"))
    assert ours["verified"]
    assert theirs["objectives"][0] * (1 + 1e-6) >= ours["objectives"][0]
    assert theirs["objectives"][0] == pytest.approx(ours["objectives"][0], rel=0.01)


def test_sparse_batches_are_fitted_with_a_proof():
    assert told(JOBS[1], "separatrix", 5000, 200)["verified"]


def test_a_file_held_out_is_foretold_better_than_by_a_coin():
    assert told(JOBS[2], "separatrix", 20_000, 10)["held-out loss"] < 0.66  # log 2 is .69


def test_all_decode_the_same_folder():
    for name in JOBS[3].entries:
        assert told(JOBS[3], name, 3000, 10) == {}
