"""
A cascade of perceptrons
========================

Layers of sigmoidal perceptrons bend the boundary. Their objective has many valleys: the certificate says that
a place without slope was reached, and no more.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from separatrix import Cascade
from separatrix.plots import DecisionBoundary2D

X, y = make_moons(200, noise=0.2, random_state=0)
model = Cascade(hidden=4, n_init=1, trace=True).fit(X, y)
print(model.certificate_.claim)

# %%
# Four starts, and where each of them ends.

for seed in range(4):
    print(f"start {seed}: {Cascade(hidden=4, n_init=1, random_state=seed).fit(X, y).objective_:.2f}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
DecisionBoundary2D.from_estimator(model, X, y, ax=axes[0])
axes[1].semilogy(model.trace_["gradient"])
axes[1].set(xlabel="step", ylabel="largest derivative")
plt.show()
