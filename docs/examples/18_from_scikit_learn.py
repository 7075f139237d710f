"""
From scikit-learn: swap the import
==================================

The same classes and parameters. What differs is that the answer is the optimum, and says so.
"""

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression as Theirs

from separatrix import LogisticRegression as Ours

X, y = load_digits(return_X_y=True)
for cls in (Theirs, Ours):
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = cls().fit(X, y)
    package = cls.__module__.split(".")[0]
    took = time.perf_counter() - start
    said = str(caught[0].message).splitlines()[0] if caught else "no warning"
    print(f"{package:12} {took:.2f} s, {model.score(X, y):.4f} of the rows right; {said}")
print(model.certificate_.claim)

# %%
# How far theirs is, after so many iterations, from what ours has proved that no weights can fall below.

codes = np.unique(y, return_inverse=True)[1]


def objective(weights: np.ndarray, intercept: np.ndarray) -> float:
    scores = X @ weights.T + intercept
    scores -= scores.max(axis=1, keepdims=True)
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(y)), codes]
    return float(losses.sum() + 0.5 * (weights**2).sum())


proved, iterations, excess = model.certificate_.dual, (10, 30, 100, 300), []
for most in iterations:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Theirs(max_iter=most).fit(X, y)
    excess.append(objective(theirs.coef_, theirs.intercept_) / proved - 1)
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
axis.loglog(iterations, excess, marker="o", label="scikit-learn, as its max_iter grows")
axis.axhline(objective(model.coef_, model.intercept_) / proved - 1, color="tab:orange", label="separatrix, defaults")
axis.set(xlabel="max_iter", ylabel="above the proved bound, relative")
axis.set_xticks(iterations, [str(most) for most in iterations])
axis.minorticks_off()
axis.legend()
plt.show()
