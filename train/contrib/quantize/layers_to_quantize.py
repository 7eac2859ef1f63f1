# SPDX-License-Identifier: Apache-2.0
"""Layers of a graph: a product of weights, what is added to it, and the activation behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ....engine.graph.graph import Graph
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from ....engine.interface.log import info
from ....engine.record_class import record
from .graph_matcher import GraphMatcher, MatchResult, OneofPattern, OpTypePattern, Pattern

_PRODUCTS = "Conv2D|MatMul|DepthwiseConv2dNative"
_SUM = "Add|AddV2"


@record(frozen=True)
class Layer:
    """The operations of a layer that are quantised, as far as it has them."""

    layer_op: Operation
    weight_tensor: Tensor | None
    activation_op: Operation | None
    bypass_op: Operation | None = None
    post_activation_bypass_op: Operation | None = None
    bias_add_op: Operation | None = None


def _any_order(kind: str, *inputs: Pattern | str) -> OpTypePattern:
    return OpTypePattern(kind, inputs=inputs, ordered_inputs=False)


def _weights() -> tuple[Pattern, Pattern, Pattern]:
    """Weights as variables of either kind, and as what batch norms make of them."""
    variable = OpTypePattern("Variable|VariableV2")
    part = OpTypePattern("Identity", inputs=[variable])
    joined = OpTypePattern("ConcatV2", inputs=[part, "*", "*"])
    read = OpTypePattern("Identity", inputs=[OneofPattern([part, joined, variable])])
    return read, OpTypePattern("ReadVariableOp"), OpTypePattern("Mul")


class _Patterns:
    """The parts of a layer; results are asked for them by the patterns themselves."""

    def __init__(self) -> None:
        self.weights = _weights()
        self.product = _any_order(_PRODUCTS, OpTypePattern("*"), OneofPattern(self.weights))
        spread = OpTypePattern("BatchToSpaceND", inputs=[self.product, "*", "*"])
        output = OneofPattern([spread, self.product])
        scaled = _any_order("Mul", "*", output)
        self.folded = _any_order(_SUM, _any_order(_SUM, scaled, "*"), "*")
        updated = OpTypePattern("Identity", inputs=[self.folded])
        self.bias = _any_order("Add|AddV2|BiasAdd", output, "*")
        summed = [self.bias, self.folded, updated]
        self.bypass = _any_order(_SUM, OneofPattern(summed), "*")
        before = OneofPattern([*summed, self.bypass, self.product])
        self.activation = OpTypePattern("Relu|Relu6|Identity", inputs=[before])
        self.after = _any_order(_SUM, "*", self.activation)
        self.separable = _any_order(_PRODUCTS, OneofPattern([output]), "*")

    def weight_of(self, result: MatchResult) -> Tensor | None:
        """The weights of a layer."""
        found = (result.get_tensor(pattern) for pattern in self.weights)
        return next((tensor for tensor in found if tensor is not None), None)

    def bias_of(self, result: MatchResult) -> Operation | None:
        """The sum behind a product."""
        return result.get_op(self.bias) or result.get_op(self.folded)


def find_layers(graph: Graph) -> list[Layer]:
    """The layers of a graph, each once: as much of it as can be, so the longest patterns first."""
    parts = _Patterns()

    def with_bypass_after(result: MatchResult, layer: Operation) -> Layer:
        return Layer(
            layer,
            parts.weight_of(result),
            result.get_op(parts.activation),
            result.get_op(parts.bypass),
            result.get_op(parts.after),
            parts.bias_of(result),
        )

    def with_activation(result: MatchResult, layer: Operation) -> Layer | None:
        activation = result.get_op(parts.activation)
        if activation is not None and _feeds_batch_norm(activation):
            return None
        bias, bypass = parts.bias_of(result), result.get_op(parts.bypass)
        return Layer(layer, parts.weight_of(result), activation, bypass, None, bias)

    def last(result: MatchResult, layer: Operation) -> Layer:
        # There may be no activation: the sum's results are quantised.
        return Layer(layer, parts.weight_of(result), parts.bias_of(result))

    def separable(result: MatchResult, layer: Operation) -> Layer:
        weights = (result.get_tensor(pattern) for pattern in parts.weights[:2])
        weight = next((tensor for tensor in weights if tensor is not None), None)
        return Layer(layer, weight, result.get_op(parts.product))

    rows: tuple[tuple[Pattern, Callable[..., Layer | None]], ...] = (
        (parts.after, with_bypass_after),
        (parts.activation, with_activation),
        (OneofPattern([parts.bias, parts.folded]), last),
        (parts.separable, separable),
    )
    found: dict[Operation, Layer] = {}
    for pattern, make in rows:
        for result in _results(graph, pattern):
            layer_op = result.get_op(parts.product)
            if layer_op is not None and layer_op not in found:
                layer = make(result, layer_op)
                if layer is not None:
                    found[layer_op] = layer
    return list(found.values())


def _results(graph: Graph, pattern: Pattern) -> Iterator[MatchResult]:
    return GraphMatcher(pattern).match_graph(graph)


def _feeds_batch_norm(activation: Operation) -> bool:
    """Is an Identity there for a batch norm alone?  After folding that only estimates moments."""
    if activation.type != "Identity" or len(activation.outputs) != 1:
        return False
    takers = activation.outputs[0].consumers()
    if len(takers) == 1 and takers[0].type in ("FusedBatchNorm", "FusedBatchNormV3"):
        info("Skipping quantizing %s, which feeds a fused batch norm.", activation.name)
        return True
    return False
