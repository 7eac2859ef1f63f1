# SPDX-License-Identifier: Apache-2.0
"""Input of models that are served."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from .....engine.api import constant, export
from .....engine.types import dtypes
from .....ops.public import tf

# Features, labels, and what requests give, each by name.
InputFnOps = collections.namedtuple("InputFnOps", ["features", "labels", "default_inputs"])
constant("contrib.learn.InputFnOps", InputFnOps)
constant("contrib.learn.utils.input_fn_utils.InputFnOps", InputFnOps)


@export(
    "contrib.learn.build_parsing_serving_input_fn",
    "contrib.learn.utils.input_fn_utils.build_parsing_serving_input_fn",
    "contrib.learn.utils.build_parsing_serving_input_fn",
)
def build_parsing_serving_input_fn(
    feature_spec: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """An input function whose requests are serialized Examples.

    Args:
        feature_spec: features, as tf.parse_example takes them.
        default_batch_size: how many Examples a request has; any number if None.

    Returns:
        The function.
    """

    def input_fn() -> InputFnOps:
        examples = tf.placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        features = tf.parse_example(examples, feature_spec)
        return InputFnOps(features, None, {"examples": examples})

    return input_fn


@export("contrib.learn.utils.input_fn_utils.build_default_serving_input_fn")
def build_default_serving_input_fn(
    features: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """An input function whose requests are features.

    Args:
        features: tensors by name, as the model takes them.
        default_batch_size: how many examples a request has; any number if None.

    Returns:
        The function.
    """

    def input_fn() -> InputFnOps:
        made = {
            name: tf.placeholder(
                tensor.dtype, [default_batch_size, *tensor.get_shape()[1:]], name=tensor.op.name
            )
            for name, tensor in features.items()
        }
        return InputFnOps(made, None, made)

    return input_fn
