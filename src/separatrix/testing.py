"""scikit-learn's estimator checks that cannot hold here, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXPECTED_FAILURES"]

_ONLINE = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a weight scales the step of an online rule, which visits the "
    "points one by one: a step of 2 is not two steps, the second of which may not be needed, nor at another time"
    for kind in ("dense", "sparse")
}

_INSEPARABLE = dict.fromkeys(
    (
        "check_classifier_data_not_an_array",
        "check_classifiers_train",
        "check_dtype_object",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimator_sparse_tag",
        "check_estimators_dtypes",
        "check_estimators_nan_inf",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_positive_only_tag_during_fit",
        "check_sample_weights_list",
        "check_sample_weights_not_an_array",
        "check_sample_weights_pandas_series",
        "check_supervised_y_2d",
    ),
    "the check draws labels that no hyperplane separates, and then there is no maximum margin: NotSeparableError",
)

_COUNTS = {"check_decision_proba_consistency": "the check draws negative numbers, which are no counts"}

EXPECTED_FAILURES: Mapping[str, Mapping[str, str]] = {
    "CategoricalNB": _COUNTS | dict.fromkeys(_ONLINE, "the check draws fractions, which are no categories"),
    "ComplementNB": _COUNTS,
    "HardMarginSVC": _INSEPARABLE,
    "KernelPerceptron": _ONLINE,
    "MinimumErrorClassifier": {
        "check_class_weight_classifiers": "with weights of 1000 and 0.0001 the check wants nearly all rows in the "
        "heavy class; of the hyperplanes without an error there, that with the fewest errors elsewhere leaves rows "
        "to the light class",
    },
    "MultinomialNB": _COUNTS,
    "Perceptron": {
        **_ONLINE,
        "check_class_weight_classifiers": "with weights of 1000 and 0.0001 the check wants nearly all rows in the "
        "heavy class; a perceptron stops moving as soon as the rows of that class are right",
    },
    "PocketPerceptron": _ONLINE,
    "PoissonNB": _COUNTS,
}
"""{class name: {check name: why the mathematics forbids it}}"""
