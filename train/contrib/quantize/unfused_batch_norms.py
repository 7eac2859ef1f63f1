# SPDX-License-Identifier: Apache-2.0
"""Folds batch norms that are made of sums and products, which their names tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....engine.graph.graph import Graph
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from ....ops.nn.conv_public import conv2d
from ....ops.nn.depthwise import depthwise_conv2d
from ....ops.public import tf
from . import common
from .batch_norms import BatchNorm

Corrections = Callable[[str, BatchNorm, "int | None"], tuple[Any, Any, Any]]
_INNER = "BatchNorm/batchnorm_1/"


def fold_unfused(
    graph: Graph, is_training: bool, freeze_delay: int | None, corrections: Corrections
) -> None:
    """Folds them, in place.

    Args:
        graph: the graph.
        is_training: whether they take the moments of batches.
        freeze_delay: after how many steps they take their moving averages.
        corrections: makes what products are corrected by.

    Raises:
        ValueError: one is not as layers make them.
    """
    takers = common.InputToOps(graph)
    for context in common.BatchNormGroups(graph):
        shift = graph.get_operation_by_name(f"{context}{_INNER}add_1")
        root = graph.get_operation_by_name(f"{context}{_INNER}Rsqrt")
        has_scale = sum(op.type == "Mul" for op in takers.ConsumerOperations(root)) == 1
        if not shift.outputs[0].consumers():
            continue
        folded = _fold(graph, context, has_scale, is_training, freeze_delay, corrections)
        after = common.GetEndpointActivationOp(graph, context)
        if after is None:
            outer = context.rpartition("/")[0].rpartition("/")[0]
            after = graph.get_operation_by_name(f"{outer}/AddV2" if outer else "AddV2")
        if common.RerouteTensor(folded, shift.outputs[0], can_modify=[after]) != 1:
            raise ValueError(f"Unexpected inputs to op: {after.name}")


def _fold(
    graph: Graph,
    context: str,
    has_scale: bool,
    is_training: bool,
    freeze_delay: int | None,
    corrections: Corrections,
) -> Tensor:
    """What a batch norm gives, as a product with folded weights."""
    scaling = graph.get_operation_by_name(f"{context}{_INNER}mul{'_1' if has_scale else ''}")
    layer, spread = scaling.inputs[0].op, None
    if layer.type == "BatchToSpaceND":
        spread, layer = layer, layer.inputs[0].op
    if layer.type not in ("Conv2D", "MatMul", "DepthwiseConv2dNative"):
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    weights: Any = layer.inputs[1]
    match = _parameters(graph, context, has_scale)
    correct: Any = None
    recip: Any = None
    offset: Any = None
    if is_training:
        correct, recip, offset = corrections(context, match, freeze_delay)
    scale: Any = scaling.inputs[1]
    if layer.type == "DepthwiseConv2dNative":
        shape = weights.shape.as_list()[2:4]
        root = f"{context}{_INNER}{'mul' if has_scale else 'Rsqrt'}"
        scale = graph.get_operation_by_name(root).outputs[0]
        scale = tf.reshape(scale, shape, f"{context}scale_reshape")
        if correct is not None:
            correct = tf.reshape(correct, shape, f"{context}correction_reshape")
    if correct is not None:
        with tf.device(scaling.device):
            weights = tf.multiply(correct, weights, f"{context}correction_mult")
    folded = tf.multiply(weights, scale, name=f"{context}mul_fold")
    _check_same("mul_fold", weights, folded)
    product = _again(layer, folded)
    result: Any = product
    if spread is not None:
        result = tf.batch_to_space_nd(
            result, spread.inputs[1], spread.inputs[2], name=f"{spread.name}_Fold"
        )
    if offset is not None:
        with tf.device(product.op.device):
            result = tf.multiply(recip, result, f"{context}post_conv_mul")
            result = tf.add(result, offset, f"{context}correction_add")
    shift = graph.get_operation_by_name(f"{context}{_INNER}add_1")
    total = tf.add(result, shift.inputs[1], name=f"{context}add_fold")
    _check_same("add_fold", result, total)
    return total


def _again(layer: Operation, weights: Tensor) -> Any:
    """The product of a layer with other weights.

    Raises:
        ValueError: they do not fit.
    """
    x, name = layer.inputs[0], f"{layer.name}_Fold"
    given, wanted = x.shape, weights.shape
    if layer.type == "MatMul":
        if len(wanted) != 2 or len(given) != 2 or given[1] != wanted[0]:
            raise ValueError(
                f"Incompatible shapes for op {layer.name} inputs: {given} and {wanted}"
            )
        transposes = {key: layer.get_attr(key) for key in ("transpose_a", "transpose_b")}
        return tf.matmul(x, weights, **transposes, name=name)
    if len(given) != 4 or len(wanted) != 4 or given[3] != wanted[2]:
        raise ValueError(f"Incompatible shapes for op {layer.name} inputs: {given} and {wanted}")
    options: dict[str, Any] = {
        "strides": layer.get_attr("strides"),
        "padding": layer.get_attr("padding"),
        "name": name,
    }
    if layer.type == "DepthwiseConv2dNative":
        return depthwise_conv2d(x, weights, **options)
    return conv2d(
        x,
        weights,
        use_cudnn_on_gpu=layer.get_attr("use_cudnn_on_gpu"),
        data_format=layer.get_attr("data_format").decode(),
        **options,
    )


def _check_same(name: str, given: Tensor, made: Tensor) -> None:
    if not given.shape.is_compatible_with(made.shape):
        raise ValueError(
            f"{name} should not change tensor shape: input {given.shape}, output {made.shape}"
        )


def _parameters(graph: Graph, context: str, has_scale: bool) -> BatchNorm:
    """The tensors of a batch norm.

    Variables lie in scopes that have less repetitions than those of operations, so that what has
    the most parts of its name in common with the scope is taken.
    """

    def nearest(suffix: str) -> Any:
        parts = set(context.split("/"))
        found: dict[str, int] = {}
        for op in graph.get_operations():
            if op.name.endswith(f"BatchNorm/{suffix}"):
                shared = len(parts & set(op.name.split("/")))
                if shared or not context:
                    found[op.name] = shared
        if not found:
            return None
        return graph.get_tensor_by_name(f"{max(found, key=lambda name: found[name])}:0")

    is_resource = tf.get_variable_scope().use_resource
    read = "Read/ReadVariableOp" if is_resource else "read"
    match = BatchNorm(
        mean=nearest("moments/Squeeze"),
        variance=nearest("moments/Squeeze_1"),
        moving_mean=nearest(f"moving_mean/{read}"),
        moving_variance=nearest(f"moving_variance/{read}"),
        epsilon=nearest("batchnorm_1/add/y"),
        decay_of_mean=nearest("AssignMovingAvg/decay"),
        decay_of_variance=nearest("AssignMovingAvg_1/decay"),
    )
    if has_scale:
        match.gamma = nearest(f"gamma/{read}" if is_resource else "gamma")
    else:
        match.gamma = tf.ones(match.moving_mean.shape)
    return match
