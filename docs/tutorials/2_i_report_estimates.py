"""
I report estimates
==================

You fit logistic regressions to say what is associated with what. At the end you will have a table of odds ratios with
intervals in a file, a picture of it, and the certainty that the estimates exist.
"""

# %%
# Do they exist?
# --------------
# Where some combination of columns separates the classes, maximum likelihood has no finite answer, and software that
# prints one prints the place where it gave up. Ask first.

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from statsmodels.datasets import fair

from separatrix import LogisticRegression, SeparationWarning, separability

data = fair.load_pandas().data
X = data[["rate_marriage", "age", "yrs_married", "children", "religious", "educ"]]
y = (data["affairs"] > 0).astype(int)
answer = separability(X, y)
print(answer.verdict, "|", answer.certificate.claim)

# %%
# The estimates
# -------------
# ``C=np.inf`` is no penalty at all. The certificate says how far the likelihood can be from its maximum.

model = LogisticRegression(C=np.inf).fit(X, y)
print(model.summary())

# %%
# Where there are none
# --------------------
# A column that only the ones have: the fit warns and names it, and has no standard errors to mislead you with. Firth's
# penalty, of the order of 1/n, has an estimate.

few = data.sample(60, random_state=0)
X_few = few[["rate_marriage", "age"]].assign(told=(few["affairs"] > 1).astype(float))
y_few = (few["affairs"] > 0).astype(int)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", SeparationWarning)
    LogisticRegression(C=np.inf).fit(X_few, y_few)
print(caught[0].message)
print(LogisticRegression(C=np.inf, bias_reduction="firth").fit(X_few, y_few).summary())

# %%
# What you made
# -------------
# Odds ratios with 95% intervals, as a file and as a picture: name a folder of your own to keep them.

low, high = model.conf_int()[: X.shape[1]].T
table = pd.DataFrame({"odds ratio": np.exp(model.coef_[0]), "low": np.exp(low), "high": np.exp(high)}, index=X.columns)
folder = Path(tempfile.mkdtemp())
table.to_csv(folder / "estimates.csv")
print(table.round(3))

figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
middle, places = table["odds ratio"], np.arange(len(table))
axis.errorbar(middle, places, xerr=[middle - table["low"], table["high"] - middle], fmt="o", capsize=3)
axis.axvline(1.0, color="grey", linewidth=1)
axis.set(yticks=places, yticklabels=table.index, xscale="log", xlabel="odds ratio, 95% interval")
axis.set_xticks([0.5, 0.75, 1.0, 1.25], ["0.5", "0.75", "1", "1.25"])
axis.minorticks_off()
figure.savefig(folder / "estimates.png", dpi=150)
plt.show()
