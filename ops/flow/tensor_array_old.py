# SPDX-License-Identifier: Apache-2.0
"""TensorArrays as graphs of 2015 and 2016 have them: by handles that are texts.

TensorFlow makes no such nodes any more, but runs those that old GraphDefs hold (the deprecations in
core/ops/data_flow_ops.cc).  They work as the ops of today do: the kernels are theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.graph import control_dependencies
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, as_shape, shape_text, unknown_shape
from .. import shape_inference
from ..public import raw, tf
from . import tensor_array_nodes as nodes
from .tensor_array_store import Store

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_STATE = NoGradient("makes, measures or drops an array", silent=True)
_GONE = NoGradient("TensorFlow has no gradient of it")


class _Name(bytes):
    """The name of an array, with the array."""

    store: Store


def _handle(store: Store) -> np.ndarray:
    """The texts that stand for an array: a container, and its name there."""
    name = _Name(store.name.encode())
    name.store = store
    result = np.empty(2, object)
    result[:] = b"_tensor_arrays", name
    return result


def _stored(handle: np.ndarray) -> Store:
    if handle.size != 2:
        text = "Tensor array handle must be 2-element vector, but had shape: "
        raise errors.invalid(f"{text}{shape_text(handle.shape)}")
    container, name = handle.reshape(-1).tolist()
    if not isinstance(name, _Name):
        what = f"{container.decode(errors='replace')}/{name.decode(errors='replace')}"
        raise errors.not_found(f"Resource {what} does not exist.")
    return name.store


def _of_array(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of today for a handle of old."""

    def on_handle(c: KernelContext, handle: np.ndarray, *rest: np.ndarray) -> Any:
        return kernel(c, _stored(handle), *rest)

    return on_handle


def _make(c: KernelContext, size: np.ndarray) -> np.ndarray:
    store = Store(
        c.op._attrs["dtype"],
        nodes.scalar_size(size),
        as_shape(c.op._attrs["element_shape"]),
        False,
        c.attr("dynamic_size"),
        c.attr("clear_after_read"),
        c.attr("tensor_array_name") or c.name,
    )
    return _handle(store)


def _gradients(c: KernelContext, store: Store, flow: np.ndarray) -> np.ndarray:
    return _handle(store.gradient(c.attr("source")))


def _all_of(store: Store) -> np.ndarray:
    return np.arange(store.size, dtype=np.int32)


def _pack(c: KernelContext, store: Store, flow: np.ndarray) -> np.ndarray:
    return nodes.gather(c, store, _all_of(store), flow)


def _unpack(c: KernelContext, store: Store, value: np.ndarray, flow: np.ndarray) -> np.ndarray:
    # (A scalar is refused in words of its own.)
    rows = np.arange(len(value) if value.ndim else 0, dtype=np.int32)
    return nodes.scatter(c, store, rows, value, flow)


# Shapes: the oldest ops tell nothing; those after them look at the handle, indices and flow.


def _untold(c: ShapeContext) -> list[TensorShape]:
    return [unknown_shape() for _ in c.op.outputs]


def _told(result: Any, ranks: tuple[int, ...]) -> Any:
    """A shape function for inputs of some ranks (-1: any), of which the first is a handle."""

    def shape(c: ShapeContext) -> list[TensorShape]:
        for given, rank in zip(c.inputs, ranks, strict=True):
            if rank >= 0:
                shape_inference.ranked(given, rank)
        if ranks[0] == 1:
            shape_inference.merge(c.inputs[0], TensorShape([2]))
        return [as_shape(sizes) for sizes in result]

    return shape


# Gradients: as those of today's ops, through the old ops.


def _age(op: Operation) -> str:
    return "V2" if op.type.endswith("V2") else ""


def _gradient_array(op: Operation, source: Tensor, flow: Tensor) -> tuple[Tensor, Tensor]:
    """The array of gradients and the flow that its first user takes."""
    make = {"": raw.TensorArrayGrad, "V2": raw.TensorArrayGradV2}[_age(op)]
    handle = make(op.inputs[0], flow, source=nodes.call_of(op, source))
    with control_dependencies([handle]):
        return handle, tf.identity(flow, name="gradient_flow")


def _read_gradient(op: Operation, grad: Tensor) -> list[Any]:
    write = {"": raw.TensorArrayWrite, "V2": raw.TensorArrayWriteV2}[_age(op)]
    handle, flow = _gradient_array(op, grad, op.inputs[2])
    return [None, None, write(handle, op.inputs[1], grad, flow)]


def _write_gradient(op: Operation, flow: Tensor) -> list[Any]:
    read = {"": raw.TensorArrayRead, "V2": raw.TensorArrayReadV2}[_age(op)]
    handle, ready = _gradient_array(op, flow, flow)
    return [None, None, read(handle, op.inputs[1], ready, dtype=op.attr("T")), flow]


def _gather_gradient(op: Operation, grad: Tensor) -> list[Any]:
    scatter = {"": raw.TensorArrayScatter, "V2": raw.TensorArrayScatterV2}[_age(op)]
    handle, flow = _gradient_array(op, grad, op.inputs[2])
    return [None, None, scatter(handle, op.inputs[1], grad, flow)]


def _scatter_gradient(op: Operation, flow: Tensor) -> list[Any]:
    gather = {"": raw.TensorArrayGather, "V2": raw.TensorArrayGatherV2}[_age(op)]
    handle, ready = _gradient_array(op, flow, flow)
    return [None, None, gather(handle, op.inputs[1], ready, dtype=op.attr("T")), flow]


def _concat_gradient(op: Operation, grad: Tensor, _: int) -> list[Any]:
    split = {"": raw.TensorArraySplit, "V2": raw.TensorArraySplitV2}[_age(op)]
    handle, flow = _gradient_array(op, grad, op.inputs[1])
    return [None, split(handle, grad, op.outputs[1], flow)]


def _split_gradient(op: Operation, flow: Tensor) -> list[Any]:
    concat = {"": raw.TensorArrayConcat, "V2": raw.TensorArrayConcatV2}[_age(op)]
    handle, ready = _gradient_array(op, flow, flow)
    return [None, concat(handle, ready, dtype=op.attr("T"))[0], None, flow]


_MAKE = (
    "dtype: type; dynamic_size: bool = false; clear_after_read: bool = true; "
    "tensor_array_name: string = ''; element_shape: shape = None"
)
_MAKE_V2 = (
    "dtype: type; element_shape: shape = None; dynamic_size: bool = false; "
    "clear_after_read: bool = true; tensor_array_name: string = ''"
)
_SHAPED = "dtype: type; element_shape: shape = None"
_SHAPED_REST = "dtype: type; element_shape_except0: shape = None"
_PAIR: list[int] = [2]
_ONE: list[int] = []
_ANY = None

# Names of both ages (the second may be missing), inputs behind the handle, outputs, attributes,
# the shapes of the outputs, the ranks of the inputs, kernel, gradient, what it does.
for _names, _inputs, _outputs, _attrs, _shapes, _ranks, _kernel, _gradient, _doc in (
    (
        ("TensorArrayWrite", "TensorArrayWriteV2"),
        ", index: int32, value: T, flow_in: float32",
        "flow_out: float32",
        "T: type",
        (_ONE,),
        (1, 0, -1, 0),
        nodes.write,
        _write_gradient,
        "Writes one element.",
    ),
    (
        ("TensorArrayRead", "TensorArrayReadV2"),
        ", index: int32, flow_in: float32",
        "value: dtype",
        "dtype: type",
        (_ANY,),
        (1, 0, 0),
        nodes.read,
        _read_gradient,
        "Reads one element.",
    ),
    (
        ("TensorArrayPack",),
        ", flow_in: float32",
        "value: dtype",
        _SHAPED,
        (_ANY,),
        (1, 0),
        _pack,
        _GONE,
        "All elements as one tensor.",
    ),
    (
        ("TensorArrayUnpack",),
        ", value: T, flow_in: float32",
        "flow_out: float32",
        "T: type",
        (_ONE,),
        (1, -1, 0),
        _unpack,
        _GONE,
        "Writes the rows of a tensor to the elements.",
    ),
    (
        ("TensorArrayGather", "TensorArrayGatherV2"),
        ", indices: int32, flow_in: float32",
        "value: dtype",
        _SHAPED,
        (_ANY,),
        (1, 1, 0),
        nodes.gather,
        _gather_gradient,
        "Reads several elements into one tensor.",
    ),
    (
        ("TensorArrayScatter", "TensorArrayScatterV2"),
        ", indices: int32, value: T, flow_in: float32",
        "flow_out: float32",
        "T: type",
        (_ONE,),
        (1, 1, -1, 0),
        nodes.scatter,
        _scatter_gradient,
        "Writes the rows of a tensor to several elements.",
    ),
    (
        ("TensorArrayConcat", "TensorArrayConcatV2"),
        ", flow_in: float32",
        "value: dtype, lengths: int64",
        _SHAPED_REST,
        (_ANY, [None]),
        (1, 0),
        nodes.concat,
        _concat_gradient,
        "All elements, one behind the other.",
    ),
    (
        ("TensorArraySplit", "TensorArraySplitV2"),
        ", value: T, lengths: int64, flow_in: float32",
        "flow_out: float32",
        "T: type",
        (_ONE,),
        (1, -1, 1, 0),
        nodes.split,
        _split_gradient,
        "Writes consecutive parts of a tensor to the elements.",
    ),
    (
        ("TensorArraySize", "TensorArraySizeV2"),
        ", flow_in: float32",
        "size: int32",
        "",
        (_ONE,),
        (1, 0),
        lambda c, store, flow: np.asarray(store.size, np.int32),
        _STATE,
        "The number of elements.",
    ),
    (
        ("TensorArrayClose", "TensorArrayCloseV2"),
        "",
        "",
        "",
        (),
        (1,),
        nodes.close,
        _STATE,
        "Drops the elements.",
    ),
):
    for _name, _given in zip(_names, ("Ref(string)", "string")):
        define(
            _name,
            f"handle: {_given}{_inputs} -> {_outputs}",
            _attrs,
            shape=_untold if _given != "string" else _told(_shapes, _ranks),
            kernel=_of_array(_kernel),
            gradient=_gradient,
            control_flow_role="step",
            test={"needs": "a list"},
            doc=_doc,
        )

for _name, _given, _attrs in (
    ("TensorArray", "Ref(string)", _MAKE),
    ("TensorArrayV2", "string", _MAKE_V2),
):
    define(
        _name,
        f"size: int32 -> handle: {_given}",
        _attrs,
        shape=_untold if _name == "TensorArray" else _told((_PAIR,), (0,)),
        kernel=_make,
        gradient=_STATE,
        stateful=True,
        control_flow_role="step",
        test={"needs": "a list"},
        doc="A new array of tensors.",
    )
for _name, _given in (("TensorArrayGrad", "Ref(string)"), ("TensorArrayGradV2", "string")):
    define(
        _name,
        f"handle: string, flow_in: float32 -> grad_handle: {_given}",
        "source: string",
        shape=_untold if _name == "TensorArrayGrad" else _told((_PAIR,), (1, -1)),
        kernel=_of_array(_gradients),
        gradient=_STATE,
        stateful=True,
        control_flow_role="step",
        test={"needs": "a list"},
        doc="The array of the gradients of an array, for one call of gradients.",
    )
