# SPDX-License-Identifier: Apache-2.0
"""Old names of exports, and input of graphs that are exported for training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....engine.api import export
from ....ops.public import tf
from ...estimator.estimator import Estimator
from ...estimator.export import build_raw_supervised_input_receiver_fn
from ...estimator.mode_keys import ModeKeys
from ...estimator.util import parse_input_fn_result


@export("contrib.estimator.export_saved_model_for_mode")
def export_saved_model_for_mode(
    estimator: Estimator,
    export_dir_base: str | bytes,
    input_receiver_fn: Callable[[], Any],
    assets_extra: dict[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = ModeKeys.PREDICT,
) -> bytes:
    """`estimator.export_saved_model` for a mode."""
    return estimator.export_saved_model(
        *(export_dir_base, input_receiver_fn, assets_extra, as_text, checkpoint_path, mode)
    )


@export("contrib.estimator.export_all_saved_models")
def export_all_saved_models(
    estimator: Estimator,
    export_dir_base: str | bytes,
    input_receiver_fn_map: dict[str, Callable[[], Any]],
    assets_extra: dict[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """`estimator.experimental_export_all_saved_models`."""
    return estimator.experimental_export_all_saved_models(
        *(export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path)
    )


@export("contrib.estimator.build_supervised_input_receiver_fn_from_input_fn")
def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], Any]:
    """A function that gives placeholders for what an input function gives.

    Args:
        input_fn: the input function.
        **input_fn_args: its arguments.

    Returns:
        A function for `export_all_saved_models`.
    """
    with tf.Graph().as_default():
        features, labels, _ = parse_input_fn_result(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)
