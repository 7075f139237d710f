"""Blocks that come and go are not mapped anew each time, though the process was told to give memory back."""

import os
import platform
import subprocess
import sys

import pytest

from separatrix.loops.allocation import VARIABLE

CODE = """
import resource, sys
import numpy as np
from separatrix.loops.allocation import kept

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(1 << 18)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

outside = faults()
with kept():
    inside = faults()
print(outside, inside, faults())
"""


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer frees in its own way")
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has this")
def test_what_is_freed_is_kept_for_as_long_as_asked():
    there = {**os.environ, VARIABLE: "65536"}
    done = subprocess.run([sys.executable, "-c", CODE], env=there, capture_output=True, text=True, check=True)
    outside, inside, after = map(int, done.stdout.split())
    pages = (1 << 18) * 8 // os.sysconf("SC_PAGE_SIZE")  # of one block
    assert inside <= 3 * pages < 10 * pages <= min(outside, after)


def test_a_process_that_was_told_nothing_is_left_alone(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("separatrix.loops.allocation._mallopt", lambda: pytest.fail("malloc was told something"))
    from separatrix.loops.allocation import kept

    with kept():
        pass
