"""What others do with a fitted model: save it in their formats, explain it, draw it, balance its classes."""

import io
import pickle

import numpy as np
import pytest
from contract import all_estimators
from problems import islands

from separatrix import SVC, LogisticRegression, NearestCentroid

X, Y = islands(3)
X = np.floor(X)  # whole numbers, which any of them takes
ALL = pytest.mark.parametrize("estimator", all_estimators(), ids=lambda estimator: type(estimator).__name__)


def assert_same(again, model):
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.status_ is model.status_
    assert again.certificate_.verify(X, Y)


@ALL
def test_pickle_protocol_5_with_buffers_outside(estimator):
    model, buffers = estimator.fit(X, Y), []
    packed = pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    assert_same(pickle.loads(packed, buffers=buffers), model)


@ALL
def test_joblib(estimator):
    joblib = pytest.importorskip("joblib")
    model, file = estimator.fit(X, Y), io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    assert_same(joblib.load(file), model)


@ALL
def test_cloudpickle(estimator):
    cloudpickle = pytest.importorskip("cloudpickle")
    model = estimator.fit(X, Y)
    assert_same(pickle.loads(cloudpickle.dumps(model)), model)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@ALL
def test_skops(estimator):
    skops = pytest.importorskip("skops.io")
    model = estimator.fit(X, Y)
    packed = skops.dumps(model)
    ours = skops.get_untrusted_types(data=packed)
    assert all(name.startswith(("separatrix.", "numpy.")) for name in ours)
    assert_same(skops.loads(packed, trusted=ours), model)


@pytest.mark.filterwarnings("ignore")
def test_imblearn():
    pipeline = pytest.importorskip("imblearn.pipeline")
    sampling = pytest.importorskip("imblearn.under_sampling")
    rows = np.r_[0:40, np.flatnonzero(Y == 0)]  # class 0 twice as often
    steps = pipeline.make_pipeline(sampling.RandomUnderSampler(random_state=0), LogisticRegression())
    model = steps.fit(X[rows], Y[rows])
    assert model.score(X, Y) == 1.0
    assert model[-1].status_.name == "CERTIFIED"


@pytest.mark.filterwarnings("ignore")
def test_shap():
    shap = pytest.importorskip("shap")
    two = Y < 2
    model = LogisticRegression().fit(X[two], Y[two])
    values = shap.LinearExplainer(model, X[two]).shap_values(X[two])
    # a linear score is its mean plus what each column adds
    expected = model.coef_[0] * (X[two] - X[two].mean(axis=0))
    np.testing.assert_allclose(values, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("model", [LogisticRegression(), NearestCentroid(), SVC(probability=True)])
def test_displays(model):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from sklearn.inspection import DecisionBoundaryDisplay
    from sklearn.metrics import ConfusionMatrixDisplay, DetCurveDisplay, PrecisionRecallDisplay, RocCurveDisplay

    two = Y < 2
    model.fit(X[two][:, :2], Y[two])
    for display in (RocCurveDisplay, PrecisionRecallDisplay, DetCurveDisplay, ConfusionMatrixDisplay):
        display.from_estimator(model, X[two][:, :2], Y[two])
    drawn = DecisionBoundaryDisplay.from_estimator(model, X[two][:, :2], response_method="decision_function")
    assert drawn.response.min() < 0 < drawn.response.max()
    pyplot.close("all")
