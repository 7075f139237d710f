"""Every link of the site that stays within it leads somewhere. Run: ``python docs/site/links.py site``."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The places that a page links to, and those in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.places.add(value)
            if value and name in ("href", "src"):
                self.links.append(value)


def broken(folder: Path) -> list[str]:
    """One line for each link to a page or a place that there is not."""
    pages = {path: Page(path) for path in folder.rglob("*.html") if "_static" not in path.parts}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:  # elsewhere
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            known = pages.get(to)
            # a script of the search page makes its places
            if not to.exists() or (known is not None and unquote(parts.fragment) not in known.places):
                found.append(f"{path.relative_to(folder)}: {link}")
    return found


def main() -> None:
    """Print the broken links, and fail if there are any."""
    found = broken(Path(sys.argv[1]).resolve())
    print("\n".join(found) or "Every link within the site leads somewhere.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
