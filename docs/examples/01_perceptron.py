"""
A perceptron, and how many mistakes it can make
===============================================

w ← w + y x at every mistake. If a line separates the classes, the mistakes are at most R²/γ²: the square of the longest
point over the square of the margin.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import Perceptron, mistake_bound
from separatrix.plots import DecisionBoundary2D, TraceDisplay

rng = np.random.default_rng(1)
X = np.vstack([rng.normal([-1.3, 0], [0.45, 2], (40, 2)), rng.normal([1.3, 1], [0.45, 2], (40, 2))])
y = np.repeat(["left", "right"], 40)

model = Perceptron(trace=True).fit(X, y)
print(f"{model.n_updates_} mistakes")
print(model.certificate_.claim)

# %%
# The theorem, with R and γ of these very points: the bound holds whatever the order.

print(f"at most {mistake_bound(X, y).bound:.0f}, by the theorem")
orders = [Perceptron(shuffle=True, random_state=seed).fit(X, y).n_updates_ for seed in range(20)]
print(f"{min(orders)} to {max(orders)} in twenty other orders")

# %%
# The line it stopped at, and the risk, the sum of what each wrong point lacks, after every update.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
DecisionBoundary2D.from_estimator(model, X, y, ax=axes[0])
TraceDisplay.from_estimator(model, ax=axes[1])
plt.show()
