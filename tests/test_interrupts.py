"""Ctrl-C in the middle of a fit: the classifier and the process are left as they were, and the next fit works."""

import subprocess
import sys

INTERRUPTED = """
import os, signal, warnings
import numpy as np
from separatrix import Perceptron, compiled

warnings.simplefilter("ignore")
dispatcher = compiled._dispatcher

def interrupting(*arguments):
    os.kill(os.getpid(), signal.SIGINT)  # as the compiler is being imported
    return dispatcher(*arguments)

compiled._dispatcher = interrupting
rng = np.random.default_rng(0)
X = rng.normal(size=(60_000, 20))
y = (X[:, 0] + rng.normal(size=60_000) > 0).astype(int)
model = Perceptron(max_iter=2)
before = vars(model).copy()
try:
    model.fit(X, y)
    raise AssertionError("nothing was compiled")
except KeyboardInterrupt:
    pass
assert vars(model) == before
compiled._dispatcher = dispatcher
np.testing.assert_array_equal(model.fit(X, y).coef_, Perceptron(max_iter=2).fit(X, y).coef_)
"""


def test_ctrl_c_while_a_loop_is_compiled():
    subprocess.run([sys.executable, "-c", INTERRUPTED], check=True, timeout=120)
