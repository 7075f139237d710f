"""
Answers by a formula: centroids and least squares
=================================================

Two classifiers that need no iterations. Their certificate is that the equations hold, to the last digits.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LeastSquaresClassifier, LogisticRegression, NearestCentroid
from separatrix.plots import DecisionBoundary2D

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([0, 0], 0.8, (40, 2)), rng.normal([3, 0], 0.8, (40, 2)), rng.normal([10, 1], 0.5, (15, 2))])
y = np.repeat([0, 1, 1], [40, 40, 15])

models = (NearestCentroid(), LeastSquaresClassifier(), LogisticRegression())
figure, axes = plt.subplots(3, 1, figsize=(6, 6.5), layout="compressed", sharex=True)
for axis, model in zip(axes, models, strict=True):
    DecisionBoundary2D.from_estimator(model.fit(X, y), X, y, ax=axis, legend=axis is axes[0])
    axis.set_title(f"{type(model).__name__}: {int((model.predict(X) != y).sum())} errors")
plt.show()

# %%
# Points that are far on the right side pull the line of least squares, and the bisector of the centroids, but not that
# of logistic regression.

for model in models[:2]:
    print(f"{type(model).__name__}: {model.certificate_.claim}")
