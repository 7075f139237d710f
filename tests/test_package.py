"""The package from outside: what importing it costs, what it offers, and that its examples run."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from importlib import resources

import pytest

import separatrix

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(separatrix.__path__, "separatrix.")
    if not module.name.startswith(("separatrix.cli", "separatrix.lab.widget"))  # these need an extra
)


def run(code):
    """Run code in a fresh interpreter where warnings are errors, and give what it prints."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_the_package_imports_next_to_nothing():
    loaded = run("import sys, separatrix; print(*sys.modules)")
    heavy = {"numpy", "scipy", "sklearn", "matplotlib", "polars", "pandas"}
    assert not heavy & {name.split(".")[0] for name in loaded}


def test_no_estimator_loads_a_plotter_by_itself():
    loaded = run(
        "import sys, separatrix; [getattr(separatrix, name) for name in separatrix.__all__]; print(*sys.modules)"
    )
    assert not {"matplotlib", "polars"} & {name.split(".")[0] for name in loaded}


def test_a_formula_needs_no_plotter():
    code = """
import sys
from separatrix import LeastSquaresClassifier, NaiveBayes, NearestCentroid
for model in (LeastSquaresClassifier(), NaiveBayes(), NearestCentroid()):
    model.fit([[0.0, 1.0], [1.0, 3.0], [2.0, 1.0], [3.0, 2.0]], [0, 0, 1, 1]).predict([[1.0, 1.0]])
print(*sys.modules)
"""
    assert not {"matplotlib", "polars"} & {name.split(".")[0] for name in run(code)}


def test_public_names_are_those_with_a_home():
    assert set(separatrix.__all__) == set(separatrix._HOMES)
    assert len(separatrix.__all__) == len(set(separatrix.__all__))


@pytest.mark.parametrize("name", separatrix.__all__)
def test_every_public_name_can_be_imported_and_is_what_its_home_says(name):
    home = separatrix._HOMES[name]
    value = getattr(separatrix, name)
    if home is None:
        assert value is importlib.import_module(f"separatrix.{name}")
    else:
        assert value is getattr(importlib.import_module(f"separatrix.{home}"), name)
    assert value.__doc__


def test_every_public_name_can_be_imported_first():
    # each in the same fresh interpreter, from what is not yet loaded; import cycles would show here
    code = "import separatrix\nfor name in separatrix.__all__: exec(f'from separatrix import {name}')\nprint('done')"
    assert run(code) == ["done"]


def test_dir_lists_the_public_names():
    assert set(separatrix.__all__) <= set(dir(separatrix))
    assert dir(separatrix) == sorted(dir(separatrix))


def test_other_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = separatrix.no_such_thing
    with pytest.raises(ImportError):
        exec("from separatrix import no_such_thing")


def test_type_checkers_are_told_of_the_types():
    assert resources.files("separatrix").joinpath("py.typed").is_file()


def test_the_version_is_that_of_the_distribution():
    metadata = pytest.importorskip("importlib.metadata")
    assert metadata.version("separatrix") == separatrix.__version__


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_examples_are_found():
    # so that the test above cannot pass by finding none
    finder = doctest.DocTestFinder()
    assert any(test.examples for test in finder.find(separatrix.Hyperplane))
    assert any(test.examples for test in finder.find(separatrix.NaiveBayes))
