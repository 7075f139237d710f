"""A certificate of several parts."""

import numpy as np
import pytest

from separatrix import HardMarginSVC
from separatrix.certificates import All


@pytest.mark.parametrize(("k", "told", "more"), [(3, 3, ""), (4, 3, "3 more parts"), (5, 3, "7 more parts")])
def test_many_claims_are_told_by_a_few_and_all_are_checked(k, told, more):
    angle = 2 * np.pi * np.arange(k) / k
    X = np.repeat(10 * np.column_stack([np.cos(angle), np.sin(angle)]), 3, axis=0)
    X += np.random.default_rng(k).normal(size=X.shape)
    y = np.repeat(np.arange(k), 3)
    certificate = HardMarginSVC().fit(X, y).certificate_
    assert isinstance(certificate, All)
    assert len(certificate.parts) == k * (k - 1) // 2
    assert all((part.claim in certificate.claim) == (i < told) for i, part in enumerate(certificate.parts))
    assert more in certificate.claim
    assert ("more" in certificate.claim) is bool(more)
    assert certificate.verify(X, y)
    assert len(certificate.verify(X, y).checks) == sum(len(part.verify(X, y).checks) for part in certificate.parts)
