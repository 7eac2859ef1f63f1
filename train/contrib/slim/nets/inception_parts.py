# SPDX-License-Identifier: Apache-2.0
"""Inception networks as tables, and what builds them.

A line of a table is an end point: a layer, or the name of a module and its branches between bars.
A layer is its name, from which the window follows ("0a_1x1" stands for "Conv2d_0a_1x1"), and its
marks: `:64` channels, `/2` stride, `=3x3` another window than the name says, `~0.1` the standard
deviation of initial weights, `!` no padding.  Layers in brackets read the same tensor, and their
results are joined.  A line that begins with spaces goes on with the one before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .....engine.graph.collections import GraphKeys
from .....engine.graph.tensor import Tensor
from .....ops.nn.activation import relu
from .....ops.public import tf
from ...framework.arg_scope import Scope, arg_scope
from ...layers.batch_norm import batch_norm
from ...layers.convolutions import conv2d
from ...layers.dense import fully_connected
from ...layers.initializers import variance_scaling_initializer
from ...layers.other_convolutions import separable_conv2d
from ...layers.pooling import avg_pool2d, max_pool2d
from ...layers.regularizers import l2_regularizer

_LAYER = re.compile(
    r"(?P<name>\w+)(:(?P<depth>\d+))?(/(?P<stride>\d))?(=(?P<window>\dx\d))?"
    r"(~(?P<deviation>[\d.]+))?(?P<valid>!)?"
)
_POOLS: dict[str, Callable[..., Tensor]] = {"MaxPool": max_pool2d, "AvgPool": avg_pool2d}
EndPoints = dict[str, Any]


class Layer(NamedTuple):
    """A convolution or a pool of a table."""

    name: str
    depth: int
    window: list[int]
    options: dict[str, Any]

    @classmethod
    def of(cls, word: str) -> Layer:
        """The layer that a word of a table describes."""
        found = _LAYER.fullmatch(word)
        if found is None:
            raise ValueError(f"not a layer: {word!r}")
        name = found["name"]
        if name[0].isdigit():
            name = f"Conv2d_{name}"
        window = [int(n) for n in (found["window"] or name.rpartition("_")[2]).split("x")]
        options: dict[str, Any] = {"stride": int(found["stride"] or 1)}
        if found["deviation"]:
            options["weights_initializer"] = tf.truncated_normal_initializer(
                0.0, float(found["deviation"])
            )
        options["padding"] = "VALID" if found["valid"] else "SAME"
        return cls(name, int(found["depth"] or 0), window, options)

    def apply(self, net: Tensor, depth: Callable[[int], int]) -> Tensor:
        """The layer's result."""
        pool = _POOLS.get(self.name.partition("_")[0])
        if pool is not None:
            return pool(net, self.window, scope=self.name, **self.options)
        return conv2d(net, depth(self.depth), self.window, scope=self.name, **self.options)


def _branch(net: Tensor, text: str, depth: Callable[[int], int]) -> Tensor:
    for part in re.findall(r"\[.*?\]|\S+", text):
        if part[0] == "[":
            net = tf.concat([Layer.of(w).apply(net, depth) for w in part[1:-1].split()], 3)
        else:
            net = Layer.of(part).apply(net, depth)
    return net


def _module(net: Tensor, branches: list[str], depth: Callable[[int], int]) -> Tensor:
    results = []
    for i, text in enumerate(branches):
        with tf.variable_scope(f"Branch_{i}"):
            results.append(_branch(net, text, depth))
    return tf.concat(results, 3)


def rows(table: str) -> Iterator[tuple[str, list[str]]]:
    """End points and their branches; a layer has one, itself."""
    for line in re.sub(r"\n +", " ", table.strip()).splitlines():
        name, *branches = (part.strip() for part in line.split("|"))
        yield (name, branches) if branches else (Layer.of(name).name, [name])


def body(
    net: Tensor, table: str, final_endpoint: str, depth: Callable[[int], int], end_points: EndPoints
) -> Tensor:
    """What the lines of a table make, up to an end point; all of them are put into `end_points`.

    Raises:
        ValueError: there is no such end point.
    """
    if final_endpoint in end_points:
        return net
    for name, branches in rows(table):
        if branches[1:]:
            with tf.variable_scope(name):
                net = _module(net, branches, depth)
        else:
            net = _branch(net, branches[0], depth)
        end_points[name] = net
        if name == final_endpoint:
            return net
    raise ValueError(f"Unknown final endpoint {final_endpoint}")


def thinned(depth_multiplier: float, min_depth: int) -> Callable[[int], int]:
    """What numbers of channels become in a thinner network.

    Raises:
        ValueError: the factor is not positive.
    """
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


def stem_scope() -> Any:
    """A scope of layers that neither stride nor shrink."""
    layers = [conv2d, max_pool2d, avg_pool2d, separable_conv2d]
    return arg_scope(layers, stride=1, padding="SAME")


def reduced(net: Tensor, window: list[int]) -> list[int]:
    """A window that is no larger than the picture, where its size is known."""
    sizes = net.get_shape().as_list()[1:3]
    if None in sizes:
        return window
    return [min(size or 0, side) for size, side in zip(sizes, window, strict=True)]


def logits(net: Tensor, num_classes: int, scope: str, **options: Any) -> Tensor:
    """Scores, by a bare convolution."""
    return conv2d(
        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=scope, **options
    )


def squeezed(net: Tensor) -> Tensor:
    """Without the two spatial dimensions."""
    return tf.squeeze(net, [1, 2], name="SpatialSqueeze")


def inception_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_var_collection: str = "moving_vars",
    decay: float = 0.9997,
    epsilon: float = 0.001,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    **options: Any,
) -> Scope:
    """A scope of normalised ReLU layers with decaying weights."""
    moving = [batch_norm_var_collection]
    parameters = {
        "decay": decay,
        "epsilon": epsilon,
        "updates_collections": updates_collections,
        "variables_collections": {
            **dict.fromkeys(("beta", "gamma")),
            **dict.fromkeys(("moving_mean", "moving_variance"), moving),
        },
        **options,
    }
    with arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)):
        with arg_scope(
            [conv2d],
            weights_initializer=variance_scaling_initializer(),
            activation_fn=relu,
            normalizer_fn=batch_norm if use_batch_norm else None,
            normalizer_params=parameters if use_batch_norm else {},
        ) as scope:
            return scope
