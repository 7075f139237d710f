"""The page: well formed, escaped, offline, small, and readable without eyes or mouse."""

import base64
import hashlib
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from separatrix.compare import compare
from separatrix.compare.candidates import Left
from separatrix.compare.result import Coefficient, HardRow, Sentence
from separatrix.data import read_table
from separatrix.report import render

VOID = {"meta", "br", "link", "img", "hr", "input"}
NASTY = [
    "<script>alert(1)</script>",
    "\"quotes\" & 'apostrophes'",
    "</title><img src=x onerror=alert(2)>",
    "{{ 7 * 7 }}",
]


class Page(HTMLParser):
    """Every tag in order, checked for nesting."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.texts, self.ids = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, attrs)
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))  # <line/> and the like, in SVG only

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def nasty_table(n=60, k=2, scores=True):
    """Hostile names everywhere: columns, categories, labels."""
    random = np.random.default_rng(0)
    quoted = ['"' + text.replace('"', '""') + '"' for text in NASTY]
    lines = [",".join([quoted[0], quoted[2], "target"])]
    for i in range(n):
        lines.append(f"{random.normal(4 * (i % k)):.3f},{quoted[random.integers(4)]},{quoted[i % k]}")
    return read_table(io.BytesIO("\n".join(lines).encode()), target="target")


@pytest.fixture(scope="module")
def run():
    return compare(nasty_table(), folds=2)


@pytest.fixture(scope="module")
def page(run):
    """Hostile words wherever the page shows any."""
    evil = NASTY[2]
    names = {"command": evil, "note": evil, "status": evil, "certificate": evil, "claim": evil, "warnings": [evil]}
    entries = [replace(entry, title=f"{entry.title} {evil}", **names) for entry in run.entries]
    shown = replace(
        run,
        entries=entries,
        best=entries[next(j for j, entry in enumerate(run.entries) if entry is run.best)],
        why_best=evil,
        verdict_words=[Sentence(evil), Sentence(evil, warning=True)],
        verdict_claim=evil,
        verdict_checks=[evil],
        verification=[evil],
        linearity=evil,
        leaks=[evil],
        notes=[evil, NASTY[3]],
        left=[Left(evil, evil)],
        score_is=evil,
        coefficients_of=evil,
        why_no_intervals=evil,
        coefficients=[Coefficient(evil, name, 1.0, 1.0, None, None) for name in (f"{evil}={evil}", NASTY[0])],
        hard_rows=[HardRow(1, evil, evil, -1.0, [(evil, evil)])],
        columns=[{"column": evil, "type": evil, "missing": 0, "unique": 1, "example": evil, "note": evil}],
    )
    text = render(shown, "separatrix compare '<b>.csv'", "separatrix verify model.separatrix '<b>.csv'")
    return text, Page(text)


def test_well_formed_with_unique_ids_and_links_that_lead_somewhere(page):
    text, tree = page
    assert text.startswith("<!doctype html>")
    assert len(tree.ids) == len(set(tree.ids))
    for link in tree.all("a"):
        assert link["href"][0] == "#"
        assert link["href"][1:] in tree.ids
    for _, attributes in tree.tags:
        for name in ("aria-labelledby",):
            assert set(attributes.get(name, "").split()) <= set(tree.ids)


def test_everything_from_the_data_is_escaped(page):
    _, tree = page
    assert tree.all("script") == []
    assert tree.all("img") == []
    assert not any(name.startswith("on") for _, attributes in tree.tags for name in attributes)
    assert "49" not in [part.strip() for part in tree.texts if "7 * 7" in part]
    shown = " ".join(tree.texts)
    for label in NASTY[:2]:
        assert label in shown
    assert "{{ 7 * 7 }}" in shown


def test_nothing_is_loaded_from_outside(page):
    text, tree = page
    assert not {"link", "iframe", "object", "embed", "base", "form"} & {tag for tag, _ in tree.tags}
    for _, attributes in tree.tags:
        assert not {"src", "style", "srcset", "xlink:href", "action"} & set(attributes)
    assert not re.search(r"url\(|@import|https?://", text)


def test_the_policy_allows_the_one_style_sheet_and_nothing_else(page):
    text, tree = page
    policy = next(meta["content"] for meta in tree.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert text.index("Content-Security-Policy") < text.index("<style>")
    assert "<" not in style


def test_small(page):
    assert len(page[0].encode()) < 200_000


def test_for_screen_readers_and_keyboards(page):
    _, tree = page
    assert tree.all("html")[0]["lang"] == "en"
    for landmark in ("header", "nav", "main", "footer"):
        assert len(tree.all(landmark)) == 1
    assert len(tree.all("h1")) == 1
    assert all("scope" in header for header in tree.all("th"))
    assert len(tree.all("caption")) == len(tree.all("table"))
    for drawing in tree.all("svg"):
        assert drawing.get("aria-hidden") == "true" or (drawing["role"] == "img" and drawing["aria-labelledby"])
    for region in tree.all("div"):
        if region.get("class") == "scroll":
            assert region["tabindex"] == "0"
            assert region["aria-label"]


def test_contrast_of_text_in_both_themes():
    from importlib import resources

    style = resources.files("separatrix.report").joinpath("templates", "style.css").read_text()

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    themes = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[:2]
    for theme in themes:
        colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", theme))
        for paper in ("paper", "panel"):
            for ink in ("ink", "soft", "a", "b"):
                light, dark = sorted((luminance(colours[paper]), luminance(colours[ink])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (paper, ink)


def test_many_classes_and_a_best_model_without_probabilities(run):
    text = render(compare(nasty_table(90, 3), folds=2), "a", "b")
    Page(text)
    assert "Bars to the left speak against the class" in text
    svm = next(entry for entry in run.entries if entry.key == "linear-svm")
    mute = replace(
        svm,
        predictions=replace(svm.predictions, probabilities=None),
        figures={**svm.figures, "log_loss": None, "brier": None},
        calibration=None,
        decision=None,
    )
    entries = [mute if entry is svm else entry for entry in run.entries]
    text = render(replace(run, entries=entries, best=mute), "a", "b")
    Page(text)
    assert "gives no probabilities" in text
