"""
Choosing C
==========

Fits of all folds along a path of C, each proved to a hundredth of the tolerance; then the best C, or the smallest
within one standard error of it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from separatrix import LogisticRegressionCV

X, y = load_breast_cancer(return_X_y=True)
Cs = np.logspace(-6, 2, 17)
best = LogisticRegressionCV(Cs=Cs, scoring="neg_log_loss").fit(X, y)
modest = LogisticRegressionCV(Cs=Cs, scoring="neg_log_loss", choice="one_standard_error").fit(X, y)
print(f"best C {float(best.C_):.3g}, within one standard error {float(modest.C_):.3g}")

# %%
mean, error = best.scores_.mean(axis=0), best.scores_.std(axis=0, ddof=1) / np.sqrt(len(best.scores_))
figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
axis.errorbar(best.Cs_, -mean, error, marker="o", capsize=3)
for model, name in ((best, "best"), (modest, "one standard error")):
    axis.axvline(float(model.C_), linestyle="--", color="grey")
    axis.annotate(name, (float(model.C_), 0.9), xycoords=("data", "axes fraction"), rotation=90, ha="right", va="top")
axis.set(xscale="log", xlabel="C", ylabel="held-out log-loss")
plt.show()
