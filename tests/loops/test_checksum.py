"""The checksum of a block: C and reference agree, and a change of any one word, or of two, is seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from separatrix.loops.checksum import ACROSS, BYTES, FACTOR, LANES, _checksum, checksum


@given(st.integers(0, 4).flatmap(lambda groups: arrays(np.uint64, LANES * groups)))
def test_compiled_and_reference_agree(words):
    assert _checksum(words, len(words), FACTOR, ACROSS) == _checksum.reference(words, len(words), FACTOR, ACROSS)


def test_the_definition_in_whole_numbers_of_any_size():
    words = np.random.default_rng(0).integers(0, 2**64, size=160, dtype=np.uint64)
    mixed = [int(w) ^ (int(w) >> 32) for w in words.tolist()]
    lanes = [sum(m * FACTOR ** (4 - t) for t, m in enumerate(mixed[lane::32])) for lane in range(32)]
    total = (160 * ACROSS**32 + sum(h * ACROSS ** (31 - lane) for lane, h in enumerate(lanes))) % 2**64
    assert checksum(words.view(np.uint8)) == total ^ (total >> 32)


@pytest.mark.parametrize("bit", range(64))
def test_two_words_with_the_same_bit_changed_are_seen(bit):
    """Signs of two numbers, say: a plain sum of words times powers would lose the highest bit of both."""
    words = np.random.default_rng(1).integers(0, 2**64, size=128, dtype=np.uint64)
    before = checksum(words.view(np.uint8))
    flip = np.uint64(1 << bit)
    for i in range(0, 128, 11):
        for j in range(i, 128):
            changed = words.copy()
            changed[i] ^= flip
            if j > i:
                changed[j] ^= flip
            assert checksum(changed.view(np.uint8)) != before


def test_zeros_are_counted():
    assert len({checksum(np.zeros(BYTES * m, dtype=np.uint8)) for m in range(5)}) == 5
