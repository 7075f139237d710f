"""
Classes that overlap: the pocket
================================

Where no line separates, a perceptron walks for ever. The pocket keeps the best line it has met, and counts its errors.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import MinimumErrorClassifier, PocketPerceptron
from separatrix.plots import DecisionBoundary2D

rng = np.random.default_rng(2)
X = np.vstack([rng.normal([-1, 0], 1.0, (40, 2)), rng.normal([1, 0.5], 1.0, (40, 2))])
y = np.repeat([0, 1], 40)

model = PocketPerceptron(random_state=0).fit(X, y)
print(model.certificate_.claim)

# %%
# How good is that? A search over all lines knows the fewest errors that any line makes.

best = MinimumErrorClassifier().fit(X, y)
print(best.certificate_.claim)

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="compressed")
for axis, found, title in ((axes[0], model, "pocket"), (axes[1], best, "fewest errors")):
    DecisionBoundary2D.from_estimator(found, X, y, ax=axis, legend=axis is axes[1])
    axis.set_title(f"{title}: {int((found.predict(X) != y).sum())} errors")
plt.show()
