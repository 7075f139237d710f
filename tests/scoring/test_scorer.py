"""Scorer: raw rows in any form give what the encoder and the model give for the table they are from."""

import io
import timeit
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from separatrix import SVC, DataError, LinearSVC, LogisticRegression, ModelFileError, Scorer, load, save
from separatrix.data import Encoder, Table, read_table
from separatrix.persistence import load_bundle
from separatrix.scoring.calibration import Calibration, class_scores, fit_calibration
from separatrix.scoring.decision import Decision

rng = np.random.default_rng(3)
N = 300


def records():
    """Rows with every kind of column, some of their values missing."""
    rows = []
    for i in range(N):
        row = {
            "age": None if i % 17 == 0 else int(rng.integers(20, 80)),
            "pay": float(np.round(rng.normal(), 3)),
            "sex": "fm"[rng.integers(2)],
            "town": None if i % 23 == 0 else ["Rome", "Oslo", "Bern", "New York"][rng.integers(4)],
            "zip": int(rng.choice([10, 20, 30])),
            "smokes": bool(rng.integers(2)),
            "born": date(1950, 1, 1) + timedelta(days=int(rng.integers(20_000))),
            "note": " ".join(
                rng.choice(["good", "bad", "slow", "fast", "kind", "rude", "late", "early", "warm", "cold"], 5)
            )
            + f" n{i}",
            "extra": i,
        }
        row["label"] = ["no", "yes", "maybe"][int(row["pay"] + (row["sex"] == "m") + rng.normal() > 0) + (i % 9 == 0)]
        rows.append(row)
    return rows


ROWS = records()
CSV = pl.DataFrame(ROWS).write_csv().encode()
TABLE = read_table(io.BytesIO(CSV), target="label").drop(["extra"])
ENCODER = Encoder.fit(TABLE, scale=True)
X = ENCODER.transform(TABLE)[0]
MODEL = LogisticRegression().fit(X, TABLE.y)


def scorer(**kwargs):
    return Scorer(MODEL, Encoder.from_dict(ENCODER.to_dict()), **kwargs)


def test_the_table_has_every_kind_of_column():
    kinds = {plan["kind"] for plan in ENCODER.to_dict()["plans"]}
    assert kinds == {"number", "boolean", "category", "date", "text"}


FORMS = {
    "table": lambda: TABLE,
    "records": lambda: ROWS,
    "text records": lambda: [{k: None if v is None else str(v) for k, v in row.items()} for row in ROWS],
    "pandas": lambda: pd.DataFrame(ROWS),
    "pandas, typed": lambda: pd.DataFrame(ROWS).convert_dtypes().assign(
        born=pd.to_datetime([row["born"] for row in ROWS]), town=pd.Categorical([row["town"] for row in ROWS])
    ),
    "pandas, numpy strings": lambda: pd.DataFrame(ROWS).astype({"sex": object, "note": object, "pay": np.float32}),
    "polars": lambda: pl.DataFrame(ROWS),
    "polars, categorical": lambda: pl.DataFrame(ROWS).with_columns(pl.col("town").cast(pl.Categorical)),
    "one by one": lambda: None,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_rows_agree(form):
    ours = scorer()
    if form == "one by one":
        probabilities = np.vstack([ours.predict_proba(row) for row in ROWS])
        labels = np.concatenate([ours.predict(row) for row in ROWS])
        np.testing.assert_array_equal(np.vstack([ours.encoder.filler()(row) for row in ROWS]), X)
    else:
        rows = FORMS[form]()
        probabilities, labels = ours.predict_proba(rows), ours.predict(rows)
    rtol = 1e-5 if "numpy strings" in form else 1e-12  # pay was rounded to float32
    np.testing.assert_allclose(probabilities, MODEL.predict_proba(X), rtol=rtol)
    assert (labels == MODEL.predict(X)).mean() > 0.99
    assert ours.classes_.tolist() == ["maybe", "no", "yes"]
    if form == "table":
        np.testing.assert_array_equal(ours.decision_function(rows), MODEL.decision_function(X))
    assert not ours.encoder.surprises


def test_columns_in_any_order_and_others_are_ignored():
    row = dict(reversed(ROWS[5].items())) | {"more": object()}
    np.testing.assert_array_equal(scorer().predict_proba(row), scorer().predict_proba(ROWS[5]))


@pytest.mark.parametrize("single", [True, False])
def test_values_that_were_never_there(single):
    ours = scorer()
    row = {
        **ROWS[1],
        "sex": "x",
        "pay": None,
        "town": "Paris",
        "age": float("nan"),
        "born": None,
        "note": "never heard",
    }
    ours.predict(row if single else [row])
    assert dict(ours.encoder.surprises) == {
        "sex: a category that is not known": 1,
        "town: a category that is not known": 1,
        "pay: missing, which it never was before": 1,
        "born: missing, which it never was before": 1,
    }
    x = ours.encoder.transform([row])[0][0]
    np.testing.assert_array_equal(ours.encoder.filler()(row), x)
    at = {name: x[j] for j, name in enumerate(ENCODER.names)}
    assert (at["age is missing"], at["sex=m" if "sex=m" in at else "sex=f"], at["town=Rome"]) == (1, 0, 0)


def test_a_row_that_is_scored_while_another_is_has_its_own_surprises():
    """As threads do that share a scorer, but always at the same place."""
    ours = scorer()

    class Slow(dict):
        def __getitem__(self, name):
            if name == "zip":
                ours.predict({**ROWS[1], "town": "Paris"})
            return super().__getitem__(name)

    ours.predict(Slow({**ROWS[1], "sex": "x"}))
    assert dict(ours.encoder.surprises) == {
        "sex: a category that is not known": 1,
        "town: a category that is not known": 1,
    }


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": "old"}, "row 1, column 'age': 'old', where numbers are expected. Correct"),
        ({"pay": float("inf")}, "row 1, column 'pay': inf is not finite"),
        ({"smokes": 3}, "row 1, column 'smokes': '3', where true and false"),
        ({"born": "yesterday"}, r"row 1, column 'born': 'yesterday', where dates \(year, month, day\)"),
        ({"age": [1]}, "(?i)row 1, column 'age': a list, where numbers"),
        ({"town": {"a": 1}}, "(?i)row 1, column 'town': a dict, where numbers, text"),
        ({"town": b"Rome"}, "(?i)row 1, column 'town': a bytes, where numbers, text"),
        ({"note": ["good"]}, "(?i)row 1, column 'note': a list, where numbers, text"),
        ({"pay": "1,234"}, "row 1, column 'pay': '1,234', where numbers are expected"),
    ],
)
def test_errors_name_the_column_and_the_row(change, message, single):
    row = {**ROWS[1], **change}
    with pytest.raises(DataError, match=message):
        scorer().predict(row if single else [row])


def test_rows_that_are_none():
    row = {name: value for name, value in ROWS[1].items() if name != "town"}
    with pytest.raises(DataError, match=r"has no column 'town'. Did you mean 'twon'"):
        scorer().predict({**row, "twon": "Rome"})
    with pytest.raises(DataError, match="Row 2 has no 'town': give it the value None"):
        scorer().predict([ROWS[0], row])
    with pytest.raises(DataError, match="has no column 'town'"):
        scorer().predict(pd.DataFrame([row]))
    for nothing in ([], pd.DataFrame(ROWS[:0]), pl.DataFrame(ROWS[:1])[:0]):
        with pytest.raises(DataError, match=r"There are no rows|has no column"):
            scorer().predict(nothing)
    arrow = SimpleNamespace(shape=(1, 1), columns=[[1]], column_names=["age"])
    for wrong in (X, 3, "text", None, pl.DataFrame(ROWS[:1]).lazy(), arrow):
        with pytest.raises(DataError, match=r"Rows are a DataFrame.*\.model, takes matrices"):
            scorer().predict(wrong)
    with pytest.raises(DataError, match="Row 1 is a int"):
        scorer().predict([3])


# ---------------------------------------------------------------------- calibration and decision
def test_predict_is_the_decision_on_the_shown_probability():
    codes = np.searchsorted(MODEL.classes_, TABLE.y)
    calibration = fit_calibration(class_scores(MODEL, X), codes, 3)
    offsets = (1.5, 0.0, -0.5)
    ours = scorer(calibration=calibration, decision=Decision(offsets=offsets))
    shown = ours.predict_proba(ROWS)
    np.testing.assert_array_equal(shown, calibration.probabilities(class_scores(MODEL, X)))
    expected = MODEL.classes_[(np.log(shown) + offsets).argmax(axis=1)]
    assert ours.predict(ROWS).tolist() == expected.tolist()
    assert (expected != MODEL.predict(X)).any()
    plain = scorer(calibration=calibration)
    assert plain.predict(ROWS).tolist() == MODEL.classes_[shown.argmax(axis=1)].tolist()


def test_two_classes_and_a_threshold():
    y = TABLE.y == "yes"
    model = LogisticRegression().fit(X, y)
    shares = model.predict_proba(X)[:, 1]
    cut = float(np.sort(shares)[40])  # one of the probabilities: it is on the positive side
    ours = Scorer(model, ENCODER, decision=Decision(threshold=cut))
    assert ours.predict(TABLE).tolist() == (shares >= cut).tolist()
    assert ours.predict(TABLE).sum() == N - 40


def test_margin_machines_have_probabilities_once_calibrated():
    y = TABLE.y == "yes"
    model = LinearSVC().fit(X, y)
    assert not hasattr(Scorer(model, ENCODER), "predict_proba")
    calibration = fit_calibration(model.decision_function(X), y.astype(int), 2)
    ours = Scorer(model, ENCODER, calibration)
    assert ours.predict(TABLE).tolist() == (ours.predict_proba(TABLE)[:, 1] > 0.5).tolist()
    with pytest.raises(DataError, match="there are none: it needs a calibration"):
        Scorer(model, ENCODER, decision=Decision(threshold=0.5))


@pytest.mark.parametrize(
    ("calibration", "decision", "message"),
    [
        (Calibration("sigmoid", (((1.0, 0.0),),)), None, "calibration is for another number of classes"),
        (None, Decision(threshold=0.5), "threshold, which is for two classes"),
        (None, Decision(offsets=(0.0, 0.0, 0.0, 0.0)), "decision is for another number of classes"),
    ],
)
def test_parts_that_do_not_belong_together(calibration, decision, message, tmp_path):
    with pytest.raises(DataError, match=message):
        Scorer(MODEL, ENCODER, calibration, decision)
    with pytest.raises(ModelFileError, match=message):
        save(MODEL, tmp_path / "m", encoder=ENCODER, calibration=calibration, decision=decision)
    assert not (tmp_path / "m").exists()


# ---------------------------------------------------------------------- files
def test_a_file_with_an_encoder_is_a_scorer(tmp_path):
    codes = np.searchsorted(MODEL.classes_, TABLE.y)
    calibration = fit_calibration(class_scores(MODEL, X), codes, 3)
    decision = Decision(offsets=(0.25, 0.0, -0.25))
    path = tmp_path / "m.separatrix"
    save(MODEL, path, encoder=ENCODER, fingerprint=TABLE.fingerprint, calibration=calibration, decision=decision)
    loaded, bundle = load(path), load_bundle(path)
    assert isinstance(loaded, Scorer)
    assert (loaded.calibration, loaded.decision) == (bundle.calibration, bundle.decision) == (calibration, decision)
    ours = scorer(calibration=calibration, decision=decision)
    np.testing.assert_array_equal(loaded.predict_proba(ROWS), ours.predict_proba(ROWS))
    np.testing.assert_array_equal(loaded.predict(ROWS), ours.predict(ROWS))
    save(loaded, tmp_path / "again")
    again = load(tmp_path / "again")
    np.testing.assert_array_equal(again.predict_proba(ROWS[0]), ours.predict_proba(ROWS[0]))
    save(MODEL, path)
    assert isinstance(load(path), LogisticRegression)
    with pytest.raises(ModelFileError, match="no encoder"):
        save(MODEL, path, decision=decision)
    other = Encoder.fit(Table(pl.DataFrame({"pay": [1.0, 2.0]}), None, None, None, "t", "", np.array([1, 2])))
    with pytest.raises(ModelFileError, match="its encoder gives 1 features"):
        save(MODEL, path, encoder=other)


def test_kernel_machines_and_sparse_tables(tmp_path):
    words = [f"w{i}" for i in range(400)]
    rows = [{"text": " ".join(rng.choice(words[: 200 + 200 * (i % 2)], 30)), "y": i % 2} for i in range(200)]
    table = read_table(io.BytesIO(pl.DataFrame(rows).write_csv().encode()), target="y")
    encoder = Encoder.fit(table)
    Z = encoder.transform(table)[0]
    assert encoder.sparse
    for model in (SVC(kernel="rbf").fit(Z, table.y), LogisticRegression().fit(Z, table.y)):
        save(model, tmp_path / "m", encoder=encoder)
        loaded = load(tmp_path / "m")
        np.testing.assert_allclose(loaded.decision_function(rows), model.decision_function(Z), rtol=1e-12)
        np.testing.assert_allclose(loaded.decision_function(rows[7]), model.decision_function(Z)[7:8], rtol=1e-10)


def test_a_libsvm_file_takes_rows_too():
    table = read_table(io.BytesIO(b"1 1:1 4:7\n0 1:2\n1 4:3\n0 1:5 4:1\n"))
    encoder = Encoder.fit(table)
    ours = Scorer(LogisticRegression().fit(*[encoder.transform(table)[0], table.y]), encoder)
    expected = ours.decision_function(table)
    rows = [{"feature 4": 7, "feature 1": 1}, {"feature 1": 2.0}, {"feature 4": 3}, {"feature 1": 5, "feature 4": 1}]
    np.testing.assert_allclose(ours.decision_function(rows), expected, rtol=1e-14)
    np.testing.assert_allclose([ours.decision_function(row)[0] for row in rows], expected, rtol=1e-14)
    np.testing.assert_allclose(ours.decision_function(pd.DataFrame(rows)), expected, rtol=1e-14)


def test_times_of_day_and_zones():
    cells = [datetime(2020, 1, 1 + i % 28, i % 24, 15) for i in range(60)]
    table = Table(pl.DataFrame({"at": cells}), None, np.arange(60) % 2, "y", "t", "", np.arange(1, 61))
    encoder = Encoder.fit(table)
    expected = encoder.transform(table)[0]
    for form in (lambda c: c, str, np.datetime64, pd.Timestamp):
        rows = [{"at": form(cell)} for cell in cells]
        np.testing.assert_allclose(encoder.transform(rows)[0], expected, rtol=1e-15)


def test_one_row_is_fast():
    """30 columns of numbers and categories: under 50 µs, with room for a busy machine."""
    names = [f"n{j}" for j in range(15)] + [f"c{j}" for j in range(15)]
    rows = [
        {
            name: float(rng.normal()) if name[0] == "n" else "abcdef"[rng.integers(2 + j % 5)]
            for j, name in enumerate(names)
        }
        for _ in range(200)
    ]
    y = np.array([int(row["n0"] + rng.normal() > 0) for row in rows])
    encoder = Encoder.fit(Table(pl.DataFrame(rows), None, y, "y", "t", "", np.arange(1, 201)), scale=True)
    ours = Scorer(LogisticRegression().fit(encoder.transform(rows)[0], y), encoder)
    row = rows[0]
    seconds = min(timeit.repeat(lambda: ours.predict(row), number=200, repeat=25)) / 200
    through_frames = min(timeit.repeat(lambda: ours.predict([row]), number=5, repeat=3)) / 5
    assert seconds < 50e-6 or seconds < through_frames / 20


@pytest.fixture
def visits():
    lines = "".join(f"{i % 7},2020-01-{1 + i % 28:02d},{'uvw'[i % 3]},{i // 5 % 2}\n" for i in range(60))
    table = read_table(io.BytesIO(f"age,day,kind,y\n{lines}".encode()), target="y", format="csv")
    encoder = Encoder.fit(table)
    return Scorer(LogisticRegression().fit(encoder.transform(table)[0], table.y), encoder)


def test_days_and_times_of_one_column(visits):
    row = {"age": 3, "kind": "u"}
    days = [date(2020, 1, 5), datetime(2020, 1, 5), datetime(2020, 1, 5, tzinfo=UTC), None]
    found = visits.predict_proba([{**row, "day": day} for day in days])
    assert (found[:3] == visits.predict_proba([{**row, "day": "2020-01-05"}])).all()


@pytest.mark.parametrize("age", [10**400, -(10**400), Fraction(10**400), Decimal("sNaN"), Decimal("1e400")])
@pytest.mark.parametrize("more", [[], [{"age": 0.5, "day": None, "kind": "u"}]])
def test_numbers_beyond_all_floats_are_not_taken_for_missing_ones(visits, age, more):
    with pytest.raises(DataError, match="'age'"):
        visits.predict([{"age": age, "day": None, "kind": "u"}, *more])
    missing = visits.predict_proba([{"age": Decimal("NaN"), "day": None, "kind": "u"}, *more])
    assert (missing == visits.predict_proba([{"age": None, "day": None, "kind": "u"}, *more])).all()


def test_texts_and_frames_that_cannot_be_rows(visits):
    with pytest.raises(DataError, match=r"'kind' has a text that is no Unicode: '\\ud800'"):
        visits.predict([{"age": 1, "day": None, "kind": "\ud800"}])
    frame = pd.DataFrame({"age": [1, 2], "day": ["2020-01-05"] * 2, "kind": ["u", "v"], "more": [1, 2]})
    assert len(visits.predict(pd.concat([frame, frame[["more"]]], axis=1))) == 2
    with pytest.raises(DataError, match="two columns have the name 'age'"):
        visits.predict(pd.concat([frame, frame[["age"]]], axis=1))
