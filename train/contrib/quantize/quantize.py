# SPDX-License-Identifier: Apache-2.0
"""Quantises weights, activations and sums of a graph's layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....engine.graph.collections import GraphKeys
from ....engine.graph.graph import Graph
from ....engine.graph.operation import Operation
from ....engine.graph.scope_functions import get_name_scope
from ....engine.graph.tensor import Tensor
from ....engine.interface.log import info
from ....engine.record_class import record
from ....ops.public import tf
from . import common, quant_ops
from .layers_to_quantize import Layer, find_layers

_ACTIVATIONS = frozenset({"Relu", "Relu6", "Identity"})
_RELUS = frozenset({"Relu", "Relu6"})
_SUMS = frozenset({"Add", "AddV2", "Mul"})
_PASSING = frozenset({"Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max"})
_FAKE = frozenset(
    {
        "FakeQuantWithMinMaxVars",
        "FakeQuantWithMinMaxArgs",
        "FakeQuantWithMinMaxVarsPerChannel",
    }
)


@record(frozen=True)
class _Insertion:
    """How quantisation is put into a graph."""

    is_training: bool
    weight_bits: int
    activation_bits: int
    symmetric: bool
    ema_decay: float
    quant_delay: int | None
    vars_collection: Any
    scope: str

    def weights(self, context: str, producer: Operation, takers: Iterable[Operation]) -> None:
        """Quantises weights in the range that they have."""
        self._insert(context, "weights_quant", producer, takers, False, consumer_scope=self.scope)

    def activations(
        self,
        context: str,
        name: str,
        producer: Operation,
        takers: Iterable[Operation],
        init_min: float = -6.0,
        consumer_scope: str = "",
        symmetric: bool | None = None,
    ) -> None:
        """Quantises a tensor in the moving average of its range."""
        self._insert(
            *(context, name, producer, takers, True, init_min, self.scope, consumer_scope),
            self.symmetric if symmetric is None else symmetric,
        )

    def _insert(
        self,
        context: str,
        name: str,
        producer: Operation,
        takers: Iterable[Operation],
        is_average: bool,
        init_min: float = -6.0,
        producer_scope: str = "",
        consumer_scope: str = "",
        symmetric: bool | None = None,
    ) -> None:
        takers = sorted(takers, key=lambda op: op._id)
        if not producer.name.startswith(producer_scope):
            info("%s/%s is left out: %s is in another scope", context, name, producer.name)
            return
        if any(not op.name.startswith(consumer_scope) for op in takers):
            info("%s/%s is left out: something in another scope takes it", context, name)
            return
        tensor = producer.outputs[0]
        if _is_quantized(tensor):
            return
        prefix = f"{context}/{name}" if context else name
        inside = get_name_scope()
        if inside:
            prefix = common.DropStringPrefix(prefix, f"{inside}/")
        quantized = self._quantized(tensor, prefix, is_average, init_min, symmetric)
        if takers and common.RerouteTensor(quantized, tensor, can_modify=takers) < len(takers):
            names = ", ".join(op.name for op in takers)
            raise ValueError(f"No inputs quantized for ops: [{names}]")

    def _quantized(
        self, tensor: Tensor, prefix: str, is_average: bool, init_min: float, symmetric: bool | None
    ) -> Any:
        options: dict[str, Any] = {
            "init_min": init_min,
            "init_max": 6.0,
            "is_training": self.is_training,
            "symmetric": self.symmetric if symmetric is None else symmetric,
            "vars_collection": self.vars_collection,
            "name_prefix": prefix,
        }
        if is_average:
            found = quant_ops.MovingAvgQuantize(
                tensor, ema_decay=self.ema_decay, num_bits=self.activation_bits, **options
            )
        else:
            found = quant_ops.LastValueQuantize(
                tensor, num_bits=self.weight_bits, narrow_range=True, **options
            )
        if not self.quant_delay or self.quant_delay <= 0:
            return found
        is_time = tf.greater_equal(
            common.CreateOrGetQuantizationStep(),
            self.quant_delay,
            name=f"{prefix}/activate_quant",
        )
        return tf.cond(is_time, lambda: found, lambda: tensor, name=f"{prefix}/delayed_quant")


def Quantize(
    graph: Graph,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    ema_decay: float = 0.999,
    quant_delay: int | None = None,
    vars_collection: object = GraphKeys.GLOBAL_VARIABLES,
    scope: str | None = None,
) -> None:
    """Quantises the layers of a graph, in place.

    Args:
        graph: the graph, which is the default one.
        is_training: whether ranges follow what is quantised.
        weight_bits: of weights.
        activation_bits: of activations.
        symmetric: whether 0 is in the middle of ranges.
        ema_decay: how much of a moving average stays in a step.
        quant_delay: how many steps are run before anything is quantised.
        vars_collection: that the ranges' variables go to.
        scope: of what is changed; all if None.
    """
    scope = f"{scope}/" if scope and not scope.endswith("/") else scope or ""
    insertion = _Insertion(
        *(is_training, weight_bits, activation_bits, symmetric, ema_decay, quant_delay),
        *(vars_collection, scope),
    )
    takers = common.InputToOps(graph)
    done: set[Operation] = set()
    for layer in find_layers(graph):
        _quantize_layer(layer, insertion, takers, done)
    takers = common.InputToOps(graph)
    for op in graph.get_operations():
        if _follows_quantized(op, done):
            name = f"activation_{op.type}_quant"
            insertion.activations(op.name, name, op, takers.ConsumerOperations(op), symmetric=False)


def _context(name: str) -> str:
    return name.rpartition("/")[0]


def _quantize_layer(
    layer: Layer, insertion: _Insertion, takers: common.InputToOps, done: set[Operation]
) -> None:
    context, scope = _context(layer.layer_op.name), insertion.scope
    if layer.weight_tensor is not None:
        source = layer.weight_tensor.op
        insertion.weights(context, source, takers.ConsumerOperations(source))
    add_context = context if layer.bypass_op is None else _context(context)
    if layer.activation_op is not None:
        op = layer.activation_op
        consumers = takers.ConsumerOperations(op)
        insertion.activations(add_context, "act_quant", op, consumers, init_min=0.0)
        done.add(op)
    if layer.bypass_op is not None and layer.bias_add_op is not None:
        op = layer.bias_add_op
        consumers = takers.ConsumerOperations(op)
        insertion.activations(context, "conv_quant", op, consumers, consumer_scope=scope)
        done.add(op)
        _quantize_sum(layer.bypass_op, add_context, insertion, takers, done)
    if layer.post_activation_bypass_op is not None:
        op = layer.post_activation_bypass_op
        consumers = takers.ConsumerOperations(op)
        if any(taker.type in _RELUS for taker in consumers):
            info("Skipping %s, because its followed by an activation.", op.name)
        else:
            name = "post_activation_bypass_quant"
            insertion.activations(_context(op.name), name, op, consumers)
            done.add(op)


def _quantize_sum(
    op: Operation,
    context: str,
    insertion: _Insertion,
    takers: common.InputToOps,
    done: set[Operation],
) -> None:
    """Quantises a sum of layers, unless an activation is part of it later."""
    consumers = takers.ConsumerOperations(op)
    if any(taker.type in _ACTIVATIONS for taker in consumers):
        info("Skipping %s, because its followed by an activation.", op.name)
        return
    insertion.activations(context, "add_quant", op, consumers, consumer_scope=insertion.scope)
    done.add(op)


def _follows_quantized(op: Operation, done: set[Operation]) -> bool:
    """Is it a sum or product of what is quantised, with no activation behind it?"""
    if op in done or op.type not in _SUMS:
        return False
    if len(op.outputs) == 1:
        takers = op.outputs[0].consumers()
        if len(takers) == 1 and takers[0].type in _RELUS:
            info("Skipping quant after %s", op.name)
            return False
    for given in op.inputs:
        source = given.op
        while source.type in _PASSING:
            source = source.inputs[0].op
        if source.type == "FakeQuantWithMinMaxVars" or "delayed_quant/Merge" in source.name[1:]:
            return True
        if source.type in _SUMS and any(_follows_quantized(t.op, done) for t in source.inputs):
            return True
    return False


def _is_quantized(tensor: Tensor) -> bool:
    """Is a tensor quantised by something behind it already?"""
    takers = tensor.consumers()
    while takers:
        op = takers.pop()
        if op.type in _FAKE:
            return True
        if op.type in ("Reshape", "Identity"):
            takers += [taker for t in op.outputs for taker in t.consumers()]
    return False
