"""
The fewest errors that any line makes
=====================================

Counting errors is not convex, so other classifiers minimise something else. On small tables the true minimum can be
found, and proved.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression, MinimumErrorClassifier
from separatrix.plots import DecisionBoundary2D

rng = np.random.default_rng(5)
X = np.vstack(
    [rng.normal([-0.8, 0], 0.8, (25, 2)), rng.normal([0.8, 0], 0.8, (25, 2)), rng.normal([-5, 3], 0.3, (6, 2))]
)
y = np.repeat([0, 1, 1], [25, 25, 6])

least = MinimumErrorClassifier().fit(X, y)
print(least.certificate_.claim)

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="compressed")
for axis, model in zip(axes, (least, LogisticRegression(C=100).fit(X, y)), strict=True):
    DecisionBoundary2D.from_estimator(model, X, y, ax=axis, legend=axis is axes[1])
    axis.set_title(f"{type(model).__name__}: {int((model.predict(X) != y).sum())} errors")
plt.show()
