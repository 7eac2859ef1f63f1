# SPDX-License-Identifier: Apache-2.0
"""Batch norms made part of the weights before them, as they will be when the net is used.

While a net is trained the folded weights follow the moving averages, which change little, and what
the batch differs by is corrected behind the product.
"""

from __future__ import annotations

import functools
from typing import Any

from ....engine.gradients.autodiff_registry import RegisterGradient
from ....engine.graph.graph import Graph
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.flow.cond import smart_cond
from ....ops.nn.conv_public import conv2d
from ....ops.nn.depthwise import depthwise_conv2d
from ....ops.public import tf
from . import common
from .batch_norms import BatchNorm, find_fused
from .unfused_batch_norms import fold_unfused


def FoldBatchNorms(
    graph: Graph, is_training: bool, freeze_batch_norm_delay: int | None = None
) -> None:
    """Folds all batch norms of a graph, in place.

    Args:
        graph: the graph, which is the default one.
        is_training: whether batch norms take the moments of batches.
        freeze_batch_norm_delay: after how many steps they take their moving averages; never if
            None.

    Raises:
        ValueError: a batch norm is not as layers make them.
    """
    _register_gradient()
    for match in find_fused(graph):
        _fold(graph, match, freeze_batch_norm_delay)
    fold_unfused(graph, is_training, freeze_batch_norm_delay, corrections)


@functools.cache
def _register_gradient() -> None:
    """Makes the gradient known, once; not when the module is imported, which nobody asks for."""
    RegisterGradient("FoldFusedBatchNormGrad")(_fold_fused_batch_norm_grad)


def _fold_fused_batch_norm_grad(
    op: Operation, grad_y: Any, grad_mean: Any, grad_var: Any, *others: Any
) -> tuple[Any, ...]:
    """The gradient of the moments of a batch, which the op itself has none of."""
    x: Any = op.inputs[0]
    mean: Any = op.outputs[1]
    n: Any = tf.cast(tf.size(x) / tf.size(grad_mean), dtypes.float32)
    by_mean = grad_mean / n
    by_var = 2 * grad_var * (x - mean) / (n - 1)
    return by_mean + by_var, None, None, None, None


def _fold(graph: Graph, match: BatchNorm, freeze_delay: int | None) -> None:
    scope, slash, _ = match.layer_op.name.rpartition("/")
    with graph.as_default(), graph.name_scope(scope + slash):
        with graph.name_scope(f"{scope}{slash}BatchNorm_Fold{slash}"):
            epsilon = match.bn_op.get_attr("epsilon")
            multiplier = match.gamma * tf.rsqrt(match.variance + epsilon)
            bias = tf.subtract(match.beta, match.mean * multiplier, name="bias")
            scale: Any = None
            recip: Any = None
            offset: Any = None
            if match.bn_op.get_attr("is_training"):
                scale, recip, offset = corrections("", match, freeze_delay)
            weights: Any = match.weights
            if match.layer_op.type == "DepthwiseConv2dNative":
                shape = match.weights.shape.as_list()[2:4]
                multiplier = tf.reshape(multiplier, shape, name="scale_reshape")
                if scale is not None:
                    scale = tf.reshape(scale, shape, name="correction_reshape")
        if scale is not None:
            weights = tf.multiply(scale, weights, name="correction_mult")
        scaled = tf.multiply(weights, multiplier, name="mul_fold")
        result = _again(match, scaled)
        if recip is not None:
            result = tf.multiply(recip, result, name="post_conv_mul")
            result = tf.add(result, offset, "correction_add")
        result = tf.add(result, bias, name="add_fold")
        if not common.RerouteTensor(result, match.output):
            raise ValueError(f"Folding batch norms failed, {match.output.name} had no outputs.")


def _again(match: BatchNorm, weights: Tensor) -> Any:
    """The product of a layer with other weights."""
    op, x = match.layer_op, match.input
    name = f"{op.name.split('/')[-1]}_Fold"
    if op.type == "Conv2D":
        return conv2d(
            x,
            weights,
            strides=op.get_attr("strides"),
            padding=op.get_attr("padding"),
            use_cudnn_on_gpu=op.get_attr("use_cudnn_on_gpu"),
            data_format=op.get_attr("data_format").decode(),
            name=name,
        )
    if op.type == "MatMul":
        transposes = {key: op.get_attr(key) for key in ("transpose_a", "transpose_b")}
        return tf.matmul(x, weights, **transposes, name=name)
    if op.type != "DepthwiseConv2dNative":
        raise ValueError(f"Cannot handle operation of type: {op.type}")
    result = depthwise_conv2d(
        x, weights, strides=op.get_attr("strides"), padding=op.get_attr("padding"), name=name
    )
    if match.batch_to_space_op is not None:
        spread = op.outputs[0].consumers()[0]
        name = f"{spread.name.split('/')[-1]}_Fold"
        result = tf.batch_to_space_nd(result, spread.inputs[1], spread.inputs[2], name=name)
    return result


def corrections(
    context: str, match: BatchNorm, freeze_delay: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    """What weights are multiplied by, and results multiplied by and added to, while training."""
    from ....engine.graph.defaults import get_default_graph

    with get_default_graph().name_scope(f"{context}batch_norm_correction"):
        by_average: Any = tf.rsqrt(match.moving_variance + match.epsilon)
        by_batch: Any = tf.rsqrt(match.variance + match.epsilon)
        scale = tf.divide(by_average, by_batch, name="scale_compute")
        scale = tf.identity(scale, name="correction_scale")
        recip = tf.reciprocal(scale, name="reciprocal_compute")
        offset = tf.multiply(
            match.gamma,
            match.mean * by_batch - match.moving_mean * by_average,
            name="offset_compute",
        )
        is_frozen: Any = False
        if freeze_delay is not None:
            step = common.CreateOrGetQuantizationStep()
            is_frozen = tf.greater_equal(step, freeze_delay, name="use_moving_average")
        _freeze(is_frozen, match.decay_of_mean, "freeze_moving_mean")
        _freeze(is_frozen, match.decay_of_variance, "freeze_moving_var")
        recip = smart_cond(
            is_frozen, lambda: tf.ones(scale.shape), lambda: recip, name="correction_recip"
        )
        offset = smart_cond(
            is_frozen, lambda: offset, lambda: tf.zeros(offset.shape), name="correction_offset"
        )
    return scale, recip, offset


def _freeze(is_frozen: Any, decay: Tensor, name: str) -> None:
    """Has a moving average stay as it is from some step on."""
    takers = decay.consumers()
    chosen = smart_cond(is_frozen, lambda: 0.0, lambda: decay, name=name)
    common.RerouteTensor(chosen, decay, can_modify=takers)
