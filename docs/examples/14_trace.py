"""
Watching an algorithm
=====================

``trace=True`` keeps every step: weights, objective, point, margin. Here gradient descent and Newton's method on the
same two columns.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([-1, 0], [1.0, 3.0], (60, 2)), rng.normal([1, 1], [1.0, 3.0], (60, 2))])
y = np.repeat([0, 1], 60)

least = LogisticRegression().fit(X, y).certificate_.dual  # no weights have less, and that is proved
figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for solver, steps in (("gradient", 200), ("newton", 10)):
    model = LogisticRegression(solver=solver, max_iter=steps, tol=1e-8, trace=True).fit(X, y)
    values = np.asarray(model.trace_["objective"], dtype=float)
    axis.semilogy(values - least, label=f"{solver}: {len(values) - 1} steps")
axis.set(xlabel="step", ylabel="objective above the proved bound")
axis.legend()
plt.show()
