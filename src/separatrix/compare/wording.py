"""Certificates, numbers and durations in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any


def certificate_words(certificate: Any, status: Any) -> str:
    """A certificate in a few words: gap, bound or proof."""
    if certificate is None:
        return "none: " + _short(status)
    kind = type(certificate).__name__
    if kind == "All":
        return _all_words(list(certificate.parts), status)
    if hasattr(certificate, "relative_gap"):
        return f"gap {certificate.relative_gap:.0e} of the optimum" if certificate.gap else "gap 0: the optimum"
    if kind in ("Separator", "KernelSeparator"):
        margin = getattr(certificate, "margin", None)
        return "separates every row" + (f", margin {margin:.2g}" if margin is not None else "")
    if kind == "Inseparable":
        return f"proof that the classes are {certificate.verdict}"
    if kind == "MarginBracket":
        if certificate.lower <= 0:
            return f"best margin at most {certificate.upper:.2g}"
        return f"best margin in [{certificate.lower:.3g}, {certificate.upper:.3g}]"
    if kind == "ErrorBound":
        if certificate.errors == certificate.lower_bound:
            return f"{_errors(certificate)}, the fewest possible"
        return f"{_errors(certificate)}, {certificate.lower_bound:g} or more needed"
    if kind == "Stationarity":
        return "equations solved"
    return kind


def status_words(certificate: Any, status: Any) -> str:
    """The status as a sentence; where there is no maximum of the likelihood, with what the certificate shows."""
    verdict = getattr(certificate, "verdict", None)
    if getattr(status, "name", "") == "NO_MAXIMUM" and verdict is not None:
        return f"No finite maximum likelihood: the classes are {verdict}, as the certificate shows."
    return str(status)


def with_names(text: str, names: Sequence[str]) -> str:
    """A message about columns by their positions, counted from 0, with their names in place of these."""

    def name(match: re.Match[str]) -> str:
        place = int(match[1])
        return f"column {names[place]!r}" if place < len(names) else match[0]

    return re.sub(r"\bcolumn (\d+)\b", name, text)


def _all_words(parts: list[Any], status: Any) -> str:
    """Several parts: the worst gap, or the words of the parts if they agree."""
    if all(hasattr(part, "relative_gap") for part in parts):
        worst = max(part.relative_gap for part in parts)
        return f"gap {worst:.0e} of the optimum or less ({len(parts)} parts)"
    if all(type(part).__name__ == "ErrorBound" for part in parts):
        return "; ".join(f"{_errors(part)}, {part.lower_bound:g}+ needed" for part in parts[:3]) + (
            f"; {len(parts) - 3} more" if len(parts) > 3 else ""
        )
    words = [certificate_words(part, status) for part in parts]
    return words[0] if len(set(words)) == 1 else f"{words[0]}; and {len(words) - 1} more parts"


def _errors(bound: Any) -> str:
    return "1 error" if bound.errors == 1 else f"{bound.errors:g} errors"


def _short(status: Any) -> str:
    """A status sentence up to its first full stop or semicolon, without the words "Not certified"."""
    text = str(status).removeprefix("Not certified: ")
    return text.split(";")[0].split(".")[0]


def seconds(value: float) -> str:
    """A duration."""
    if value < 0.1:
        return f"{1000 * value:.0f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value / 60:.1f} min"


def count(value: int, one: str, many: str | None = None) -> str:
    """1 row, 2 rows, 1,234 rows."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def percent(value: float) -> str:
    """A share as a percentage with one digit."""
    return f"{100 * value:.1f}%"
