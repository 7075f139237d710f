"""
Is there a hyperplane between the classes?
==========================================

Three answers, each with a proof: a hyperplane; one that points of both classes lie on; or convex combinations of both
classes that meet, so that there is none.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris

from separatrix import separability

X, y = load_breast_cancer(return_X_y=True)
answer = separability(X, y)
print(answer.verdict, "|", answer.certificate.claim)

# %%
# Two of the three species of iris overlap. The proof is a weight for each flower of a few, so that the weighted sums of
# both species are the same point: no line has them on different sides.

X, y = load_iris(return_X_y=True)
X, y = X[y > 0][:, 2:], y[y > 0]
answer = separability(X, y, exact=True)
print(answer.verdict, "|", answer.certificate.claim)
print("checked in plain NumPy:", bool(answer.verify(X, y)))

weight = np.array([float(share) for share in answer.weights])
figure, axis = plt.subplots(figsize=(5.5, 4), layout="constrained")
for label, name, colour in ((1, "versicolor", "tab:blue"), (2, "virginica", "tab:orange")):
    mine = y == label
    axis.scatter(*X[mine].T, s=12, color=colour, label=name)
    axis.scatter(*X[mine].T, s=400 * np.sqrt(weight[mine] / weight.max()), facecolors="none", edgecolors=colour)
axis.set(xlabel="petal length", ylabel="petal width", title="rings: the weights of the proof")
axis.legend()
plt.show()
