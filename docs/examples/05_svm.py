"""
Support vector machines: hard, soft, and with a kernel
======================================================

The widest street between the classes; with C, the widest one that may be entered at a price; with a kernel, a street
in another space.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from separatrix import SVC, HardMarginSVC, LinearSVC, NotSeparableError
from separatrix.plots import DecisionBoundary2D

X, y = make_moons(120, noise=0.12, random_state=0)
models = {
    "LinearSVC(C=0.1)": LinearSVC(C=0.1),
    "LinearSVC(C=100)": LinearSVC(C=100),
    "SVC(gamma=2)": SVC(gamma=2.0),
}
figure, axes = plt.subplots(1, 3, figsize=(11, 2.6), layout="compressed")
for axis, (name, model) in zip(axes, models.items(), strict=True):
    DecisionBoundary2D.from_estimator(model.fit(X, y), X, y, ax=axis, legend=axis is axes[-1])
    axis.set_title(f"{name}, gap {model.certificate_.relative_gap:.0e}")
plt.show()

# %%
# A hard margin needs classes that a plane separates. These are not, and the error says what proves it.

try:
    HardMarginSVC(kernel="linear").fit(X, y)
except NotSeparableError as error:
    print(error)
