"""
Naive Bayes is a linear model
=============================

With densities of an exponential family the log-odds are linear in the statistics t(x): naive Bayes has weights, and a
hyperplane, like the others.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from separatrix import NaiveBayes
from separatrix.plots import DecisionBoundary2D

X, y = load_iris(return_X_y=True)
X, y = X[y > 0][:, 2:], y[y > 0]

shared = NaiveBayes(family="gaussian").fit(X, y)
print(shared.certificate_.claim)

# %%
# The boundary of equal probabilities on two columns of iris.

figure, axis = plt.subplots(figsize=(6, 2.6), layout="compressed")
DecisionBoundary2D.from_estimator(shared, X, y, ax=axis)
axis.set(xlabel="petal length", ylabel="petal width")
plt.show()
