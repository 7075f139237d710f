"""The page in a real browser: on a telephone, a tablet and a desk, in light and dark, and on paper."""

import io
from dataclasses import replace

import numpy as np
import pytest

from separatrix.compare import compare
from separatrix.compare.metrics import (
    Figure,
    Predictions,
    area_under_curve,
    balanced_accuracy,
    figure,
)
from separatrix.compare.paired import Difference
from separatrix.compare.result import Coefficient, HardRow, Sentence
from separatrix.data import read_table
from separatrix.report import render
from separatrix.scoring.calibration import Calibration
from separatrix.scoring.decision import Decision

pytestmark = pytest.mark.long

WIDTHS = (390, 820, 1400)  # pixels: a telephone, a tablet, a desk
FORESTS = ["spruce/fir", "lodgepole pine", "ponderosa pine", "cottonwood/willow", "aspen", "douglas-fir", "krummholz"]
LONG = "the_answer_to_question_{}_of_the_household_survey_second_wave_" + "Donaudampfschifffahrt" * 3
ANSWERS = ["answered every question of the survey completely", "did not answer at all, or only in part and late"]

# Visible pieces of text, each cut to the box that it scrolls in; what overlaps; and what sticks out of page or picture.
GEOMETRY = """() => {
  const found = {overlaps: [], outside: [], cut: []}, pieces = [], wide = window.innerWidth;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest('.skip, .hidden, title, desc') || !parent.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = parent.closest('.scroll')?.getBoundingClientRect();
    const picture = parent.closest('svg.chart')?.getBoundingClientRect();
    for (const r of range.getClientRects()) {
      if (r.width < 1 || r.height < 1) continue;
      const left = Math.max(r.left, box?.left ?? -1e9), right = Math.min(r.right, box?.right ?? 1e9);
      if (right - left < 1) continue;
      pieces.push({text: node.data.trim().slice(0, 40), left, right, top: r.top, bottom: r.bottom});
      if (picture && (r.left < picture.left - 1 || r.right > picture.right + 1 || r.top < picture.top - 1
          || r.bottom > picture.bottom + 1)) found.cut.push(node.data.trim());
    }
  }
  pieces.sort((a, b) => a.top - b.top);
  for (let i = 0; i < pieces.length; i++) for (let j = i + 1; j < pieces.length; j++) {
    const a = pieces[i], b = pieces[j];
    if (b.top > a.bottom - 3) break;
    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1) found.overlaps.push([a.text, b.text]);
  }
  for (const element of document.body.querySelectorAll('*')) {
    if (element.closest('.skip, .hidden') || element.parentElement.closest('.scroll')) continue;
    const r = element.getBoundingClientRect();
    if (r.width && (r.left < -0.5 || r.right > wide + 0.5))
      found.outside.push(element.tagName + ' ' + element.textContent.trim().slice(0, 40));
    if (getComputedStyle(element).overflowX === 'hidden' && element.scrollWidth > element.clientWidth + 1)
      found.cut.push(element.textContent.trim().slice(0, 40));
  }
  if (document.documentElement.scrollWidth > wide) found.outside.push('the page itself');
  return found;
}"""


@pytest.fixture(scope="module")
def small():
    """A real comparison, of few rows; the other runs change what the page shows of it."""
    random = np.random.default_rng(0)
    lines = ["height,weight,town,target"]
    for i in range(80):
        town = ("Ulm", "Bonn", "Kiel")[random.integers(3)]
        lines.append(f"{random.normal(4 * (i % 2)):.3f},{random.normal():.3f},{town},{('no', 'yes')[i % 2]}")
    return compare(read_table(io.BytesIO("\n".join(lines).encode()), target="target"), folds=2)


def stand_in(run, classes, columns, rows=400, skill=2.0, long=False):
    """The run with other classes, columns and held-out predictions, drawn at random; `skill` is how well it does."""
    random = np.random.default_rng(1)
    k = len(classes)
    truth = np.append(np.arange(k), random.integers(k, size=rows - k) if skill else np.zeros(rows - k, dtype=int))
    entries = []
    for number, entry in enumerate(run.entries):
        scores = skill * (1 - number / 20) * (truth[:, None] == np.arange(k)) + random.normal(size=(rows, k))
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        codes = np.zeros(rows, dtype=int) if entry.baseline else chances.argmax(axis=1)
        predictions = Predictions(codes, scores[:, 1] if k == 2 else scores, chances, np.arange(rows) % 2)
        worth = balanced_accuracy(truth, codes, k)
        figures = {
            "balanced_accuracy": worth,
            "accuracy": worth,
            "auc": area_under_curve(truth, predictions, k),
            "log_loss": figure("log_loss", truth, predictions, k),
            "brier": Figure(0.123, 0.101, 0.145),
            "f1": worth,
            "mcc": Figure(-0.021, -0.101, 0.145),
        }
        command = f"separatrix fit --model {entry.key} --scale --C 0.1 --threshold 0.23456789 {'a' * 90}.csv"
        entries.append(
            replace(
                entry,
                predictions=predictions,
                figures=figures,
                command=command if entry.key else "",
                behind=Difference(0.01 * number, 0.0, 0.1),
                calibration=Calibration("sigmoid", (((1.0, 0.0),),) * (1 if k == 2 else k)),
                decision=Decision(threshold=0.3) if k == 2 else Decision(offsets=tuple(np.linspace(-1, 1, k).tolist())),
            )
        )
    features = [f"{name}=level {j} of it" for name in columns for j in range(3)]
    labels = [None] if k == 2 else classes
    return replace(
        run,
        classes=list(classes),
        counts=np.bincount(truth, minlength=k).tolist(),
        truth=truth,
        entries=entries,
        best=next(entry for entry in entries if not entry.baseline and not entry.reference),
        n_rows=rows,
        n_columns=len(columns),
        features=features,
        columns=[
            {"column": name, "type": "category", "missing": 3, "unique": 3, "example": "level 1 of it", "note": ""}
            for name in columns
        ],
        coefficients=[
            Coefficient(label, name, -1234.5678, (-1) ** j * 0.5, -2345.6, 1234.5 if j else None)
            for label in labels
            for j, name in enumerate(features[: 15 if k == 2 else 4])
        ],
        hard_rows=[
            HardRow(1234 + i, classes[0], classes[-1], -3.21, [(name, "1") for name in features[:3]]) for i in range(4)
        ],
        verdict_words=[Sentence("Usable: it tells the classes apart." + " And so it does." * (9 if long else 0))] * 3,
        linearity="Gradient boosting reaches 0.968: linearity costs nothing here.",
        leaks=[f"{columns[0]} alone tells 99.4% of the rows apart: is it known before the target is?"],
        notes=[f"{columns[-1]}: left out"],
    )


@pytest.fixture(scope="module")
def runs(small):
    plain = ["height", "weight", "town"]
    return {
        "real": small,
        "seven": stand_in(small, FORESTS, plain),
        "long": stand_in(small, ANSWERS, [LONG.format(j) for j in range(40)], long=True),
        "nothing": stand_in(small, ["no", "yes"], plain, skill=0.0),
        "thirty": stand_in(small, [f"letter {j}" for j in range(30)], plain, rows=900, skill=4.0),
    }


@pytest.fixture(scope="module", params=["real", "seven", "long", "nothing", "thirty"])
def opened(request, runs, browser, tmp_path_factory):
    """The page of a run, all its folded parts unfolded; what it asked for and complained of."""
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(render(runs[request.param], f"separatrix compare {'b' * 90}.csv", "separatrix verify"))
    page = browser.new_page()
    asked, complaints = [], []
    page.on("request", lambda asking: asked.append(asking.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(file.as_uri())
    yield runs[request.param], page, asked, complaints
    page.close()


def unfolded(page, width, theme):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(media="screen", color_scheme=theme)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overlaps_sticks_out_or_is_cut(opened, width, theme):
    _, page, asked, complaints = opened
    unfolded(page, width, theme)
    assert page.evaluate(GEOMETRY) == {"overlaps": [], "outside": [], "cut": []}
    assert len(asked) == 1
    assert complaints == []
    import matplotlib.image

    picture = matplotlib.image.imread(io.BytesIO(page.screenshot()))[..., :3].mean(axis=2)
    assert (np.median(picture) > 0.9) if theme == "light" else (np.median(picture) < 0.2)
    assert picture.max() - picture.min() > 0.6  # something is written there


def test_the_geometry_is_seen(opened):
    """The check finds a title over a paragraph, and a table that is too wide."""
    _, page, *_ = opened
    unfolded(page, 820, "light")
    page.evaluate("document.querySelector('h1').style.marginBottom = '-20px'")
    assert page.evaluate(GEOMETRY)["overlaps"]
    page.evaluate("document.querySelector('h1').style.marginBottom = ''")
    page.evaluate("document.querySelector('.board').style.width = '900px'")
    assert page.evaluate(GEOMETRY)["outside"]
    page.evaluate("document.querySelector('.board').style.width = ''")
    assert page.evaluate(GEOMETRY) == {"overlaps": [], "outside": [], "cut": []}


@pytest.mark.parametrize("width", WIDTHS)
def test_every_dot_lies_where_the_axis_says(opened, width):
    """A line through the numbers of the axis gives each figure and interval, the majority guess included."""
    run, page, *_ = opened
    unfolded(page, width, "light")
    centre = "e => { const r = e.getBoundingClientRect(); return r.left + r.width / 2 }"
    ticks = page.locator(".board thead svg text").all()
    assert len(ticks) >= 2
    values = [float(tick.text_content()) for tick in ticks]
    slope, start = np.polyfit([tick.evaluate(centre) for tick in ticks], values, 1)
    lines = page.locator(".board tbody tr").all()
    assert len(lines) == len(run.entries)
    guess = next(entry for entry in run.entries if entry.baseline).figures[run.metric].value
    for entry, line in zip(run.entries, lines, strict=True):
        figure = entry.figures[run.metric]
        assert start + slope * line.locator("circle").evaluate(centre) == pytest.approx(figure.value, abs=2 * slope)
        assert start + slope * line.locator(".guide").evaluate(centre) == pytest.approx(guess, abs=2 * slope)
        ends = line.locator("line:not(.grid):not(.guide)").evaluate(
            "e => { const r = e.getBoundingClientRect(); return [r.left, r.right] }"
        )
        assert [start + slope * end for end in ends] == pytest.approx([figure.low, figure.high], abs=3 * slope)


def test_paper_is_white_and_splits_no_row(opened):
    _, page, *_ = opened
    page.set_viewport_size({"width": 690, "height": 900})
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = false })")
    style = "(e, name) => getComputedStyle(e)[name]"
    assert page.locator("body").evaluate(style, "backgroundColor") == "rgb(255, 255, 255)"
    for kind in ("tr", "figure", ".card", "pre"):
        found = page.evaluate(
            "kind => [...document.querySelectorAll(kind)].map(e => getComputedStyle(e).breakInside)", kind
        )
        assert set(found) == {"avoid"}
    hidden = "[...document.querySelectorAll('details pre')].filter(e => !e.checkVisibility()).length"
    assert page.evaluate(hidden) == 0  # on paper nothing can be unfolded
    geometry = page.evaluate(GEOMETRY)
    assert geometry["overlaps"] == []
    assert len(page.pdf()) > 10_000
