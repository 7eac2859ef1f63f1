# SPDX-License-Identifier: Apache-2.0
"""What networks that are rows of convolutions and pools share: their ends and their outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .....engine.graph.tensor import Tensor
from .....ops.nn.activation import relu
from .....ops.public import tf
from ...framework.arg_scope import Scope, arg_scope
from ...layers.convolutions import conv2d
from ...layers.dense import fully_connected
from ...layers.pooling import max_pool2d
from ...layers.regularizers import l2_regularizer
from ...layers.shaping import dropout, repeat
from ...layers.utils import convert_collection_to_dict

# A network's result and its end points by name.
Outputs = tuple[Tensor, dict[str, Any]]
F = TypeVar("F", bound=Callable[..., Any])
_BOTH = (conv2d, fully_connected)


def image_size(pixels: int) -> Callable[[F], F]:
    """A decorator: notes the size of the pictures that a network was made for."""

    def noted(function: F) -> F:
        function.default_image_size = pixels  # type: ignore[attr-defined]
        return function

    return noted


def plain_arg_scope(weight_decay: float, bias: Any, pool_padding: str | None) -> Scope:
    """A scope of ReLU layers with decaying weights."""
    with arg_scope(
        _BOTH,
        activation_fn=relu,
        weights_regularizer=l2_regularizer(weight_decay),
        biases_initializer=bias,
    ):
        with arg_scope([conv2d], padding="SAME") as scope:
            if pool_padding is None:
                return scope
            with arg_scope([max_pool2d], padding=pool_padding) as scope:
                return scope


def classifier(
    net: Tensor,
    sizes: tuple[int, int],
    window: Sequence[int],
    num_classes: int,
    is_training: Any,
    dropout_keep_prob: float,
    bias: Any = None,
) -> Tensor:
    """The three layers at the end, as convolutions, so that larger pictures give maps of scores."""

    def dropped(net: Tensor, name: str) -> Tensor:
        return dropout(net, dropout_keep_prob, is_training=is_training, scope=name)

    net = dropped(conv2d(net, sizes[0], window, padding="VALID", scope="fc6"), "dropout6")
    net = dropped(conv2d(net, sizes[1], [1, 1], scope="fc7"), "dropout7")
    last = {} if bias is None else {"biases_initializer": bias}
    return conv2d(
        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **last
    )


def network(
    inputs: Tensor,
    scope: str,
    build: Callable[[Tensor], Tensor],
    spatial_squeeze: bool,
    collected: Sequence[Any] = (*_BOTH, max_pool2d),
) -> Outputs:
    """What `build` makes, within a variable scope, and all outputs of its layers."""
    with tf.variable_scope(scope, scope, [inputs]) as within:
        collection = within.original_name_scope + "_end_points"
        with arg_scope(collected, outputs_collections=[collection]):
            net = build(inputs)
        end_points = convert_collection_to_dict(collection)
        if spatial_squeeze:
            net = tf.squeeze(net, [1, 2], name="fc8/squeezed")
            end_points[within.name + "/fc8"] = net
        return net, end_points


def stages(net: Tensor, depths: Sequence[int], repeats: Sequence[int]) -> Tensor:
    """Stages of equal 3x3 convolutions, each halved by a pool."""
    for i, (depth, count) in enumerate(zip(depths, repeats, strict=True), 1):
        net = repeat(net, count, conv2d, depth, [3, 3], scope=f"conv{i}")
        net = max_pool2d(net, [2, 2], scope=f"pool{i}")
    return net
