"""The compiled libraries: subnormals, levels, and what is said when one is missing, damaged or stale."""

import math
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from separatrix import LibraryError, SeparatrixError
from separatrix.loops import binding, build, library
from separatrix.loops.kernel_rows import exponentials
from separatrix.loops.moments import extremes

compiled = pytest.mark.skipif(library.library() is None, reason="nothing is compiled here")


def runnable():
    """The libraries that this processor can run."""
    names = library.available()
    return names[: names.index(library.best(names)) + 1] if names else []


def forget():
    for remembered in (library.library, library.load, library._digests):
        remembered.cache_clear()
    extremes._routes.clear()


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """Libraries and sources in another place, where they can be damaged; nothing is loaded yet."""
    for name, folder in (("LIBRARIES", build.LIBRARIES), ("NATIVE", build.NATIVE)):
        if folder.is_dir():
            shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("building-*"))
        monkeypatch.setattr(build, name, tmp_path / folder.name)
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


def least_and_largest():
    """The extremes of three numbers by whatever runs now."""
    found = np.zeros(2)
    extremes(np.array([6.0, 8.0, 7.0]), 3, found)
    return found.tolist()


def in_another_thread(work):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(work()))
    thread.start()
    thread.join()
    return seen[0]


def test_the_error_is_typed():
    assert issubclass(LibraryError, SeparatrixError)
    assert issubclass(LibraryError, ImportError)


# ---------------------------------------------------------------------- arithmetic
@compiled
@pytest.mark.parametrize("name", runnable())
def test_loading_a_library_leaves_subnormal_numbers_alone(name, copy):
    """One linked with -ffast-math would flush them to 0 in the thread that loads it, and in those it starts."""

    def products():  # as bytes: where subnormal numbers count as 0, so do they in a comparison
        return (np.float64(1e-310) * np.float64(1.0)).tobytes() + (np.full(64, 1e-310) * np.ones(64)).tobytes()

    expected = bytes(np.full(65, 1e-310).data)
    assert products() == expected
    assert in_another_thread(lambda: (library.load(name), products())[1]) == expected
    library.load.cache_clear()
    library.load(name)
    assert products() == expected
    assert in_another_thread(products) == expected


def exponentials_by(name, x):
    """exp(x) by one library, float64 or float32."""
    y = x.copy()
    exponentials.compiled(library.load(name), {"f8": "_f64", "f4": "_f32"}[x.dtype.str[1:]])(y.ctypes.data, len(y))
    return y


@compiled
@pytest.mark.parametrize("dtype, x, bits", [(np.float64, -740.0, np.int64), (np.float32, -100.0, np.int32)])
@pytest.mark.parametrize("name", runnable())
def test_loops_keep_subnormal_numbers(name, dtype, x, bits):
    """exp(x) is so many of the smallest number: the bits of a subnormal number are those of an integer."""
    expected = round(math.exp(x) / float(np.finfo(dtype).smallest_subnormal))
    for found in (
        exponentials_by(name, np.full(19, x, dtype)),
        in_another_thread(lambda: exponentials_by(name, np.full(19, x, dtype))),
    ):
        assert (abs(found.view(bits) - expected) <= 2).all()
        assert expected > 20


@compiled
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_level_gives_the_same_bits(dtype):
    x = np.random.default_rng(0).normal(scale=30.0, size=1037).astype(dtype)
    assert len({exponentials_by(name, x).tobytes() for name in runnable()}) == 1


@compiled
def test_the_level_is_one_that_the_operating_system_sees_too():
    flags = set(Path("/proc/cpuinfo").read_text().split()) if Path("/proc/cpuinfo").exists() else set()
    if "sse4_2" not in flags:
        pytest.skip("not a processor whose flags this system tells")
    v3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"} <= flags
    v4 = v3 and {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags
    level = 4 if v4 else 3 if v3 else 2
    assert library.load(library.available()[0]).separatrix_level() == level
    assert library.best(["loops_v2.so", "loops_v3.so", "loops_v4.so"]) == f"loops_v{level}.so"


def test_nothing_lets_the_compiler_change_the_arithmetic():
    assert not {"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-fassociative-math"} & set(build.FLAGS)
    assert {"-ffp-contract=off", "-Werror"} <= set(build.FLAGS)


# ---------------------------------------------------------------------- what can be wrong with a library
@compiled
def test_a_library_older_than_its_sources_is_refused_with_the_command(copy):
    assert least_and_largest() == [6.0, 8.0]
    forget()
    with (copy / "native" / "common.h").open("a") as source:
        source.write("\n/* changed */\n")
    with pytest.raises(LibraryError, match=f"changed since .* was compiled: run {build.COMMAND}"):
        least_and_largest()
    shutil.rmtree(copy / "native")  # as in a wheel, which has no sources to compare with
    assert least_and_largest() == [6.0, 8.0]


@compiled
@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "gone", "no manifest", "not JSON"])
def test_a_missing_or_damaged_library_is_one_clear_error(damage, copy, monkeypatch):
    for file in (copy / "lib").glob("loops_*"):
        whole = file.read_bytes()
        middle = len(whole) // 2
        if damage == "cut":
            file.write_bytes(whole[:middle])
        elif damage == "bit":
            file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
        elif damage == "empty":
            file.write_bytes(b"")
        elif damage == "gone":
            file.unlink()
    if damage == "no manifest":
        (copy / "lib" / build.MANIFEST).unlink()
    elif damage == "not JSON":
        (copy / "lib" / build.MANIFEST).write_text("{")
    with pytest.raises(LibraryError, match=r"pip install --force-reinstall .* SEPARATRIX_PURE=1"):
        least_and_largest()
    monkeypatch.setenv("SEPARATRIX_PURE", "1")  # what it says helps
    assert least_and_largest() == [6.0, 8.0]


@compiled
def test_a_processor_without_the_instructions_is_told(copy, monkeypatch):
    old = type("Old", (), {"separatrix_level": staticmethod(lambda: 1)})
    monkeypatch.setattr(library, "load", lambda name: old)
    with pytest.raises(LibraryError, match=r"x86-64-v2.*SEPARATRIX_PURE=1"):
        library.best(["loops_v2.so", "loops_v3.so"])


@compiled
def test_a_loop_that_the_library_does_not_have_is_the_same_error(monkeypatch):
    monkeypatch.setattr(binding, "_loops", [])

    @binding.native("no_such_loop", "f8")
    def no_such_loop(x):
        return x

    with pytest.raises(LibraryError, match="no_such_loop"):
        no_such_loop(1.0)


# ---------------------------------------------------------------------- pure
@pytest.mark.parametrize("how", ["at run time", "at build time"])
def test_pure_loads_nothing_and_runs_the_reference(how, copy, monkeypatch):
    called = []
    monkeypatch.setattr(extremes, "reference", lambda *arguments: called.append(len(arguments)))
    shutil.rmtree(copy / "lib", ignore_errors=True)
    if how == "at run time":
        monkeypatch.setenv("SEPARATRIX_PURE", "1")
    else:
        monkeypatch.setenv("SEPARATRIX_PURE", "1")
        build.build(build.LIBRARIES)
        monkeypatch.delenv("SEPARATRIX_PURE")
    least_and_largest()
    assert library.library() is None
    assert called == [3]


def test_pure_refuses_what_the_library_would(copy, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_PURE", "1")
    with pytest.raises(TypeError, match="found must have type float64, not float32"):
        extremes(np.ones(1), 1, np.ones(2, dtype=np.float32))
