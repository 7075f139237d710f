"""The parts of the page: scales, bins, confusions, calibration in words, columns named once."""

import io
import re
from dataclasses import replace

import numpy as np
import pytest

from separatrix.compare import compare
from separatrix.compare.candidates import Left
from separatrix.compare.metrics import Figure, Predictions
from separatrix.compare.result import Coefficient, Sentence
from separatrix.compare.verdict import verdict_words
from separatrix.data import read_table
from separatrix.report import charts, page, render
from separatrix.report.board import scale_of
from separatrix.report.calibration import Stated, calibration_words
from separatrix.report.charts import bin_edges, histogram, scores_from_cut
from separatrix.report.columns import groups, pulls, split
from separatrix.report.confusion import MOST, confusions
from separatrix.report.svg import ticks
from separatrix.scoring.decision import Decision


@pytest.fixture(scope="module")
def run():
    random = np.random.default_rng(0)
    lines = ["x,target", *(f"{random.normal(i % 2):.3f},{'ab'[i % 2]}" for i in range(40))]
    return compare(read_table(io.BytesIO("\n".join(lines).encode()), target="target"), folds=2)


def saying(run, truth, chances, codes=None, decision=None):
    """The run whose best model stated these probabilities."""
    codes = chances.argmax(axis=1) if codes is None else codes
    cut = None if decision is None else np.tile(decision.log_offsets(chances.shape[1]), (len(truth), 1))
    predictions = Predictions(codes, None, chances, np.arange(len(truth)) % 2, cut)
    best = replace(run.best, predictions=predictions, decision=decision, calibration=None)
    classes = [f"c{j}" for j in range(chances.shape[1])]
    return replace(run, best=best, truth=truth, classes=classes)


@pytest.mark.parametrize("seed", range(5))
def test_no_bin_has_both_sides_of_0_in_it(seed):
    values = np.random.default_rng(seed).normal(seed - 2, 1 + seed, size=300)
    edges = bin_edges(values)
    assert 0.0 in edges
    assert not ((edges[:-1] < 0) & (edges[1:] > 0)).any()
    assert np.diff(edges) == pytest.approx(edges[1] - edges[0])
    assert edges[0] <= np.quantile(values, 0.005)
    assert edges[-1] >= np.quantile(values, 0.995)


def test_scores_are_counted_from_the_cut(run):
    """Positive where the class is predicted, whatever the threshold or the offsets."""
    random = np.random.default_rng(0)
    for k, decision in (
        (2, Decision(threshold=0.2)),
        (2, Decision()),
        (2, None),
        (4, Decision(offsets=(1.0, 0.0, -1.0, 0.0))),
    ):
        chances = random.dirichlet(np.ones(k), size=200)
        truth = random.integers(k, size=200)
        codes = (Decision() if decision is None else decision).codes(chances)
        scores = scores_from_cut(saying(run, truth, chances, codes, decision))
        assert ((scores > 0) == (codes == 1 if k == 2 else codes == truth)).all()


def test_histogram_draws_each_class_on_its_side_in_shares(run):
    truth = np.repeat([0, 1], [90, 10])
    positive = np.where(truth == 1, 0.9, 0.1)
    drawing = histogram(saying(run, truth, np.stack([1 - positive, positive], axis=1)))
    bars = re.findall(
        r'<rect class="(fill-.)" x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"', drawing.picture
    )
    up, down = (next((float(y), float(h)) for kind, y, h in bars if kind == want) for want in ("fill-b", "fill-a"))
    assert up[0] + up[1] == pytest.approx(down[0], abs=0.2)  # they meet at 0
    assert up[1] == pytest.approx(down[1], rel=0.01)  # all of either class, though one has 9 times as many rows
    assert drawing.ends == ("← predicted c0", "predicted c1 →")
    assert [name for name, _ in drawing.legend] == ["c1 (upwards)", "c0 (downwards)"]


def test_a_scale_holds_every_interval_and_the_guess():
    figures = [Figure(0.9, 0.8, 0.95), Figure(0.7, 0.6, 0.75)]
    scale = scale_of(figures, 0.5, False)
    assert scale.low < 0.5
    assert scale.high > 0.95
    places = [scale.place(value) for value in (0.5, 0.6, 0.95)]
    assert (places[1] - places[0]) / (places[2] - places[0]) == pytest.approx(0.1 / 0.45)
    assert 0 < places[0] < places[2] < 100


def test_a_loss_beyond_twice_the_guess_is_an_arrow():
    scale = scale_of([Figure(0.3, 0.2, 0.4), Figure(9.0, 8.0, 10.0), Figure(0.6, 0.55, 0.65)], 0.6, True)
    assert 1.2 < scale.high < 1.3
    drawn = scale.interval(8.0, 9.0, 10.0, "line-m", 0.6)
    assert "→" in drawn
    assert "circle" not in drawn
    assert "circle" in scale.interval(0.2, 0.3, 0.4, "line-m", 0.6)


def test_confusions_are_shares_of_the_true_class():
    truth = np.array([0, 0, 0, 0, 1, 1, 2, 2, 2, 2])
    found = confusions(truth, np.array([0, 0, 0, 1, 1, 1, 0, 0, 0, 2]), ["a", "b", "c"])
    assert [(name, total) for name, total, _ in found.rows] == [("a", 4), ("b", 2), ("c", 4)]
    assert [[cell.rows for cell in cells] for *_, cells in found.rows] == [[3, 1, 0], [0, 2, 0], [3, 0, 1]]
    assert [[cell.percent for cell in cells] for *_, cells in found.rows] == [
        ["75", "25", "0"],
        ["0", "100", "0"],
        ["75", "0", "25"],
    ]
    assert [cell.shade for cell in found.rows[0][2]] == [4, 2, 0]
    assert found.listed == [("c", "a", 3, 4), ("a", "b", 1, 4)]
    assert found.others == 0


def test_nearly_all_is_not_all_and_few_are_not_none():
    found = confusions(np.zeros(1000, dtype=int), np.append(np.zeros(999, dtype=int), 1), ["a", "b"])
    assert [cell.percent for cell in found.rows[0][2]] == [">99", "<1"]
    assert [cell.shade for cell in found.rows[0][2]] == [5, 1]


def test_many_classes_keep_those_with_mistakes_and_lose_no_row():
    random = np.random.default_rng(0)
    k = 3 * MOST
    truth = random.integers(k, size=5000)
    predicted = np.where((truth % 3 == 0) & (random.random(5000) < 0.5), (truth + 3) % k, truth)
    found = confusions(truth, predicted, [str(j) for j in range(k)])
    assert len(found.rows) == len(found.names) == MOST
    assert sum(total for _, total, _ in found.rows) == 5000
    assert sum(cell.rows for *_, cells in found.rows for cell in cells) == 5000
    assert all(int(name) % 3 == 0 for name, *_ in found.rows[:-1])
    assert found.rows[-1][0] == f"{found.others} other classes"
    assert found.others == k - (MOST - 1)


def test_right_probabilities_are_seldom_called_off():
    """Of 400 samples with right probabilities, about one in a hundred may be called off."""
    random = np.random.default_rng(0)
    chances = random.beta(1.0, 2.0, size=(400, 500))
    off = sum(Stated(each, random.random(500) < each).chance() < 0.01 for each in chances)
    assert off <= 12


@pytest.mark.parametrize(
    "bend, words",
    [
        (lambda p: 1 / (1 + np.exp(-3 * np.log(p / (1 - p)))), "too near to 0 and 1"),
        (lambda p: 1 / (1 + np.exp(-np.log(p / (1 - p)) / 3)), "too near to one half"),
        (lambda p: p**0.4, "too high for “c1”"),
        (lambda p: p**2.5, "too low for “c1”"),
    ],
)
def test_wrong_probabilities_are_called_off_in_the_right_way(run, bend, words):
    random = np.random.default_rng(0)
    right = random.uniform(0.05, 0.95, size=2000)
    truth = (random.random(2000) < right).astype(int)
    off, said = calibration_words(saying(run, truth, np.stack([1 - bend(right), bend(right)], axis=1)))
    assert off
    assert words in said
    off, said = calibration_words(saying(run, truth, np.stack([1 - right, right], axis=1)))
    assert not off
    assert "at their word" in said


def test_too_sure_of_several_classes(run):
    random = np.random.default_rng(0)
    truth = random.integers(3, size=900)
    chances = np.full((900, 3), 0.01)
    chances[np.arange(900), np.where(random.random(900) < 0.7, truth, (truth + 1) % 3)] = 0.98
    off, said = calibration_words(saying(run, truth, chances))
    assert off
    assert "too sure: where 98% was stated" in said


def test_columns_of_features():
    names = dict.fromkeys(["age", "town", "a=b", "a", "note: old"], "number") | {"town": "category"}
    names |= {"when": "date", "note": "text", "at: home": "date"}
    assert split("when: day of week", names) == ("when", "day of week")
    assert split("at: home: year", names) == ("at: home", "year")
    assert split("when is missing", names) == ("when", "is missing")
    assert split("note: =great", names) == ("note", "“=great”")
    assert split("note: old", names) == ("note: old", None)
    assert split("age: year", names) == ("age: year", None)
    assert split("age", names) == ("age", None)
    assert split("age is missing", names) == ("age", "is missing")
    assert split("town=Ulm=West", names) == ("town", "= Ulm=West")
    assert split("a=b", names) == ("a=b", None)
    assert split("other=x", names) == ("other=x", None)


def test_categories_of_a_column_stand_under_it_once():
    effects = {"town=Ulm": 3.0, "age": 2.0, "town=Kiel": -1.0, "age is missing": 0.5}
    found = groups(
        [Coefficient(None, name, 1.0, effect, None, None) for name, effect in effects.items()],
        {"town": "category", "age": "number"},
    )
    assert [(group.column, [weight.level for weight in group.weights]) for group in found] == [
        ("town", ["= Ulm", "= Kiel"]),
        ("age", [None, "is missing"]),
    ]
    said = pulls(
        [("town=Ulm", "0"), ("town=Kiel", "1"), ("age", "41"), ("pay is missing", "1")],
        {"town": "category", "age": "number", "pay": "number"},
    )
    assert said == ["town is not Ulm", "age = 41", "pay is missing"]


def test_parts_of_dates_and_words_stand_under_their_columns():
    kinds = {"when": "date", "note": "text"}
    effects = {"when: year": 3.0, "note: dull": 2.0, "when: month": -1.0, "when is missing": 0.5, "note: great": 0.4}
    found = groups([Coefficient(None, name, 1.0, effect, None, None) for name, effect in effects.items()], kinds)
    assert [(group.column, [weight.level for weight in group.weights]) for group in found] == [
        ("when", ["year", "month", "is missing"]),
        ("note", ["“dull”", "“great”"]),
    ]
    assert pulls([("when: year", "2003"), ("note: dull", "0.31")], kinds) == ["when: year = 2003", "note with “dull”"]
    assert pulls([("when is missing", "1"), ("note: dull", "0")], kinds) == ["when is missing", "note without “dull”"]


def test_the_verdict_comes_first_and_every_command_is_there(run):
    entries = [replace(entry, command=f"separatrix fit --number {j}") for j, entry in enumerate(run.entries)]
    shown = replace(
        run,
        entries=entries,
        best=entries[run.entries.index(run.best)],
        verdict_words=[
            Sentence("Usable & <good>."),
            Sentence("Warning: of a name.", warning=False),
            Sentence("Beware.", True),
        ],
        linearity="It costs nothing.",
        leaks=["Column <x> is a leak."],
    )
    text = render(shown, "a", "b")
    verdict = text.index("Usable &amp; &lt;good&gt;.")
    assert text.index("</h1>") < verdict < text.index("Beware.") < text.index('class="cards"')
    assert [words in text for words in (' warn">Beware.', ' warn">Warning: of', ' warn">Usable')] == [
        True,
        False,
        False,
    ]
    assert text.index('class="cards"') < text.index("It costs nothing.") < text.index(run.verdict_claim[:20])
    assert "Column &lt;x&gt; is a leak." in text
    for entry in entries:
        if not entry.baseline:
            assert f"<code>{entry.command}</code></pre>" in text


def test_a_picture_that_fails_does_not_cost_the_page(run, monkeypatch):
    def fails(run):
        raise ZeroDivisionError

    monkeypatch.setattr(page.charts, "roc", fails)
    text = render(run, "a", "b")
    assert "<h3>ROC</h3>" not in text
    assert "Leaderboard" in text
    assert charts.precision_recall(run).picture in text


def test_lines_keep_their_order_and_say_what_they_are(run):
    board = re.search(r'<table class="board">.*?</table>', render(run, "a", "b"), re.DOTALL)[0]
    names = re.findall(r'<th scope="row">([^<]*?) ?<', board)
    assert [name.strip() for name in names] == [entry.title for entry in run.entries]
    assert board.count(">reference</span>") == sum(entry.reference for entry in run.entries) == 1
    assert board.count(">saved</span>") == 1
    places = re.findall(r'<td class="place">([^<]*)</td>', board)
    assert len(places) == len(run.entries)
    for entry, place in zip(run.entries, places, strict=True):
        if entry.behind is None:
            assert place == "best"
        elif entry.tie:
            assert place == "tie"
        else:
            size, way = place.split()
            assert float(size) == pytest.approx(abs(entry.behind.value), abs=0.0005)
            assert way == ("behind" if entry.behind.value > 0 else "ahead")
    assert board.count('class="guide"') == len(run.entries)


def test_what_is_late_or_warns_is_not_read_out_of_words(run):
    left = [Left("early", "it failed (no --time-limit is known)"), Left("late", "no more time", had=1.0)]
    said = verdict_words(run.entries, run.best, run.truth, run.classes, run.metric, ["Possible leak: age"], left)
    ended = next(words for words in said if words.text.startswith("The time limit"))
    assert "1 classifier: late." in ended.text
    assert not ended.warning
    assert [words.text[:13] for words in said if words.warning and "leak" in words.text] == ["Possible leak"]
    assert run.to_dict()["verdict"] == [words.text for words in run.verdict_words]


@pytest.mark.parametrize("size", [1e-14, 1.0, 1e9])
def test_the_numbers_of_a_scale_differ(size):
    assert ticks(-size, size) == pytest.approx([-size, -0.5 * size, 0.0, 0.5 * size, size])
