# SPDX-License-Identifier: Apache-2.0
"""What programs take from Estimators of `estimator.canned`: keys, and optimizers by name."""

from __future__ import annotations

from ...train.estimator.optimizers import optimizer_of
from ...train.optimizers.optimizer import Optimizer


class PredictionKeys:
    """The names of what ready-made models predict."""

    CLASSES = "classes"
    CLASS_IDS = "class_ids"
    ALL_CLASSES = "all_classes"
    ALL_CLASS_IDS = "all_class_ids"
    LOGISTIC = "logistic"
    LOGITS = "logits"
    PREDICTIONS = "predictions"
    PROBABILITIES = "probabilities"
    TOP_K = "top_k"


class MetricKeys:
    """The names of what their evaluation measures; "%g", "%d" and "%s" are to be filled in."""

    LOSS = "loss"
    LOSS_MEAN = "average_loss"
    LOSS_REGULARIZATION = "regularization_loss"
    ACCURACY = "accuracy"
    PRECISION = "precision"
    RECALL = "recall"
    ACCURACY_BASELINE = "accuracy_baseline"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    LABEL_MEAN = "label/mean"
    PREDICTION_MEAN = "prediction/mean"
    ACCURACY_AT_THRESHOLD = "accuracy/positive_threshold_%g"
    PRECISION_AT_THRESHOLD = "precision/positive_threshold_%g"
    RECALL_AT_THRESHOLD = "recall/positive_threshold_%g"
    PROBABILITY_MEAN_AT_CLASS = "probability_mean/class%d"
    AUC_AT_CLASS = "auc/class%d"
    AUC_PR_AT_CLASS = "auc_precision_recall/class%d"
    PROBABILITY_MEAN_AT_NAME = "probability_mean/%s"
    AUC_AT_NAME = "auc/%s"
    AUC_PR_AT_NAME = "auc_precision_recall/%s"


def get_optimizer_instance(opt: object, learning_rate: float | None = None) -> Optimizer:
    """The optimizer that a name, such as "Adagrad", a function or an object means.

    Raises:
        ValueError: there is none of that name, it has no learning rate, or it is something else.
    """
    made: Optimizer = optimizer_of(opt, learning_rate or 0.0)
    if isinstance(opt, str) and not learning_rate:
        raise ValueError("learning_rate must be specified when opt is string.")
    return made
