"""
What a certificate is, and what it is not
=========================================

It is a claim with the numbers that prove it. ``verify`` recomputes everything from the data in plain NumPy, and shares
no code with the fit: a claim about other data, or with better numbers than the truth, is refused.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from separatrix import LogisticRegression

X, y = load_wine(return_X_y=True)
model = LogisticRegression().fit(X, y)
certificate = model.certificate_
print(certificate.verify(X, y))

# %%
# Another table:

print(bool(certificate.verify(X[::-1], y)))

# %%
# A forged claim: the same weights, said to be better than they are.

better = replace(certificate, primal=0.9 * certificate.primal)
print(better.verify(X, y))

# %%
# What is claimed is an interval that holds the best possible objective. The forged one says that weights were found
# below what was proved: a contradiction, which the check meets by recomputing the objective.

figure, axis = plt.subplots(figsize=(6.5, 2.4), layout="constrained")
for height, claim in ((1, certificate), (0, better)):
    axis.plot([claim.dual, claim.primal], [height, height], linewidth=6, solid_capstyle="butt", alpha=0.4)
    axis.plot(claim.dual, height, ">", color="tab:orange", label="no weights have less" if height else None)
    axis.plot(claim.primal, height, "<", color="tab:blue", label="found" if height else None)
axis.set(yticks=[0, 1], yticklabels=["forged", "as fitted"], ylim=(-0.6, 1.6), xlabel="objective")
axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
