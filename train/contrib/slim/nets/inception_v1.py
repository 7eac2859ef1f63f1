# SPDX-License-Identifier: Apache-2.0
"""Inception v1, GoogLeNet (Szegedy et al., "Going Deeper with Convolutions", 2014), with batch
normalisation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....engine.graph.tensor import Tensor
from .....ops.public import tf
from ...framework.arg_scope import Scope, arg_scope
from ...layers.batch_norm import batch_norm
from ...layers.convolutions import conv2d
from ...layers.dense import fully_connected
from ...layers.pooling import avg_pool2d
from ...layers.shaping import dropout, softmax
from . import inception_parts as parts
from .plain import image_size

_TABLE = """
1a_7x7:64/2
MaxPool_2a_3x3/2
2b_1x1:64
2c_3x3:192
MaxPool_3a_3x3/2
Mixed_3b | 0a_1x1:64 | 0a_1x1:96 0b_3x3:128 | 0a_1x1:16 0b_3x3:32 | MaxPool_0a_3x3 0b_1x1:32
Mixed_3c | 0a_1x1:128 | 0a_1x1:128 0b_3x3:192 | 0a_1x1:32 0b_3x3:96 | MaxPool_0a_3x3 0b_1x1:64
MaxPool_4a_3x3/2
Mixed_4b | 0a_1x1:192 | 0a_1x1:96 0b_3x3:208 | 0a_1x1:16 0b_3x3:48 | MaxPool_0a_3x3 0b_1x1:64
Mixed_4c | 0a_1x1:160 | 0a_1x1:112 0b_3x3:224 | 0a_1x1:24 0b_3x3:64 | MaxPool_0a_3x3 0b_1x1:64
Mixed_4d | 0a_1x1:128 | 0a_1x1:128 0b_3x3:256 | 0a_1x1:24 0b_3x3:64 | MaxPool_0a_3x3 0b_1x1:64
Mixed_4e | 0a_1x1:112 | 0a_1x1:144 0b_3x3:288 | 0a_1x1:32 0b_3x3:64 | MaxPool_0a_3x3 0b_1x1:64
Mixed_4f | 0a_1x1:256 | 0a_1x1:160 0b_3x3:320 | 0a_1x1:32 0b_3x3:128 | MaxPool_0a_3x3 0b_1x1:128
MaxPool_5a_2x2/2
Mixed_5b | 0a_1x1:256 | 0a_1x1:160 0b_3x3:320 | 0a_1x1:32 0a_3x3:128 | MaxPool_0a_3x3 0b_1x1:128
Mixed_5c | 0a_1x1:384 | 0a_1x1:192 0b_3x3:384 | 0a_1x1:48 0b_3x3:128 | MaxPool_0a_3x3 0b_1x1:128
"""


def inception_v1_base(
    inputs: Tensor, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1"
) -> tuple[Tensor, parts.EndPoints]:
    """The network without its scores.

    Args:
        inputs: pictures, [batch, height, width, channels].
        final_endpoint: the last layer or module.
        scope: the variable scope.

    Returns:
        The result of the last, and those of all by name.

    Raises:
        ValueError: there is no such end point.
    """
    end_points: parts.EndPoints = {}
    normal = tf.truncated_normal_initializer(0.0, 0.01)
    with tf.variable_scope(scope, "InceptionV1", [inputs]):
        with (
            arg_scope([conv2d, fully_connected], weights_initializer=normal),
            parts.stem_scope(),
        ):
            return parts.body(inputs, _TABLE, final_endpoint, int, end_points), end_points


@image_size(224)
def inception_v1(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Callable[..., Tensor] = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV1",
) -> tuple[Tensor, parts.EndPoints]:
    """Inception v1 for pictures of 224 pixels a side.

    Args:
        inputs: pictures, [batch, height, width, channels].
        num_classes: the number of scores.
        is_training: whether outputs are dropped and batches normalised by themselves.
        dropout_keep_prob: the share that is kept.
        prediction_fn: makes probabilities of scores.
        spatial_squeeze: whether the two spatial dimensions of the scores, of size one, go away.
        reuse: whether the variables are there already.
        scope: the variable scope.

    Returns:
        The scores, and the outputs of layers and modules by name.
    """
    with tf.variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as scope:
        with arg_scope([batch_norm, dropout], is_training=is_training):
            net, end_points = inception_v1_base(inputs, scope=scope)
            with tf.variable_scope("Logits"):
                net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
                net = dropout(net, dropout_keep_prob, scope="Dropout_0b")
                logits = parts.logits(net, num_classes, "Conv2d_0c_1x1")
                if spatial_squeeze:
                    logits = parts.squeezed(logits)
                end_points["Logits"] = logits
                end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def inception_v1_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_var_collection: str = "moving_vars",
) -> Scope:
    """The scope in which the network is made."""
    return parts.inception_arg_scope(weight_decay, use_batch_norm, batch_norm_var_collection)
