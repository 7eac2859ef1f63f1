# SPDX-License-Identifier: Apache-2.0
"""Inception v3 (Szegedy et al., "Rethinking the Inception Architecture for Computer Vision",
2015).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....engine.graph.collections import GraphKeys
from .....engine.graph.tensor import Tensor
from .....ops.public import tf
from ...framework.arg_scope import Scope, arg_scope
from ...layers.batch_norm import batch_norm
from ...layers.convolutions import conv2d
from ...layers.pooling import avg_pool2d
from ...layers.shaping import dropout, softmax
from . import inception_parts as parts
from .plain import image_size

_TABLE = """
1a_3x3:32/2!
2a_3x3:32!
2b_3x3:64
MaxPool_3a_3x3/2!
3b_1x1:80!
4a_3x3:192!
MaxPool_5a_3x3/2!
Mixed_5b | 0a_1x1:64 | 0a_1x1:48 0b_5x5:64 | 0a_1x1:64 0b_3x3:96 0c_3x3:96
    | AvgPool_0a_3x3 0b_1x1:32
Mixed_5c | 0a_1x1:64 | 0b_1x1:48 Conv_1_0c_5x5:64 | 0a_1x1:64 0b_3x3:96 0c_3x3:96
    | AvgPool_0a_3x3 0b_1x1:64
Mixed_5d | 0a_1x1:64 | 0a_1x1:48 0b_5x5:64 | 0a_1x1:64 0b_3x3:96 0c_3x3:96
    | AvgPool_0a_3x3 0b_1x1:64
Mixed_6a | 1a_1x1:384/2=3x3! | 0a_1x1:64 0b_3x3:96 1a_1x1:96/2=3x3! | MaxPool_1a_3x3/2!
Mixed_6b | 0a_1x1:192 | 0a_1x1:128 0b_1x7:128 0c_7x1:192
    | 0a_1x1:128 0b_7x1:128 0c_1x7:128 0d_7x1:128 0e_1x7:192 | AvgPool_0a_3x3 0b_1x1:192
Mixed_6c | 0a_1x1:192 | 0a_1x1:160 0b_1x7:160 0c_7x1:192
    | 0a_1x1:160 0b_7x1:160 0c_1x7:160 0d_7x1:160 0e_1x7:192 | AvgPool_0a_3x3 0b_1x1:192
Mixed_6d | 0a_1x1:192 | 0a_1x1:160 0b_1x7:160 0c_7x1:192
    | 0a_1x1:160 0b_7x1:160 0c_1x7:160 0d_7x1:160 0e_1x7:192 | AvgPool_0a_3x3 0b_1x1:192
Mixed_6e | 0a_1x1:192 | 0a_1x1:192 0b_1x7:192 0c_7x1:192
    | 0a_1x1:192 0b_7x1:192 0c_1x7:192 0d_7x1:192 0e_1x7:192 | AvgPool_0a_3x3 0b_1x1:192
Mixed_7a | 0a_1x1:192 1a_3x3:320/2! | 0a_1x1:192 0b_1x7:192 0c_7x1:192 1a_3x3:192/2!
    | MaxPool_1a_3x3/2!
Mixed_7b | 0a_1x1:320 | 0a_1x1:384 [0b_1x3:384 0b_3x1:384]
    | 0a_1x1:448 0b_3x3:384 [0c_1x3:384 0d_3x1:384] | AvgPool_0a_3x3 0b_1x1:192
Mixed_7c | 0a_1x1:320 | 0a_1x1:384 [0b_1x3:384 0c_3x1:384]
    | 0a_1x1:448 0b_3x3:384 [0c_1x3:384 0d_3x1:384] | AvgPool_0a_3x3 0b_1x1:192
"""


def inception_v3_base(
    inputs: Tensor,
    final_endpoint: str = "Mixed_7c",
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
    with tf.variable_scope(scope, "InceptionV3", [inputs]):
        with parts.stem_scope():
            return parts.body(inputs, _TABLE, final_endpoint, depth, end_points), end_points


@image_size(299)
def inception_v3(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., Tensor] = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV3",
) -> tuple[Tensor, parts.EndPoints]:
    """Inception v3 for pictures of 299 pixels a side.

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
    with tf.variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as scope:
        with arg_scope([batch_norm, dropout], is_training=is_training):
            net, end_points = inception_v3_base(
                inputs, scope=scope, min_depth=min_depth, depth_multiplier=depth_multiplier
            )
            depth = parts.thinned(depth_multiplier, min_depth)
            end_points["AuxLogits"] = _auxiliary(
                end_points["Mixed_6e"], depth, num_classes, spatial_squeeze
            )
            with tf.variable_scope("Logits"):
                window = parts.reduced(net, [8, 8])
                name = "AvgPool_1a_{}x{}".format(*window)
                net = avg_pool2d(net, window, padding="VALID", scope=name)
                net = dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
                end_points["PreLogits"] = net
                logits = parts.logits(net, num_classes, "Conv2d_1c_1x1")
                if spatial_squeeze:
                    logits = parts.squeezed(logits)
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def _auxiliary(
    net: Tensor, depth: Callable[[int], int], num_classes: int, spatial_squeeze: bool
) -> Tensor:
    """Scores from the middle of the network, by which its first half is trained too."""
    with parts.stem_scope(), tf.variable_scope("AuxLogits"):
        net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        window = parts.reduced(net, [5, 5])
        net = conv2d(
            net,
            depth(768),
            window,
            weights_initializer=tf.truncated_normal_initializer(0.0, 0.01),
            padding="VALID",
            scope="Conv2d_2a_{}x{}".format(*window),
        )
        normal = tf.truncated_normal_initializer(0.0, 0.001)
        scores = parts.logits(net, num_classes, "Conv2d_2b_1x1", weights_initializer=normal)
        return parts.squeezed(scores) if spatial_squeeze else scores


def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> Scope:
    """The scope in which the network is made."""
    return parts.inception_arg_scope(
        weight_decay,
        True,
        batch_norm_var_collection,
        batch_norm_decay,
        batch_norm_epsilon,
        updates_collections,
        fused=use_fused_batchnorm,
    )
