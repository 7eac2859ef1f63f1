# SPDX-License-Identifier: Apache-2.0
"""Asks exported models of time series: brings states up to date and predicts from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
)
from .head import state_to_dictionary
from .input_pipeline import _canonicalize_numpy_data
from .model_utils import canonicalize_times_or_steps_from_output

if TYPE_CHECKING:
    from ....engine.session.session import Session

_Values = Mapping[str, Any]


def _run(
    session: Session, signature: Any, features: _Values, continue_from: _Values | None = None
) -> dict[str, Any]:
    """What a signature gives for features, from a state."""
    state: _Values = continue_from or {}
    if FilteringResults.STATE_TUPLE in state:
        state = state_to_dictionary(state[FilteringResults.STATE_TUPLE])
    find = session.graph.as_graph_element
    inputs = {key: find(value.name) for key, value in signature.inputs.items()}
    outputs = {key: find(value.name) for key, value in signature.outputs.items()}
    given = {**{k: v for k, v in state.items() if k in inputs}, **features}
    found: dict[str, Any] = session.run(outputs, {inputs[k]: v for k, v in given.items()})
    return found


def predict_continuation(
    continue_from: _Values,
    signatures: Any,
    session: Session,
    steps: int | None = None,
    times: np.ndarray | None = None,
    exogenous_features: _Values | None = None,
) -> dict[str, Any]:
    """Predictions from a state (tf.contrib.timeseries.saved_model_utils).

    Args:
        continue_from: results of a filter, or of an evaluation.
        signatures: the MetaGraphDef of the loaded model.
        session: the session that it is loaded into.
        steps: how many times to predict; or
        times: the times, [batch, n].
        exogenous_features: what is known of the times.

    Returns:
        Predictions and times by name.
    """
    at = canonicalize_times_or_steps_from_output(times, steps, continue_from)
    features = {PredictionFeatures.TIMES: at, **(exogenous_features or {})}
    signature = signatures.signature_def[SavedModelLabels.PREDICT]
    found = _run(session, signature, features, continue_from)
    return {**found, PredictionResults.TIMES: at}


def cold_start_filter(signatures: Any, session: Session, features: _Values) -> dict[str, Any]:
    """The state after values, from the model's first state.

    Args:
        signatures: the MetaGraphDef of the loaded model.
        session: the session that it is loaded into.
        features: times, values and others.

    Returns:
        The state's parts and times by name.
    """
    return _filtered(SavedModelLabels.COLD_START_FILTER, signatures, session, features, None)


def filter_continuation(
    continue_from: _Values, signatures: Any, session: Session, features: _Values
) -> dict[str, Any]:
    """The state after more values; the others as of `cold_start_filter`.

    Args:
        continue_from: results of a filter, or of an evaluation.
    """
    return _filtered(SavedModelLabels.FILTER, signatures, session, features, continue_from)


def _filtered(
    label: str, signatures: Any, session: Session, features: _Values, before: _Values | None
) -> dict[str, Any]:
    full = _canonicalize_numpy_data(features, require_single_batch=False)
    found = _run(session, signatures.signature_def[label], full, before)
    return {**found, FilteringResults.TIMES: full[FilteringFeatures.TIMES]}
