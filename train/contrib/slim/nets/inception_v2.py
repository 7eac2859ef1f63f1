# SPDX-License-Identifier: Apache-2.0
"""Inception v2 (Ioffe and Szegedy, "Batch Normalization: Accelerating Deep Network Training by
Reducing Internal Covariate Shift", 2015).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....engine.graph.tensor import Tensor
from .....ops.public import tf
from ...framework.arg_scope import Scope, arg_scope
from ...layers.batch_norm import batch_norm
from ...layers.other_convolutions import separable_conv2d
from ...layers.pooling import avg_pool2d
from ...layers.shaping import dropout, softmax
from . import inception_parts as parts
from .plain import image_size

_TABLE = """
MaxPool_2a_3x3/2
2b_1x1:64~0.1
2c_3x3:192
MaxPool_3a_3x3/2
Mixed_3b | 0a_1x1:64 | 0a_1x1:64~0.09 0b_3x3:64 | 0a_1x1:64~0.09 0b_3x3:96 0c_3x3:96
    | AvgPool_0a_3x3 0b_1x1:32~0.1
Mixed_3c | 0a_1x1:64 | 0a_1x1:64~0.09 0b_3x3:96 | 0a_1x1:64~0.09 0b_3x3:96 0c_3x3:96
    | AvgPool_0a_3x3 0b_1x1:64~0.1
Mixed_4a | 0a_1x1:128~0.09 1a_3x3:160/2 | 0a_1x1:64~0.09 0b_3x3:96 1a_3x3:96/2
    | MaxPool_1a_3x3/2
Mixed_4b | 0a_1x1:224 | 0a_1x1:64~0.09 0b_3x3:96 | 0a_1x1:96~0.09 0b_3x3:128 0c_3x3:128
    | AvgPool_0a_3x3 0b_1x1:128~0.1
Mixed_4c | 0a_1x1:192 | 0a_1x1:96~0.09 0b_3x3:128 | 0a_1x1:96~0.09 0b_3x3:128 0c_3x3:128
    | AvgPool_0a_3x3 0b_1x1:128~0.1
Mixed_4d | 0a_1x1:160 | 0a_1x1:128~0.09 0b_3x3:160 | 0a_1x1:128~0.09 0b_3x3:160 0c_3x3:160
    | AvgPool_0a_3x3 0b_1x1:96~0.1
Mixed_4e | 0a_1x1:96 | 0a_1x1:128~0.09 0b_3x3:192 | 0a_1x1:160~0.09 0b_3x3:192 0c_3x3:192
    | AvgPool_0a_3x3 0b_1x1:96~0.1
Mixed_5a | 0a_1x1:128~0.09 1a_3x3:192/2 | 0a_1x1:192~0.09 0b_3x3:256 1a_3x3:256/2
    | MaxPool_1a_3x3/2
Mixed_5b | 0a_1x1:352 | 0a_1x1:192~0.09 0b_3x3:320 | 0a_1x1:160~0.09 0b_3x3:224 0c_3x3:224
    | AvgPool_0a_3x3 0b_1x1:128~0.1
Mixed_5c | 0a_1x1:352 | 0a_1x1:192~0.09 0b_3x3:320 | 0a_1x1:192~0.09 0b_3x3:224 0c_3x3:224
    | MaxPool_0a_3x3 0b_1x1:128~0.1
"""

_FIRST = "Conv2d_1a_7x7"


def _first(net: Tensor, depth: Callable[[int], int]) -> Tensor:
    """The first layer: few filters of each colour, mixed by a convolution of one pixel."""
    return separable_conv2d(
        net,
        depth(64),
        [7, 7],
        # More filters than the mixture has channels would be redundant.
        depth_multiplier=min(int(depth(64) / 3), 8),
        stride=2,
        weights_initializer=tf.truncated_normal_initializer(0.0, 1.0),
        scope=_FIRST,
    )


def inception_v2_base(
    inputs: Tensor,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Scope | None = None,
) -> tuple[Tensor, parts.EndPoints]:
    """The network without its scores.

    Args:
        inputs: pictures, [batch, height, width, channels].
        final_endpoint: the last layer or module.
        min_depth: the least number of channels of a layer.
        depth_multiplier: the factor of all numbers of channels.
        scope: the variable scope.

    Returns:
        The result of the last, and those of all by name.

    Raises:
        ValueError: there is no such end point, or the factor is not positive.
    """
    depth = parts.thinned(depth_multiplier, min_depth)
    end_points: parts.EndPoints = {}
    with tf.variable_scope(scope, "InceptionV2", [inputs]):
        with parts.stem_scope():
            net = end_points[_FIRST] = _first(inputs, depth)
            return parts.body(net, _TABLE, final_endpoint, depth, end_points), end_points


@image_size(224)
def inception_v2(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., Tensor] = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV2",
) -> tuple[Tensor, parts.EndPoints]:
    """Inception v2 for pictures of 224 pixels a side.

    Args:
        inputs: pictures, [batch, height, width, channels].
        num_classes: the number of scores.
        is_training: whether outputs are dropped and batches normalised by themselves.
        dropout_keep_prob: the share that is kept.
        min_depth: the least number of channels of a layer.
        depth_multiplier: the factor of all numbers of channels.
        prediction_fn: makes probabilities of scores.
        spatial_squeeze: whether the two spatial dimensions of the scores, of size one, go away.
        reuse: whether the variables are there already.
        scope: the variable scope.

    Returns:
        The scores, and the outputs of layers and modules by name.

    Raises:
        ValueError: the factor is not positive.
    """
    with tf.variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as scope:
        with arg_scope([batch_norm, dropout], is_training=is_training):
            net, end_points = inception_v2_base(
                inputs, scope=scope, min_depth=min_depth, depth_multiplier=depth_multiplier
            )
            with tf.variable_scope("Logits"):
                window = parts.reduced(net, [7, 7])
                name = "AvgPool_1a_{}x{}".format(*window)
                net = avg_pool2d(net, window, padding="VALID", scope=name)
                net = dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
                logits = parts.logits(net, num_classes, "Conv2d_1c_1x1")
                if spatial_squeeze:
                    logits = parts.squeezed(logits)
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def inception_v2_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars"
) -> Scope:
    """The scope in which the network is made."""
    return parts.inception_arg_scope(
        weight_decay, batch_norm_var_collection=batch_norm_var_collection
    )
