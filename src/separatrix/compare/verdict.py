"""The verdict in words: usable or not, how sure, what it gets wrong, whether anything was learned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from separatrix._typing import Integers
from separatrix.compare.candidates import Left
from separatrix.compare.metrics import NAMES, Figure, confusion
from separatrix.compare.paired import difference
from separatrix.compare.ranking import worth
from separatrix.compare.result import Entry, Sentence
from separatrix.compare.wording import count

STRONG, USABLE = 0.9, 0.7  # balanced accuracy, on a scale from guessing (0) to no error (1): see `_grade`
MOST_CLASSES = 3  # spoken of one by one


def learned(best: Entry, baseline: Entry, truth: Integers, k: int, metric: str) -> bool:
    """Whether held-out rows tell the model from guessing: in the metric, and in the order of its scores."""
    lead = difference(metric, truth, best.predictions, baseline.predictions, k)
    return lead.low > 0 and (best.auc is None or best.auc.low > 0.5)


def verdict_words(
    entries: Sequence[Entry],
    best: Entry,
    truth: Integers,
    classes: Sequence[str],
    metric: str,
    leaks: Sequence[str],
    left: Sequence[Left],
) -> list[Sentence]:
    """The most important first."""
    k = len(classes)
    baseline = next(entry for entry in entries if entry.baseline)
    majority = classes[int(np.bincount(truth, minlength=k).argmax())]
    figure, guess = best.figures[metric], baseline.figures[metric]
    assert figure is not None
    assert guess is not None
    if not learned(best, baseline, truth, k, metric):
        words = [
            Sentence(
                f"Nothing was learned: held-out rows do not tell {best.title} from always guessing {majority!r} "
                f"({NAMES[metric]} {_interval(figure)}, guessing {guess.value:.3f}). Do not use it.",
                warning=True,
            )
        ]
    else:
        words = [
            Sentence(
                f"{_grade(best, k)}: {best.title} has a held-out {NAMES[metric]} of {figure.value:.3f}, 95% interval "
                f"{figure.low:.3f} to {figure.high:.3f}; always guessing {majority!r} has {guess.value:.3f}."
            )
        ]
    if not best.honest and best.log_loss is not None and baseline.log_loss is not None:
        words.append(
            Sentence(
                f"Warning: its probabilities are worse than stating the shares of the classes (log-loss "
                f"{best.log_loss.value:.3f} against {baseline.log_loss.value:.3f}): do not rely on them.",
                warning=True,
            )
        )
    if not best.certified:
        words.append(Sentence("Warning: the fit is not certified.", warning=True))
    words += [Sentence(leak, warning=True) for leak in leaks]
    if best.capped:
        few = f"{best.rows_used:,} of the {len(truth):,} rows"
        words.append(Sentence(f"It learned from {few}, drawn at random: all would take too long."))
    words.append(Sentence(_wrong(truth, best.predictions.codes, classes)))
    words.append(Sentence(_probabilities(best, baseline, classes)))
    late = [each.title for each in left if each.late]
    if late:
        words.append(
            Sentence(
                f"The time limit left out {count(len(late), 'classifier')}: {', '.join(late)}. A higher --time-limit "
                "may find a better one."
            )
        )
    return words


def _grade(best: Entry, k: int) -> str:
    """By how far balanced accuracy is on the way from guessing to no error."""
    way = (best.balanced_accuracy.value - 1 / k) / (1 - 1 / k)
    if way >= 2 * STRONG - 1:
        return "Good"
    return "Usable" if way >= 2 * USABLE - 1 else "Weak, but better than guessing"


def _interval(figure: Figure) -> str:
    return f"{figure.value:.3f}, 95% interval {figure.low:.3f} to {figure.high:.3f}"


def _wrong(truth: Integers, codes: Integers, classes: Sequence[str]) -> str:
    """What it gets wrong: shares recognised of few classes; of many, the worst and what they are taken for."""
    k = len(classes)
    table = confusion(truth, codes, k)
    rows, predicted, right = table.sum(axis=1), table.sum(axis=0), np.diagonal(table)
    if not (rows - right).sum():
        return "No held-out row is wrong."
    if k == 2:
        rare = 0 if rows[0] < rows[1] else 1  # which is looked for: that the frequent one is right says little
        kept = " and ".join(f"{_of_100(right[c] / rows[c])} of 100 {classes[c]!r}" for c in (rare, 1 - rare))
        trust = f"it never says {classes[rare]!r}"
        if predicted[rare]:
            trust = f"when it says {classes[rare]!r}, it is right {_of_100(right[rare] / predicted[rare])} times of 100"
        return f"It recognises {kept}; {trust}."
    shares = right / np.maximum(rows, 1)
    worst = np.argsort(shares, kind="stable")[:MOST_CLASSES]
    parts = []
    for c in worst[shares[worst] < 1]:
        others = np.where(np.arange(k) == c, -1, table[c])
        rival = classes[int(others.argmax())]
        parts.append(f"{_of_100(shares[c])} of 100 {classes[c]!r} (most often taken for {rival!r})")
    return f"Worst recognised: {'; '.join(parts)}."


def _of_100(share: float) -> str:
    """Of so many: whole numbers, near the ends tenths, and there neither "0.0" for some nor "100.0" for nearly all."""
    if share in (0.0, 1.0) or 0.01 <= share <= 0.99:
        return f"{100 * share:.0f}"
    if share > 0.9995:
        return "over 99.9"
    return f"{100 * share:.1f}" if share >= 0.0005 else "under 0.1"


def _probabilities(best: Entry, baseline: Entry, classes: Sequence[str]) -> str:
    kind = "its own" if best.calibration is None else f"calibrated ({best.calibration.kind})"
    if best.log_loss is None or baseline.log_loss is None:
        return f"Its probabilities are {kind}."
    cut = ""
    if best.decision is not None and best.decision.threshold is not None:
        cut = f" It says {classes[1]!r} from a probability of {best.decision.threshold:.3g} on."
    loss, guess = best.log_loss.value, baseline.log_loss.value
    return f"Its probabilities are {kind}: log-loss {loss:.3f}, guessing {guess:.3f}.{cut}"


def linearity_words(entries: Sequence[Entry], truth: Integers, k: int, metric: str) -> str | None:
    """What linearity costs: the best linear line beside the reference, in the metric and the area under the curve."""
    reference = next((entry for entry in entries if entry.reference), None)
    linear = [entry for entry in entries if entry.key and hasattr(entry.model, "coef_")]
    if reference is None or not linear:
        return None
    best = max(linear, key=lambda entry: worth(entry, metric))
    gap = difference(metric, truth, reference.predictions, best.predictions, k)
    mine, its = best.figures[metric], reference.figures[metric]
    assert mine is not None
    assert its is not None
    figures = f"{NAMES[metric]} {its.value:.3f} against {mine.value:.3f} of {best.title}"
    if metric != "auc" and reference.auc is not None and best.auc is not None:
        figures += f", AUC {reference.auc.value:.3f} against {best.auc.value:.3f}"
    few = "" if reference.sample is None else f", which learned from {reference.sample:,} rows only"
    name = f"{reference.title} ({figures}){few}"
    if gap.low > 0:
        size = f"{gap.value:.3f} of {NAMES[metric]}"
        return f"Linearity costs {size} (95% interval {gap.low:.3f} to {gap.high:.3f}) against {name}."
    if gap.high < 0:
        return f"Linearity is an advantage here: {name}{',' if few else ''} does worse."
    return f"Linearity costs nothing that these rows show, against {name}."
