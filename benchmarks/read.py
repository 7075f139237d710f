"""Real data from a folder of one's own, as the collections publish it, plain or compressed by xz, gz or bz2."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.generate import Data, small_indices, weighted

OPENERS: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}


class MissingData(Exception):
    """A file that a problem needs is not in the folder given, or no folder was given."""


def find(folder: Path | None, *names: str) -> Path:
    """The first file with one of these names in the folder or below it."""
    if folder is None:
        raise MissingData(f"needs --data FOLDER with {names[0]}")
    for name in names:
        for suffix in ("", *OPENERS):
            found = sorted(path for path in folder.rglob(name + suffix) if path.is_file())
            if found:
                return found[0]
    raise MissingData(f"{folder} has no {names[0]}")


def contents(path: Path) -> bytes:
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        return bytes(file.read())


def svmlight(folder: Path | None, name: str) -> Data:
    """A file of the LIBSVM collection: the matrix, and the labels as they are."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(io.BytesIO(contents(find(folder, name, f"{name}.svm", f"{name}.libsvm"))))
    return small_indices(sparse.csr_matrix(X)), y.astype(np.int64)


def two(folder: Path | None, name: str) -> Data:
    """The same with labels -1 and 1."""
    X, y = svmlight(folder, name)
    return X, np.where(y > 0, 1, -1)


def halves(folder: Path | None, name: str) -> Data:
    """The first half of the classes against the second, rows of length 1."""
    X, y = svmlight(folder, name)
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(np.where(length > 0, length, 1), np.diff(X.indptr))
    return X, np.where(y <= np.median(np.unique(y)), 1, -1)


def digits(folder: Path | None) -> Data:
    """The 60,000 training digits of MNIST, pixels from 0 to 1."""
    images = contents(find(folder, "train-images-idx3-ubyte", "train-images.idx3-ubyte"))
    labels = contents(find(folder, "train-labels-idx1-ubyte", "train-labels.idx1-ubyte"))
    X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784) / 255.0
    return X, np.frombuffer(labels, np.uint8, offset=8).astype(np.int64)


def messages(folder: Path | None) -> Data:
    """The SMS spam collection (label, tab, message) as tf-idf rows of words of two letters or more."""
    from sklearn.feature_extraction.text import CountVectorizer

    lines = contents(find(folder, "SMSSpamCollection", "SMSSpamCollection.tsv")).decode("utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines if line), strict=True)
    counts = CountVectorizer(dtype=np.float64).fit_transform(texts)
    return weighted(small_indices(sparse.csr_matrix(counts))), np.where(np.array(labels) == "spam", 1, -1)
