"""
I teach
=======

You explain the perceptron to people who should see it move. At the end you will have a handout of its steps, a check of
the theorem on your own points, and the same points in the lab, where everyone can drag them.
"""

# %%
# Points and a walk
# -----------------
# ``trace=True`` keeps every step: the point that was wrong, and the weights after it.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from separatrix import Perceptron, mistake_bound, separability

X = np.array([[1, 0.5], [2.5, -0.5], [2.5, 2.5], [1.5, -3], [-0.5, 3], [-2, 2], [-2, -1], [0, -2]])
y = np.repeat([1, -1], 4)
model = Perceptron(trace=True).fit(X, y)
trace = model.trace_
print(f"{model.n_updates_} updates")

# %%
# Let them predict first: which point is wrong next, and where does the line go?

W = np.asarray(trace["weights"])
steps = range(1, min(len(W), 7))
figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained", sharex=True, sharey=True)
for axis, step in zip(axes.flat, steps, strict=False):
    axis.scatter(*X[y == 1].T, color="tab:blue")
    axis.scatter(*X[y == -1].T, color="tab:orange", marker="s")
    point = int(np.asarray(trace["point"])[step])
    axis.scatter(*X[point], s=160, facecolors="none", edgecolors="black")
    u, v, b = W[step]
    ends = np.array([-9.0, 9.0])
    if v:
        axis.plot(ends, -(u * ends + b) / v, color="black")
    elif u:
        axis.axvline(-b / u, color="black")
    axis.set(xlim=(-4, 4), ylim=(-4, 4), aspect="equal", title=f"step {step}: w = ({u:g}, {v:g}), b = {b:g}")
folder = Path(tempfile.mkdtemp())  # name one of your own to keep the files
figure.savefig(folder / "handout.png", dpi=150)
plt.show()

# %%
# The theorem, on these points
# ----------------------------
# R²/γ² is computed from a certified margin, so that it is a bound and not an estimate.

bound = mistake_bound(X, y)
print(f"at most {bound.bound:.1f} updates; it took {model.n_updates_}")

# %%
# And where no line exists? XOR, with the proof that there is none: weights of the four points whose sum is 0.

corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
xor = separability(corners, [0, 1, 1, 0], exact=True)
print(xor.verdict, [str(weight) for weight in xor.weights])

# %%
# What you made
# -------------
# ``handout.png``; and the same lesson for everyone's own points:
#
# .. code-block:: console
#
#    $ separatrix lab points.csv --target y
#
# The `recorded lab <../play.html>`_ runs in any browser, without Python.

points = folder / "points.csv"
np.savetxt(points, np.column_stack([X, y]), delimiter=",", header="u,v,y", comments="", fmt="%g")
print(points.read_text())
