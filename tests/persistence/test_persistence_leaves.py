"""Every number, word and list in a model file, replaced by another: refused, or a model that gives finite scores.

A few hundred of each classifier here; SEPARATRIX_FUZZ=5000 for a long run.
"""

import os
import random
import warnings
from contextlib import suppress

import numpy as np
import pytest
from persistence.modelfiles import join, split
from persistence.test_persistence_agreement import CASES, fitted
from scipy import sparse

from separatrix import SVC, ModelFileError, NaiveBayes, Perceptron, SeparatrixError, load
from separatrix.kernels import Graph, Spectrum, WeisfeilerLehman
from separatrix.persistence.files import dump

COUNT = int(os.environ.get("SEPARATRIX_FUZZ", "60"))
ODD = [
    {"$float": "nan"}, {"$float": "inf"}, {"$float": "-inf"}, 1e308, -1e308, -1, 0, 1, 2.5, 10**30, True, False, None,
    "x", "", [], ["x"], [1, 2], {}, {"$tuple": []}, {"array": ["x"], "shape": [1], "dtype": "<f8"}, {"dict": {}},
    {"float": "nan"}, {"fraction": "1/3"}, {"$status": "CERTIFIED"},
]  # fmt: skip
NUMBERS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, -1, 0, 3, 10**6, 2**31, -(2**62)]


def uncertified(model):
    model.certificate_ = None
    return model


def files():
    for name, k in CASES:
        yield f"{name} {k}", *fitted(name, k)[:2]
    X, y = fitted("svc", 3)[1:]
    yield "sparse", SVC().fit(sparse.csr_array(X), y), X
    yield "without a certificate", uncertified(SVC().fit(X, y)), X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield "stream", Perceptron().partial_fit(X, y, classes=[0, 1, 2]), X
        yield "bayes stream", NaiveBayes(shared_variance=False).partial_fit(X, y, classes=[0, 1, 2, 3]), X
    counts = np.abs(X).astype(int)
    for family in ("poisson", "multinomial", ["bernoulli", "poisson", "gaussian"]):
        C = np.column_stack([counts[:, 0] % 2, counts[:, 1:]])
        yield f"{family}", uncertified(NaiveBayes(family, shared_variance=False).fit(C, y)), C
    texts = ["abc", "bcd", "xyz", "yzx"]
    yield "texts", SVC(kernel=Spectrum(2)).fit(texts, [0, 0, 1, 1]), texts
    graphs = [Graph([(0, 1)], ["a", text]) for text in texts]
    yield "graphs", SVC(kernel=WeisfeilerLehman(2)).fit(graphs, [0, 0, 1, 1]), graphs


FILES = {name: (dump(model), X) for name, model, X in files()}


def leaves(tree, path=()):
    """The places of whatever has nothing below it."""
    below = tree.items() if isinstance(tree, dict) else enumerate(tree[:8]) if isinstance(tree, list) else ()
    yield path
    for key, value in below:
        yield from leaves(value, (*path, key))


def planted(tree, path, value):
    if not path:
        return value
    copied = dict(tree) if isinstance(tree, dict) else list(tree)
    copied[path[0]] = planted(tree[path[0]], path[1:], value)
    return copied


def mutated(blob, source):
    """The file with a few of its values replaced."""
    header, document, data = split(blob)
    tensors = [name for name in header if name != "__metadata__"]
    for _ in range(source.choice([1, 1, 1, 2])):
        if source.random() < 0.4:
            part = source.choice(["fitted", "fitted", "scorer", "parameters"])
            path = source.choice(list(leaves(document[part])))
            document = {**document, part: planted(document[part], path, source.choice(ODD))}
            continue
        name = source.choice(tensors)
        entry = header[name]
        first, last = entry["data_offsets"]
        kind = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "BOOL": "|u1", "U8": "|u1"}[entry["dtype"]]
        if source.random() < 0.15:
            shapes = [entry["shape"][::-1], [int(np.prod(entry["shape"]))], [1, *entry["shape"]]]
            changed = {"shape": source.choice(shapes), "dtype": source.choice(["F64", "I64", entry["dtype"]])}
            header = {**header, name: {**entry, **changed}}
            continue
        values = np.frombuffer(data[first:last], kind).copy()
        if len(values):
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                at = source.choice([0, -1, source.randrange(len(values)), slice(None)])
                values[at] = np.array(source.choice(NUMBERS), dtype=float).astype(kind)
            data = data[:first] + values.tobytes() + data[last:]
    return join(header, document, data)


def usable(path, X):
    """Whether it loads; if so it predicts with finite numbers, or says why it cannot."""
    try:
        model = load(path)
    except ModelFileError:
        return False
    try:
        assert len(model.predict(X)) == len(X)
        assert not np.isnan(model.decision_function(X)).any()
        if hasattr(model, "predict_proba"):
            shares = model.predict_proba(X)
            assert ((shares >= 0) & (shares <= 1)).all()
    except SeparatrixError:
        pass
    if hasattr(model, "partial_fit"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(SeparatrixError, ValueError):
                model.partial_fit(X, np.resize(model.classes_, len(X)))
    return True


@pytest.mark.parametrize("name", FILES)
def test_any_leaf_replaced(name, tmp_path):
    blob, X = FILES[name]
    X = X[:4] if isinstance(X, list) else np.asarray(X[:4], dtype=float)
    source, path = random.Random(name), tmp_path / "m"
    path.write_bytes(join(*split(blob)))
    assert usable(path, X)
    refused = 0
    for _ in range(COUNT):
        path.write_bytes(mutated(blob, source))
        refused += not usable(path, X)
    assert refused > COUNT / 4  # most replacements matter


def test_a_sparse_matrix_whose_rows_end_elsewhere(tmp_path):
    blob, _ = FILES["sparse"]
    header, document, data = split(blob)
    name = "support_vectors_.indptr"
    first, last = header[name]["data_offsets"]
    kind = {"I32": "<i4", "I64": "<i8"}[header[name]["dtype"]]
    good = np.frombuffer(data[first:last], kind)
    assert good[0] == 0
    wrong = {
        "last entry 0, 10^6 inside": [0, *[10**6] * (len(good) - 2), 0],
        "beyond the end": [*good[:-1], 10**6],
        "not from 0": [1, *good[1:]],
        "backwards": [0, good[-1], *good[2:-1][::-1], good[-1]],
        "negative": [0, -1, *good[2:]],
        "overflow": [0, np.iinfo(kind).min, *good[2:]],
    }
    for indptr in wrong.values():
        (tmp_path / "m").write_bytes(
            join(header, document, data[:first] + np.array(indptr, kind).tobytes() + data[last:])
        )
        with pytest.raises(ModelFileError, match="a sparse matrix is malformed"):
            load(tmp_path / "m")
    name = "support_vectors_.indices"
    first, last = header[name]["data_offsets"]
    for index in (-1, 3, 10**6):
        indices = np.frombuffer(data[first:last], kind).copy()
        indices[len(indices) // 2] = index
        (tmp_path / "m").write_bytes(join(header, document, data[:first] + indices.tobytes() + data[last:]))
        with pytest.raises(ModelFileError, match="a sparse matrix is malformed"):
            load(tmp_path / "m")
