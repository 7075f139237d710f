"""
Feature maps that know their error
==================================

A linear model of phi(x) is one with the kernel phi(x).phi(z). Random frequencies come close to a Gaussian kernel
slowly; landmarks do so fast, and say how close.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline

from separatrix import SVC, LinearSVC
from separatrix.features import Fourier, Landmarks, Nystroem
from separatrix.plots import DecisionBoundary2D

X, y = make_moons(300, noise=0.15, random_state=0)
greedy = Landmarks(tol=1e-6, gamma=1.0).fit(X)
print(greedy.claim_)
print(Fourier(n_frequencies=100, gamma=1.0, random_state=0).fit(X).claim_)

# %%
# The error of all pairs of rows, by the number of features.

figure, axis = plt.subplots(figsize=(6, 3.8), layout="constrained")
sizes = (4, 8, 16, 32, 64)
axis.loglog(range(1, len(greedy.errors_)), greedy.errors_[1:], label="Landmarks")
for name, make in (
    ("Nystroem", lambda m: Nystroem(m, gamma=1.0, random_state=0)),
    ("Fourier", lambda m: Fourier(m // 2, gamma=1.0, random_state=0)),
):
    axis.loglog(sizes, [make(m).fit(X).error_ for m in sizes], marker="o", label=name)
axis.set(xlabel="features", ylabel="error of the kernel")
axis.legend()
plt.show()

# %%
# A linear machine of 20 landmarks has the boundary of a machine with the kernel.

linear = make_pipeline(Landmarks(max_landmarks=20, gamma=1.0), LinearSVC()).fit(X, y)
kernel = SVC(gamma=1.0).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="compressed")
of_landmarks = DecisionBoundary2D.from_estimator(linear, X, y, ax=axes[0], legend=False)
of_kernel = DecisionBoundary2D.from_estimator(kernel, X, y, ax=axes[1])
axes[0].set_title("LinearSVC of 20 landmarks")
axes[1].set_title("SVC")
print(f"{(of_landmarks.regions == of_kernel.regions).mean():.1%} of the plane have the same prediction")
plt.show()
