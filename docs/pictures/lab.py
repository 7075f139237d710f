"""The lab without a server, ``docs/lab.html``, which replays fits recorded here. Run: ``python docs/pictures/lab.py``.

Needs Node, which reads the page's own data.
"""

import json
import re
import subprocess
from pathlib import Path

from separatrix.lab.files import FOLDER, module, styles
from separatrix.lab.fits import answer
from separatrix.lab.start import beginning

PAGE = Path(__file__).parents[1] / "lab.html"
WHOLE = ("separable", "xor")  # data on which every algorithm is recorded
ASKED = """
import { PRESETS } from "%s/data.js";
process.stdout.write(JSON.stringify(Object.fromEntries(Object.entries(PRESETS).map(([id, one]) => [id, one.make()]))));
"""
HOST = """
const recorded = JSON.parse(document.getElementById("recorded").textContent);
const key = ({ algorithm, X, y, settings }) => JSON.stringify([algorithm, X, y, Object.entries(settings).sort()]);
const answers = new Map(recorded.fits.map(({ request, answer }) => [key(request), answer]));
const refusal = "This page replays recorded fits, of Separable, XOR and lessons: separatrix lab fits what you draw.";
const find = (request) => answers.get(key(request)) ?? { refusal };
const heard = [];
const model = {
  get: (name) => ({ start: recorded.start })[name],
  send: (request) => setTimeout(() => heard.forEach((tell) => tell({ id: request.id, answer: find(request) }))),
  on: (event, tell) => heard.push(tell),
};
lab.render({ model, el: document.getElementById("lab") });
"""


def drawn() -> dict:
    """The points that the page itself has, by name."""
    command = ["node", "--input-type=module", "-e", ASKED % FOLDER.joinpath("page").as_uri()]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def read(text: str) -> object:
    """The value of a setting as a lesson writes it: null, a number, three numbers, or a word."""
    try:
        return json.loads(f"[{text}]" if "," in text else text)
    except ValueError:
        return text


def asked(start: dict) -> list:
    """(data, algorithm, settings): every algorithm on some data, and what the lessons put on the stage."""
    staged = []
    for lesson in start["lessons"]:
        for words in re.findall(r"<!-- try: (.*) -->", lesson["text"]):
            given = {key: read(value) for key, value in (pair.split("=") for pair in words.split())}
            staged.append((given.pop("data"), given.pop("algorithm"), given))
    return [(data, name, {}) for data in WHOLE for name in start["settings"]] + staged


def page() -> str:
    """The whole page: styles, module and recordings in one file."""
    start = {**beginning(), "notebook": True}
    data, fits = drawn(), {}
    for name, algorithm, given in asked(start):
        settings = {**start["settings"][algorithm], **given}
        X, y = [[p["x"], p["y"]] for p in data[name]], [p["c"] for p in data[name]]
        request = {"algorithm": algorithm, "X": X, "y": y, "settings": settings}
        fits[json.dumps(request)] = {"request": request, "answer": answer(request)}
    recorded = {"start": start, "fits": list(fits.values())}
    text = json.dumps(recorded, allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    script = module().replace("export default", "const lab =")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<title>separatrix lab: recorded fits</title>\n"
        f"<style>\n{styles()}</style>\n</head>\n<body>\n"
        f'<main id="lab"></main>\n<script type="application/json" id="recorded">{text}</script>\n'
        f'<script type="module">\n{script}{HOST}</script>\n</body>\n</html>\n'
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
