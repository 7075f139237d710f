"""Kernels as immutable values: equality, repr, plain settings, and a light import."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

import separatrix.kernels as kernels
from separatrix.kernels import (
    Kernel,
    Laplacian,
    Linear,
    Poly,
    Precomputed,
    Rbf,
    Sigmoid,
    Spectrum,
    WeisfeilerLehman,
)

ALL = [
    Linear(),
    Poly(degree=np.int64(2), gamma=np.float32(0.5), coef0=1),
    Rbf(np.float64(0.1)),
    Laplacian(2),
    Sigmoid(0.25, -1),
    Spectrum(np.int32(3), normalize=np.True_),
    WeisfeilerLehman(2),
    Precomputed(),
]


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_settings_go_through_json(kernel):
    settings = json.loads(json.dumps(kernel.to_dict()))
    assert Kernel.from_dict(settings) == kernel
    assert type(kernel).from_dict(settings) == kernel
    assert type(Kernel.from_dict(settings)) is type(kernel)


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_values(kernel):
    assert eval(repr(kernel), vars(kernels)) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(kernel) == hash(eval(repr(kernel), vars(kernels)))
    assert [other == kernel for other in ALL].count(True) == 1
    with pytest.raises(FrozenInstanceError):
        kernel.gamma = 3.0


def test_settings_tell_kernels_apart():
    assert Rbf(1.0) == Rbf(1) != Rbf(2.0)
    assert Rbf(1.0) != Laplacian(1.0)
    assert Poly(2) != Poly(3)
    assert Spectrum(2) != Spectrum(2, normalize=True)


@pytest.mark.parametrize(
    "settings, fault",
    [
        ({"kernel": "nope"}, "no kernel named 'nope'"),
        ({"gamma": 1.0}, "no kernel named None"),
        ({"kernel": ["rbf"]}, "no kernel named"),
        ({"kernel": ""}, "no kernel named ''"),
        ({"kernel": "rbf"}, r"settings \['gamma'\], got \[\]"),
        ({"kernel": "rbf", "gamma": 1.0, "extra": 2}, "got .*extra"),
        ({"kernel": "rbf", "gamma": -1.0}, "gamma must be a positive number"),
        ({"kernel": "rbf", "gamma": "scale"}, "gamma must be"),
        ({"kernel": "spectrum", "k": 2, "normalize": "no"}, "normalize must be True or False"),
    ],
)
def test_settings_that_describe_no_kernel(settings, fault):
    with pytest.raises(ValueError, match=fault):
        Kernel.from_dict(settings)


def test_a_class_reads_its_own_settings_only():
    with pytest.raises(ValueError, match="no kernel named 'poly'"):
        Rbf.from_dict(Poly().to_dict())


def test_a_name_is_taken_once():
    with pytest.raises(TypeError, match="'rbf' exists already: Rbf"):

        @dataclass(frozen=True)
        class Second(Rbf, name="rbf"):
            pass


def test_everything_exported_exists():
    assert sorted(kernels.__all__) == kernels.__all__
    for name in kernels.__all__:
        assert hasattr(kernels, name)


def test_import_is_light():
    heavy = ("sklearn", "pandas", "scipy.spatial", "scipy.stats", "scipy.optimize")
    code = f"import sys, separatrix.kernels; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
