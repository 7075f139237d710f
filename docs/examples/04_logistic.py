"""
Logistic regression that proves its optimum
===========================================

The fit returns weights and a dual point. Both together hold the best possible objective between two numbers; anyone can
check them against the data.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from separatrix import ConvergenceWarning, LogisticRegression

X, y = load_breast_cancer(return_X_y=True)
model = LogisticRegression().fit(X, y)
print(model.status_)
print(model.certificate_.claim)
print("holds:", bool(model.certificate_.verify(X, y)))

# %%
# Stopped early, it says how far it got, instead of leaving you to guess.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", ConvergenceWarning)
    early = LogisticRegression(max_iter=2).fit(X, y)
print(caught[0].message)

# %%
# In raw units, whose ranges differ by a factor of a million, nothing is proved before the weights are close. Then the
# gap closes by several digits a step.

gaps = []
for steps in range(1, 12):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = LogisticRegression(max_iter=steps, tol=1e-12).fit(X, y)
    gaps.append(found.certificate_.relative_gap)
figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.semilogy(range(1, 12), gaps, marker="o")
axis.set(xlabel="steps", ylabel="relative gap, proved")
plt.show()
