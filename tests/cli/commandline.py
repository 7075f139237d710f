"""Running the command in this process, with small tables to run it on."""

import json

import numpy as np
from typer.testing import CliRunner

from separatrix.cli.app import app


def run(*words, stdin=None):
    """The command with these words: exit_code, stdout and stderr apart."""
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin)


def run_json(*words):
    """The command with --json: what it printed on standard output, read."""
    done = run(*words, "--json")
    return done, json.loads(done.stdout)


def write_table(path, n=60, seed=0, gap=0.0, extra=()):
    """Two columns of numbers, one of categories, an id, and the target "kind": overlapping unless there is a gap."""
    random = np.random.default_rng(seed)
    lines = [",".join(["id", "length", "width", "colour", *extra, "kind"])]
    for i in range(n):
        kind = i % 2
        length, width = random.normal(2 * kind + gap * kind, 1.0), random.normal(0, 1)
        colour = "red" if random.random() < 0.3 + 0.4 * kind else "blue"
        cells = [f"r{i:05}", f"{length:.4f}", f"{width:.4f}", colour, *["1" if i % 3 else "2" for _ in extra]]
        lines.append(",".join([*cells, ("cat", "dog")[kind]]))
    path.write_text("\n".join(lines) + "\n")
    return path
