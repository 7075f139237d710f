"""Every value of a saved encoder, calibration and decision, replaced by another: refused, or a scorer that works.

A few hundred here; SEPARATRIX_FUZZ=5000 for a long run.
"""

import random

import numpy as np
import pytest
from persistence.modelfiles import join, split
from persistence.test_persistence_leaves import COUNT, ODD, leaves, planted
from scoring.test_scorer import ENCODER, MODEL, ROWS, TABLE, X

from separatrix import LogisticRegression, ModelFileError, SeparatrixError, load
from separatrix.persistence.files import dump
from separatrix.scoring.calibration import class_scores, fit_calibration
from separatrix.scoring.decision import Decision

CODES = np.searchsorted(MODEL.classes_, TABLE.y)
THREE = dump(
    MODEL,
    encoder=ENCODER,
    calibration=fit_calibration(class_scores(MODEL, X), CODES, 3),
    decision=Decision(offsets=(0.5, 0.0, -0.5)),
)
TWO_MODEL = LogisticRegression().fit(X, CODES == 2)
TWO = dump(
    TWO_MODEL,
    encoder=ENCODER,
    calibration=fit_calibration(class_scores(TWO_MODEL, X), (CODES == 2).astype(int), 2, "isotonic"),
    decision=Decision(threshold=0.4),
)
PARTS = ("encoder", "encoder", "calibration", "decision")


def works(blob, path):
    """Whether it loads; if so its predictions are labels and its probabilities are such, or an error says why not."""
    path.write_bytes(blob)
    try:
        scorer = load(path)
    except ModelFileError:
        return False
    for rows in (ROWS[:3], ROWS[4]):
        try:
            assert set(scorer.predict(rows).tolist()) <= set(scorer.classes_.tolist())
            shares = scorer.predict_proba(rows)
            assert ((shares >= 0) & (shares <= 1)).all()
        except SeparatrixError:
            pass
    return True


@pytest.mark.parametrize("blob", [THREE, TWO], ids=["three", "two"])
def test_any_value_of_what_goes_with_a_model(blob, tmp_path):
    source = random.Random(1)
    header, document, data = split(blob)
    assert works(join(header, document, data), tmp_path / "m")
    accepted = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(3 * COUNT):
            part = source.choice(PARTS)
            changed = planted(document[part], source.choice(list(leaves(document[part]))), source.choice(ODD))
            accepted += works(join(header, {**document, part: changed}, data), tmp_path / "m")
    assert accepted < 2 * COUNT  # a mean or a name may be any; most places may not


def test_every_field_must_be_there_and_no_other(tmp_path):
    header, document, data = split(THREE)
    for part in ("encoder", "calibration", "decision"):
        for name in document[part]:
            less = {key: value for key, value in document[part].items() if key != name}
            assert not works(join(header, {**document, part: less}, data), tmp_path / "m"), (part, name)
        more = {**document[part], "more": 1}
        assert not works(join(header, {**document, part: more}, data), tmp_path / "m")
    for at, plan in enumerate(document["encoder"]["plans"]):
        for name in plan:
            less = planted(document["encoder"], ("plans", at), {k: v for k, v in plan.items() if k != name})
            assert not works(join(header, {**document, "encoder": less}, data), tmp_path / "m"), (plan["kind"], name)
