"""
Rare classes: the cut, not the fit
==================================

With one positive in twenty, a logistic regression says "no" to nearly everything at a cut of one half. Its
probabilities are fine; the cut is not. Weights that balance the classes move the boundary as well, and spoil the
probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import train_test_split

from separatrix import LogisticRegression

X, y = make_classification(6000, 12, n_informative=5, weights=[0.95], flip_y=0.02, class_sep=0.8, random_state=3)
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)

plain = LogisticRegression().fit(X, y)
balanced = LogisticRegression(class_weight="balanced").fit(X, y)
P = plain.predict_proba(X_test)[:, 1]
share = y.mean()
for name, guess, chance in (
    ("cut at 1/2", P > 0.5, P),
    (f"cut at the share of the class, {share:.2f}", share < P, P),
    ("balanced weights", balanced.predict(X_test), balanced.predict_proba(X_test)[:, 1]),
):
    accuracy, loss = balanced_accuracy_score(y_test, guess), log_loss(y_test, chance)
    print(f"{name:38} balanced accuracy {accuracy:.3f}, log-loss {loss:.3f}")

# %%
# What counts is the order of the scores, and both have nearly the same one: ``separatrix compare`` tunes the cut on
# held-out rows for the metric you name, and keeps the probabilities honest.

both = np.corrcoef(plain.decision_function(X_test), balanced.decision_function(X_test))
print(f"correlation of the two scores: {both[0, 1]:.3f}")

figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
for label, name in ((0, "common"), (1, "rare")):
    axis.hist(P[y_test == label], bins=40, range=(0, 1), density=True, alpha=0.6, label=name)
for place, name in ((0.5, "1/2"), (share, "share of the class")):
    axis.axvline(place, color="black", linestyle="--", linewidth=1)
    axis.annotate(f" cut at {name}", (place, 0.95), xycoords=("data", "axes fraction"), va="top")
axis.set(xlabel="probability of the rare class", ylabel="share of its rows", yticks=[])
axis.legend(loc="center right")
plt.show()
