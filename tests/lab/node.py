"""The page's own functions, run by Node."""

import json
import shutil
import subprocess

import pytest

from separatrix.lab.files import FOLDER

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no Node on the path")


def run(part, expression, *given):
    """What an expression about the names of a part of lab.js says, `given` being its arguments."""
    names = "const { " + ", ".join(exported(part)) + f" }} = await import('{(FOLDER / 'page' / part).as_uri()}.js');"
    script = f"{names}\nconst given = {json.dumps(given)};\nprocess.stdout.write(JSON.stringify({expression}));"
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def exported(part):
    """The names that a part exports."""
    words = [line.split() for line in (FOLDER / "page" / f"{part}.js").read_text(encoding="utf-8").splitlines()]
    named = [line[2] for line in words if line[:1] == ["export"] and line[1] in ("const", "function", "class")]
    more = [line[3] for line in words if line[:3] == ["export", "async", "function"]]
    return [name.partition("(")[0] for name in named + more]
