# SPDX-License-Identifier: Apache-2.0
"""How many floating-point operations a node is, by its type and the shapes around it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

from ....engine.interface.statistics import OpStats, RegisterStatistics
from ....io.graph_util import tensor_shape_from_node_def_name

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph

# Operations for each element of the input.
_PER_INPUT = {
    **dict.fromkeys("Reciprocal Square Log Neg AssignSub AssignAdd BiasAdd".split(), 1),
    "Rsqrt": 2,
    "Softmax": 5,
}
# Operations for each element of the result.
_PER_OUTPUT = {
    **dict.fromkeys(
        "Add Sub Mul RealDiv Maximum Minimum Pow GreaterEqual Greater LessEqual Less Equal "
        "NotEqual".split(),
        1,
    ),
    "RsqrtGrad": 4,
    "SquaredDifference": 2,
}
# Operations at the end of each sum or comparison, besides one for each element.
_REDUCTIONS = {"Mean": 1, "Sum": 0, "ArgMax": 0, "ArgMin": 0, "BiasAddGrad": 0}


class _Node:
    """The known shapes around a node; ValueError where one is not known."""

    def __init__(self, graph: Graph, node: Any) -> None:
        self._graph, self.node = graph, node

    def _sizes(self, name: str) -> list[int]:
        shape = tensor_shape_from_node_def_name(self._graph, name)
        shape.assert_is_fully_defined()
        return shape.as_list()

    def input(self, number: int) -> list[int]:
        """The sizes of an input."""
        return self._sizes(self.node.input[number])

    @property
    def output(self) -> list[int]:
        """The sizes of the result."""
        return self._sizes(self.node.name)

    def numbers(self, attribute: str) -> list[int]:
        """An attribute that is a list of numbers; images must be in NHWC."""
        if self.node.attr["data_format"].s != b"NHWC":
            raise ValueError("Only NHWC format is supported in flops computations")
        return list(self.node.attr[attribute].list.i)

    @property
    def window(self) -> int:
        """The elements of a pooling window."""
        return prod(self.numbers("ksize"))

    @property
    def step(self) -> int:
        """The area between neighbouring windows of a convolution."""
        strides = self.numbers("strides")
        return strides[1] * strides[2]


def _matmul(n: _Node) -> float:
    rows, columns = n.input(0)
    return 2 * prod(n.output) * (rows if n.node.attr["transpose_a"].b else columns)


def _conv2d(n: _Node) -> float:
    return 2 * prod(n.output) * prod(n.input(1)[:3])


def _conv3d(n: _Node) -> float:
    return 2 * prod(n.output) * prod(n.input(1)[:4])


def _batch_matmul(n: _Node) -> float:
    # (As TensorFlow does, which does not see that the first factor is transposed.)
    return 2 * prod(n.output) * n.input(0)[-1]


def _conv2d_by_window(n: _Node) -> float:
    return 2 * prod(n.output) * prod(n.input(1)[:2])


def _conv2d_backprop_input(n: _Node) -> float:
    return 2 * prod(n.output) * prod(n.input(1)) / (n.output[-1] * n.step)


def _conv2d_backprop_filter(n: _Node) -> float:
    return 2 * prod(n.input(0)) * prod(n.output) / (n.input(0)[-1] * n.step)


_OTHERS: dict[str, Callable[[_Node], float]] = {
    "MatMul": _matmul,
    "BatchMatMul": _batch_matmul,
    "Conv2D": _conv2d,
    "Conv3D": _conv3d,
    "DepthwiseConv2dNative": _conv2d_by_window,
    "Dilation2D": _conv2d_by_window,
    "Conv2DBackpropInput": _conv2d_backprop_input,
    "Conv2DBackpropFilter": _conv2d_backprop_filter,
    "AvgPool": lambda n: n.window * prod(n.output),
    "MaxPool": lambda n: n.window * prod(n.output),
    "AvgPoolGrad": lambda n: n.window * prod(n.input(1)) * 2,
    "MaxPoolGrad": lambda n: (n.window + 1) * prod(n.input(1)),
    "AddN": lambda n: prod(n.input(0)) * (len(n.node.input) - 1) if n.node.input else 0,
    "L2Loss": lambda n: 3 * prod(n.input(0)) - 1,
}


def _per_input(each: int, n: _Node) -> float:
    return each * prod(n.input(0))


def _per_output(each: int, n: _Node) -> float:
    return each * prod(n.output)


def _reduction(end: int, n: _Node) -> float:
    return prod(n.input(0)) + (end - 1) * prod(n.output)


def _define_flops() -> None:
    """Registers the statistics "flops" of all types above."""
    counts: dict[str, Callable[[_Node], float]] = dict(_OTHERS)
    for table, count in (
        (_PER_INPUT, _per_input),
        (_PER_OUTPUT, _per_output),
        (_REDUCTIONS, _reduction),
    ):
        for op_type, number in table.items():
            counts[op_type] = functools.partial(count, number)
    for op_type, of_node in counts.items():
        RegisterStatistics(op_type, "flops")(_statistic(of_node))


def _statistic(count: Callable[[_Node], float]) -> Callable[[Graph, Any], OpStats]:
    return lambda graph, node: OpStats("flops", count(_Node(graph, node)))  # type: ignore[arg-type]


_define_flops()
