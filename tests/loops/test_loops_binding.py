"""How a loop is called: what its arguments must be, and what is called."""

import ctypes
import pkgutil
import threading
import time

import numpy as np
import pytest

import separatrix.loops
from separatrix.loops import binding, library
from separatrix.loops.binding import native
from separatrix.loops.moments import extremes
from separatrix.loops.online import online_dense


def arguments(dtype=np.float64, n=12):
    return [np.random.default_rng(0).normal(size=n).astype(dtype), n, np.zeros(2)]


def changed(position, value):
    given = arguments()
    given[position] = value
    return given


@pytest.mark.parametrize(
    "position, value, name",
    [
        (2, np.ones(2, dtype=np.float32), "found must have type float64"),
        (2, np.ones(2, dtype=">f8"), "found must have type float64"),
        (2, np.ones(2, dtype=np.int64), "found must have type float64"),
        (0, np.ones((3, 4), dtype=np.int64), "must be an array of float64 or float32, not int64"),
        (0, np.ones((3, 4), dtype=np.float16), "must be an array of float64 or float32, not float16"),
        (0, np.asfortranarray(np.ones((3, 4))), "x must be an array in C order"),
        (2, np.ones(4)[::2], "found must be an array in C order"),
        (2, [1.0, 2.0], "found must be an array in C order"),
        (2, memoryview(np.ones(2)), "found must be an array in C order"),
        (1, 3.0, "float"),
        (1, None, "NoneType"),
        (1, np.ones(1), "integer"),
    ],
)
def test_what_does_not_fit_is_a_type_error(position, value, name):
    with pytest.raises(TypeError, match=name):
        extremes(*changed(position, value))


def test_arguments_that_share_a_name_are_told_apart_by_their_place():
    with pytest.raises(TypeError, match=r"online_dense: how\[1\] must have type float64, not float32"):
        online_dense(np.ones((3, 2)), 2, 1.0, np.ones(3, dtype=np.float32), *[None] * 16)


def test_too_few_and_too_many_arguments():
    with pytest.raises(TypeError, match="3 arguments"):
        extremes(*arguments()[:2])
    with pytest.raises(TypeError, match="3 arguments"):
        extremes(*arguments(), 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_views_read_only_arrays_and_numpy_numbers_are_taken(dtype):
    x, n, found = arguments(dtype)
    big = np.full(3 * n, np.nan, dtype=dtype)
    big[n : 2 * n] = x
    big.flags.writeable = False
    for number in (np.int32(n), np.int64(n)):
        extremes(big[n : 2 * n], number, found)
        assert found.tolist() == [x.min(), x.max()]


def test_all_generic_arrays_of_a_call_have_one_type(monkeypatch):
    monkeypatch.setattr(binding, "_loops", [])

    @native("nothing", "T[] T[] I[] I[]")
    def nothing(a, b, i, j):
        raise AssertionError("never called")

    floats, integers = [np.zeros(1, "f4"), np.zeros(1, "f8")], [np.zeros(1, "i4"), np.zeros(1, "i8")]
    assert nothing.suffixes() == ["_f64_i32", "_f64_i64", "_f32_i32", "_f32_i64"]
    with pytest.raises(TypeError, match="b must have type float32"):
        nothing(*floats, integers[0], integers[0])
    with pytest.raises(TypeError, match="j must have type int32"):
        nothing(floats[0], floats[0], *integers)


def test_kinds_that_do_not_fit_the_reference_are_refused_when_declared():
    before = binding.loops()
    with pytest.raises(TypeError, match="2 arguments, but 1 kinds"):
        native("nothing", "f8")(lambda a, b: None)
    with pytest.raises(TypeError, match="'f3' is not a kind"):
        native("nothing", "f3")(lambda a: None)
    assert binding.loops() == before


def test_the_address_is_where_the_data_are():
    array = np.arange(12.0).reshape(3, 4)
    for view in (array, array[1:], array[:0], array[2, 1:]):
        assert binding._address(view) == view.ctypes.data


@pytest.fixture
def of_libc(monkeypatch):
    """Declare functions of the C library as loops, which are forgotten after the test."""
    libc = ctypes.CDLL(None)
    monkeypatch.setattr(library, "library", lambda: libc)
    monkeypatch.setattr(binding, "_loops", [])
    return native


@pytest.mark.skipif(library.library() is None, reason="nothing is compiled here")
class TestNative:
    def test_none_is_null_and_a_result_comes_back(self, of_libc):
        @of_libc("free", "f8[]")
        def free(pointer):
            raise AssertionError("the reference was called")

        @of_libc("labs", "i8", returns="i8")
        def labs(number):
            raise AssertionError("the reference was called")

        assert free(None) is None  # of another address it would end the process
        assert labs(-(2**40)) == 2**40

    def test_the_interpreter_lock_is_released(self, of_libc):
        @of_libc("usleep", "u4", returns="i4")
        def usleep(microseconds):
            raise AssertionError("the reference was called")

        usleep(1)
        returned = []
        worker = threading.Thread(target=lambda: returned.append(usleep(500_000)))
        worker.start()
        time.sleep(0.1)
        assert not returned  # we are awake while it sleeps
        worker.join()
        assert returned == [0]

    def test_the_reference_is_not_called(self, monkeypatch):
        def reference(*arguments):
            raise AssertionError("the reference was called")

        monkeypatch.setattr(extremes, "reference", reference)
        extremes(*arguments())

    def test_every_loop_has_its_functions_in_every_library(self):
        for module in pkgutil.iter_modules(separatrix.loops.__path__):
            __import__(f"separatrix.loops.{module.name}")
        for name in library.available():
            for loop in binding.loops():
                for suffix in loop.suffixes():
                    assert loop.compiled(library.load(name), suffix)

    def test_a_call_costs_microseconds(self):
        given = arguments()
        extremes(*given)
        took = []
        for _ in range(200):
            began = time.perf_counter()
            extremes(*given)
            took.append(time.perf_counter() - began)
        assert min(took) < 20e-6
