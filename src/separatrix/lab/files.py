"""The files of the lab: its script, as one ES module, its styles, its page, and the lessons."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
# the parts of lab.js, each after those that it imports
PARTS = (
    "exact",
    "numbers",
    "gaps",
    "equations",
    "checker",
    "data",
    "picture",
    "charts",
    "plane",
    "views",
    "start",
    "walks",
    "margins",
    "likelihoods",
    "formulas",
    "pane",
    "lessons",
    "tables",
    "takeaway",
    "timeline",
    "app",
)
IMPORT = re.compile(r'^import ([^;]* from )?"\./\w+\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
COMMENT = re.compile(r"^ *(//.*|/\*\*.*\*/)\n| +// .*$", re.MULTILINE)  # of a line of its own, or at its end
INDENT = re.compile(r"^ +", re.MULTILINE)  # no text of ours goes over several lines
BREAK = re.compile(r"(?<=[{(\[,])\n|\n(?=[})\]])")  # of a line, where no statement can end
SPACE = re.compile(r" ?([,{}();:?=<>*&|]) ?")  # about signs; + and - keep theirs, as a - -b is not a--b
STYLE_SPACE = re.compile(r"(?<=[{};,:]) | (?=[{}])")
STRING = re.compile(r'("(?:[^"\\]|\\.)*"|`[^`]*`)')
# what may begin another kind of text: a quote, a second template on the line, or a pattern (but not a division)
TEXT = re.compile(r"['\"`]|(?<![\w)\]] )(?<![\w)\]])/")


@cache
def module(name: str = "lab") -> str:
    """lab.js: the parts one after the other, without comments and most blanks; or the part of another name, as it is.

    A notebook takes one file, so all hosts get that one.
    """
    parts = PARTS if name == "lab" else (name,)
    texts = [(FOLDER / "page" / f"{part}.js").read_text(encoding="utf-8") for part in parts]
    if name != "lab":
        return texts[0]
    joined = "".join(EXPORT.sub("", IMPORT.sub("", text)) for text in texts)
    lines = INDENT.sub("", COMMENT.sub("", joined)).splitlines()
    return BREAK.sub("", "\n".join(map(tightened, filter(None, lines)))) + "\n"


def tightened(line: str) -> str:
    """A line of code without blanks about its signs; texts in it keep theirs, and so do lines that are unclear."""
    parts = STRING.split(line)
    if line.count("`") > 2 or any(TEXT.search(code) for code in parts[::2]):
        return line
    return "".join(part if i % 2 else SPACE.sub(r"\1", part) for i, part in enumerate(parts))


@cache
def styles() -> str:
    """lab.css, without the blanks that are only for its readers."""
    text = (FOLDER / "page" / "lab.css").read_text(encoding="utf-8")
    return STYLE_SPACE.sub("", INDENT.sub("", text))


@cache
def page() -> str:
    """The page that the server sends: it loads the module and gives it a model."""
    return (FOLDER / "page" / "index.html").read_text(encoding="utf-8")


@cache
def lessons() -> list[dict[str, str]]:
    """The lessons in order: name, title, and text in Markdown. An installed package has them beside this file."""
    folder = FOLDER / "lessons"
    if not folder.is_dir():
        folder = FOLDER.parents[2] / "docs" / "lessons"
    texts = [(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("[0-9]*.md"))]
    return [{"name": name, "title": text.partition("\n")[0].lstrip("# "), "text": text} for name, text in texts]
