"""Ctrl-C in the middle of a fit: the classifier and the process are left as they were, and the next fit works."""

import subprocess
import sys

import pytest

INTERRUPTED = """
import os, signal, threading, time, warnings
import numpy as np
from scipy import sparse
from separatrix import {name}

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
{data}
model = {model}
before = vars(model).copy()
killed = []

def interrupt():
    killed.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.5, interrupt).start()
try:
    model.fit(X, y)
    raise AssertionError("it was over before it was interrupted")
except KeyboardInterrupt:
    waited = time.perf_counter() - killed[0]
assert vars(model) == before
assert waited < 0.5, waited  # a loop returns every 50 ms or so, on a machine that is not busy
small = {small}
again = {small}
np.testing.assert_array_equal(small.fit(X[:500], y[:500]).coef_, again.fit(X[:500], y[:500]).coef_)
"""
DENSE = """
X = rng.normal(size=(200_000, 20))
y = (X[:, 0] + rng.normal(size=200_000) > 0).astype(int)
"""
WIDE = """
X = sparse.random_array((20_000, 50_000), density=2e-3, format="csr", rng=rng)
y = rng.integers(0, 2, 20_000)
"""


@pytest.mark.parametrize(
    "name, data, long, short",
    [
        ("Perceptron", DENSE, "max_iter=10**6", "max_iter=2"),
        ("LinearSVC", WIDE, "C=1e4, tol=1e-12, max_iter=10**9", "C=1.0"),
    ],
)
def test_ctrl_c_in_a_long_loop(name, data, long, short):
    code = INTERRUPTED.format(name=name, data=data, model=f"{name}({long})", small=f"{name}({short})")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
