"""Metadata that a fit hands on to its splitter and its scorer, by scikit-learn's rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from inspect import signature
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from separatrix._typing import Array
from separatrix.errors import InvalidInputError, UnsupportedParameterError

Given = Mapping[str, Any]


class Scored:
    """An estimator with the parameters ``scoring`` and ``cv``, whose ``score`` is by ``scoring``."""

    scoring: Any
    cv: Any

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """The score by ``scoring``: accuracy, if that is None.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,), or 0/1 matrix
        sample_weight : array-like of shape (n,), default=None
        **params
            What else the scorer asked for, with scikit-learn's metadata routing.

        Returns
        -------
        float
        """
        _, scoring = self._routed("score", sample_weight, params)
        return float(self._get_scorer()(self, X, y, **scoring))

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to the splitter and to the scorer: scikit-learn asks for it."""
        scoring = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(scorer=self._get_scorer(), method_mapping=scoring)
        )

    def _get_scorer(self) -> Callable[..., float]:
        """(estimator, X, y) → number, also with sample_weight; accuracy by default."""
        if self.scoring is None or self.scoring == "warn":
            return get_scorer("accuracy")
        if not (isinstance(self.scoring, str) or callable(self.scoring)):
            raise InvalidInputError(
                f"scoring must be None, a function or the name of a score; got {self.scoring!r}.", "scoring"
            )
        try:
            return check_scoring(self, self.scoring)
        except ValueError as error:
            raise InvalidInputError(
                f"scoring must be None, a function or the name of a score: {error}", "scoring"
            ) from error

    def _routed(self, method: str, sample_weight: Any, params: Given) -> tuple[Given, Given]:
        """What the splitter and the scorer get. Without routing: nothing, and the weights."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if not get_config()["enable_metadata_routing"]:
            if params:
                raise UnsupportedParameterError(
                    f"Passing {', '.join(params)} to {type(self).__name__}.{method} is only supported if "
                    "enable_metadata_routing=True: use sklearn.set_config, and set_score_request of the scorer."
                )
            return {}, weights
        if method == "fit":  # whose own the weights are as well
            weights = {"sample_weight": sample_weight}
        routed = process_routing(self, method, **params, **weights)
        return (routed.splitter.split if method == "fit" else {}), routed.scorer.score


def knowing(scorer: Any, classes: Array) -> Callable[..., float]:
    """The scorer, told of all classes if it takes ``labels``: the rows that it scores may lack some.

    As scikit-learn's LogisticRegressionCV does; of two classes the second is the positive one.
    """
    takes = signature(scorer._score_func).parameters if hasattr(scorer, "_score_func") else {}
    if "labels" not in takes:
        return scorer
    told = {"labels": classes}
    if len(classes) == 2 and "pos_label" in takes:
        told["pos_label"] = classes[1]
    scorer = copy(scorer)
    scorer._kwargs = {**told, **scorer._kwargs}
    return scorer


def at_rows(metadata: Given, rows: Any) -> dict[str, Any]:
    """The entries of some rows."""
    return {name: np.asarray(values)[rows] for name, values in metadata.items() if values is not None}
