"""The Weisfeiler-Lehman kernel, against trees compared node by node."""

from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.kernels import Graph, WeisfeilerLehman


def surroundings(graph: Graph, node: int, depth: int) -> tuple:
    """The tree of labels seen by walking ``depth`` steps from a node: what WL compresses to one label."""
    if depth == 0:
        return ("leaf", repr(graph.labels[node]))
    adjacent = [b if a == node else a for a, b in graph.edges if node in (a, b)]
    return (
        surroundings(graph, node, depth - 1),
        frozenset(Counter(surroundings(graph, other, depth - 1) for other in adjacent).items()),
    )


def by_hand(a: Graph, b: Graph, h: int) -> int:
    """Pairs of nodes with equal surroundings, at each depth up to h."""
    return sum(
        surroundings(a, i, depth) == surroundings(b, j, depth)
        for depth in range(h + 1)
        for i in range(len(a.labels))
        for j in range(len(b.labels))
    )


@st.composite
def graphs(draw, max_nodes=5):
    names = draw(st.lists(st.sampled_from("CNO"), max_size=max_nodes))
    possible = [(i, j) for i in range(len(names)) for j in range(i)]
    edges = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    return Graph(edges, names)


collections = st.lists(graphs(), max_size=4)


@given(collections, collections, st.integers(0, 3))
def test_counts_of_shared_surroundings(A, B, h):
    expected = np.array([[by_hand(a, b, h) for b in B] for a in A], dtype=float).reshape(len(A), len(B))
    np.testing.assert_array_equal(WeisfeilerLehman(h)(A, B), expected)
    np.testing.assert_array_equal(WeisfeilerLehman(h).diagonal(A), [by_hand(a, a, h) for a in A])


@given(graphs(max_nodes=7), graphs(max_nodes=7), st.randoms(use_true_random=False))
def test_numbering_does_not_matter(a, b, random):
    order = list(range(len(a.labels)))
    random.shuffle(order)  # node i becomes node order[i]
    labels = [label for _, label in sorted(zip(order, a.labels, strict=True), key=lambda pair: pair[0])]
    edges = [(order[j], order[i]) for i, j in a.edges]
    kernel = WeisfeilerLehman(3)
    renumbered = Graph(edges, labels)
    np.testing.assert_array_equal(kernel([renumbered], [a, b]), kernel([a], [a, b]))


def test_a_path_and_a_star_by_hand():
    path = Graph([(0, 1), (1, 2), (2, 3)], "aaaa")
    star = Graph([(0, 1), (0, 2), (0, 3)], "aaaa")
    # Step 0: 4 * 4 equal labels. Step 1: degrees 1, 2, 2, 1 and 3, 1, 1, 1 share 2 * 3 leaves. Step 2: a leaf
    # of the path hangs on a node of degree 2, one of the star on a node of degree 3.
    assert [WeisfeilerLehman(h)([path], [star])[0, 0] for h in range(4)] == [16, 22, 22, 22]


def test_labels_may_be_anything_that_equals_itself():
    odd = [0, (0,), (0, ()), "0", None, Fraction(1, 2), frozenset({0})]
    graph = Graph([], odd)
    # All different, so each node meets itself only: at step 0 and, without neighbours, at step 1.
    assert WeisfeilerLehman(1)([graph], [graph])[0, 0] == 2 * len(odd)


@pytest.mark.parametrize("normalize", [False, True])
def test_symmetric_and_semidefinite(normalize):
    rng = np.random.default_rng(3)
    X = []
    for _ in range(30):
        n = int(rng.integers(1, 12))
        X.append(Graph([(i, int(rng.integers(i))) for i in range(1, n)], rng.integers(0, 3, n)))
    kernel = WeisfeilerLehman(3, normalize)
    K = kernel(X, X)
    np.testing.assert_allclose(K, K.T, rtol=1e-14)
    assert kernel.positive_semidefinite
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-13 * len(K) * eigenvalues[-1]
    if normalize:
        raw = WeisfeilerLehman(3)(X, X)
        lengths = np.sqrt(np.diagonal(raw))
        np.testing.assert_allclose(K, raw / np.outer(lengths, lengths), rtol=1e-13)
        # New graphs with labels unseen on the other side: those count in their length.
        stranger = Graph([(0, 1)], [0, "new"])
        plain = WeisfeilerLehman(3)
        expected = plain([stranger], X) / np.sqrt(by_hand(stranger, stranger, 3)) / lengths
        np.testing.assert_allclose(kernel([stranger], X), expected, rtol=1e-13)


def test_graphs_are_values():
    graph = Graph([(1, 0), (2, 1), (1, 2)], ["C", "N", "O"])
    assert graph.edges == ((0, 1), (1, 2))  # in both directions, or twice, an edge is one edge
    assert graph.neighbours == ((1,), (0, 2), (1,))
    assert len(graph) == 3
    assert graph == Graph(np.array([[1, 2], [0, 1]]), ("C", "N", "O"))
    assert hash(graph) == hash(Graph([(0, 1), (1, 2)], "CNO"))
    assert graph != Graph([(0, 1)], "CNO")
    assert repr(graph) == "Graph(edges=((0, 1), (1, 2)), labels=('C', 'N', 'O'))"
    with pytest.raises(FrozenInstanceError):
        graph.labels = ()


@pytest.mark.parametrize(
    "edge, fault",
    [
        ((0, 3), "numbered 0 to 2"),
        ((-1, 0), "numbered 0 to 2"),
        ((1, 1), "two different nodes"),
        ((0, 1.5), "pair of node numbers"),
        ((0, 1, 2), "pair of node numbers"),
        (7, "pair of node numbers"),
        ("01", "pair of node numbers"),
    ],
)
def test_a_bad_edge_is_named(edge, fault):
    with pytest.raises(ValueError, match=f"edge 1 is .*{fault}"):
        Graph([(0, 1), edge], "abc")


@pytest.mark.parametrize("label", [[0], float("nan"), ([],)], ids=repr)
def test_a_bad_label_is_named(label):
    with pytest.raises(ValueError, match="node 2 has the label"):
        Graph([], ["a", "b", label])


def test_what_is_no_list_of_graphs():
    graph = Graph([(0, 1)], "ab")
    with pytest.raises(TypeError, match="element 1 is a tuple"):
        WeisfeilerLehman(1)([graph, ([], [])], [graph])
    with pytest.raises(TypeError, match="list of graphs, got one Graph"):
        WeisfeilerLehman(1)(graph, [graph])
    with pytest.raises(ValueError, match="h must be a whole number, at least 0"):
        WeisfeilerLehman(-1)
