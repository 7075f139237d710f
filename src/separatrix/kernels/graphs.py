"""The Weisfeiler-Lehman kernel: graphs are alike when their nodes have like surroundings."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from separatrix.cached import cached_property
from separatrix.kernels.counts import CountKernel, Vocabulary
from separatrix.kernels.lists import as_list
from separatrix.kernels.settings import flag, whole

MOST_STEPS = 1000  # so that a kernel value is never endless


@dataclass(frozen=True, init=False)
class Graph:
    """An undirected graph with a label at each node.

    Two graphs are equal when their labels and edges are; an edge given twice, or in both directions,
    is one edge.

    Parameters
    ----------
    edges : iterable of pairs of int
        Each joins two different nodes, numbered from 0.
    labels : iterable
        One label per node: anything hashable that equals itself. Their number is the number of nodes.

    Examples
    --------
    >>> Graph(edges=[(0, 1), (1, 2)], labels=["C", "C", "O"])
    Graph(edges=((0, 1), (1, 2)), labels=('C', 'C', 'O'))
    """

    edges: tuple[tuple[int, int], ...]
    labels: tuple[Hashable, ...]

    def __init__(self, edges: Iterable[Iterable[int]], labels: Iterable[Hashable]) -> None:
        named = tuple(labels)
        for node, label in enumerate(named):
            if not _is_label(label):
                raise ValueError(f"node {node} has the label {label!r}: a label is hashable and equals itself")
        pairs = {_edge(position, edge, len(named)) for position, edge in enumerate(edges)}
        object.__setattr__(self, "edges", tuple(sorted(pairs)))
        object.__setattr__(self, "labels", named)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """For each node, the nodes an edge joins it to."""
        adjacent: list[list[int]] = [[] for _ in self.labels]
        for one, other in self.edges:
            adjacent[one].append(other)
            adjacent[other].append(one)
        return tuple(map(tuple, adjacent))


@dataclass(frozen=True)
class WeisfeilerLehman(CountKernel, name="weisfeiler-lehman"):
    """k(a, b) = sum_{t=0..h} sum_l count_t(l in a) count_t(l in b): nodes labelled l at step t.

    At step 0 a node has its own label; at step t + 1, its label at step t together with those of its
    neighbours, in any order. Step t thus tells nodes apart by their surroundings up to t edges away, and the
    kernel does not depend on how nodes are numbered.

    Parameters
    ----------
    h : int
        The number of steps, at least 0 and at most 1000: after as many as a graph has nodes, its nodes are told apart
        as far as they ever will be.
    normalize : bool, default=False
        Divide by sqrt(k(a, a) k(b, b)): the cosine, in which large graphs weigh no more than small ones.

    References
    ----------
    N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn, K. M. Borgwardt, "Weisfeiler-Lehman graph
    kernels", Journal of Machine Learning Research 12, 2011.
    """

    h: int
    normalize: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "h", whole("h", self.h, at_least=0, at_most=MOST_STEPS))
        object.__setattr__(self, "normalize", flag("normalize", self.normalize))

    def check(self, X: Any) -> list[Graph]:
        """``X`` as a list of graphs; TypeError names the first element that is none."""
        points = as_list(X, self, "graphs")
        for position, point in enumerate(points):
            if not isinstance(point, Graph):
                kind = type(point).__name__
                raise TypeError(f"{self} takes graphs, made by Graph(edges, labels): element {position} is a {kind}")
        return points

    def parts(self, point: Graph, vocabulary: Vocabulary) -> list[int]:
        # A label of step 0 is a 1-tuple and a later one a pair, so none can be taken for another; and
        # the pair starts with a number of the step before, so no two steps share a number.
        now = [vocabulary[(label,)] for label in point.labels]
        seen = list(now)
        for _ in range(self.h):
            now = [
                vocabulary[now[node], tuple(sorted([now[other] for other in others]))]
                for node, others in enumerate(point.neighbours)
            ]
            seen += now
        return seen


def _edge(position: int, edge: Iterable[int], nodes: int) -> tuple[int, int]:
    """The two ends of an edge, the smaller first."""
    try:
        one, other = map(operator.index, edge)
    except (TypeError, ValueError):
        raise ValueError(f"edge {position} is {edge!r}: an edge is a pair of node numbers") from None
    if not (0 <= one < nodes and 0 <= other < nodes):
        raise ValueError(f"edge {position} is ({one}, {other}): the nodes are numbered 0 to {nodes - 1}")
    if one == other:
        raise ValueError(f"edge {position} is ({one}, {other}): an edge joins two different nodes")
    return min(one, other), max(one, other)


def _is_label(label: Any) -> bool:
    """Whether equal labels can be found equal: lists cannot be hashed, NaN is not equal to itself."""
    try:
        hash(label)
    except TypeError:
        return False
    return bool(label == label)
