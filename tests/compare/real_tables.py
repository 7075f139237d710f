"""`compare` on every table of the data folder, beside scikit-learn's logistic regressions on the same folds.

    python tests/compare/real_tables.py OUT [--only NAME ...] [--ours] [--theirs]

writes OUT/NAME.json for each table and prints one line of figures a table: balanced accuracy of the model that
`compare` saves and of the better of scikit-learn's {logistic with a tuned cut, balanced logistic}, with the paired
standard error of their difference by folds and by rows, and log-losses. `--ours` or `--theirs` does one half only:
ours has a time limit, which other work on the machine would cost.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from folder import DATA, index

from separatrix.compare import compare
from separatrix.compare.folds import stratified
from separatrix.compare.logistic_path import CS, LARGE_CS
from separatrix.data import Encoder, read_table
from separatrix.errors import DataError

CHOOSING_WORK = 2e7  # rows times columns times classes that scikit-learn chooses C from
REASONS = {"mnist": "60,000 images, of which mnist5k is a sample", "news20_multiclass": "newsgroups20 as numbers"}


def names() -> list[str]:
    """The data sets that are tables with one label a row."""
    return [
        name for name, about in index().items() if about["task"] in ("binary", "multiclass") and name not in REASONS
    ]


def table_of(name: str):
    """As a user would read it; the files of several parts one after the other."""
    about = index()[name]
    if about["format"].startswith("svmlight"):
        text = b"".join(_text(file["path"]) for file in about["files"])
        return read_table(io.BytesIO(text), format="svmlight")
    if about["format"] == "tsv-text":
        text = b"label\ttext\n" + b"".join(_text(file["path"]) for file in about["files"])
        return read_table(io.BytesIO(text), target="label", format="tsv")
    import pandas

    parts = [pandas.read_csv(io.BytesIO(_text(file["path"])), **about["read_csv"]) for file in about["files"]]
    frame = pandas.concat(parts).drop(columns=about["drop_columns"], errors="ignore")
    label = about["label"] if not isinstance(about["label"], int) else frame.columns[about["label"]]
    frame = frame.rename(columns={label: "the target"}).rename(columns=str)
    if name == "adult":
        frame["the target"] = frame["the target"].str.rstrip(".")
    return read_table(io.BytesIO(frame.to_csv(index=False).encode()), target="the target", format="csv")


def _text(path: str) -> bytes:
    import gzip
    import lzma

    data = (DATA / path).read_bytes()
    data = lzma.decompress(data) if path.endswith(".xz") else gzip.decompress(data) if path.endswith(".gz") else data
    return data if data.endswith(b"\n") else data + b"\n"


def ours(name: str, out: Path) -> dict:
    """The saved line of a comparison, as the command runs it."""
    table = table_of(name)
    started = time.monotonic()
    try:
        run = compare(table, fork=True, tell=lambda event: print(f"  {event}", file=sys.stderr))
    except DataError as error:
        return {"refused": str(error)}
    best, baseline = run.best, next(entry for entry in run.entries if entry.baseline)
    np.save(out / f"{name}.ours.npy", best.predictions.codes)
    return {
        "rows": run.n_rows,
        "features": len(run.features),
        "classes": len(run.classes),
        "saved": best.title,
        "seconds": time.monotonic() - started,
        "loss": best.log_loss.value,
        "guess": baseline.log_loss.value,
        "honest": best.honest,
        "verdict": run.verdict,
        "left": [f"{item.title}: {item.why}" for item in run.left if item.late],
        "lines": {entry.title: [entry.figures["balanced_accuracy"].value, entry.seconds] for entry in run.entries},
    }


def theirs(name: str, out: Path) -> dict:
    """Scikit-learn on the folds and encoded rows of `compare`: C by inner folds, then the cut or balanced classes."""
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

    warnings.simplefilter("ignore")
    table = table_of(name)
    try:
        X, _ = Encoder.fit(table, scale=True).transform(table)
    except DataError as error:
        return {"refused": str(error)}
    classes, codes = np.unique(np.asarray(table.y), return_inverse=True)
    if X.shape[1] == 0:
        return {"refused": "no columns"}
    k, found = len(classes), {"tuned": np.zeros(len(codes), int), "balanced": np.zeros(len(codes), int)}
    for train, test in stratified(codes, 5, 0):
        A, b, inner = X[train], codes[train], StratifiedKFold(3, shuffle=True, random_state=0)
        most = int(max(2_000, CHOOSING_WORK / (X.shape[1] * max(1, k - 1)) if not hasattr(X, "tocsr") else 1e4))
        some = np.sort(np.random.default_rng(0).permutation(len(b))[:most])

        def search(scoring: str, weight: str | None, A=A, b=b, inner=inner, some=some) -> LogisticRegression:
            try:
                path = LogisticRegressionCV(
                    Cs=sorted({*CS, *LARGE_CS}),
                    cv=inner,
                    scoring=scoring,
                    class_weight=weight,
                    max_iter=200,
                    l1_ratios=(0.0,),
                    use_legacy_attributes=False,
                )
                C = float(path.fit(A[some], b[some]).C_)
            except ValueError:  # a class too rare for three folds
                C = 1.0
            return LogisticRegression(C=C, class_weight=weight, max_iter=1000)

        plain = search("neg_log_loss", None)
        if k == 2:
            try:
                cut = TunedThresholdClassifierCV(plain, scoring="balanced_accuracy", cv=inner).fit(A, b)
                found["tuned"][test] = cut.predict(X[test])
            except ValueError:
                found["tuned"][test] = plain.fit(A, b).predict(X[test])
        else:  # each class against its share
            model = plain.fit(A, b)
            shares = np.bincount(b, minlength=k)[model.classes_] / len(b)
            found["tuned"][test] = model.classes_[(model.predict_proba(X[test]) / shares).argmax(axis=1)]
        found["balanced"][test] = search("balanced_accuracy", "balanced").fit(A, b).predict(X[test])
    for key, value in found.items():
        np.save(out / f"{name}.{key}.npy", value)
    return {}


def balanced(codes, said) -> float:
    return float(np.mean([(said[codes == code] == code).mean() for code in np.unique(codes)]))


def figures(name: str, out: Path) -> dict:
    """Ours against the better of theirs, over all held-out rows."""
    table = table_of(name)
    codes = np.unique(np.asarray(table.y), return_inverse=True)[1]
    mine = np.load(out / f"{name}.ours.npy")
    rivals = {key: np.load(out / f"{name}.{key}.npy") for key in ("tuned", "balanced")}
    rival, said = max(rivals.items(), key=lambda item: balanced(codes, item[1]))
    size = np.bincount(codes)
    parts = ((mine == codes).astype(float) - (said == codes)) / size[codes] / len(size)
    variance = sum(parts[codes == code].var() * size[code] for code in range(len(size)))
    folds = [test for _, test in stratified(codes, 5, 0)]
    by_fold = [balanced(codes[test], mine[test]) - balanced(codes[test], said[test]) for test in folds]
    return {
        "ours": balanced(codes, mine),
        "theirs": balanced(codes, said),
        "rival": rival,
        "difference": balanced(codes, mine) - balanced(codes, said),
        "by_rows": float(np.sqrt(variance)),
        "by_folds": float(np.std(by_fold, ddof=1) / np.sqrt(len(by_fold))),
    }


def line(name: str, record: dict) -> str:
    if "refused" in record:
        return f"| {name} | {record['refused'][:100]} |"
    head = f"| {name} | {record.get('rows', 0):,} x {record.get('features', 0):,} | {record.get('classes')} |"
    if "difference" not in record:
        return f"{head} {record.get('saved')} | {record.get('seconds', 0):.0f} s |"
    return (
        f"{head} {record['saved']} | {record['ours']:.4f} | {record['theirs']:.4f} ({record['rival']}) | "
        f"{record['difference']:+.4f} | {record['by_folds']:.4f} | {record['by_rows']:.4f} | {record['loss']:.3f} | "
        f"{record['guess']:.3f} | {record['seconds']:.0f} s |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--theirs", action="store_true")
    parser.add_argument("--here", action="store_true", help="in this process (each table has one of its own else)")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    halves = [half for half in (ours, theirs) if getattr(asked, half.__name__)] or [ours, theirs]
    for name in asked.only or names():
        path = asked.out / f"{name}.json"
        record = json.loads(path.read_text()) if path.exists() else {}
        if asked.here:
            for half in halves:
                record |= half(name, asked.out)
            if all((asked.out / f"{name}.{key}.npy").exists() for key in ("ours", "tuned", "balanced")):
                record |= figures(name, asked.out)
            path.write_text(json.dumps(record))
        else:
            options = [f"--{half.__name__}" for half in halves]
            subprocess.run([sys.executable, __file__, str(asked.out), "--only", name, "--here", *options], check=False)
            record = json.loads(path.read_text()) if path.exists() else {"refused": "it failed"}
            print(line(name, record), flush=True)


if __name__ == "__main__":
    main()
