"""Which forgeries must be refused, and what `verify` does with them.

A forgery counts when it is malformed or, by the oracles, false beyond twice its allowance; then `verify` must say False
or raise `ValueError`. Whatever is forged, `verify` must end, and raise nothing else.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
from soundness import claims
from soundness.configurations import configuration
from soundness.data import Table, not_finite
from soundness.forging import NAMES, Forgery, far
from soundness.near import near
from soundness.tables import adversarial
from soundness.trial import TooLongError, alarm

from separatrix import SeparatrixError


def honest(seed: int) -> Iterator[tuple[Any, Table]]:
    """Certificates that verify, and hold by the oracles: from fits to table number `seed`, and from typed errors."""
    table = adversarial(seed)
    rng = np.random.default_rng([17, seed])
    for _ in range(6):
        model = configuration(rng, table).make()
        certificate = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with alarm(5):
                    certificate = model.fit(table.X, table.y, table.sample_weight).certificate_
            except SeparatrixError as error:
                certificate = getattr(error, "certificate", None)
            except (TooLongError, Exception):  # what fits do wrong is counted elsewhere
                continue
        for part in getattr(certificate, "parts", [certificate]):
            if part is not None and _holds(part, table):
                yield part, table


def _holds(certificate: Any, table: Table) -> bool:
    try:
        return (
            bool(claims.verified(certificate, table))
            and not malformed(certificate, table)
            and not claims.falsehoods(certificate, table)
        )
    except ValueError:
        return False


def malformed(certificate: Any, table: Table) -> str | None:
    """What no honest certificate has: numbers that are not finite, names of nothing, places where nothing is."""
    for field in fields(certificate):
        value = getattr(certificate, field.name)
        if field.name in ("C",):
            if not float(value) > 0:
                return "C"
            continue
        if not_finite(value) and not (field.name == "bound" and value == np.inf):
            return f"{field.name} is not finite"
        if field.name in NAMES and isinstance(value, str) and value == "nonsense":
            return field.name
    if hasattr(certificate, "certificate"):
        return malformed(certificate.certificate, table)
    classes = np.asarray(certificate.classes)
    if len(np.unique(classes)) < len(classes) or len(classes) < 2:
        return "classes"
    for name in ("positive", "negative"):
        place = getattr(certificate, name, None)
        if place is not None and not 0 <= place < len(classes):
            return name
    if getattr(certificate, "negative", None) is not None and certificate.negative == certificate.positive:
        return "positive and negative are one"
    if hasattr(certificate, "tol") and not 0 < certificate.tol <= 1:
        return "tol"
    factors = getattr(certificate, "class_weight", None)
    if factors is not None and not (np.asarray(factors, dtype=float) > 0).all():
        return "class_weight"
    X = table.X.data if hasattr(table.X, "indptr") else np.asarray(table.X)
    if not np.isfinite(np.asarray(X, dtype=float)).all():
        return "X is not finite"
    kernel = getattr(certificate, "kernel", None)
    if kernel is not None:
        if kernel["kernel"] in ("rbf", "laplacian") and not kernel["gamma"] > 0:
            return "gamma"
        if kernel["kernel"] == "poly" and kernel["degree"] < 0:
            return "degree"
    return None


def is_false(forgery: Forgery) -> bool:
    """Whether `verify` must refuse it."""
    certificate, table = forgery.certificate, forgery.table
    if forgery.near and type(certificate).__name__ not in ("LogisticGap", "HingeGap", "ElasticNetGap"):
        return True  # by construction, from the oracle's own figure
    try:
        if malformed(certificate, table):
            return True
        lines = claims.falsehoods(_relaxed(certificate, forgery.room), table)
    except TooLongError:
        raise
    except Exception:  # numbers that fit neither each other nor the table
        return True
    if getattr(certificate, "proof", None) == "search":
        lines = [line for line in lines if not line.startswith("at least")]  # taken on a solver's word, as is said
    return bool(lines)


def _relaxed(certificate: Any, room: float) -> Any:
    """The claim with twice its allowance for rounding taken off."""
    known = {field.name for field in fields(certificate)}
    new = {name: float(getattr(certificate, name)) - 2 * room for name in ("lower", "lower_bound") if name in known}
    for name in ("margin", "smallest"):
        if name in known and np.isscalar(getattr(certificate, name)):
            value = float(getattr(certificate, name))
            new[name] = max(value - 2 * room, min(value, 5e-324))
    if "upper" in known:
        new["upper"] = float(certificate.upper) + 2 * room
    return replace(certificate, **new) if new else certificate


def accepted(forgery: Forgery) -> str | None:
    """What `verify` does wrong with a false claim: accept it, not end, or raise something else than `ValueError`."""
    table = forgery.table
    try:
        with alarm(10), warnings.catch_warnings():
            warnings.simplefilter("error")
            holds = bool(claims.verified(forgery.certificate, table))
    except ValueError:
        return None
    except TooLongError:
        return "verify does not end"
    except Exception as error:
        return f"verify raises {type(error).__name__}: {error!s:.100}"
    return "accepted" if holds else None


def campaign(
    first: int, tables: int, each: int = 8, seconds: float = 20.0
) -> tuple[Counter[str], list[tuple[str, str, str]]]:
    """Forge the certificates of some tables; the counts, and what got through.

    A claim that takes the oracle more than some ``seconds`` is left undecided.
    """
    counts: Counter[str] = Counter()
    through = []
    for seed in range(first, first + tables):
        rng = np.random.default_rng([18, seed])
        for certificate, table in honest(seed):
            counts["certificates"] += 1
            forgeries = near(certificate, table, rng) + [far(certificate, table, rng) for _ in range(each)]
            for forgery in forgeries:
                counts["tried"] += 1
                try:
                    with alarm(seconds):
                        false = is_false(forgery)
                except TooLongError:
                    counts["undecided"] += 1
                    continue
                if not false:
                    wrong = accepted(forgery)
                    wrong = None if wrong == "accepted" else wrong
                else:
                    wrong = accepted(forgery)
                    counts["false"] += 1
                    counts["near"] += forgery.near
                    counts[type(certificate).__name__] += 1
                if wrong is not None:
                    through.append(
                        (f"{forgery.table.name} (seed {seed})", f"{type(certificate).__name__}({forgery.what})", wrong)
                    )
    return counts, through
