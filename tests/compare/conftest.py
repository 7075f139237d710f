import pytest

from separatrix.compare import run as running


@pytest.fixture
def few(monkeypatch):
    """Nearest centroid and logistic regression only, beside the baseline: for what is not about a classifier."""
    first = running.first_candidates

    def chosen(facts, seed):
        return [each for each in first(facts, seed) if each.key in ("", "centroid", "logistic")]

    monkeypatch.setattr(running, "first_candidates", chosen)
    monkeypatch.setattr(running, "later_candidates", lambda facts, seed: ([], []))
