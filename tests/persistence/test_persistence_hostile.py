"""Model files that are damaged, altered or written to do harm: one typed error, nothing executed, little memory."""

import os
import random
import re
import struct
import tracemalloc
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from contract import suited
from hypothesis import given, settings
from hypothesis import strategies as st
from persistence.modelfiles import ZEROS, join, signed, split

from separatrix import SVC, ModelFileError, NaiveBayes, Perceptron, Scorer, SeparatrixError, load, save
from separatrix.data import Encoder, Table
from separatrix.kernels import Spectrum
from separatrix.persistence.container import LARGEST_HEADER
from separatrix.persistence.files import dump


def table_of(X, y):
    """The rows of a matrix as a table."""
    frame = pl.DataFrame({f"x{j}": column for j, column in enumerate(X.T)})
    return Table(frame, None, y, "y", "rows", "0" * 64, np.arange(1, len(X) + 1))


def models():
    X, y = suited(SVC(), 3)
    table = table_of(X, y)
    encoder = Encoder.fit(table)
    yield dump(SVC().fit(X, y))
    yield dump(Perceptron(average=True).fit(X, y), encoder=encoder, fingerprint=table.fingerprint)
    yield dump(NaiveBayes(shared_variance=False).fit(X, y))
    yield dump(SVC(kernel=Spectrum(2)).fit(["abc", "bcd", "xyz", "yzx"], [0, 0, 1, 1]))


FILES = list(models())


def read(blob, folder):
    path = folder / "hostile.separatrix"
    path.write_bytes(blob)
    loaded = load(path)
    return loaded.model if isinstance(loaded, Scorer) else loaded


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


def rewritten(blob, old, new):
    """A file with part of its header replaced, in whatever form, and a checksum that fits."""
    (length,) = struct.unpack("<Q", blob[:8])
    header = re.sub(rb"[0-9a-f]{64}", ZEROS, blob[8 : 8 + length], count=1).replace(old, new)
    return signed(struct.pack("<Q", len(header)) + header + blob[8 + length :])


def test_the_helpers_here_write_valid_files(folder):
    for blob in FILES:
        assert type(read(join(*split(blob)), folder)).__name__ in ("SVC", "Perceptron", "NaiveBayes")


# ------------------------------------------------------------------ accidents
def test_cut_off_at_any_byte(folder):
    blob = FILES[0]
    for n in (*range(400), *range(400, len(blob), 17)):
        with pytest.raises(ModelFileError, match=r"hostile.separatrix cannot be loaded"):
            read(blob[:n], folder)
    with pytest.raises(ModelFileError):
        read(blob + b"\0", folder)


def test_a_byte_altered_anywhere(folder):
    blob = FILES[3]
    source = random.Random(0)
    for at in (*range(400), *range(400, len(blob), 5)):
        altered = bytearray(blob)
        altered[at] ^= source.randrange(1, 256)
        with pytest.raises(ModelFileError):
            read(bytes(altered), folder)


@settings(max_examples=200)
@given(st.data())
def test_flipped_and_spliced(folder, data):
    one, other = data.draw(st.sampled_from(FILES)), data.draw(st.sampled_from(FILES))
    kind = data.draw(st.sampled_from(["splice", "insert", "junk", "swap"]))
    at = data.draw(st.integers(0, len(one)))
    if kind == "splice":
        blob = one[:at] + other[at:]
    elif kind == "insert":
        blob = one[:at] + data.draw(st.binary(min_size=1, max_size=20)) + one[at:]
    elif kind == "junk":
        blob = data.draw(st.binary(max_size=300))
    else:
        blob = one[:at] + one[at:][::-1]
    if blob in FILES:
        return
    with pytest.raises(ModelFileError):
        read(blob, folder)


def test_files_that_are_none(tmp_path, folder):
    for path in (tmp_path / "none", tmp_path, "/dev/null"):
        with pytest.raises(ModelFileError, match=r"cannot be (read|loaded)"):
            load(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not an ordinary file"):
        load(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a model file"):
        read(b"a,b\n1,2\n" * 100, folder)
    assert issubclass(ModelFileError, SeparatrixError)


# ------------------------------------------------------------------ malice, with a checksum that fits
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5),
        st.sampled_from(["coef_", "SVC", "inf", "1e999999999", "<U999999999", "|O", "CERTIFIED", "gaussian"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["$tensor", "$columns", "$array", "$csr", "$dict", "$float", "$floats", "$graph", "$ints", "$kernel",
                 "$status", "$strings", "$tuple", "$certificate", "$family", "$other", "kernel", "fraction", "array"]
            ), inner, max_size=2,
        ),
    ),
    max_leaves=6,
)  # fmt: skip


def places(tree, path=()):
    """Every place in a tree of dicts and lists."""
    yield path
    if isinstance(tree, dict):
        for key in tree:
            yield from places(tree[key], (*path, key))
    elif isinstance(tree, list):
        for position, value in enumerate(tree[:5]):
            yield from places(value, (*path, position))


def planted(tree, path, value):
    if not path:
        return value
    copied = dict(tree) if isinstance(tree, dict) else list(tree)
    copied[path[0]] = planted(tree[path[0]], path[1:], value)
    return copied


def exercise(blob, folder):
    """Load; what comes through must behave like a classifier, or fail as one does on wrong input."""
    try:
        model = read(blob, folder)
    except ModelFileError:
        return False
    assert type(model).__name__ in ("SVC", "Perceptron", "NaiveBayes")
    points = ["abc", "zz"] if isinstance(model.__dict__.get("support_vectors_"), list) else np.ones((2, 3))
    assert len(model.predict(points)) == 2
    return True


@settings(max_examples=400)
@given(st.data())
def test_any_value_anywhere_in_the_document(folder, data):
    header, document, rest = split(data.draw(st.sampled_from(FILES)))
    path = data.draw(st.sampled_from(sorted(places(document), key=str)))
    if path[:1] in (("sha256",), ("parameters",)) or not path:
        path = ("fitted",)
    exercise(join(header, planted(document, path, data.draw(VALUES)), rest), folder)


@settings(max_examples=300)
@given(st.data())
def test_any_value_anywhere_in_the_list_of_tensors(folder, data):
    header, document, rest = split(data.draw(st.sampled_from(FILES)))
    tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
    path = data.draw(st.sampled_from(sorted(places(tensors), key=str)))
    value = data.draw(
        st.one_of(VALUES, st.sampled_from(["F32", "I64", "BF16", "F8_E4M3", "BOOL", [0, 8], [1 << 62], -1]))
    )
    wrong = planted(tensors, path, value)
    exercise(join(wrong if isinstance(wrong, dict) else {"t": wrong}, document, rest), folder)


@settings(max_examples=100)
@given(st.data())
def test_any_numbers_in_the_tensors(folder, data):
    header, document, rest = split(data.draw(st.sampled_from(FILES[:3])))
    raw = bytearray(rest)
    at = 8 * data.draw(st.integers(0, len(raw) // 8 - 1))
    raw[at : at + 8] = data.draw(
        st.one_of(
            st.binary(min_size=8, max_size=8), st.sampled_from([struct.pack("<d", x) for x in (np.inf, np.nan, -1)])
        )
    )
    with suppress(ModelFileError):
        read(join(header, document, bytes(raw)), folder)


DOCUMENTS = {
    "class": ({"class": "Hyperplane"}, "is not a classifier of separatrix"),
    "module": ({"class": "os.system"}, "is not a classifier of separatrix"),
    "schema": ({"schema": 1}, "has the schema 1, and this version of separatrix reads 2"),
    "more": ({"more": 1}, "should consist of"),
    "fingerprint": ({"fingerprint": "zz"}, "fingerprint is not a SHA-256"),
    "sample": ({"sample": [10]}, "sample is not a number of rows and a seed"),
    "a sample of none": ({"sample": [-1, 0]}, "sample is not a number of rows and a seed"),
    "a sample of words": ({"sample": ["10", 0]}, "sample is not a number of rows and a seed"),
    "versions": ({"versions": {}}, "versions are malformed"),
    "published": ({"published": ["predict"]}, "list of attributes is malformed"),
    "parameters": ({"parameters": {}}, "SVC has the parameters C, kernel"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_faults_of_the_document(name, folder):
    change, message = DOCUMENTS[name]
    header, document, rest = split(FILES[0])
    with pytest.raises(ModelFileError, match=message):
        read(join(header, {**document, **change}, rest), folder)


def test_a_file_without_a_sample_is_older_and_about_all_rows(folder):
    header, document, rest = split(FILES[0])
    del document["sample"]
    read(join(header, document, rest), folder)


FITTED = {
    "predict": (1, "unknown attribute, 'predict'"),
    "evil_": (1, "unknown attribute, 'evil_'"),
    "n_features_in_": (4, "coef_|malformed|support"),
    "status_": ("fine", "its status_ is malformed"),
    "n_iter_": (-1, "its n_iter_ is malformed"),
    "margin_": ({"$float": "nan"}, "its margin_ is malformed"),
    "_multilabel": (1, "its _multilabel is malformed"),
    "classes_": ([1, 2, 3], "its classes_ are missing or malformed"),
    "kernel_": ({"$kernel": {"kernel": "rbf", "gamma": -1}}, "kernel' is malformed: gamma must be"),
    "certificate_": ({"$certificate": {"kind": "Hacked"}}, "Not a Certificate"),
}


@pytest.mark.parametrize("name", FITTED)
def test_faults_of_the_attributes(name, folder):
    value, message = FITTED[name]
    header, document, rest = split(FILES[0])
    with pytest.raises(ModelFileError, match=message):
        read(join(header, {**document, "fitted": {**document["fitted"], name: value}}, rest), folder)


def test_fractions_of_any_size_are_refused_unread(folder):
    header, document, rest = split(FILES[1])
    certificate = document["fitted"]["certificate_"]
    certificate["$certificate"]["parts"][0]["certificate"]["margin"] = {"fraction": "1e999999999"}
    with pytest.raises(ModelFileError, match="Not a fraction"):
        read(join(header, document, rest), folder)


def test_names_given_twice_and_numbers_of_no_json(folder):
    header, document, rest = split(FILES[0])
    blob = join(header, {**document, "fingerprint": "TWICE"}, rest)
    for wrong in (b'\\"TWICE\\",\\"fingerprint\\":1', b"NaN", b"Infinity"):
        with pytest.raises(ModelFileError, match="header is malformed"):
            read(rewritten(blob, b'\\"TWICE\\"', wrong), folder)


F64 = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}
TENSORS = {
    "overlapping": ({"t": F64, "u": F64}, bytes(8)),
    "a hole": ({"t": {**F64, "data_offsets": [8, 16]}}, bytes(16)),
    "bytes of no tensor": ({"t": F64}, bytes(9)),
    "bytes that are missing": ({"t": F64}, bytes(7)),
    "a shape of more": ({"t": {**F64, "shape": [2]}}, bytes(8)),
    "a shape beyond counting": ({"t": {**F64, "shape": [1 << 63]}}, bytes(8)),
    "a shape of nothing, beyond counting": ({"t": {**F64, "shape": [0, 1 << 63], "data_offsets": [0, 0]}}, b""),
    "a negative shape": ({"t": {**F64, "shape": [-1]}}, bytes(8)),
    "more axes than arrays have": ({"t": {**F64, "shape": [1] * 100}}, bytes(8)),
    "numbers that NumPy has not": ({"t": {**F64, "dtype": "BF16", "shape": [4]}}, bytes(8)),
    "no such numbers": ({"t": {**F64, "dtype": "F99"}}, bytes(8)),
    "truth values of 2": ({"t": {**F64, "dtype": "BOOL", "shape": [8]}}, bytes([1, 0, 2, 0, 0, 0, 0, 0])),
}


@pytest.mark.parametrize("name", TENSORS)
def test_faults_of_the_list_of_tensors(name, folder):
    header, data = TENSORS[name]
    with pytest.raises(ModelFileError, match=r"hostile\.separatrix cannot be loaded: its list of tensors is malformed"):
        read(join(header, split(FILES[0])[1], data), folder)


def test_the_last_of_two_tensors_of_a_name_is_not_taken(folder):
    blob = join({"first": F64, "other": {**F64, "data_offsets": [8, 16]}}, split(FILES[0])[1], bytes(16))
    with pytest.raises(ModelFileError, match="header is malformed: a name is given twice"):
        read(rewritten(blob, b'"other"', b'"first"'), folder)


def test_loaded_numbers_are_the_callers_own(folder):
    model = read(FILES[0], folder)
    model.support_vectors_[:] = 0.0


def test_nested_deeper_than_python_can(folder):
    header, document, rest = split(FILES[0])
    blob = join(header, {**document, "encoder": "DEEP"}, rest)
    with pytest.raises(ModelFileError, match="header is malformed"):
        read(rewritten(blob, b'\\"DEEP\\"', b"[" * 200_000 + b"]" * 200_000), folder)


# ------------------------------------------------------------------ memory
def peak(blob, folder):
    path = folder / "large.separatrix"
    path.write_bytes(blob)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            load(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_nothing_large_is_allocated_for_what_a_header_claims(folder):
    header, document, rest = split(FILES[0])
    huge = 1 << 40
    name = next(name for name in header if name != "__metadata__")
    entry = {"dtype": "F64", "shape": [huge // 8], "data_offsets": [0, huge]}
    assert peak(join({**header, name: entry}, document, rest), folder) < 2_000_000
    assert peak(join({**header, name: {**entry, "data_offsets": [0, 8]}}, document, rest), folder) < 2_000_000
    assert peak(join({**header, name: {**entry, "shape": [0, huge]}}, document, rest), folder) < 2_000_000
    assert peak(struct.pack("<Q", huge) + FILES[0][8:], folder) < 1_000_000
    assert peak(struct.pack("<Q", LARGEST_HEADER + 1) + FILES[0][8:], folder) < 1_000_000
    wide = {"$array": {"dtype": "<U999999999", "shape": [3], "entries": ["a", "b", "c"]}}
    sparse = {"$csr": {"array": True, "shape": [huge, huge], "data": name, "indices": name, "indptr": name}}
    for value in (wide, sparse, {"$array": {"dtype": "|O", "shape": [huge], "entries": []}}):
        fitted = {**document["fitted"], "support_vectors_": value}
        assert peak(join(header, {**document, "fitted": fitted}, rest), folder) < 2_000_000


def test_a_large_file_that_is_no_model_is_not_read(tmp_path):
    path = tmp_path / "large.bin"
    with open(path, "wb") as file:
        file.truncate(1 << 33)  # takes no place on the disk
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="not a model file"):
        load(path)
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def test_saving_does_not_change_the_model(tmp_path):
    X, y = suited(Perceptron(), 2)
    model = Perceptron().fit(X, y)
    before = dict(vars(model))
    save(model, tmp_path / "m")
    assert vars(model) == before
