"""The order of the leaderboard, and which of its lines is saved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from separatrix._typing import Integers
from separatrix.compare.metrics import LOSSES, NAMES
from separatrix.compare.paired import difference
from separatrix.compare.result import Entry
from separatrix.compare.wording import count


def ranked(entries: Sequence[Entry], truth: Integers, k: int, metric: str = "balanced_accuracy") -> list[Entry]:
    """By the metric, then log-loss, then area under the curve; each entry with its distance to the first.

    An entry is `honest` if its log-loss is not above that of the baseline, which is set here too. The reference is
    in its place, but the first of ours is what ties and distances are about.
    """
    baseline = next((entry for entry in entries if entry.baseline), None)

    def order(entry: Entry) -> tuple[float, float, float]:
        loss = np.inf if entry.log_loss is None else entry.log_loss.value
        return -worth(entry, metric), loss, 0.0 if entry.auc is None else -entry.auc.value

    found = sorted(entries, key=order)
    first = next(entry for entry in found if not entry.reference)
    for entry in found:
        if baseline is not None and baseline.log_loss is not None:
            most = baseline.log_loss.value * (1 + 1e-12)  # shares that were rounded otherwise are as good
            entry.honest = entry.log_loss is not None and entry.log_loss.value <= most
        if entry is not first:
            entry.behind = difference(metric, truth, first.predictions, entry.predictions, k)
            entry.tie = entry.behind.tie
    first.tie = any(entry.tie for entry in found if entry is not first and not entry.reference)
    return found


def worth(entry: Entry, metric: str) -> float:
    """The figure of an entry, more being better; -inf without one."""
    figure = entry.figures.get(metric)
    if figure is None:
        return -np.inf
    return -figure.value if metric in LOSSES else figure.value


def choose_best(
    entries: Sequence[Entry], truth: Integers, k: int, metric: str = "balanced_accuracy"
) -> tuple[Entry, str]:
    """Of the classifiers with honest probabilities, the first, or of those about as good, the likeliest.

    As good: half a standard error of the paired difference in the metric behind, or less. So close, one that learned
    from all rows is preferred to one that did not, a certified one to one that is not (if none is so close, the best
    of those whose 95% interval reaches the first), and then log-loss decides. Only if none has honest probabilities
    may one without be saved, and the verdict warns of it.
    """
    ours = [entry for entry in entries if not entry.baseline and not entry.reference]
    able = [entry for entry in ours if entry.honest] or ours
    first = able[0]
    behind = [difference(metric, truth, first.predictions, entry.predictions, k) for entry in able]
    near = [entry for entry, gap in zip(able, behind, strict=True) if gap.near]
    near = [entry for entry in near if not entry.capped] or near
    tied = [entry for entry, gap in zip(able, behind, strict=True) if gap.tie and entry.certified]
    near = [entry for entry in near if entry.certified] or tied[:1] or near
    likely = [entry for entry in near if entry.log_loss is not None]
    best = min(likely, key=lambda entry: entry.log_loss.value) if likely else near[0]  # type: ignore[union-attr]
    lead = f"the {'lowest' if metric in LOSSES else 'highest'} {NAMES[metric]}"
    words = lead if best is first else f"tied with {first.title}"
    if best is first and first is not ours[0]:
        words += " of those that have honest probabilities"
    if len(near) > 1 and likely:
        words += f"; of the {count(len(near), 'classifier')} within half a standard error, the best log-loss"
    return best, words


def line_of(entries: Sequence[Entry], wanted: str) -> Entry | None:
    """The line of the leaderboard with this number, counted from 1, or name; None if there is none to be saved."""
    if wanted.strip().isdigit():
        place = int(wanted)
        found = entries[place - 1] if 1 <= place <= len(entries) else None
    else:
        found = next((entry for entry in entries if entry.title.lower() == wanted.strip().lower()), None)
    return None if found is None or found.baseline or found.reference else found
