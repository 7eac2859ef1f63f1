# SPDX-License-Identifier: Apache-2.0
"""The ops on TensorArrays and their gradients, which go through an array of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import get_name_scope
from ...engine.memory import result_empty
from ...engine.types.dtypes import runtime_name
from ...engine.types.shape import TensorShape, as_shape, shape_text, unknown_shape
from ..public import tf
from ..shape_inference import known_sizes
from .tensor_array_lower import LOWER
from .tensor_array_store import Store

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_STATE = NoGradient("makes, measures or drops an array", silent=True)
_ANY = unknown_shape()
# A flow carries no number: it is there for the order of execution and for gradients to pass along,
# which is why its type is a float.
_FLOW = np.zeros((), np.float32)
_FLOW.flags.writeable = False
# The number of the input that is written.
_VALUE = 2


def _scalar(c: ShapeContext) -> TensorShape:
    return TensorShape([])


def _handle_and_flow(c: ShapeContext) -> list[TensorShape]:
    return [TensorShape([2]), TensorShape([])]


def scalar_size(size: np.ndarray) -> int:
    """The size that an array is made with."""
    if size.ndim:
        raise errors.invalid(
            f"TensorArray size must be scalar, but had shape: {shape_text(size.shape)}"
        )
    return int(size)


def _make(c: KernelContext, size: np.ndarray) -> tuple[Store, np.ndarray]:
    store = Store(
        c.op._attrs["dtype"],
        scalar_size(size),
        as_shape(c.op._attrs["element_shape"]),
        c.attr("identical_element_shapes"),
        c.attr("dynamic_size"),
        c.attr("clear_after_read"),
        c.attr("tensor_array_name") or c.name,
    )
    return store, _FLOW


def _index(index: np.ndarray) -> int:
    if index.ndim:
        raise errors.invalid(
            f"TensorArray index must be scalar, but had shape: {shape_text(index.shape)}"
        )
    return int(index)


def _owned(c: KernelContext, value: np.ndarray) -> np.ndarray:
    """A value that no variable changes in place."""
    # A view may be of a variable's memory, which assignments overwrite; but what native code gives,
    # as a decoder, is none of it.
    if value.flags.owndata or c.op._inputs_val[_VALUE].op.definition.is_native:
        return value
    return value.copy()


def _check_type(c: KernelContext, store: Store) -> None:
    wanted = c.op._attrs["dtype"]
    if store.dtype != wanted:
        mine, asked = runtime_name(store.dtype), runtime_name(wanted)
        raise errors.invalid(f"TensorArray dtype is {mine} but Op requested dtype {asked}.")


def _require_written_type(c: KernelContext, store: Store) -> None:
    given = c.op._attrs["T"]
    if store.dtype != given:
        mine, offered = runtime_name(store.dtype), runtime_name(given)
        raise errors.invalid(
            f"TensorArray dtype is {mine} but Op is trying to write dtype {offered}."
        )


def write(
    c: KernelContext, store: Store, index: np.ndarray, value: np.ndarray, flow: np.ndarray
) -> np.ndarray:
    """Writes an element."""
    number = _index(index)
    _require_written_type(c, store)
    store.write(number, _owned(c, value))
    return _FLOW


def read(c: KernelContext, store: Store, index: np.ndarray, flow: np.ndarray) -> np.ndarray:
    """Reads an element."""
    number = _index(index)
    _check_type(c, store)
    return store.read(number)


def gather(c: KernelContext, store: Store, indices: np.ndarray, flow: Any) -> np.ndarray:
    """Reads several elements into one tensor."""
    _check_type(c, store)
    _require_vector(indices)
    wanted = as_shape(c.op._attrs["element_shape"])
    if not len(indices):
        if not wanted.is_fully_defined():
            text = (
                f"TensorArray has size zero, but element shape {shape_text(wanted)} is not fully "
                "defined. Currently only static shapes are supported when packing zero-size "
                "TensorArrays."
            )
            raise errors.unimplemented(text)
        return np.zeros([0, *known_sizes(wanted)], store.dtype.np_dtype)
    values = [store.read(int(i)) for i in indices]
    if not wanted.is_compatible_with(values[0].shape):
        raise errors.invalid(
            f"TensorArray was passed element_shape {shape_text(wanted)} which does not match the "
            f"Tensor at index 0: {shape_text(values[0].shape)}"
        )
    for i, value in enumerate(values):
        if value.shape != values[0].shape:
            raise errors.invalid(
                "TensorArray has inconsistent shapes.  Index 0 has shape: "
                f"{shape_text(values[0].shape)} but index {i} has shape: {shape_text(value.shape)}"
            )
    return _stacked(values)


def _stacked(values: list[np.ndarray]) -> np.ndarray:
    """Elements of one shape and dtype as rows."""
    first = values[0]
    return np.stack(values, out=result_empty((len(values), *first.shape), first.dtype))


def _require_vector(indices: np.ndarray) -> None:
    if indices.ndim != 1:
        shape = shape_text(indices.shape)
        raise errors.invalid(f"Expected indices to be a vector, but received shape: {shape}")


def scatter(
    c: KernelContext, store: Store, indices: np.ndarray, value: np.ndarray, flow: np.ndarray
) -> np.ndarray:
    """Writes the rows of a tensor."""
    _require_written_type(c, store)
    if not value.ndim:
        shape = shape_text(value.shape)
        text = f"Input value for unpack must be at least a vector but received shape: {shape}"
        raise errors.invalid(text)
    _require_vector(indices)
    if len(indices) != len(value):
        raise errors.invalid(
            f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {len(value)}"
        )
    last = int(indices.max()) if len(indices) else -1
    size = max(store.size, last + 1) if store.dynamic else store.size
    # TensorFlow 1.15 checks the greatest index before the first write, so that a scatter that fails
    # leaves the array as it was.
    if last >= size:
        raise errors.invalid(f"Max scatter index must be < array size ({last} vs. {size})")
    for i, row in zip(indices, value):
        store.write(int(i), np.array(row, value.dtype))
    return _FLOW


def concat(c: KernelContext, store: Store, flow: Any) -> tuple[np.ndarray, np.ndarray]:
    """All elements behind each other, and their lengths."""
    _check_type(c, store)
    wanted = as_shape(c.op._attrs["element_shape_except0"])
    size = store.concat_size
    if size <= 0:
        if not wanted.is_fully_defined():
            text = (
                f"TensorArray has size zero, but element_shape_except0 {shape_text(wanted)} is not "
                "fully defined. Currently only static shapes are supported when concatenating "
                "zero-size TensorArrays."
            )
            raise errors.unimplemented(text)
        empty = np.zeros([0, *known_sizes(wanted)], store.dtype.np_dtype)
        return empty, np.zeros(0, np.int64)
    values = [store.read(i) for i in range(size)]
    for i, value in enumerate(values):
        _check_part(i, value, values[0], wanted)
    return np.concatenate(values), np.array([len(value) for value in values], np.int64)


def _check_part(i: int, value: np.ndarray, first: np.ndarray, wanted: TensorShape) -> None:
    if not value.ndim:
        raise errors.invalid(
            f"Concat saw a scalar shape at index {i} but requires at least vectors.  Did you mean "
            "to call pack?"
        )
    rest = value.shape[1:]
    if i == 0 and not wanted.is_compatible_with(rest):
        raise errors.invalid(
            f"TensorArray was passed element_shape_except0 {shape_text(wanted)} but index 0 has "
            f"(excepting dimension 0) shape: {shape_text(rest)} which does not match."
        )
    if rest != first.shape[1:]:
        raise errors.invalid(
            "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: "
            f"{shape_text(first.shape[1:])} but index {i} has (excepting dimension 0) shape: "
            f"{shape_text(rest)}"
        )


def split(
    c: KernelContext, store: Store, value: np.ndarray, lengths: np.ndarray, flow: np.ndarray
) -> np.ndarray:
    """Writes consecutive parts of a tensor."""
    if lengths.ndim != 1:
        shape = shape_text(lengths.shape)
        raise errors.invalid(f"Expected lengths to be a vector, received shape: {shape}")
    if not value.ndim:
        shape = shape_text(value.shape)
        raise errors.invalid(f"Expected value to be at least a vector, but received shape: {shape}")
    if (lengths < 0).any():  # (TensorFlow ends the process.)
        place = int(np.argmax(lengths < 0))
        raise errors.invalid(f"Expected lengths of parts, but length {place} is {lengths[place]}")
    total = int(lengths.sum())
    if total != len(value):
        raise errors.invalid(
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{total} and value's shape is: {shape_text(value.shape)} "
        )
    size = max(store.size, len(lengths)) if store.dynamic else store.size
    if size != len(lengths):
        kind = "dynamically resizeable" if store.dynamic else "marked as dynamically resizeable"
        raise errors.invalid(
            "TensorArray's size is not equal to the size of lengths "
            f"({size} vs. {len(lengths)}), and the TensorArray is not {kind}"
        )
    _require_written_type(c, store)
    # The gradient of a split concatenates, and its array must then have exactly these parts, those
    # without a gradient as zeros (`marked_size` in kernels/tensor_array.h).
    store.marked = size
    stop = 0
    for i, length in enumerate(lengths):
        start, stop = stop, stop + int(length)
        store.write(i, value[start:stop].copy())
    return _FLOW


def _grad(
    c: KernelContext, store: Store, flow: np.ndarray, prefix: Sequence[Any] = ()
) -> tuple[Store, Any]:
    return store.gradient(c.attr("source"), tuple(int(n) for n in prefix)), flow


def close(c: KernelContext, store: Store) -> None:
    """Drops the elements."""
    store.close()


def _handle_data(handle: Tensor) -> TensorShape | None:
    """The shape of elements that a handle carries: None when it says nothing of them."""
    op = handle.op
    if op.type == "TensorArrayV3":
        shape = as_shape(op._attrs["element_shape"])
        return shape if shape.is_fully_defined() or op._attrs["identical_element_shapes"] else None
    if op.type in ("Enter", "Switch", "Identity", "TensorArrayGradV3"):
        return _handle_data(op.inputs[0])
    if op.type == "TensorArrayGradWithShape":
        known, prefix = _handle_data(op.inputs[0]), op.inputs[2].shape.sizes
        if known is None or known.rank is None or prefix is None or prefix[0] is None:
            return None if known is None else _ANY
        return TensorShape([None] * prefix[0]).concatenate(known)
    return None


def _element_shape(handle: Tensor) -> TensorShape:
    """What is known of the elements of the array that a handle stands for."""
    shape = _handle_data(handle)
    return _ANY if shape is None else shape


def _gathered_shape(c: ShapeContext) -> TensorShape:
    length = c.inputs[1].sizes
    rows = TensorShape([None]) if length is None else TensorShape(list(length))
    # What the handle says comes before the node's own attribute, even if it is "anything".
    shape = _handle_data(c.op.inputs[0])
    return rows.concatenate(as_shape(c.op._attrs["element_shape"]) if shape is None else shape)


def _scattered_shape(c: ShapeContext) -> TensorShape:
    rows, value = c.inputs[1].sizes, c.inputs[2].sizes
    if rows and value and None not in (rows[0], value[0]) and rows[0] != value[0]:
        raise ValueError(
            f"Dimension 0 in both shapes must be equal, but are {value[0]} and {rows[0]}"
        )
    return TensorShape([])


# Gradients


def source_of(x: Tensor) -> str:
    """Which call of `gradients` a node belongs to: the part of its name up to that scope."""
    parts = x.name.split("/")
    last = max((i for i, part in enumerate(parts) if part.startswith("gradients")), default=-1)
    if last < 0:
        raise ValueError(
            "Expected op/tensor name to start with gradients (excluding scope), got: "
            f"{x.name}. This means that a tf.gradients op with this op in its dependency path has "
            "a custom name that does not start with 'gradients'. Please make sure all calls to "
            "tf.gradients that have non-empty 'name' arguments use names that start with "
            "'gradients'."
        )
    return "/".join(parts[: last + 1])


# TensorFlow's name for it.
_GetGradSource = source_of


def call_of(op: Operation, grad: Tensor) -> str:
    """Which call of `gradients` differentiates an op: all that it makes is in one scope.

    The node alone does not say so for gradients of gradients, whose names have several such scopes.
    """
    source = source_of(grad)
    scope, found, _ = get_name_scope().rpartition(f"/{op.name}_grad")
    return scope if found else source


def _gradient_array(op: Operation, kind: str, source: Tensor, flow: Tensor) -> Any:
    array = tf.TensorArray(
        dtype=op._attrs[kind],
        handle=op.inputs[0],
        flow=flow,
        colocate_with_first_write_call=False,
    )
    return array.grad(source=call_of(op, source), flow=flow)


# Each op on an array has its opposite on the array of gradients: reads write (and several reads of
# an element add up there), writes read. The gradient of a flow is the flow of the array of
# gradients, which makes every write there come before the reads that need it.
def _read_gradient(op: Operation, grad: Tensor) -> list[Any]:
    array = _gradient_array(op, "dtype", grad, op.inputs[2])
    return [None, None, array.write(op.inputs[1], grad).flow]


def _write_gradient(op: Operation, flow: Tensor) -> list[Any]:
    return [None, None, _gradient_array(op, "T", flow, flow).read(op.inputs[1]), flow]


def _gather_gradient(op: Operation, grad: Tensor) -> list[Any]:
    array = _gradient_array(op, "dtype", grad, op.inputs[2])
    return [None, None, array.scatter(op.inputs[1], grad).flow]


def _scatter_gradient(op: Operation, flow: Tensor) -> list[Any]:
    return [None, None, _gradient_array(op, "T", flow, flow).gather(op.inputs[1]), flow]


def _concat_gradient(op: Operation, grad: Tensor, _: int) -> list[Any]:
    array = _gradient_array(op, "dtype", grad, op.inputs[1])
    return [None, array.split(grad, lengths=op.outputs[1]).flow]


def _split_gradient(op: Operation, flow: Tensor) -> list[Any]:
    return [None, _gradient_array(op, "T", flow, flow).concat(), None, flow]


_MAKE = (
    "dtype: type; element_shape: shape = None; dynamic_size: bool = false; "
    "clear_after_read: bool = true; identical_element_shapes: bool = false; "
    "tensor_array_name: string = ''"
)
for _name, _signature, _attrs, _shape, _kernel, _gradient, _doc in (
    (
        "TensorArrayV3",
        "size: int32 -> handle: resource, flow: float32",
        _MAKE,
        _handle_and_flow,
        _make,
        _STATE,
        "A new array of tensors.",
    ),
    (
        "TensorArrayGradV3",
        "handle: resource, flow_in: float32 -> grad_handle: resource, flow_out: float32",
        "source: string",
        _handle_and_flow,
        _grad,
        _STATE,
        "The array of the gradients of an array, for one call of gradients.",
    ),
    (
        "TensorArrayGradWithShape",
        "handle: resource, flow_in: float32, shape_to_prepend: int32 -> "
        "grad_handle: resource, flow_out: float32",
        "source: string",
        _handle_and_flow,
        _grad,
        _STATE,
        "The array of gradients, whose elements have more dimensions in front.",
    ),
    (
        "TensorArrayWriteV3",
        "handle: resource, index: int32, value: T, flow_in: float32 -> flow_out: float32",
        "T: type",
        _scalar,
        write,
        _write_gradient,
        "Writes one element.",
    ),
    (
        "TensorArrayReadV3",
        "handle: resource, index: int32, flow_in: float32 -> value: dtype",
        "dtype: type",
        lambda c: _element_shape(c.tensor(0)),
        read,
        _read_gradient,
        "Reads one element.",
    ),
    (
        "TensorArrayGatherV3",
        "handle: resource, indices: int32, flow_in: float32 -> value: dtype",
        "dtype: type; element_shape: shape = None",
        _gathered_shape,
        gather,
        _gather_gradient,
        "Reads several elements into one tensor.",
    ),
    (
        "TensorArrayScatterV3",
        "handle: resource, indices: int32, value: T, flow_in: float32 -> flow_out: float32",
        "T: type",
        _scattered_shape,
        scatter,
        _scatter_gradient,
        "Writes the rows of a tensor to several elements.",
    ),
    (
        "TensorArrayConcatV3",
        "handle: resource, flow_in: float32 -> value: dtype, lengths: int64",
        "dtype: type; element_shape_except0: shape = None",
        lambda c: [unknown_shape(), TensorShape([None])],
        concat,
        _concat_gradient,
        "All elements, one behind the other.",
    ),
    (
        "TensorArraySplitV3",
        "handle: resource, value: T, lengths: int64, flow_in: float32 -> flow_out: float32",
        "T: type",
        _scalar,
        split,
        _split_gradient,
        "Writes consecutive parts of a tensor to the elements.",
    ),
    (
        "TensorArraySizeV3",
        "handle: resource, flow_in: float32 -> size: int32",
        "",
        _scalar,
        lambda c, store, flow: np.asarray(store.size, np.int32),
        _STATE,
        "The number of elements.",
    ),
    (
        "TensorArrayCloseV3",
        "handle: resource ->",
        "",
        None,
        close,
        _STATE,
        "Drops the elements.",
    ),
):
    define(
        _name,
        _signature,
        _attrs,
        shape=_shape,
        kernel=_kernel,
        lower=LOWER.get(_name),
        gradient=_gradient,
        stateful=_name in ("TensorArrayV3", "TensorArrayGradV3", "TensorArrayGradWithShape"),
        control_flow_role="step",
        doc=_doc,
    )
