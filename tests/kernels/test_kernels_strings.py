"""The spectrum kernel, against its definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.kernels import Spectrum


def shared_pairs(a: str, b: str, k: int) -> int:
    """How many pairs of positions start the same k characters: the sum over u of count times count."""
    return sum(a[i : i + k] == b[j : j + k] for i in range(len(a) - k + 1) for j in range(len(b) - k + 1))


def by_hand(A: list[str], B: list[str], k: int) -> np.ndarray:
    return np.array([[shared_pairs(a, b, k) for b in B] for a in A], dtype=float).reshape(len(A), len(B))


words = st.lists(st.one_of(st.text("ab", max_size=12), st.text(max_size=6)), max_size=6)


@given(words, words, st.integers(1, 4))
def test_counts_of_shared_substrings(A, B, k):
    np.testing.assert_array_equal(Spectrum(k)(A, B), by_hand(A, B, k))
    np.testing.assert_array_equal(Spectrum(k).diagonal(A), [shared_pairs(a, a, k) for a in A])


@given(words, words, st.integers(1, 3))
def test_normalized_is_the_cosine(A, B, k):
    lengths = [np.sqrt([shared_pairs(s, s, k) for s in side]) for side in (A, B)]
    products = np.outer(*lengths)
    expected = np.divide(by_hand(A, B, k), products, out=np.zeros_like(products), where=products > 0)
    kernel = Spectrum(k, normalize=True)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-13)
    np.testing.assert_array_equal(kernel.diagonal(A), lengths[0] > 0)


def test_short_and_empty_strings_have_no_substrings():
    kernel = Spectrum(3)
    np.testing.assert_array_equal(kernel(["", "ab", "abc"], ["abc", "", "ab"]), [[0, 0, 0], [0, 0, 0], [1, 0, 0]])
    assert kernel([], ["abc"]).shape == (0, 1)
    assert kernel(["abc"], []).shape == (1, 0)
    assert kernel(["a"], ["b"]).tolist() == [[0.0]]


def test_any_unicode():
    # Characters, not bytes: two emoji and a lone surrogate are three characters.
    A = ["\U0001f600\U0001f680\ud800", "naïve", "日本日本"]
    np.testing.assert_array_equal(np.diagonal(Spectrum(2)(A, A)), [2, 4, 5])


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("k", [1, 2, 5])  # dense counts, and sparse ones
def test_symmetric_and_semidefinite(k, normalize):
    rng = np.random.default_rng(k)
    X = ["".join(rng.choice(list("ACGT"), rng.integers(1, 30))) for _ in range(40)]
    kernel = Spectrum(k, normalize)
    K = kernel(X, X)
    np.testing.assert_allclose(K, K.T, rtol=1e-14)
    eigenvalues = np.linalg.eigvalsh(K)
    assert kernel.positive_semidefinite
    assert eigenvalues[0] >= -1e-13 * len(K) * eigenvalues[-1]


def test_collections_of_strings():
    words = ["abab", "bab", "c"]
    expected = by_hand(words, words, 2)
    for X in (
        tuple(words),
        np.array(words),
        np.array(words, dtype=object),
        pd.Series(words, index=[5, 6, 7]),
        pl.Series(words),
        iter(words),
    ):
        np.testing.assert_array_equal(Spectrum(2)(X, words), expected)


@pytest.mark.parametrize("bad", [None, 3, float("nan"), b"abc", ["abc"]], ids=repr)
def test_an_element_that_is_no_string_is_named(bad):
    with pytest.raises(TypeError, match="element 1 is"):
        Spectrum(2)(["abc", bad], ["abc"])
    with pytest.raises(TypeError, match="element 2 is"):
        Spectrum(2)(["abc"], ["abc", "d", bad])


def test_what_is_no_list_of_strings():
    with pytest.raises(TypeError, match="list of strings, got one str"):
        Spectrum(2)("abc", ["abc"])
    with pytest.raises(TypeError, match="list of strings, got one int"):
        Spectrum(2)(3, ["abc"])
    for table in (
        np.array([["abc"], ["d"]]),
        pd.DataFrame({"s": ["abc", "d"]}),
        pl.DataFrame({"s": ["abc", "d"]}),
    ):
        with pytest.raises(ValueError, match=r"table of shape \(2, 1\)"):
            Spectrum(2)(table, ["abc"])


@pytest.mark.parametrize("k", [0, -1, 1.5, "3", None, True])
def test_k_is_a_positive_whole_number(k):
    with pytest.raises(ValueError, match="k must be a whole number, at least 1"):
        Spectrum(k)


def test_inputs_are_not_changed():
    A, B = ["abc", "b"], ["cab"]
    Spectrum(2)(A, B)
    assert (A, B) == (["abc", "b"], ["cab"])
