"""
From statsmodels: estimates with intervals
==========================================

Maximum likelihood with standard errors, on the table of Spector and Mazzeo (1980), which statsmodels ships; and what
happens where there is no finite estimate.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from statsmodels.datasets import spector

from separatrix import LogisticRegression, SeparationWarning

data = spector.load_pandas()
X, y = data.exog, data.endog.astype(int)

model = LogisticRegression(C=np.inf).fit(X, y)
theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0)
print(f"{'':9} {'ours':>8} {'error':>8} {'statsmodels':>12} {'error':>8}")
for j, name in enumerate(X.columns):
    ours = f"{model.coef_[0, j]:8.4f} {model.standard_errors_[j]:8.4f}"
    print(f"{name:9} {ours} {theirs.params[name]:12.4f} {theirs.bse[name]:8.4f}")

# %%
# The summary, with intervals.

print(model.summary())

low, high = model.conf_int()[:3].T
figure, axis = plt.subplots(figsize=(6, 2.6), layout="constrained")
axis.errorbar(
    model.coef_[0], range(3), xerr=[model.coef_[0] - low, high - model.coef_[0]], fmt="o", capsize=3, label="ours"
)
axis.plot(theirs.params[X.columns], np.arange(3) + 0.15, "x", label="statsmodels")
axis.axvline(0, color="grey", linewidth=1)
axis.set(yticks=range(3), yticklabels=X.columns, xlabel="weight, 95% interval")
axis.legend()
plt.show()

# %%
# A column that separates the classes has no finite estimate. The fit says so, and names the column; Firth's penalty
# has an answer.

x = np.arange(8.0)[:, None]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", SeparationWarning)
    LogisticRegression(C=np.inf).fit(x, x[:, 0] > 3)
print(caught[0].message)
firth = LogisticRegression(C=np.inf, bias_reduction="firth").fit(x, x[:, 0] > 3)
print(f"Firth: {firth.coef_[0, 0]:.3f}")
