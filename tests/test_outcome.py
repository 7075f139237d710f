"""What a fit hands back: statuses that are sentences, and traces that are columns."""

import pickle

import numpy as np
import pytest

from separatrix import Status, Trace
from separatrix.outcome import Fit


@pytest.mark.parametrize("status", list(Status), ids=lambda status: status.name)
def test_a_status_is_a_sentence(status):
    assert str(status) == status.value
    assert status.value[0].isupper()
    assert status.value.endswith((".", ").", "!"))
    assert len(status.value.split()) > 3


def test_no_two_statuses_say_the_same():
    assert len({status.value for status in Status}) == len(Status.__members__)


def test_a_status_survives_a_pickle():
    for status in Status:
        assert pickle.loads(pickle.dumps(status)) is status


def test_a_trace_is_a_mapping_of_columns():
    trace = Trace()
    assert trace.n_steps == 0
    assert list(trace) == []
    assert repr(trace) == "Trace(0 steps of nothing)"
    trace.record(step=0, objective=2.0, weights=[0.0, 0.0])
    trace.record(step=1, objective=0.5, weights=[1.0, -1.0])
    assert trace.n_steps == 2
    assert list(trace) == ["step", "objective", "weights"]
    assert len(trace) == 3
    assert "objective" in trace
    assert "gap" not in trace
    assert trace["objective"].tolist() == [2.0, 0.5]
    assert trace["weights"].shape == (2, 2)
    assert dict(trace).keys() == {"step", "objective", "weights"}
    assert repr(trace) == "Trace(2 steps of step, objective, weights)"
    with pytest.raises(KeyError):
        trace["gap"]


@pytest.mark.parametrize("row", [{"step": 1}, {"step": 1, "gap": 2.0}, {"step": 1, "objective": 0.0, "gap": 1.0}, {}])
def test_a_step_with_other_columns_is_refused_and_leaves_no_mark(row):
    trace = Trace()
    trace.record(step=0, objective=2.0)
    with pytest.raises(ValueError, match=r"\['step', 'objective'\]"):
        trace.record(**row)
    assert trace.n_steps == 1
    assert {name: column.tolist() for name, column in trace.items()} == {"step": [0], "objective": [2.0]}


def test_columns_may_come_in_any_order():
    trace = Trace()
    trace.record(step=0, gap=1.0)
    trace.record(gap=0.5, step=1)
    assert trace["gap"].tolist() == [1.0, 0.5]


def test_what_is_recorded_is_copied_on_the_way_in_and_out():
    trace, weights = Trace(), np.zeros(2)
    trace.record(weights=weights)
    weights += 1.0
    trace.record(weights=weights)
    weights += 1.0
    assert trace["weights"].tolist() == [[0.0, 0.0], [1.0, 1.0]]
    trace["weights"][:] = 9.0
    assert trace["weights"].tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_traces_compare_by_identity():
    first, second = Trace(), Trace()
    for trace in (first, second):
        trace.record(weights=[1.0, 2.0])
        trace.record(weights=[1.0, 2.0])
    assert first == first
    assert first != second
    assert len({first, second}) == 2


def test_a_trace_survives_a_pickle():
    trace = Trace()
    trace.record(step=0, weights=[1.0, 2.0])
    again = pickle.loads(pickle.dumps(trace))
    assert again["weights"].tolist() == [[1.0, 2.0]]


def test_a_fit_is_frozen_and_claims_nothing_by_itself():
    fit = Fit(model="m", certificate=None, status=Status.UNCERTIFIED)
    assert fit.n_iter == 1
    assert fit.trace is None
    assert dict(fit.attributes) == {}
    assert fit.warnings == ()
    with pytest.raises(AttributeError):
        fit.status = Status.FORMULA


def test_what_a_status_claims_does_not_depend_on_its_words():
    silent = {Status.UNSTRICT, Status.REPEATING, Status.STREAM, Status.UNCHECKED, Status.LOCAL, Status.UNCERTIFIED}
    assert {status for status in Status if not status.certified} == silent
    assert {status for status in Status if status.no_optimum} == {Status.NO_MAXIMUM, Status.NO_MINIMUM}


@pytest.mark.parametrize("status", list(Status), ids=lambda status: status.name)
def test_a_status_in_short_is_one_line_of_its_sentence(status):
    assert status.short in status.value
    assert not status.short.endswith(".")
    assert not status.short.startswith("Not certified")  # the table says so before
    assert Status(status.value) is status


def test_a_trace_is_a_frame_with_a_column_for_each_number():
    trace = Trace()
    trace.record(step=0, objective=2.0, weights=[1.0, 2.0])
    trace.record(step=1, objective=0.5, weights=[3.0, 4.0])
    frame = trace.to_frame()
    assert frame.columns.tolist() == ["step", "objective", "weights_0", "weights_1"]
    assert frame["weights_1"].tolist() == [2.0, 4.0]
    assert frame["step"].dtype == trace["step"].dtype
    several = Trace()
    several.record(step=0, weights=np.arange(4.0).reshape(2, 2))
    assert several.to_frame().columns.tolist() == ["step", "weights_0_0", "weights_0_1", "weights_1_0", "weights_1_1"]
    assert several.to_frame()["weights_1_0"].tolist() == [2.0]
    assert len(Trace().to_frame()) == 0
