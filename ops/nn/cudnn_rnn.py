# SPDX-License-Identifier: Apache-2.0
"""cudnn's recurrent nets: before a run they become products and loops, on any processor.

CudnnRNN and its gradient stand for graphs of ordinary ops, which are built here and put in place of
the node (engine/session/function_inlining.py).  The gradient is that of the same graph.  What
layers drop is drawn forward, and handed to the gradient as the reserve space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.graph import Graph
from ...engine.graph.operation import Operation
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.session.function_inlining import Body, Inliner
from ...engine.session.run_order import needed_operations
from ...engine.trampoline import Steps
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, unknown_shape
from ..public import raw, tf
from .cudnn_layout import ATTRS, TYPES, Net, net
from .cudnn_step import Layer, run_layer

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext

_INPUTS = "input: T, input_h: T, input_c: T, params: T"
_OUTPUTS = "output: T, output_h: T, output_c: T"
_GRADS = "output_backprop: T, output_h_backprop: T, output_c_backprop: T"
_RESULTS = "input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T"
_LENGTHS = ", sequence_lengths: int32"
# An op -> that of its gradient, its further inputs, and its attributes around `is_training`.
_VERSIONS = {
    "CudnnRNN": ("CudnnRNNBackprop", "", "", ""),
    "CudnnRNNV2": ("CudnnRNNBackpropV2", "", "", ""),
    "CudnnRNNV3": (
        "CudnnRNNBackpropV3",
        _LENGTHS,
        "; num_proj: int = 0",
        "; time_major: bool = true",
    ),
}


class _Run(NamedTuple):
    """What the graph of one op is built from."""

    net: Net
    time_major: bool
    # The share that is dropped between layers, and the seeds; 0 without training.
    dropout: float
    seeds: tuple[int, int]


def _run_of(op: Operation) -> _Run:
    """What an op asks for; InvalidArgumentError where the graph does not say how large it is."""
    x, h = op.inputs[0].shape, op.inputs[1].shape
    time_major = op.attr("time_major") if "V3" in op.type else True
    projected = op.attr("num_proj") if "V3" in op.type else 0
    if x.rank not in (None, 3) or h.rank not in (None, 3):
        raise errors.invalid(f"RNN input and input_h must be 3-D: {x} and {h}")
    sizes = [x.with_rank(3)[2].value, *(size.value for size in h.with_rank(3))]
    inputs, layers, units = sizes[0], sizes[1 if time_major else 2], sizes[3]
    if projected:
        units = op.inputs[2].shape.with_rank(3)[2].value
    if None in (inputs, layers, units):
        raise errors.invalid(
            f"{op.type} needs to know its sizes when the graph is built: input has shape {x} and "
            f"input_h {h}, of which the last axis and the number of layers must be known"
        )
    directions = 2 if op.attr("direction") == "bidirectional" else 1
    if layers % directions:
        raise errors.invalid(f"input_h has {layers} layers, which are not in pairs")
    made = net(op, layers // directions, units, inputs, projected)
    trains = op.attr("is_training") if "Backprop" not in op.type else True
    dropout = op.attr("dropout") if trains and made.layers > 1 else 0.0
    return _Run(made, time_major, dropout, (op.attr("seed"), op.attr("seed2")))


def _mask(run: _Run, x: Any) -> Any:
    """What is kept between layers, scaled up: [layers - 1, time, batch, outputs]; or None."""
    if not run.dropout:
        return None
    made = run.net
    shape = tf.concat([[made.layers - 1], tf.shape(x)[:2], [made.outputs * made.directions]], 0)
    seed, seed2 = run.seeds
    drawn = raw.RandomUniform(shape, dtype=x.dtype, seed=seed, seed2=seed2)
    kept = tf.cast(drawn >= run.dropout, x.dtype)
    return kept / (1.0 - run.dropout)


def _net_results(run: _Run, inputs: list[Any], lengths: Any, mask: Any) -> list[Any]:
    """Outputs and last states: the layers one above the other."""
    x, h, c, params = inputs
    made, lstm = run.net, run.net.mode == "lstm"
    if not run.time_major:
        x, h = (tf.transpose(value, [1, 0, 2]) for value in (x, h))
        c = tf.transpose(c, [1, 0, 2]) if lstm else c
    # The sizes of all parts follow from the graph, so a vector of another size is an error.
    flat = tf.reshape(params, [made.size])
    last_h: list[Any] = []
    last_c: list[Any] = []
    parts = list(made.weights())
    for layer in range(made.layers):
        outputs = []
        for way in range(made.directions):
            place = layer * made.directions + way
            weights = Layer(made, flat, parts[place])
            state = (h[place], c[place]) if lstm else (h[place],)
            output, state = run_layer(weights, x, state, lengths, backwards=way == 1)
            outputs.append(output)
            last_h.append(state[0])
            last_c += state[1:]
        x = outputs[0] if len(outputs) == 1 else tf.concat(outputs, 2)
        if mask is not None and layer + 1 < made.layers:
            x = x * mask[layer]
    results = [x, tf.stack(last_h), *([tf.stack(last_c)] if lstm else [])]
    if not run.time_major:
        results = [tf.transpose(value, [1, 0, 2]) for value in results]
    return results


def _placeholders(tensors: Sequence[Tensor]) -> list[Any]:
    return [tf.placeholder(tensor.dtype.base_dtype, tensor.shape) for tensor in tensors]


def _label(x: Inliner, op: Operation) -> str:
    """A scope for the nodes of an op, and so for the frames of its loops."""
    # What tensor arrays are the gradients of is told by the first "gradients" in names.
    return x.unique(op.name).replace("gradients", "slopes")


def _body(given: list[Any], results: list[Any]) -> Body:
    needed = needed_operations(results, [], given)
    return Body([op for op in needed if op.type != "Placeholder"], given, results, [])


def _forward(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
    run = _run_of(op)
    label = _label(x, op)
    with Graph().as_default(), tf.name_scope(label):
        given = _placeholders(op.inputs)
        mask = _mask(run, given[0] if run.time_major else tf.transpose(given[0], [1, 0, 2]))
        results = _net_results(run, given[:4], (given[4:] or [None])[0], mask)
        if len(results) == 2:
            results.append(tf.zeros([], given[0].dtype))
        nothing = tf.zeros([0], given[0].dtype)
        results.append(nothing if mask is None else tf.reshape(mask, [-1]))
        if len(op.outputs) > 4:
            results.append(tf.zeros([0], dtypes.int8))
    return (yield x.place(label, _body(given, results), inputs))


def _backward(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
    run = _run_of(op)
    label = _label(x, op)
    first = 5 if op.type.endswith("V3") else 4
    with Graph().as_default(), tf.name_scope(label):
        given = _placeholders(op.inputs)
        grads, reserved = given[first + 3 : first + 6], given[first + 6]
        mask = None
        if run.dropout:
            seen = given[0] if run.time_major else tf.transpose(given[0], [1, 0, 2])
            size = run.net.outputs * run.net.directions
            shape = tf.concat([[run.net.layers - 1], tf.shape(seen)[:2], [size]], 0)
            mask = tf.reshape(reserved, shape)
        lengths = given[4] if first == 5 else None
        results = _net_results(run, given[:4], lengths, mask)
        slopes = tf.gradients(results, given[:4], grads[: len(results)])
        slopes = [tf.zeros_like(v) if s is None else s for s, v in zip(slopes, given)]
    return (yield x.place(label, _body(given, slopes), inputs))


def _gradient(op: Operation, *grads: Tensor) -> tuple[Any, ...]:
    if not op.get_attr("is_training"):
        raise ValueError(f"To use {op.type} in gradients, is_training must be set to True.")
    names = "dropout seed seed2 rnn_mode input_mode direction"
    attrs = {name: op.get_attr(name) for name in names.split()}
    if len(op.inputs) > 4:
        attrs |= {name: op.get_attr(name) for name in ("num_proj", "time_major")}
    made = getattr(raw, _VERSIONS[op.type][0])(
        *op.inputs, *op.outputs[:3], *grads[:3], *op.outputs[3:], **attrs
    )
    return tuple(made) if len(op.inputs) == 4 else (*made, None)


def _shape(c: ShapeContext) -> list[TensorShape]:
    x, h, memory = (shape.with_rank(3) for shape in (*c.inputs[:2], unknown_shape(3)))
    lstm = c.attr("rnn_mode") == "lstm"
    if lstm:
        memory = c.inputs[2]
    units, ways = h[2].value, 2 if c.attr("direction") == "bidirectional" else 1
    output = TensorShape([x[0], x[1], None if units is None else units * ways])
    more = [unknown_shape()] * (1 if c.op_type == "CudnnRNN" else 2)
    return [output, h, memory if lstm else TensorShape([]), *more]


def _backprop_shape(c: ShapeContext) -> list[TensorShape]:
    return list(c.inputs[:4])


_NEEDS = {"needs": "TensorFlow on a GPU; see tests/ops/nn/test_cudnn.py"}
for _op, (_grad_op, _more, _before, _behind) in _VERSIONS.items():
    _reserve = "reserve_space: T" + (", host_reserved: int8" if _op != "CudnnRNN" else "")
    define(
        _op,
        f"{_INPUTS}{_more} -> {_OUTPUTS}, {_reserve}",
        f"{TYPES}; {ATTRS}{_before}; is_training: bool = true{_behind}",
        shape=_shape,
        expand=_forward,
        gradient=_gradient,
        stateful=True,
        doc="A recurrent net of several layers over all steps of its inputs.",
        test=lambda: _NEEDS,
    )
    define(
        _grad_op,
        f"{_INPUTS}{_more}, {_OUTPUTS}, {_GRADS}, {_reserve} -> {_RESULTS}",
        f"{TYPES}; {ATTRS}{_before}{_behind}",
        shape=_backprop_shape,
        expand=_backward,
        gradient=NoGradient("TensorFlow has none"),
        stateful=True,
        doc="The gradient of a recurrent net of several layers.",
        test=lambda: _NEEDS,
    )
