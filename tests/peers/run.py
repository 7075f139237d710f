"""scikit-learn's own tests with our classes in place of theirs: how many pass, and why the others cannot.

``python tests/peers/run.py`` runs the modules of ``modules.txt`` with the plugin `substitution`, and compares what
failed with ``reasons.toml``. Tests that cannot apply (they look into scikit-learn's own inside, or ask for what is
documented to differ) do not count unless they pass; of the others a share of `ENOUGH` must pass, and each that does not
has its reason there.
"""

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path

import sklearn

HERE = Path(__file__).parent
ENOUGH = 0.92
MODULES = [
    line.strip()
    for line in (HERE / "modules.txt").read_text().splitlines()
    if line.strip() and not line.startswith("#")
]


def outcomes(modules, processes):
    """What became of each test, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results.json")
        words = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(Path(sklearn.__file__).parents[1])]
        words += [
            "-p",
            "substitution",
            "--substituted-results",
            str(results),
            "-p",
            "no:cacheprovider",
            "-q",
            "-W",
            "ignore",
        ]
        words += ["-n", str(processes), "--dist", "worksteal", "--pyargs", *modules]
        path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            words,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
        if not results.exists():
            sys.exit(f"The tests did not run:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        broken = [line for line in done.stdout.splitlines() if line.startswith("ERROR")]
        return json.loads(results.read_text()), broken


def pattern(name, table):
    """The first pattern of the table that this test is one of."""
    return next((pattern for pattern in table if fnmatch.fnmatchcase(name, pattern)), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("modules", nargs="*", default=MODULES)
    options = parser.parse_args()
    started = time.perf_counter()
    tests, broken = outcomes(options.modules, options.processes)
    reasons = tomllib.loads((HERE / "reasons.toml").read_text())
    count, unexplained, used = Counter(), [], set()
    for name, test in tests.items():
        name = name.removeprefix("sklearn/")
        if not test["made"] or test["outcome"] in ("skipped", "xfailed"):
            continue
        if test["outcome"] == "passed":  # whatever the table says
            count["passed"] += 1
            continue
        listed = next((kind for kind in ("cannot_apply", "fails", "last_digits") if pattern(name, reasons[kind])), None)
        count["cannot apply" if listed == "cannot_apply" else "failed"] += 1
        if listed is None:
            unexplained.append(f"{name}: {test['message'].splitlines()[0] if test['message'] else ''}"[:200])
        else:
            used.add(pattern(name, reasons[listed]))
    # a pattern that explains nothing hides what may fail later, unless the machine decides about the last digits;
    # with some of the modules only, nothing can be said
    every = {**reasons["cannot_apply"], **reasons["fails"]}
    idle = sorted(set(every) - used) if options.modules == MODULES else []
    meaningful = count["passed"] + count["failed"]
    share = count["passed"] / max(meaningful, 1)
    for title, lines in (
        ("without a reason", unexplained),
        ("explains no failure any more", idle),
        ("not collected", broken),
    ):
        for line in lines:
            print(f"{title}: {line}")
    print(
        f"scikit-learn {sklearn.__version__}: {count['passed']} of {meaningful} meaningful tests pass ({share:.1%}); "
        f"{count['cannot apply']} cannot apply; {time.perf_counter() - started:.0f} s"
    )
    sys.exit(bool(unexplained or idle or broken or share < ENOUGH))


if __name__ == "__main__":
    main()
