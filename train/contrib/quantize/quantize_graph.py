# SPDX-License-Identifier: Apache-2.0
"""The functions of `tf.contrib.quantize`: they change a graph in place."""

from __future__ import annotations

from ....engine.api import export
from ....engine.graph.defaults import get_default_graph
from ....engine.graph.graph import Graph
from .fold_batch_norms import FoldBatchNorms
from .quantize import Quantize

_RULES = (
    "AddSign Adagrad AdagradDA Adam CenteredRMSProp Ftrl FtrlV2 GradientDescent Momentum PowerSign "
    "ProximalAdagrad ProximalGradientDescent RMSProp Adadelta"
).split()
_FORMS = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
_TRAINING = frozenset(form + rule for form in _FORMS for rule in _RULES) - {"ApplyAdadelta"}


def _change(
    graph: Graph | None,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    graph = get_default_graph() if graph is None else graph
    _check_for_training_ops(graph)
    with graph.as_default():
        FoldBatchNorms(graph, freeze_batch_norm_delay=freeze_bn_delay, is_training=is_training)
        Quantize(
            graph,
            is_training,
            quant_delay=quant_delay,
            weight_bits=weight_bits,
            activation_bits=activation_bits,
            symmetric=symmetric,
            scope=scope,
        )


def _check_for_training_ops(g: Graph) -> None:
    found = {op.type for op in g.get_operations()} & _TRAINING
    if found:
        raise ValueError(f"Training op found in graph, exiting {found}")


@export("contrib.quantize.create_training_graph")
def create_training_graph(input_graph: Graph | None = None, quant_delay: int = 0) -> None:
    """Changes a graph so that it learns with eight bits (tf.contrib.quantize).

    Batch norms become part of weights; weights and activations are quantised in ranges that
    variables "min" and "max" keep.  Call it before there are gradients.

    Args:
        input_graph: the graph; the default one if None.
        quant_delay: how many steps are run before anything is quantised.

    Raises:
        ValueError: an optimizer has been here.
    """
    _change(input_graph, is_training=True, quant_delay=quant_delay)


@export("contrib.quantize.create_eval_graph")
def create_eval_graph(input_graph: Graph | None = None) -> None:
    """Changes a graph as `create_training_graph` does, with ranges that stay as they are learnt.

    Args:
        input_graph: the graph; the default one if None.

    Raises:
        ValueError: an optimizer has been here.
    """
    _change(input_graph, is_training=False)


@export("contrib.quantize.experimental_create_training_graph")
def experimental_create_training_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_training_graph` with all there is to choose.

    Args:
        input_graph: the graph; the default one if None.
        weight_bits: of weights.
        activation_bits: of activations.
        symmetric: whether 0 is in the middle of ranges.
        quant_delay: how many steps are run before anything is quantised.
        freeze_bn_delay: after how many steps moving averages of batch norms stay; never if None.
        scope: of what is changed; all if None.

    Raises:
        ValueError: an optimizer has been here.
    """
    _change(
        *(input_graph, True, weight_bits, activation_bits, symmetric, quant_delay),
        *(freeze_bn_delay, scope),
    )


@export("contrib.quantize.experimental_create_eval_graph")
def experimental_create_eval_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_eval_graph` with all there is to choose.

    Args:
        input_graph: the graph; the default one if None.
        weight_bits: of weights.
        activation_bits: of activations.
        symmetric: whether 0 is in the middle of ranges.
        quant_delay: how many steps are run before anything is quantised.
        scope: of what is changed; all if None.

    Raises:
        ValueError: an optimizer has been here.
    """
    _change(
        *(input_graph, False, weight_bits, activation_bits, symmetric, quant_delay),
        scope=scope,
    )
