"""LogisticRegressionCV: the folds' fits, the choice of C, and the callbacks that watch it."""

import io
import warnings

import numpy as np
import pytest
from logistic.logistic_oracle import objective, optimum
from problems import islands, noisy
from scipy import sparse
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegressionCV as Rival
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, ShuffleSplit, StratifiedKFold

from separatrix import (
    ConvergenceWarning,
    InvalidInputError,
    LogisticRegression,
    LogisticRegressionCV,
    SeparationWarning,
    Status,
    load,
    save,
)


# ------------------------------------------------------------------ the fits
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"identifiability": "reference"}])
def test_every_fold_is_at_its_optimum_for_every_C(k, settings):
    X, y = noisy(120, 4, k)
    model = LogisticRegressionCV(Cs=[0.01, 1.0, 100.0], cv=3, **settings).fit(X, y)
    for f, (train, _) in enumerate(StratifiedKFold(3).split(X, y)):
        for i, C in enumerate(model.Cs_):
            best, *_ = optimum(
                X[train],
                y[train],
                C,
                fit_intercept=settings.get("fit_intercept", True),
                reference="identifiability" in settings,
            )
            v = model.coefs_paths_[f, i]
            assert objective(X[train], y[train], v[:, :-1], v[:, -1], C) <= best * (1 + 1e-12)


@pytest.mark.parametrize("shift, scale", [(1e6, 1.0), (0.0, 1e-6), (0.0, 1e6)])
def test_folds_are_conditioned_too(shift, scale):
    X, y = noisy(120, 4)
    X = (X + shift) * np.array([1.0, scale, 1.0, 1.0])
    model = LogisticRegressionCV(Cs=[0.1, 10.0], cv=3).fit(X, y)
    for f, (train, _) in enumerate(StratifiedKFold(3).split(X, y)):
        for i, C in enumerate(model.Cs_):
            best, *_ = optimum(X[train], y[train], C)
            v = model.coefs_paths_[f, i]
            assert objective(X[train], y[train], v[:, :-1], v[:, -1], C) <= best * (1 + 1e-8)


@pytest.mark.parametrize("k", [2, 3])
def test_wide_dense_rows_are_solved_in_their_row_space(k):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 100)) + 5.0, np.arange(40) % k
    X[5] = X[5 + k]  # of deficient rank
    model = LogisticRegressionCV([1e-3, 1.0], cv=2).fit(X, y)
    for f, (train, _) in enumerate(StratifiedKFold(2).split(X, y)):
        for i, C in enumerate(model.Cs_):
            best = LogisticRegression(C, tol=1e-10).fit(X[train], y[train]).certificate_.dual
            v = model.coefs_paths_[f, i]
            assert objective(X[train], y[train], v[:, :-1], v[:, -1], C) <= best * (1 + 1e-9)


def test_folds_that_become_separable_get_their_own_hessians():
    X, y = load_digits(n_class=4, return_X_y=True)
    X, y = X[:300], y[:300]
    model = LogisticRegressionCV([1e-3, 1.0, 1e4], cv=2, tol=1e-6).fit(X, y)
    for f, (train, _) in enumerate(StratifiedKFold(2).split(X, y)):
        for i, C in enumerate(model.Cs_):
            best = LogisticRegression(C, tol=1e-6).fit(X[train], y[train]).certificate_.dual
            v = model.coefs_paths_[f, i]
            assert objective(X[train], y[train], v[:, :-1], v[:, -1], C) <= best * (1 + 2e-6)


def test_larger_tables_go_well_below_tol():
    X, y = noisy(6000, 30)
    model = LogisticRegressionCV(Cs=[1e-3, 1e-1, 10.0], cv=2).fit(X, y)
    for f, (train, _) in enumerate(StratifiedKFold(2).split(X, y)):
        for i, C in enumerate(model.Cs_):
            best = LogisticRegression(C, tol=1e-10).fit(X[train], y[train]).certificate_.dual
            v = model.coefs_paths_[f, i]
            assert objective(X[train], y[train], v[:, :-1], v[:, -1], C) <= best * (1 + 1e-6)


@pytest.mark.parametrize("k", [2, 3])
def test_scores_are_those_of_separate_fits(k):
    X, y = noisy(150, 3, k)
    model = LogisticRegressionCV(Cs=4, scoring="neg_log_loss").fit(X, y)
    np.testing.assert_allclose(model.Cs_, [1e-4, 10 ** (-4 / 3), 10 ** (4 / 3), 1e4])
    assert model.scores_.shape == (5, 4)
    for f, (train, test) in enumerate(StratifiedKFold(5).split(X, y)):
        for i, C in enumerate(model.Cs_):
            alone = LogisticRegression(C).fit(X[train], y[train])
            expected = -log_loss(y[test], alone.predict_proba(X[test]), labels=np.arange(k))
            np.testing.assert_allclose(model.scores_[f, i], expected, rtol=1e-6)
    assert model.Cs_[model.scores_.mean(axis=0).argmax()] == model.C_


def test_scikit_learn_chooses_the_same():
    X, y = noisy(300, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rival = Rival(
            Cs=5,
            scoring="neg_log_loss",
            tol=1e-10,
            l1_ratios=(0,),
            use_legacy_attributes=False,
            solver="newton-cholesky",
        ).fit(X, y)
    model = LogisticRegressionCV(Cs=5, scoring="neg_log_loss").fit(X, y)
    np.testing.assert_allclose(model.scores_, rival.scores_[:, 0], rtol=1e-6)
    assert model.C_ == rival.C_
    np.testing.assert_allclose(model.coef_, rival.coef_, rtol=1e-5)
    np.testing.assert_allclose(model.coefs_paths_, rival.coefs_paths_[:, 0], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("k", [2, 3])
def test_the_final_fit_is_to_all_rows(k):
    X, y = noisy(150, 3, k)
    model = LogisticRegressionCV(Cs=5).fit(X, y)
    plain = LogisticRegression(model.C_).fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-8)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, y)
    assert plain.certificate_.C == model.certificate_.C


# ------------------------------------------------------------------ the choice
def test_of_equal_scores_the_smallest_C_wins():
    X, y = islands(n=60)  # every C classifies it
    Cs = [100.0, 0.1, 1.0]
    model = LogisticRegressionCV(Cs).fit(X, y)
    np.testing.assert_array_equal(model.scores_, 1.0)
    assert model.C_ == 0.1
    np.testing.assert_array_equal(model.Cs_, Cs)  # in the order given


def test_accuracy_by_default_with_the_threshold():
    X, y = noisy(200, 3)
    for threshold in (0.5, 0.8):
        model = LogisticRegressionCV([1.0], cv=2, threshold=threshold).fit(X, y)
        for f, (train, test) in enumerate(StratifiedKFold(2).split(X, y)):
            alone = LogisticRegression(threshold=threshold).fit(X[train], y[train])
            assert model.scores_[f, 0] == accuracy_score(y[test], alone.predict(X[test]))
        np.testing.assert_array_equal(model.predict(X), (model.predict_proba(X)[:, 1] >= threshold).astype(int))


def test_scoring_may_be_a_function():
    X, y = noisy(100)

    def prefers_small(estimator, X, y):
        return -float(np.abs(estimator.coef_).sum())

    assert LogisticRegressionCV([10.0, 0.1, 1.0], scoring=prefers_small).fit(X, y).C_ == 0.1
    named = LogisticRegressionCV(3, scoring="balanced_accuracy").fit(X, y)
    made = LogisticRegressionCV(3, scoring=make_scorer(lambda a, b: float(np.mean(a == b)))).fit(X, y)
    assert named.scores_.shape == made.scores_.shape == (5, 3)


def test_labels_reach_the_scorer_as_they_were_given():
    X, y = noisy(100)
    names = np.array(["no", "yes"])[y]
    model = LogisticRegressionCV(3, scoring=make_scorer(lambda a, b: float(np.mean(a == b)))).fit(X, names)
    np.testing.assert_array_equal(model.scores_, LogisticRegressionCV(3).fit(X, y).scores_)
    assert set(model.predict(X)) <= {"no", "yes"}


def test_a_score_that_is_not_a_number_is_an_error():
    X, y = noisy()
    with pytest.raises(InvalidInputError, match="scoring gave nan"):
        LogisticRegressionCV(2, scoring=lambda estimator, X, y: np.nan).fit(X, y)


# ------------------------------------------------------------------ folds and weights
def test_own_folds():
    X, y = noisy(90)
    splits = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    place = np.empty(90, dtype=int)
    for f, (_, test) in enumerate(splits):
        place[test] = f
    by_list = LogisticRegressionCV(3, cv=splits).fit(X, y)
    by_splitter = LogisticRegressionCV(3, cv=StratifiedKFold(3, shuffle=True, random_state=1)).fit(X, y)
    by_place = LogisticRegressionCV(3, cv=PredefinedSplit(place)).fit(X, y)
    np.testing.assert_array_equal(by_list.scores_, by_splitter.scores_)
    np.testing.assert_array_equal(by_list.scores_, by_place.scores_)


def test_folds_that_overlap_and_leave_rows_out():
    X, y = noisy(200)
    cv = ShuffleSplit(4, test_size=0.3, train_size=0.4, random_state=0)
    model = LogisticRegressionCV([1.0], cv=cv, scoring="neg_log_loss").fit(X, y)
    for f, (train, test) in enumerate(cv.split(X)):
        alone = LogisticRegression().fit(X[train], y[train])
        np.testing.assert_allclose(model.scores_[f, 0], -log_loss(y[test], alone.predict_proba(X[test])), rtol=1e-8)


def test_weights_are_used_in_fits_and_scores():
    X, y = noisy(120)
    weight = np.random.default_rng(0).uniform(0.1, 3.0, size=120)
    splits = list(StratifiedKFold(3).split(X, y))
    model = LogisticRegressionCV([1.0], cv=3, scoring="neg_log_loss").fit(X, y, weight)
    for f, (train, test) in enumerate(splits):
        alone = LogisticRegression().fit(X[train], y[train], weight[train])
        expected = -log_loss(y[test], alone.predict_proba(X[test]), sample_weight=weight[test])
        np.testing.assert_allclose(model.scores_[f, 0], expected, rtol=1e-8)
    assert model.certificate_.verify(X, y, weight)


def test_scores_do_not_use_the_class_weight():
    X, y = noisy(120)
    model = LogisticRegressionCV([1.0], cv=3, class_weight={0: 5.0, 1: 1.0}).fit(X, y)
    for f, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        alone = LogisticRegression(class_weight={0: 5.0, 1: 1.0}).fit(X[train], y[train])
        assert model.scores_[f, 0] == accuracy_score(y[test], alone.predict(X[test]))


def test_rows_of_weight_zero_are_left_out():
    X, y = noisy(100)
    weight = np.ones(100)
    weight[::7] = 0
    kept = weight > 0
    a = LogisticRegressionCV(4).fit(X, y, weight)
    b = LogisticRegressionCV(4).fit(X[kept], y[kept])
    np.testing.assert_array_equal(a.scores_, b.scores_)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-10)
    # folds of one's own are of the rows given
    own = LogisticRegressionCV(4, cv=StratifiedKFold(2)).fit(X, y, weight)
    train, test = next(iter(StratifiedKFold(2).split(X, y)))
    alone = LogisticRegression(own.Cs_[2]).fit(X[train], y[train], weight[train])
    assert own.scores_[0, 2] == accuracy_score(y[test], alone.predict(X[test]), sample_weight=weight[test])


@pytest.mark.parametrize("identifiability", ["symmetric", "reference"])
@pytest.mark.parametrize("k", [3, 4])
def test_a_class_that_a_fold_lacks_has_probability_zero_there(k, identifiability, tmp_path):
    X, y = noisy(40 * k, 3, k)
    y = np.array([f"class {label}" for label in y])
    whole = np.arange(len(y)) % 2 == 0
    folds = [(np.flatnonzero(y != "class 1"), np.flatnonzero(y == "class 1"))]  # scored by what it cannot know
    folds += [(np.flatnonzero(whole), np.flatnonzero(~whole))]
    folds += [(np.flatnonzero(y != "class 0"), np.arange(len(y)))]
    model = LogisticRegressionCV([0.1, 1.0, 10.0], cv=folds, identifiability=identifiability).fit(X, y)
    for f, (train, test) in enumerate(folds):
        for i, C in enumerate(model.Cs_):
            weight = np.zeros(len(y))
            weight[train] = 1.0
            alone = LogisticRegression(C, identifiability=identifiability).fit(X, y, sample_weight=weight)
            np.testing.assert_allclose(model.coefs_paths_[f, i, :, :-1], alone.coef_, rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(model.coefs_paths_[f, i, :, -1], alone.intercept_, rtol=1e-5, atol=1e-7)
            assert model.scores_[f, i] == accuracy_score(y[test], alone.predict(X[test]))
    assert np.all(model.scores_[0] == 0.0)
    assert model.certificate_.verify(X, y)
    assert model.certificate_.relative_gap <= model.tol
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").coefs_paths_, model.coefs_paths_)


def test_a_score_may_study_a_model_that_lacks_a_class():
    X, y = noisy(90, 3, 3)
    folds = [(np.flatnonzero(y != 0), np.flatnonzero(y == 1)), (np.arange(90), np.arange(90))]

    def likelihood(estimator, X, y):
        return estimator.log_likelihood(X, y)

    model = LogisticRegressionCV([1.0], cv=folds, scoring=likelihood).fit(X, y)
    alone = LogisticRegression(1.0).fit(X[y != 0], y[y != 0])
    np.testing.assert_allclose(model.scores_[0], alone.log_likelihood(X[y == 1], y[y == 1]), rtol=1e-5)


def test_every_fold_may_lack_a_class():
    X, y = noisy(90, 3, 3)
    order = np.argsort(y, kind="stable")
    model = LogisticRegressionCV(3, cv=KFold(3), scoring="neg_brier_score").fit(X[order], y[order])
    for f, (train, test) in enumerate(KFold(3).split(X)):
        weight = np.isin(np.arange(90), train)
        alone = LogisticRegression(model.Cs_[1]).fit(X[order], y[order], sample_weight=weight)
        expected = brier_score_loss(y[order][test], alone.predict_proba(X[order][test]), labels=[0, 1, 2])
        np.testing.assert_allclose(-model.scores_[f, 1], expected, rtol=1e-6)
    assert model.certificate_.verify(X[order], y[order])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")  # of the class that is lacking
@pytest.mark.parametrize(
    ("k", "scoring"),
    [(2, "neg_log_loss"), (2, "neg_brier_score"), (2, "f1")]
    + [(3, scoring) for scoring in ("neg_log_loss", "neg_brier_score", "f1_macro", "recall_weighted")],
)
def test_rows_to_score_may_lack_a_class(k, scoring):
    """Scores are those of scikit-learn, at the same optima."""
    X, y = noisy(120, 3, k)
    y = np.array(["a", "b", "c"])[y]
    parts = np.where(y == "a", np.arange(120) % 2, np.arange(120) % 3)  # part 2 has no "a"
    Cs = [0.01, 1.0]
    ours = LogisticRegressionCV(Cs, cv=PredefinedSplit(parts), scoring=scoring).fit(X, y)
    theirs = Rival(
        Cs=Cs, cv=PredefinedSplit(parts), scoring=scoring, tol=1e-10, l1_ratios=(0,), use_legacy_attributes=False
    ).fit(X, y)
    np.testing.assert_allclose(ours.scores_, theirs.scores_[:, 0], rtol=1e-5)


def test_a_fold_without_a_class_to_learn_is_an_error():
    X, y = noisy(60)
    halves = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1))]
    with pytest.raises(InvalidInputError, match=r"fold 0 learns from have none of the classes \[1\]"):
        LogisticRegressionCV(2, cv=halves).fit(X, y)


def test_a_fold_without_weight_to_score_is_an_error():
    X, y = noisy(60)
    weight = np.ones(60)
    weight[:10] = 0
    with pytest.raises(InvalidInputError, match="Fold 0 has no row"):
        LogisticRegressionCV(2, cv=[(np.arange(10, 60), np.arange(10))]).fit(X, y, weight)


# ------------------------------------------------------------------ kinds of data
def test_sparse_equals_dense():
    rng = np.random.default_rng(0)
    X, y = noisy(200, 6, 3)
    X[rng.random(X.shape) < 0.7] = 0.0
    dense = LogisticRegressionCV(4, scoring="neg_log_loss").fit(X, y)
    rows = LogisticRegressionCV(4, scoring="neg_log_loss").fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(rows.scores_, dense.scores_, rtol=1e-7)
    np.testing.assert_allclose(rows.coef_, dense.coef_, rtol=1e-7, atol=1e-10)


def test_wide_sparse_rows():
    rng = np.random.default_rng(0)
    X = sparse.random_array((200, 5000), density=0.01, rng=rng, format="csr")
    y = np.arange(200) % 2
    model = LogisticRegressionCV([0.1, 10.0], cv=2, scoring="neg_log_loss").fit(X, y)
    train, test = next(iter(StratifiedKFold(2).split(X, y)))
    for i, C in enumerate(model.Cs_):
        alone = LogisticRegression(C, tol=1e-8).fit(X[train], y[train])
        np.testing.assert_allclose(model.scores_[0, i], -log_loss(y[test], alone.predict_proba(X[test])), rtol=1e-3)


def test_a_matrix_of_labels_has_one_C_for_all():
    X, y = noisy(100)
    Y = np.column_stack([y, np.roll(y, 1), y ^ (X[:, 0] > 1)])
    model = LogisticRegressionCV(3, cv=2).fit(X, Y)
    train, test = np.arange(50, 100), np.arange(50)
    for i, C in enumerate(model.Cs_):
        alone = LogisticRegression(C).fit(X[train], Y[train])
        np.testing.assert_allclose(model.coefs_paths_[0, i, :, :-1], alone.coef_, rtol=1e-5, atol=1e-8)
        assert model.scores_[0, i] == (alone.predict(X[test]) == Y[test]).all(axis=1).mean()
    assert model.predict(X).shape == Y.shape
    assert model.certificate_.verify(X, Y)


def test_a_score_of_one_label_a_row_is_refused_for_a_matrix_of_labels():
    X, y = noisy(60, 3, 3)
    with pytest.raises(InvalidInputError, match="one label a row"):
        LogisticRegressionCV(cv=3, scoring="neg_log_loss").fit(X, np.eye(3, dtype=int)[y])


def test_float32():
    X, y = noisy(100)
    model = LogisticRegressionCV(3).fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32
    assert model.certificate_.verify(X.astype(np.float32), y)


# ------------------------------------------------------------------ what may go wrong
def test_infinity_among_the_values():
    X, y = noisy(200)
    model = LogisticRegressionCV([1.0, np.inf], cv=3, scoring=lambda e, X, y: float(np.arctan(e.C))).fit(X, y)
    assert np.isposinf(model.C_)
    np.testing.assert_allclose(model.coef_, LogisticRegression(np.inf).fit(X, y).coef_, rtol=1e-8)
    for f, (train, _) in enumerate(StratifiedKFold(3).split(X, y)):
        best, *_ = optimum(X[train], y[train], np.inf)
        v = model.coefs_paths_[f, 1]
        assert objective(X[train], y[train], v[:, :-1], v[:, -1], np.inf) <= best * (1 + 1e-10)


def test_infinity_on_separable_classes_ends():
    X, y = islands(n=60)
    with pytest.warns(SeparationWarning):
        model = LogisticRegressionCV([np.inf]).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.status_ is Status.NO_MAXIMUM


def test_too_few_iterations_are_said():
    X, y = noisy(200)
    with pytest.warns(ConvergenceWarning) as caught:
        LogisticRegressionCV([1.0, 10.0, 1e4], max_iter=1, tol=1e-8).fit(X, y)
    assert any("of the 15 fits that choose C" in str(warning.message) for warning in caught)
    assert any("Stopped after 1 iterations" in str(warning.message) for warning in caught)  # the final fit


@pytest.mark.parametrize("Cs", [0, -1, [], [0.0], [1.0, -1.0], [np.nan], "ten", 2.5, True])
def test_values_of_C_are_checked(Cs):
    with pytest.raises(InvalidInputError, match="Cs must be"):
        LogisticRegressionCV(Cs).fit(*noisy())


@pytest.mark.parametrize("settings", [{"scoring": "beauty"}, {"identifiability": "none"}, {"tol": -1}, {"max_iter": 0}])
def test_other_parameters_are_checked(settings):
    with pytest.raises(InvalidInputError):
        LogisticRegressionCV(2, **settings).fit(*noisy())


# ------------------------------------------------------------------ callbacks
class Recorder:
    """Writes down what it is told."""

    def __init__(self, stop_after=None):
        self.begun, self.ended, self.over = [], [], 0
        self.stop_after = stop_after

    def setup(self, estimator, context):
        self.over = 0

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.ended.append((context.task_name, None if X is None else len(y), fitted_estimator, metadata))
        return context.task_name == self.stop_after

    def teardown(self, estimator, context):
        self.over += 1


def test_callbacks_see_every_fold_of_every_C():
    X, y = noisy(100)
    recorder = Recorder()
    model = LogisticRegressionCV([0.1, 1.0, 10.0], cv=4).set_callbacks(recorder).fit(X, y)
    folds = [f"fold {f}" for f in range(4)]
    assert recorder.begun == ["fit", "C=0.1", *folds, "C=1", *folds, "C=10", *folds, "refit"]
    assert [name for name, *_ in recorder.ended] == [*folds, "C=0.1", *folds, "C=1", *folds, "C=10", "refit", "fit"]
    assert recorder.over == 1
    fold_ends = [entry for entry in recorder.ended if entry[0].startswith("fold")]
    assert all(rows == 75 for _, rows, *_ in fold_ends)
    for (_, _, fitted, _), v in zip(fold_ends, np.swapaxes(model.coefs_paths_, 0, 1).reshape(12, 1, 4), strict=True):
        np.testing.assert_array_equal(fitted.decision_function(X), X @ v[0, :3] + v[0, 3])
    np.testing.assert_array_equal(recorder.ended[-1][2].predict(X), model.predict(X))


def test_callbacks_get_the_weights():
    X, y = noisy(100)
    recorder = Recorder()
    weight = np.linspace(0.5, 2, 100)
    LogisticRegressionCV([1.0], cv=2).set_callbacks(recorder).fit(X, y, weight)
    train, _ = next(iter(StratifiedKFold(2).split(X, y)))
    np.testing.assert_allclose(recorder.ended[0][3]["sample_weight"], weight[train])


def test_a_callback_may_stop_the_search():
    X, y = noisy(100)
    recorder = Recorder(stop_after="C=1")
    model = LogisticRegressionCV([10.0, 1.0, 0.1], cv=2).set_callbacks(recorder).fit(X, y)
    np.testing.assert_array_equal(model.Cs_, [1.0, 0.1])
    assert model.scores_.shape == (2, 2)
    assert np.isfinite(model.scores_).all()
    assert recorder.begun[-1] == "refit"


def test_callbacks_are_told_when_a_fit_fails():
    X, y = noisy()
    recorder = Recorder()
    model = LogisticRegressionCV(2, scoring=lambda e, X, y: np.nan).set_callbacks(recorder)
    with pytest.raises(InvalidInputError):
        model.fit(X, y)
    assert recorder.over == 1
    assert not any(name.startswith("_callback") for name in vars(model))


def test_callbacks_change_nothing():
    X, y = noisy(100)
    plain = LogisticRegressionCV(3).fit(X, y)
    watched = clone(LogisticRegressionCV(3).set_callbacks(Recorder())).fit(X, y)
    np.testing.assert_array_equal(plain.scores_, watched.scores_)
    np.testing.assert_array_equal(plain.coef_, watched.coef_)


def test_the_progress_bar_of_scikit_learn(monkeypatch):
    rich = pytest.importorskip("rich")
    screen = io.StringIO()
    monkeypatch.setattr(rich, "_console", rich.console.Console(file=screen, force_terminal=True, width=120))
    X, y = noisy(100)
    LogisticRegressionCV([0.1, 1.0], cv=2).set_callbacks(ProgressBar()).fit(X, y)
    shown = screen.getvalue()
    assert "LogisticRegressionCV - fit" in shown
    assert "C=0.1" in shown
    assert "100%" in shown


def test_the_scoring_monitor_of_scikit_learn():
    X, y = noisy(100)
    monitor = ScoringMonitor(scoring="accuracy")
    model = LogisticRegressionCV([0.1, 1.0], cv=2).set_callbacks(monitor).fit(X, y)
    log = monitor.get_logs(select="most_recent").data
    final = [row for row in log if row["task_name"] == "fit"]
    assert final[0]["accuracy"] == model.score(X, y)
    assert len([row for row in log if row["task_name"].startswith("fold")]) == 4


def test_within_a_grid_search():
    X, y = noisy(100)
    recorder = Recorder()
    recorder.max_propagation_depth = None
    search = GridSearchCV(LogisticRegressionCV([1.0], cv=2), {"threshold": [0.4, 0.6]}, cv=2)
    search.set_callbacks(recorder).fit(X, y)
    assert recorder.begun.count("C=1") == 5  # two thresholds on two folds, and the refit
    assert recorder.over == 1
