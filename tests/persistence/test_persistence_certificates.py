"""Certificates from plain dicts: every field has its type, and an error names the one that has not."""

import json
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from persistence.test_persistence_agreement import CASES, fitted

from separatrix import All, Separator, separability
from separatrix.certificates import Certificate

CERTIFICATES = {}
for _name, _k in CASES:
    for _part in (lambda c: c.parts[:1] if isinstance(c, All) else [c])(fitted(_name, _k)[0].certificate_):
        CERTIFICATES[f"{type(_part).__name__} {getattr(_part, 'problem', '')} {_k}"] = _part
CERTIFICATES["Inseparable"] = separability([[0.0], [1], [1], [2], [0.5]], [0, 1, 0, 1, 1]).certificate
CERTIFICATES["quasi"] = separability([[0.0], [1], [1], [2]], [0, 0, 1, 1], exact=True).certificate
CERTIFICATES["digits"] = Separator(
    np.array([0, 1]), np.array([[Fraction(1, 3)]], dtype=object), np.array([Fraction(-1, 7)], dtype=object), 1, 0.1
)

WRONG = {
    "x": "x",
    "list": ["x"],
    "none in it": [None],
    "array of text": {"array": ["x"], "shape": [1], "dtype": "<U1"},
    "text as number": {"array": ["1"], "shape": [1], "dtype": "<f8"},
    "truth as number": {"array": [True], "shape": [1], "dtype": "<f8"},
    "number as truth": {"array": [2], "shape": [1], "dtype": "|b1"},
    "NaN": {"float": "nan"},
    "NaN in it": {"array": [{"float": "nan"}], "shape": [1], "dtype": "<f8"},
    "cube": {"array": [1.0], "shape": [1, 1, 1], "dtype": "<f8"},
    "beyond": 10**400,
    "certificate": {"certificate": {"kind": "All", "schema": 1, "parts": []}},
    "word": {"float": "much"},
    "shape": {"array": [1.0], "shape": [2], "dtype": "<f8"},
    "true shape": {"array": [1.0], "shape": [True], "dtype": "<f8"},
    "dtype": {"array": [1.0], "shape": [1], "dtype": "<f99999"},
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_there_and_back(name):
    certificate = CERTIFICATES[name]
    plain = json.loads(json.dumps(certificate.to_dict()))
    assert Certificate.from_dict(plain).to_dict() == certificate.to_dict()


@pytest.mark.parametrize("name", CERTIFICATES)
def test_every_field_has_its_type(name):
    plain = CERTIFICATES[name].to_dict()
    for field in fields(CERTIFICATES[name]):
        fine = {"classes": "array of text", "str": "x"}
        for what, value in WRONG.items():
            if what in (fine.get(field.name), fine.get(field.type)):
                continue
            with pytest.raises(ValueError, match=f"The field '{field.name}' of this"):
                Certificate.from_dict({**plain, field.name: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("fit_intercept", 1), ("fit_intercept", None), ("primal", True), ("primal", None), ("primal", [1.0]),
        ("positive", 1.0), ("positive", True), ("loss", 1), ("loss", None), ("C", "1"), ("negative", 0.5),
        ("classes", {"array": [0, 0], "shape": [2], "dtype": "<i8"}),
        ("classes", {"array": [], "shape": [0], "dtype": "<i8"}),
        ("points", {"array": [0.5], "shape": [1], "dtype": "<f8"}),
        ("points", {"array": [-1], "shape": [1], "dtype": "<i8"}),
        ("kernel", {"dict": {"gamma": 1.0}}), ("kernel", {"dict": {"kernel": "rbf", "gamma": {"float": "inf"}}}),
        ("alpha", {"array": [[1.0]], "shape": [1], "dtype": "<f8"}), ("alpha", 1.0), ("alpha", None),
        ("class_weight", 1.0), ("coef", 3), ("expansion", {"dict": {}}),
    ],
)  # fmt: skip
def test_fields_of_a_hinge_gap(field, value):
    plain = CERTIFICATES["HingeGap  2"].to_dict()
    with pytest.raises(ValueError, match=f"The field '{field}' of this HingeGap"):
        Certificate.from_dict({**plain, field: value})


@pytest.mark.parametrize("parts", [[], "x", None, [1], [{"certificate": {"kind": "All", "schema": 1, "parts": []}}]])
def test_parts_are_certificates(parts):
    with pytest.raises(ValueError, match="The field 'parts' of this All"):
        Certificate.from_dict({"kind": "All", "schema": 1, "parts": parts})


def test_infinity_is_a_number():
    plain = {**CERTIFICATES["LogisticGap  2"].to_dict(), "C": {"float": "inf"}}
    assert np.isposinf(Certificate.from_dict(plain).C)


def test_a_part_without_a_check_does_not_count():
    class Empty(Separator):
        def verify(self, X, y, sample_weight=None):
            from separatrix.certificates import Verification

            return Verification(())

    try:
        part = CERTIFICATES["Separator  2"]
        empty = Empty(*(getattr(part, field.name) for field in fields(part)))
        X, y = fitted("perceptron", 2)[1:]
        assert part.verify(X, y)
        assert not All([part, empty]).verify(X, y)
    finally:
        Certificate._kinds.pop("Empty")
