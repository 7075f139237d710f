"""``python -m benchmarks.page RESULTS PAGE``: put the tables of a results file between the markers of a page.

The picture goes into the folder ``pictures`` beside the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import plot, results, tables

BEGIN, END = "<!-- results -->", "<!-- end of results -->"
SHOWN = "![Relative suboptimality against seconds, a panel for each problem](pictures/benchmarks.svg)"


def insert(page: Path, source: Path) -> None:
    """Replace what is between the markers."""
    text = page.read_text()
    if BEGIN not in text or END not in text:
        raise SystemExit(f"{page} has no {BEGIN} ... {END} to put the tables between.")
    found = results.load(source)
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    picture = page.parent / "pictures" / "benchmarks.svg"
    plot.draw(found, picture)
    shown = f"{SHOWN}\n\n" if found["problems"] else ""
    page.write_text(f"{before}{BEGIN}\n{shown}{tables.page(found)}{END}{after}")


if __name__ == "__main__":
    insert(Path(sys.argv[2]), Path(sys.argv[1]))
