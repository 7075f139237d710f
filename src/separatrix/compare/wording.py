"""Certificates, numbers and durations in words."""

from __future__ import annotations

from separatrix.certificates import Certificate, Inseparable
from separatrix.outcome import Status


def certificate_words(certificate: Certificate | None, status: Status) -> str:
    """A certificate in a few words, or why there is none."""
    return f"none: {status.short}" if certificate is None else certificate.short


def status_words(certificate: Certificate | None, status: Status) -> str:
    """The status as a sentence; where there is no maximum of the likelihood, with what the certificate shows."""
    if status is Status.NO_MAXIMUM and isinstance(certificate, Inseparable):
        return f"No finite maximum likelihood: the classes are {certificate.verdict}, as the certificate shows."
    return str(status)


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
