"""Every block of Python and of the command in README and docs runs as printed, and prints what is printed there.

The blocks of a page run one after the other, in one folder: later ones use what earlier ones made. Durations differ
from run to run, figures below 1e-6 and digits beyond the eighth from machine to machine; all else must be as it says.
Of a table that ``separatrix compare`` prints, the classifiers and about how good they are must be the same. A block
after ``<!-- not run: why -->`` is left out.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SLOW = {"command.md", "large_data.md", "dask.md"}  # seconds each: CI runs them with the site
BLOCK = re.compile(r"(<!-- not run: [^>]+-->\n+)?^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DURATION = re.compile(r"\b\d+(\.\d+)? ?(ms|s|min)\b")
NUMBER = re.compile(r"(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?(?![\w.]*\w)")
TINY = 1e-6  # smaller ones are rounding errors
ALIKE = 0.01  # difference of a figure on a leaderboard: half the width of its interval


def blocks(page):
    """The language and the text of each block that is to run."""
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [(m[2], m[3]) for m in found if not m[1] and (m[2] in ("python", "console") or (not m[2] and ">>>" in m[3]))]


def plain(text):
    """The text without what differs from run to run."""

    def number(match):
        value = float(match[0])
        return "tiny" if 0 < abs(value) < TINY else format(value, ".8g")

    text = DURATION.sub("some time", text)
    return [NUMBER.sub(number, " ".join(line.split())) for line in " ".join(text.split()).split(". ")]


class Checker(doctest.OutputChecker):
    """Compares as `plain` does."""

    def check_output(self, want, got, optionflags):
        return super().check_output(want, got, optionflags) or (
            not optionflags & doctest.ELLIPSIS and plain(want) == plain(got)
        )


def run_python(text, names, where):
    if ">>>" not in text:
        exec(compile(text, where, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(text.rstrip() + "\n\n", names, where, where, 0)
    report = []
    runner = doctest.DocTestRunner(Checker(), optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.summarize(verbose=False).failed, "".join(report)


def run_console(text, folder):
    for turn in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = turn.partition("\n")
        environment = {**os.environ, "COLUMNS": "132", "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
        )
        assert "Traceback" not in done.stderr, done.stderr
        if command.startswith("separatrix compare"):
            assert done.returncode == 0, done.stderr
            if printed.strip():
                same_leaderboard(printed, done.stdout)
        elif printed.strip():
            assert plain(done.stdout + done.stderr) == plain(printed), f"$ {command}\n{done.stdout}{done.stderr}"


def classifiers(leaderboard):
    """The classifiers of a leaderboard, each with its first figure."""
    lines = re.findall(r"^\d+[=*]? +(\S.*?)  +(\d\.\d{3}) \(", leaderboard, flags=re.MULTILINE)
    return {name: float(figure) for name, figure in lines}


def same_leaderboard(shown, printed):
    """The same classifiers, as good as shown; all else may differ a little between machines."""
    shown, printed = classifiers(shown), classifiers(printed)
    assert len(printed) > 10
    assert shown.keys() == printed.keys()
    assert [name for name in shown if abs(shown[name] - printed[name]) > ALIKE] == []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to run in, where the command is that of this Python."""
    command = tmp_path / "separatrix"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m separatrix "$@"\n')
    command.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.long] if page.name in SLOW else []) for page in PAGES],
    ids=lambda page: page.name,
)
def test_page(page, folder):
    names = {"__name__": "__main__"}
    for place, (language, text) in enumerate(blocks(page)):
        if language == "console":
            run_console(text, folder)
        else:
            run_python(text, names, f"{page.name}[{place}]")


@pytest.mark.long
def test_the_table_on_the_front_page_is_what_the_command_prints(folder):
    after = PAGES[0].read_text(encoding="utf-8").split("<!-- end -->")[1]
    run_console("$ separatrix compare\n" + after.split("```text\n")[1].split("```")[0], folder)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_links_to_exists(page):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


SCRIPTS = sorted((ROOT / "docs").glob("[et]*s/*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_figure_of_an_example_is_drawn_in_one_block(script):
    """The site takes its pictures after each block: axes that are filled in a later one would stay empty."""
    for block in script.read_text(encoding="utf-8").split("# %%\n"):
        made, shown = block.count("plt.subplots("), block.count("plt.show()")
        assert made == shown, block
        assert not made or block.rstrip().endswith("plt.show()"), block


def test_the_short_table_of_the_benchmarks_is_that_of_the_long_one():
    def ratios(text, columns):
        return re.findall(r"^\| " + r" \| ".join(["(.+?)"] * columns) + r" \|$", text, flags=re.MULTILINE)[2:]

    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    short = ratios(text.split("## In short")[1].split("![")[0], 3)
    fastest = {}
    for problem, rival, _, _, ratio in ratios(text.split("### To the same objective")[1].split("###")[0], 5):
        if "never" not in ratio and float(ratio) < fastest.get(problem, ("", 1e9))[1]:
            fastest[problem] = rival, float(ratio)
    assert {problem: (rival, float(ratio)) for problem, rival, ratio in short} == fastest


def test_stale_output_is_found(folder):
    run_python(">>> 1 / 3\n0.33333333333331\n", {}, "sums")
    with pytest.raises(AssertionError):
        run_python(">>> 1 / 3\n0.3334\n", {}, "sums")
    assert shutil.which("separatrix", path=str(folder))
    run_console("$ echo took 3 ms, off by 2e-17\ntook 9 ms, off by 4e-16\n", folder)
    with pytest.raises(AssertionError):
        run_console("$ echo took 3 ms, 4 errors\ntook 9 ms, 5 errors\n", folder)
