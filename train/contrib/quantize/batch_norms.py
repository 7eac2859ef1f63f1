# SPDX-License-Identifier: Apache-2.0
"""Where a graph has fused batch norms behind products of weights."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ....engine.graph.graph import Graph
from ....engine.graph.operation import Operation
from ....engine.record_class import record
from ....engine.types import dtypes
from ....ops.public import tf
from .graph_matcher import GraphMatcher, MatchResult, OneofPattern, OpTypePattern


@record
class BatchNorm:
    """The parts of a batch norm and of the layer before it."""

    # (Of batch norms that are not fused the layer is found otherwise.)
    layer_op: Any = None
    bn_op: Any = None
    output: Any = None
    input: Any = None
    weights: Any = None
    gamma: Any = None
    beta: Any = None
    mean: Any = None
    variance: Any = None
    moving_mean: Any = None
    moving_variance: Any = None
    decay_of_mean: Any = None
    decay_of_variance: Any = None
    epsilon: Any = None
    batch_to_space_op: Any = None


def _any() -> OpTypePattern:
    return OpTypePattern("*")


@record(frozen=True)
class _Patterns:
    """The parts of a layer with a fused batch norm; a result is asked for them."""

    input: OpTypePattern = field(default_factory=_any)
    weights: OpTypePattern = field(default_factory=_any)
    gamma: OpTypePattern = field(default_factory=_any)
    beta: OpTypePattern = field(default_factory=_any)
    mean: OpTypePattern = field(default_factory=_any)
    variance: OpTypePattern = field(default_factory=_any)


class _Matcher:
    """Finds fused batch norms in a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.parts = parts = _Patterns()
        self.layer = OpTypePattern(
            "Conv2D|DepthwiseConv2dNative|MatMul", inputs=[parts.input, parts.weights]
        )
        self.spread = OpTypePattern("BatchToSpaceND", inputs=[self.layer, "*", "*"])
        same = OpTypePattern("Identity", inputs=[OneofPattern([self.spread, self.layer])])
        output = OneofPattern([same, self.layer, self.spread])
        flat = OpTypePattern("Reshape", inputs=[output, "*"])
        moments = [parts.gamma, parts.beta, parts.mean, parts.variance]
        self.norm = OpTypePattern(
            "FusedBatchNorm|FusedBatchNormV3", inputs=[OneofPattern([flat, output]), *moments]
        )
        self.unflat = OpTypePattern("Reshape", inputs=[self.norm, "*"])
        self.updated = OpTypePattern("Identity", inputs=[self.norm, self.unflat])
        self.change = OpTypePattern("Sub", inputs=["*", self.norm])
        self.decay = _any()
        self.decayed = OpTypePattern("Mul", inputs=[self.change, self.decay])

    def all(self) -> list[BatchNorm]:
        """All batch norms, one for each layer."""
        found: dict[Operation, BatchNorm] = {}
        for pattern in (self.updated, OneofPattern([self.unflat, self.norm])):
            for result in GraphMatcher(pattern).match_graph(self.graph):
                match = self._match(result)
                if match is not None:
                    found.setdefault(match.layer_op, match)
        return list(found.values())

    def _match(self, result: MatchResult) -> BatchNorm | None:
        layer, norm = result.get_op(self.layer), result.get_op(self.norm)
        assert layer is not None and norm is not None, "both are parts of every pattern"
        output = norm.outputs[0]
        if layer.type == "MatMul":
            # Its results are matrices again behind a Reshape, which makes another match.
            unflat = result.get_op(self.unflat)
            if unflat is None:
                return None
            output = unflat.outputs[0]
        if not output.consumers():
            return None
        parts = self.parts
        match = BatchNorm(
            layer_op=layer,
            bn_op=norm,
            output=output,
            input=result.get_tensor(parts.input),
            weights=result.get_tensor(parts.weights),
            gamma=result.get_tensor(parts.gamma),
            beta=result.get_tensor(parts.beta),
            mean=result.get_tensor(parts.mean),
            variance=result.get_tensor(parts.variance),
            epsilon=norm.get_attr("epsilon"),
            batch_to_space_op=result.get_op(self.spread),
        )
        if norm.get_attr("is_training"):
            self._take_batch_moments(match, result.get_tensor(self.layer))
        return match

    def _take_batch_moments(self, match: BatchNorm, product: Any) -> None:
        """While training the op gives the moments, not takes them."""
        norm = match.bn_op
        # The op has no gradient of the moments that it gives.
        norm._attrs["_gradient_op_type"] = b"FoldFusedBatchNormGrad"
        match.mean = norm.outputs[1]
        scope, slash, _ = norm.name.rpartition("/")
        with self.graph.as_default(), self.graph.name_scope(scope + slash):
            n: Any = tf.cast(tf.size(product) / tf.size(match.mean), dtypes.float32)
            # What moving averages take is the unbiased variance; the op normalises by the other.
            unbias = (n - 1) / n
            match.variance = tf.multiply(norm.outputs[2], unbias, name="Undo_Bessel_Correction")
        for result in GraphMatcher(self.decayed).match_graph(self.graph):
            change = result.get_op(self.change)
            assert change is not None, "it is part of the pattern"
            if change.inputs[1] is norm.outputs[1]:
                match.moving_mean = change.inputs[0]
                match.decay_of_mean = result.get_tensor(self.decay)
            if change.inputs[1] is norm.outputs[2]:
                match.moving_variance = change.inputs[0]
                match.decay_of_variance = result.get_tensor(self.decay)


def find_fused(graph: Graph) -> list[BatchNorm]:
    """The fused batch norms of a graph."""
    return _Matcher(graph).all()
