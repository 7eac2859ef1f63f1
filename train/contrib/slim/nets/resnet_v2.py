# SPDX-License-Identifier: Apache-2.0
"""Residual networks that normalise before convolutions (He et al., "Identity Mappings in Deep
Residual Networks", 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .....engine.graph.tensor import Tensor
from .....ops.nn.activation import relu
from .....ops.public import tf
from ...framework.arg_scope import add_arg_scope
from ...layers.batch_norm import batch_norm
from ...layers.convolutions import conv2d
from ...layers.utils import collect_named_outputs, last_dimension
from .plain import Outputs, image_size
from .resnet_utils import (
    Block,
    Variant,
    conv2d_same,
    network,
    resnet_arg_scope,
    standard_blocks,
    subsample,
    units,
)

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike

__all__ = ["resnet_arg_scope"]


@add_arg_scope
def bottleneck(
    inputs: Tensor,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Tensor:
    """A unit: a projection or the input itself, and three convolutions of it normalised, added.

    Args:
        inputs: [batch, height, width, channels].
        depth: channels of the result.
        depth_bottleneck: channels in between.
        stride: pixels between windows of the middle convolution.
        rate: pixels between its taps.
        outputs_collections: where the result is noted.
        scope: the variable scope.

    Returns:
        The sum.
    """
    with tf.variable_scope(scope, "bottleneck_v2", [inputs]) as within:
        depth_in = last_dimension(inputs.get_shape(), min_rank=4)
        preact = batch_norm(inputs, activation_fn=relu, scope="preact")
        bare: dict[str, Any] = {"normalizer_fn": None, "activation_fn": None}
        if depth == depth_in:
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(preact, depth, [1, 1], stride=stride, scope="shortcut", **bare)
        residual = conv2d(preact, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = conv2d(residual, depth, [1, 1], stride=1, scope="conv3", **bare)
        output = shortcut + residual
        return collect_named_outputs(outputs_collections, within.name, output)


# The first unit normalises and rectifies what the first convolution gives; nothing does so behind
# the last unit.
_VARIANT = Variant(
    "resnet_v2",
    bottleneck,
    {"activation_fn": None, "normalizer_fn": None},
    lambda net: batch_norm(net, activation_fn=relu, scope="postnorm"),
)


@image_size(224)
def resnet_v2(
    inputs: Tensor,
    blocks: Sequence[Block],
    num_classes: int | None = None,
    is_training: TensorLike = True,
    global_pool: bool = True,
    output_stride: float | None = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: str | None = None,
) -> Outputs:
    """A residual network.

    Args:
        inputs: pictures, [batch, height, width, channels].
        blocks: the blocks, see `resnet_v2_block`.
        num_classes: the number of scores; None gives features.
        is_training: whether batches are normalised by themselves.
        global_pool: whether the mean of all pixels is taken.
        output_stride: input pixels for a pixel of the features, at most.
        include_root_block: whether a convolution and a pool stand before the blocks.
        reuse: whether the variables are there already.
        scope: the variable scope.

    Returns:
        Scores before softmax, or features, and the outputs of layers, units and blocks by name.

    Raises:
        ValueError: `output_stride` cannot be reached.
    """
    return network(
        _VARIANT,
        inputs,
        blocks,
        num_classes,
        is_training,
        global_pool,
        output_stride,
        include_root_block,
        reuse,
        scope,
    )


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """A block of bottlenecks, `base_depth` channels wide within, whose last unit strides."""
    return units(bottleneck, scope, base_depth, num_units, stride)


def resnet_v2_50(
    inputs: Tensor,
    num_classes: int | None = None,
    is_training: TensorLike = True,
    global_pool: bool = True,
    output_stride: float | None = None,
    reuse: Any = None,
    scope: str = "resnet_v2_50",
) -> Outputs:
    """The network with 50 layers; see `resnet_v2`."""
    blocks = standard_blocks(resnet_v2_block, 50)
    rest = (num_classes, is_training, global_pool, output_stride, True, reuse, scope)
    return resnet_v2(inputs, blocks, *rest)


def resnet_v2_101(
    inputs: Tensor,
    num_classes: int | None = None,
    is_training: TensorLike = True,
    global_pool: bool = True,
    output_stride: float | None = None,
    reuse: Any = None,
    scope: str = "resnet_v2_101",
) -> Outputs:
    """The network with 101 layers; see `resnet_v2`."""
    blocks = standard_blocks(resnet_v2_block, 101)
    rest = (num_classes, is_training, global_pool, output_stride, True, reuse, scope)
    return resnet_v2(inputs, blocks, *rest)


def resnet_v2_152(
    inputs: Tensor,
    num_classes: int | None = None,
    is_training: TensorLike = True,
    global_pool: bool = True,
    output_stride: float | None = None,
    reuse: Any = None,
    scope: str = "resnet_v2_152",
) -> Outputs:
    """The network with 152 layers; see `resnet_v2`."""
    blocks = standard_blocks(resnet_v2_block, 152)
    rest = (num_classes, is_training, global_pool, output_stride, True, reuse, scope)
    return resnet_v2(inputs, blocks, *rest)


def resnet_v2_200(
    inputs: Tensor,
    num_classes: int | None = None,
    is_training: TensorLike = True,
    global_pool: bool = True,
    output_stride: float | None = None,
    reuse: Any = None,
    scope: str = "resnet_v2_200",
) -> Outputs:
    """The network with 200 layers; see `resnet_v2`."""
    blocks = standard_blocks(resnet_v2_block, 200)
    rest = (num_classes, is_training, global_pool, output_stride, True, reuse, scope)
    return resnet_v2(inputs, blocks, *rest)
