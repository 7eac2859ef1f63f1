# SPDX-License-Identifier: Apache-2.0
"""Kernels, strides and paddings of layers, read from the nodes of a GraphDef.

The first of two axes is x (width), as in TensorFlow; images are [batch, height, width, channels].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ....engine.interface.log import warning
from ....io.tensor_proto import make_ndarray

# What gives each place of an image from the same place, or has no places.
_UNCHANGED_RF_LAYER_OPS = frozenset(
    "Add AddV2 BiasAdd Cast Ceil ConcatV2 Const Floor FusedBatchNorm Identity Log Mul Pow RealDiv "
    "Relu Relu6 Round Rsqrt Softplus Sub VariableV2 LRN GreaterEqual".split()
)
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
_POOLS = ("MaxPool", "MaxPoolV2", "AvgPool")

Params = tuple[Any, Any, Any, Any, Any, Any, Any, Any]


class _Axis(NamedTuple):
    """A layer along one axis; the padding is that before the image, and None where not known."""

    kernel: Any = 1
    stride: Any = 1
    padding: Any = 0
    total_padding: Any = 0


def _constant(node: Any, index: int, suffix: str, nodes: dict[str, Any], message: str) -> Any:
    """The value of an input that is a constant with such a name."""
    name = node.input[index]
    if not name.endswith(suffix):
        raise ValueError(message)
    return make_ndarray(nodes[name].attr["value"].tensor)


def _stride_size(node: Any, name_to_node: dict[str, Any]) -> tuple[Any, Any]:
    """The strides along x and y."""
    if node.op == "MaxPoolV2":
        message = "Strides name does not end with '/strides'"
        strides = _constant(node, 2, "/strides", name_to_node, message)
    else:
        strides = node.attr["strides"].list.i
    return strides[2], strides[1]


def _conv_kernel_size(node: Any, name_to_node: dict[str, Any]) -> tuple[Any, Any]:
    """The sizes of a convolution's kernel, from its variable or constant."""
    read = node.input[1]
    if not read.endswith("/read"):
        raise ValueError("Weight layer's name input to conv layer does not end with '/read'")
    name = read.removesuffix("/read")
    weights = name_to_node[name]
    if weights.op == "VariableV2":
        sizes = weights.attr["shape"].shape.dim
    elif weights.op == "Const":
        sizes = weights.attr["value"].tensor.tensor_shape.dim
    else:
        raise ValueError(f"Weight layer {name} is not of type VariableV2 or Const: {weights.op}")
    if len(sizes) != 4:
        raise ValueError(f"Weight layer {name} does not have rank 4. Instead, it has: {len(sizes)}")
    return sizes[1].size, sizes[0].size


def _pool_kernel_size(node: Any, name_to_node: dict[str, Any]) -> tuple[Any, Any]:
    """The sizes of a pool's window."""
    if node.op == "MaxPoolV2":
        message = "Kernel size name does not end with '/ksize'"
        sizes = _constant(node, 1, "/ksize", name_to_node, message)
    else:
        sizes = node.attr["ksize"].list.i
    for place, which in ((0, "first"), (3, "last")):
        if sizes[place] != 1:
            raise ValueError(f"pool ksize for {which} dim is not 1")
    return sizes[2], sizes[1]


def _padding_size_conv_pool(
    node: Any, kernel_size: int, stride: int, input_resolution: int | None = None
) -> tuple[int | None, int | None]:
    """The padding of both ends together, and that of the first one; None where it depends."""
    kind = node.attr["padding"].s
    if kind in (b"VALID", "VALID"):
        return 0, 0
    if kind not in (b"SAME", "SAME"):
        raise ValueError(f"Invalid padding operation {kind}")
    if input_resolution is not None:
        total = max(kernel_size - (input_resolution % stride or stride), 0)
        return int(total), int(total // 2)
    if kernel_size == 1:
        return 0, 0
    if stride == 1:
        return kernel_size - 1, (kernel_size - 1) // 2
    if stride == 2 and kernel_size % 2 == 0:
        # Whether one more is added to the end depends on the image, its beginning does not.
        return None, (kernel_size - 1) // 2
    warning(
        "Padding depends on input size, which means that the effective padding may be different "
        "depending on the input image dimensionality. In this case, alignment check will be "
        "skipped. If you know the input resolution, please set it."
    )
    return None, None


def _padding_size_pad_layer(node: Any, name_to_node: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Of a node of type Pad: total and first padding along x, then along y."""
    name = node.input[1]
    if not name.endswith("/paddings"):
        raise ValueError("Padding layer name does not end with '/paddings'")
    given = name_to_node[name]
    if given.op != "Const":
        raise ValueError("Padding op is not Const")
    paddings = make_ndarray(given.attr["value"].tensor)
    for place, which in ((0, "first"), (3, "last")):
        if paddings[place].any():
            raise ValueError(f"padding is not zero for {which} tensor dim")
    return paddings[2].sum(), paddings[2][0], paddings[1].sum(), paddings[1][0]


def _axes(
    node: Any, name_to_node: dict[str, Any], resolution: Sequence[Any] | None
) -> tuple[_Axis, _Axis] | None:
    """A layer along x and y; None for nodes of unknown types."""
    if node.op in _CONVOLUTIONS or node.op in _POOLS:
        size_of = _conv_kernel_size if node.op in _CONVOLUTIONS else _pool_kernel_size
        strides, kernels = _stride_size(node, name_to_node), size_of(node, name_to_node)
        sizes = (None, None) if resolution is None else (resolution[1], resolution[0])
        found = []
        for kernel, stride, size in zip(kernels, strides, sizes, strict=True):
            total, first = _padding_size_conv_pool(node, kernel, stride, size)
            found.append(_Axis(kernel, stride, first, total))
        return found[0], found[1]
    if node.op == "Pad":
        total_x, first_x, total_y, first_y = _padding_size_pad_layer(node, name_to_node)
        return _Axis(1, 1, first_x, total_x), _Axis(1, 1, first_y, total_y)
    return (_Axis(), _Axis()) if node.op in _UNCHANGED_RF_LAYER_OPS else None


def get_layer_params(
    node: Any,
    name_to_node: dict[str, Any],
    input_resolution: Sequence[Any] | None = None,
    force: bool = False,
) -> Params:
    """What a node makes of an image.

    Args:
        node: a NodeDef.
        name_to_node: all nodes by their names.
        input_resolution: height and width of the image, if they are known.
        force: whether types that nothing is known of give None everywhere.

    Returns:
        Kernel sizes along x and y, strides, paddings before the image, and paddings of both ends.

    Raises:
        ValueError: nothing is known of such nodes, or the node is not as layers make it.
    """
    axes = _axes(node, name_to_node, input_resolution)
    if axes is None:
        if not force:
            raise ValueError(f"Unknown layer for operation '{node.name}': {node.op}")
        axes = (_Axis(*[None] * 4),) * 2
    x, y = axes
    return (
        *(x.kernel, y.kernel, x.stride, y.stride),
        *(x.padding, y.padding, x.total_padding, y.total_padding),
    )
