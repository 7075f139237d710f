"""Tables on the plane: columns in units of their own, gaps, and axes whose numbers can be told apart."""

import numpy as np
import pytest
from lab.node import needs_node, run

pytestmark = needs_node


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3.2, 5.1), (2016, 2025), (1.7e9, 1.7e9 + 30), (1e17, 1e17 + 64), (-2e-9, 3e-9)]
)
def test_ticks_are_round_numbers_with_texts_that_differ(low, high):
    found = run("charts", "ticks(...given)", low, high, 6)
    values, texts = [tick["value"] for tick in found], [tick["text"] for tick in found]
    assert 2 <= len(found) <= 13
    assert all(low <= value <= high or np.isclose(value, high, rtol=1e-12) for value in values)
    assert len(set(texts)) == len(texts)
    step = (high - low) / 6
    for value, text in zip(values, texts, strict=True):
        assert abs(float(text.replace("−", "-")) - value) <= 0.01 * step


@pytest.mark.parametrize(("low", "high"), [(5, 5), (1e17, 1e17), (0, 5e-324), (-1e308, 1e308), (0, 1e300)])
def test_ticks_end_where_floats_have_no_room_for_them(low, high):
    assert len(run("charts", "ticks(...given)", low, high, 6)) <= 13


@pytest.mark.parametrize(
    "points",
    [
        [[1e17, 0.0], [1e17, 1.0]],
        [[3.0, 3.0], [3.0, 4.0]],
        [[-5e20, 1e-320], [-5e20, 0.0]],
        [[1e9, 7.0], [1e9 + 1e-6, 7.0]],
    ],
)
def test_points_that_share_a_coordinate_are_seen_wherever_they_are(points):
    store = "(() => { const s = new Store(); s.load(given[0].map(([x, y]) => ({ x, y, c: 0 }))); return s.window; })()"
    window = run("plane", store, points)
    X = np.array(points)
    for j, (low, high) in enumerate((("x0", "x1"), ("y0", "y1"))):
        assert window[low] < X[:, j].min() <= X[:, j].max() < window[high]


def test_rows_with_gaps_are_left_out_and_labels_of_numbers_are_in_their_order():
    rows = [["1", "2", "10"], ["3", "4", "2"], ["", "5", "2"], ["6", "7", ""], ["8", "nine", "10"], ["9", "1", "10"]]
    table = {"header": ["a", "b", "kind"], "rows": rows}
    found = run("data", "tablePoints(given[0], { x: 0, y: 1, label: 2 })", table)
    assert found["classes"] == ["2", "10"]
    assert [(p["x"], p["y"], p["c"]) for p in found["points"]] == [(1, 2, 1), (3, 4, 0), (9, 1, 1)]
    assert found["notes"] == ["Rows with gaps in these columns are left out: 3."]
    gaps = [[str(i), str(i * i), "x" if i % 3 else ""] for i in range(9)]  # a gap is no class
    assert "none can be the classes" in run(
        "data",
        "(() => { try { tableColumns(given[0]); } catch (error) { return error.message; } })()",
        {"header": ["a", "b", "kind"], "rows": gaps},
    )
