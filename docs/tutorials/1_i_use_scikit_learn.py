"""
I use scikit-learn
==================

You have a table and a pipeline. At the end you will have a model of that table in a file, with a proof that it is the
optimum, honest probabilities and a report; and your pipeline with one import changed.
"""

# %%
# One import
# ----------
# The classes have scikit-learn's names and parameters, and go where theirs go: pipelines, searches, cross-validation.

import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import LogisticRegression, load
from separatrix.plots import MarginHistogram

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]

model = make_pipeline(StandardScaler(), LogisticRegression(C=0.5)).fit(X, y)
print(f"{cross_val_score(model, X, y).mean():.3f} of the held-out rows are right")

# %%
# What you did not have before: how the fit ended, and what it proved.

machine = model[-1]
print(machine.status_)
print(machine.certificate_.claim)

# %%
# Its hyperplane is a thing to look at, too: how far every row is from it, and on which side.

figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
MarginHistogram.from_estimator(machine, model[:-1].transform(X), y, ax=axis)
plt.show()

# %%
# Scaling is for the penalty only: whether it converges does not depend on it. A column in other units, by a factor of a
# million, is no trouble.

X_odd = X.copy()
X_odd["mean area"] *= 1e6
print(LogisticRegression().fit(X_odd, y).status_)

# %%
# Is it the optimum?
# ------------------
# You need not believe the fit. ``verify`` recomputes its claim from the data, in plain NumPy.

print(bool(machine.certificate_.verify(model[:-1].transform(X), y)))

# %%
# Your table, from the command line
# ---------------------------------
# ``separatrix compare`` reads a CSV as it is, tries every classifier on the same folds, and saves the best one with
# probabilities that can be believed. Here it runs on a file that we write first, in a temporary folder; put your own in
# their place.

folder = Path(tempfile.mkdtemp())
X.assign(diagnosis=y).to_csv(folder / "tumours.csv", index=False)
command = ["separatrix", "compare", "tumours.csv", "--target", "diagnosis"]
done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
print("\n".join(done.stdout.splitlines()[:4]))
print(sorted(path.name for path in folder.iterdir()))

# %%
# What you made
# -------------
# ``model.separatrix`` takes rows as they are in the table, and ``report.html`` says what it is worth.

scorer = load(folder / "model.separatrix")
row = X.iloc[0].to_dict()
print(scorer.predict([row])[0], scorer.predict_proba([row]).round(3))

# %%
# And anyone who has the table can check the proof:

checked = subprocess.run(
    ["separatrix", "verify", "model.separatrix", "tumours.csv"], cwd=folder, capture_output=True, text=True, check=True
)
print(checked.stdout)
