# SPDX-License-Identifier: Apache-2.0
"""An estimator as a function, with the variables of its last checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.graph.graph import Graph
from ...estimator.mode_keys import ModeKeys
from ...saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from ...sessions.monitored_session import ChiefSessionCreator, MonitoredSession
from .predictor import Predictor

if TYPE_CHECKING:
    from ....io.protos import ConfigProto
    from ...estimator.estimator import Estimator


def _signature(receiver: Any, estimator: Estimator, output_key: str | None) -> Any:
    key = DEFAULT_SERVING_SIGNATURE_DEF_KEY if output_key is None else output_key
    spec = estimator.model_fn(receiver.features, None, ModeKeys.PREDICT, estimator.config)
    output = spec.export_outputs.get(key)
    if output is None:
        raise KeyError(f"output_key must be one of {spec.export_outputs.keys()}; got {key}")
    return output.as_signature_def(receiver.receiver_tensors)


class CoreEstimatorPredictor(Predictor):
    """A predictor of an estimator; `from_estimator` says what the arguments are."""

    def __init__(
        self,
        estimator: Any,
        serving_input_receiver_fn: Callable[[], Any],
        output_key: str | None = None,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
    ) -> None:
        self._graph = graph or Graph()
        with self._graph.as_default():
            signature = _signature(serving_input_receiver_fn(), estimator, output_key)
            creator = ChiefSessionCreator(config=config, checkpoint_dir=estimator.model_dir)
            self._session = MonitoredSession(session_creator=creator)
        self._find(
            {key: info.name for key, info in signature.inputs.items()},
            {key: info.name for key, info in signature.outputs.items()},
        )
