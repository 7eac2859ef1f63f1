# SPDX-License-Identifier: Apache-2.0
"""The names of features and results."""

from __future__ import annotations

from ....engine.api import export
from ...saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class State:
    """Names of a model's state."""

    # The state as the model has it, and how its parts are called where they are taken apart.
    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"


class Times:
    """The name of the times, int64 [batch, window]."""

    TIMES = "times"


class Values:
    """The name of the values, floats [batch, window, features]."""

    VALUES = "values"


@export("contrib.timeseries.TrainEvalFeatures")
class TrainEvalFeatures(Times, Values):
    """Names of features for training and evaluation."""


class PredictionFeatures(Times, State):
    """Names of features for prediction."""


class FilteringFeatures(Times, Values, State):
    """Names of features that a state is brought up to date with."""


class PredictionResults(Times):
    """Names of what predictions have besides the model's."""


@export("contrib.timeseries.FilteringResults")
class FilteringResults(Times, State):
    """Names of what evaluations have besides the model's."""


class SavedModelLabels:
    """Names of the signatures of exported models."""

    PREDICT = DEFAULT_SERVING_SIGNATURE_DEF_KEY
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"
