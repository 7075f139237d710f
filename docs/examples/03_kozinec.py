"""
Kozinec: the widest margin in a bracket that closes
===================================================

w moves to the point nearest to 0 on the segment from w to the worst point. Its length and its smallest score hold the
best possible margin between two numbers, which the certificate states.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from separatrix import Kozinec

X, y = load_iris(return_X_y=True)
X, y = X[y < 2], y[y < 2]

model = Kozinec(epsilon=1e-6, trace=True).fit(X, y)
print(model.certificate_.claim)

# %%
# The bracket at each step.

trace = model.trace_
figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.plot(trace["step"], trace["margin"], label="reached by w")
axis.plot(trace["step"], np.asarray(trace["objective"]), label="no line has more")
axis.set(xlabel="step", ylabel="margin")
axis.legend()
plt.show()
