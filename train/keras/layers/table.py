# SPDX-License-Identifier: Apache-2.0
"""All layers by their names, as configurations have them."""

from __future__ import annotations

import importlib
from typing import Any

from ...layers.base_layer import Layer
from ..serialization import Family, serialize_keras_object

MODULES = (
    *("core", "activations", "convolutional", "spatial", "merge", "normalization"),
    *("recurrent", "cells", "conv_lstm", "cudnn", "wrappers", "lookup", "local"),
)


def _all() -> dict[str, Any]:
    from ...feature_column.dense_features import DenseFeatures, SequenceFeatures
    from ..engine.added import AddLoss, AddMetric
    from ..engine.input_layer import InputLayer
    from ..engine.network import Network
    from ..engine.op_layer import TensorFlowOpLayer
    from ..engine.sequential import Sequential
    from ..engine.training import Model

    engine = (
        *(InputLayer, Network, Sequential, Model, TensorFlowOpLayer, Layer),
        *(DenseFeatures, SequenceFeatures, AddLoss, AddMetric),
    )
    found: dict[str, Any] = {kind.__name__: kind for kind in engine}
    for module in MODULES:
        for name, value in vars(importlib.import_module(f".{module}", __package__)).items():
            if isinstance(value, type) and issubclass(value, Layer) and name[0] != "_":
                found.setdefault(name, value)
    # As files of TensorFlow 1.13 and 1.14 have them.
    for version in ("V1", "V2"):
        found[f"BatchNormalization{version}"] = found["BatchNormalization"]
    return found


_FAMILY = Family("layer", _all)
serialize = serialize_keras_object


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The layer of a dict of class_name and config; ValueError if there is none."""
    return _FAMILY.deserialize(config, custom_objects)
