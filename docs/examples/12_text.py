"""
Words
=====

Which table is a sentence about? Descriptions that scikit-learn ships, cut into sentences, as counts of words: wide,
sparse, and separable.
"""

import re

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_linnerud, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression

loaders = (load_breast_cancer, load_diabetes, load_digits, load_iris, load_linnerud, load_wine)
texts, about = [], []
for loader in loaders:
    sentences = [s for s in re.split(r"[.\n]\s*\n|\.\s", loader().DESCR) if len(s.split()) > 4]
    texts += sentences
    about += [loader.__name__.removeprefix("load_")] * len(sentences)
y = np.array(about)
print(f"{len(texts)} sentences")

# %%
model = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=10))
shares = np.unique(y, return_counts=True)[1] / len(y)
print(f"held-out accuracy {cross_val_score(model, texts, y, cv=5).mean():.2f}, guessing {shares.max():.2f}")

# %%
# The heaviest words of each class; the fit is certified, so these weights are those of the optimum.

words, machine = model.fit(texts, y)
print(machine.status_)
names = words.get_feature_names_out()
for label, row in zip(machine.classes_, machine.coef_, strict=True):
    print(f"{label:14} {', '.join(names[np.argsort(-row)[:6]])}")

figure, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for axis, label in zip(axes, ("breast_cancer", "digits", "iris"), strict=True):
    row = machine.coef_[machine.classes_ == label][0]
    top = np.argsort(-row)[:8][::-1]
    axis.barh(names[top], row[top])
    axis.set_title(label)
plt.show()
