"""
Few columns: a path on which every C is proved
==============================================

An L1 penalty leaves columns out. Along the path not only the values on a grid, but every C between the ends has a
certified gap.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from separatrix import LogisticRegression, logistic_path

data = load_breast_cancer(as_frame=True)
X, y = StandardScaler().set_output(transform="pandas").fit_transform(data.data), data.target
path = logistic_path(X, y)
worst = max(path.gap(C) for C in np.geomspace(path.C[0], path.C[-1], 500))
print(f"{len(path.C)} values of C; the worst gap anywhere between is {worst:.1e}")

# %%
figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
path.plot(ax=axis)
plt.show()

# %%
# One model of the path: which columns it uses, and which are proved to be in no optimum.

model = LogisticRegression(l1_ratio=1.0, C=0.1).fit(X, y)
used = np.flatnonzero(model.coef_[0])
print(f"uses {len(used)}: {', '.join(data.feature_names[j] for j in used)}")
print(f"{int(model.certificate_.zeros.sum())} of the other {30 - len(used)} are 0 in every optimum, proved")
