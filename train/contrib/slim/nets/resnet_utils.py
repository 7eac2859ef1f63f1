# SPDX-License-Identifier: Apache-2.0
"""Parts of residual networks (He et al., "Deep Residual Learning for Image Recognition", 2015).

A network may be asked for a stride: units behind the place where it is reached do not stride, and
their convolutions are dilated by what they would have strided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .....engine.graph.collections import GraphKeys
from .....engine.graph.tensor import Tensor
from .....ops.nn.activation import relu
from .....ops.public import tf
from ...framework.arg_scope import Scope, add_arg_scope, arg_scope
from ...layers.batch_norm import batch_norm
from ...layers.convolutions import conv2d
from ...layers.initializers import variance_scaling_initializer
from ...layers.pooling import max_pool2d
from ...layers.regularizers import l2_regularizer
from ...layers.shaping import softmax
from ...layers.utils import collect_named_outputs, convert_collection_to_dict
from .plain import Outputs

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike


class Block(NamedTuple):
    """Units that are alike.

    Attributes:
        scope: the name of the block.
        unit_fn: makes a unit of a tensor and its arguments, `rate` among them.
        args: the arguments of each unit: depth, depth_bottleneck, stride.
    """

    scope: str
    unit_fn: Callable[..., Tensor]
    args: Sequence[dict[str, int]]


def units(
    unit_fn: Callable[..., Tensor], scope: str, base_depth: int, num_units: int, stride: int
) -> Block:
    """A block of bottlenecks whose last unit strides."""
    unit = {"depth": base_depth * 4, "depth_bottleneck": base_depth}
    args = [{**unit, "stride": 1}] * (num_units - 1) + [{**unit, "stride": stride}]
    return Block(scope, unit_fn, args)


def subsample(inputs: Tensor, factor: int, scope: str | None = None) -> Tensor:
    """Every `factor`th pixel in both directions."""
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Tensor,
    num_outputs: int,
    kernel_size: int,
    stride: int,
    rate: int = 1,
    scope: str | None = None,
) -> Tensor:
    """A convolution whose padding does not depend on the size of the input.

    Args:
        inputs: [batch, height, width, channels].
        num_outputs: channels of the result.
        kernel_size: pixels on each side of the window.
        stride: pixels between windows.
        rate: pixels between taps.
        scope: the variable scope.

    Returns:
        As padding "SAME" with stride one, of which every `stride`th pixel is taken.
    """
    if stride == 1:
        return conv2d(
            inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope
        )
    total = kernel_size + (kernel_size - 1) * (rate - 1) - 1
    sides = [total // 2, total - total // 2]
    inputs = tf.pad(inputs, [[0, 0], sides, sides, [0, 0]])
    return conv2d(
        inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope
    )


@add_arg_scope
def stack_blocks_dense(
    net: Tensor,
    blocks: Sequence[Block],
    output_stride: float | None = None,
    outputs_collections: Any = None,
) -> Tensor:
    """Puts blocks one behind the other.

    Args:
        net: [batch, height, width, channels].
        blocks: the blocks.
        output_stride: input pixels for a pixel of the result, at most; by default what the units
            stride.
        outputs_collections: where the result of each block is noted.

    Returns:
        The result of the last.

    Raises:
        ValueError: the units cannot stride so much.
    """
    reached, rate = 1, 1
    for block in blocks:
        with tf.variable_scope(block.scope, "block", [net]) as scope:
            for i, unit in enumerate(block.args, 1):
                if output_stride is not None and reached > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                with tf.variable_scope(f"unit_{i}", values=[net]):
                    if output_stride is not None and reached == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        reached *= unit.get("stride", 1)
            net = collect_named_outputs(outputs_collections, scope.name, net)
    if output_stride is not None and reached != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> Scope:
    """The scope in which residual networks are made: pools pad as "SAME".

    Args:
        weight_decay: the factor of the penalty on weights.
        batch_norm_decay: how slowly means and variances move.
        batch_norm_epsilon: added to variances.
        batch_norm_scale: whether normalised values are scaled.
    """
    parameters = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }
    with arg_scope(
        [conv2d],
        weights_regularizer=l2_regularizer(weight_decay),
        weights_initializer=variance_scaling_initializer(),
        activation_fn=relu,
        normalizer_fn=batch_norm,
        normalizer_params=parameters,
    ):
        with arg_scope([batch_norm], **parameters):
            with arg_scope([max_pool2d], padding="SAME") as scope:
                return scope


class Variant(NamedTuple):
    """In what the two kinds of residual networks differ.

    Attributes:
        name: the default scope of the network.
        bottleneck: the unit.
        root: arguments of the scope of the first convolution.
        finish: what is done behind the last block.
    """

    name: str
    bottleneck: Callable[..., Tensor]
    root: dict[str, None]
    finish: Callable[[Tensor], Tensor]


def _root(net: Tensor, variant: Variant, output_stride: float | None) -> tuple[Tensor, Any]:
    """The first convolution and pool, and what stride is left for the blocks."""
    if output_stride is not None:
        if output_stride % 4 != 0:
            raise ValueError("The output_stride needs to be a multiple of 4.")
        output_stride /= 4
    with arg_scope([conv2d], **variant.root):
        net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
    return max_pool2d(net, [3, 3], stride=2, scope="pool1"), output_stride


def network(
    variant: Variant,
    inputs: Tensor,
    blocks: Sequence[Block],
    num_classes: int | None,
    is_training: TensorLike,
    global_pool: bool,
    output_stride: float | None,
    include_root_block: bool,
    reuse: Any,
    scope: str | None,
) -> Outputs:
    """A residual network of either kind."""
    with tf.variable_scope(scope, variant.name, [inputs], reuse=reuse) as within:
        collection = within.original_name_scope + "_end_points"
        collected = [conv2d, variant.bottleneck, stack_blocks_dense]
        with (
            arg_scope(collected, outputs_collections=collection),
            arg_scope([batch_norm], is_training=is_training),
        ):
            net = inputs
            if include_root_block:
                net, output_stride = _root(net, variant, output_stride)
            net = variant.finish(stack_blocks_dense(net, blocks, output_stride))
            if global_pool:
                net = tf.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = conv2d(
                    net,
                    num_classes,
                    [1, 1],
                    activation_fn=None,
                    normalizer_fn=None,
                    scope="logits",
                )
            end_points = convert_collection_to_dict(collection)
            if num_classes is not None:
                end_points["predictions"] = softmax(net, scope="predictions")
            return net, end_points


# Number of layers -> units of each block.
DEPTHS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}


def standard_blocks(block: Callable[..., Block], layers: int) -> list[Block]:
    """The four blocks of a network with so many layers."""
    return [
        block(f"block{i}", base_depth=32 * 2**i, num_units=count, stride=1 if i == 4 else 2)
        for i, count in enumerate(DEPTHS[layers], 1)
    ]
