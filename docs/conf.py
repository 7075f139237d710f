"""The site: ``sphinx-build -W docs site`` makes it, with every picture and every number of the examples.

The pages are Markdown, the examples and tutorials are scripts that run while the site is made, and the reference is
what the docstrings say of the names that the package offers.
"""

import inspect
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

from pygments.lexers.special import TextLexer

import separatrix

HERE = Path(__file__).parent
GROUPS = {
    "Classifiers": lambda found: inspect.isclass(found) and hasattr(found, "fit") and hasattr(found, "predict"),
    "Functions": inspect.isfunction,
    "Certificates": lambda found: inspect.isclass(found) and hasattr(found, "verify") and hasattr(found, "claim"),
    "Errors and warnings": lambda found: inspect.isclass(found) and issubclass(found, Exception),
    "Other": inspect.isclass,
}
SPECIAL = r"(?<=\w)_(?!\w)|(?<!\w)\*(?=\w)|\|"  # what reStructuredText takes for markup in plain text
# modules whose names are listed as well
ROOMS = ("certificates", "data", "features", "kernels", "losses", "plots", "persistence")

project = "separatrix"
author = "The separatrix developers"
project_copyright = author
version = release = separatrix.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["examples", "tutorials", "pictures", "sg_execution_times.rst", "**/GALLERY_HEADER.rst"]
default_role = "literal"  # what stands in single backquotes is code

myst_enable_extensions = ["dollarmath", "attrs_block"]
myst_heading_anchors = 3
autosummary_generate = True
templates_path = ["site/templates"]
autodoc_typehints = "none"  # the docstrings name the types, as scikit-learn's do
napoleon_google_docstring = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    "examples_dirs": ["examples", "tutorials"],
    "gallery_dirs": ["gallery", "tutorial"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
    "remove_config_comments": True,
    "plot_gallery": "True",
}
# scripts show how the algorithms warn; what else warns is a mistake
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = "separatrix"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader has it
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}


def draw_pictures(app: object) -> None:
    """Run the scripts that draw the pictures of the pages; they draw the same each time."""
    for script in sorted((HERE / "pictures").glob("*.py")):
        if script.stem != "lab":  # it records fits, and its page is compared with them by a test
            subprocess.run([sys.executable, str(script)], check=True)


def write_reference(app: object) -> None:
    """A page of all public names by kind; each name gets a page of its own from its docstring."""
    left = [name for name in separatrix.__all__ if not inspect.ismodule(getattr(separatrix, name))]
    lines = ["Reference", "=========", "", "Every public name, by kind.", ""]
    for title, belongs in GROUPS.items():
        names = [name for name in left if belongs(getattr(separatrix, name))]
        left = [name for name in left if name not in names]
        lines += _table(title, "separatrix", names)
    for room in ROOMS:
        module = getattr(separatrix, room)
        names = [name for name in module.__all__ if name not in separatrix.__all__]
        lines += _table(f"separatrix.{room}", f"separatrix.{room}", names)
    if left:
        raise ValueError(f"names of no kind: {left}")
    (HERE / "reference.rst").write_text("\n".join(lines), encoding="utf-8")


def _table(title: str, module: str, names: list[str]) -> list[str]:
    head = [title, "-" * len(title), "", f".. currentmodule:: {module}", ""]
    return [*head, ".. autosummary::", "   :toctree: api", "", *(f"   {name}" for name in sorted(names)), ""]


def escape(app: object, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text: |x| is an absolute value and coef_ a name, not markup."""
    code = False
    for number, line in enumerate(lines):
        line = re.sub(r":ref:`([^`<]*?)( <[^>]*>)?`", r"\1", line)  # to pages that scikit-learn has, and we have not
        if line.strip().startswith((">>>", "...")):
            code = True
        elif not line.strip():
            code = False
        if code:
            continue
        parts = re.split(r"(``.*?``|`[^`]*`)", line)
        parts[::2] = [re.sub(SPECIAL, lambda found: "\\" + found[0], part) for part in parts[::2]]
        lines[number] = "".join(parts)


def signature(
    app: object, what: str, name: str, found: object, options: object, *rest: object
) -> tuple[str, str] | None:
    """Of a class, the parameters that it is made with: some classes have a ``__new__`` in between."""
    if what != "class" or "__init__" not in vars(found):
        return None
    every = list(inspect.signature(vars(found)["__init__"]).parameters.values())[1:]
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in every]
    return str(inspect.Signature(plain)), ""


def copy_lab(app: object, error: object) -> None:
    """The recorded lab beside the pages, under a name of its own: lab.html is the page about it."""
    if error is None:
        shutil.copy(HERE / "lab.html", Path(app.outdir) / "play.html")  # type: ignore[attr-defined]


def setup(app: object) -> None:
    """Join the steps above to the build."""
    app.connect("config-inited", lambda app, config: (draw_pictures(app), write_reference(app)))  # type: ignore[attr-defined]
    app.connect("autodoc-process-signature", signature)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", escape)  # type: ignore[attr-defined]
    app.add_lexer("mermaid", TextLexer)  # type: ignore[attr-defined]
    app.connect("build-finished", copy_lab)  # type: ignore[attr-defined]
