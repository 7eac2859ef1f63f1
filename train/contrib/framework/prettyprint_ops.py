# SPDX-License-Identifier: Apache-2.0
"""Prints tensors, sparse tensors and tensor arrays with what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....engine.graph.tensor import SparseTensor, Tensor
from ....ops.checks.logging import Print
from ....ops.flow.tensor_array import TensorArray
from ....ops.public import tf
from ....ops.state.variables import Variable

_KINDS = (
    (Tensor, "Tensor"),
    (SparseTensor, "SparseTensor"),
    (TensorArray, "TensorArray"),
    (Variable, "Variable"),
)
_NOT_PRINTED = "input_ must be of type Tensor, SparseTensor or TensorArray"


def _kind(t: Any) -> str:
    for kind, name in _KINDS:
        if isinstance(t, kind):
            return name
    raise ValueError("t must be a Tensor, SparseTensor, TensorArray or Variable.")


def _shape(t: Any, kind: str) -> list[Any]:
    if kind == "SparseTensor":
        return [tf.constant("Shape:"), t.dense_shape]
    if kind == "Tensor":
        return [tf.constant(f"Shape: {t.shape.dims}")]
    return [tf.constant("Size:"), t.size()] if kind == "TensorArray" else []


def _values(t: Any, kind: str) -> list[Any]:
    if kind == "SparseTensor":
        first = [tf.constant("Sparse indices:"), t.indices]
        return [*first, tf.constant("Sparse values:"), t.values]
    if kind == "Variable":
        return []
    return [tf.constant("Value:"), t if kind == "Tensor" else t.stack()]


def _get_tensor_repr(
    t: Any,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_shape: bool = True,
    summarize_indicator_vector: bool = True,
) -> list[Any]:
    """What is printed of a tensor, as tensors."""
    kind = _kind(t)
    found: list[Any] = []
    if print_tensor_name and kind == "Tensor":
        found.append(tf.constant(f"Name: {t.name}"))
    if print_tensor_type:
        found.append(tf.constant(f"Type: {kind} ({t.dtype.name})"))
    if print_shape:
        found += _shape(t, kind)
    if summarize_indicator_vector and t.dtype == tf.bool:
        numbers = tf.cast(t, tf.uint8)
        found += [tf.constant("First True in Boolean tensor at:"), tf.argmax(numbers, 0)]
    return [*found, *_values(t, kind)]


def print_op(
    input_: Any,
    data: Sequence[Any] | None = None,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_shape: bool = True,
    summarize_indicator_vector: bool = True,
    name: str | None = None,
) -> Any:
    """Prints a tensor, a sparse one or an array of tensors, when it is computed.

    Args:
        input_: what is printed first.
        data: what is printed behind it.
        message: the beginning of the line.
        first_n: how often it is printed; every time if None.
        summarize: how many elements of each are printed.
        print_tensor_name, print_tensor_type, print_shape: what is said of each.
        summarize_indicator_vector: whether it is said of bools where the first True is.
        name: of the operation.

    Returns:
        What stands for `input_`, and prints when it is computed.  What is read of an array does
        not, as in TensorFlow.

    Raises:
        ValueError: something else is given.
    """
    if input_ is None:
        raise ValueError(_NOT_PRINTED)
    flags = print_tensor_name, print_tensor_type, print_shape, summarize_indicator_vector
    found = [part for one in (input_, *(data or ())) for part in _get_tensor_repr(one, *flags)]
    settings = found, message or "", first_n, summarize, name
    if isinstance(input_, (Tensor, Variable)):
        return Print(input_, *settings)
    printed = Print(tf.constant([]), *settings)
    with tf.control_dependencies([printed]):
        if isinstance(input_, SparseTensor):
            parts = input_.indices, input_.values, input_.dense_shape
            return SparseTensor(*map(tf.identity, parts))
        return TensorArray(dtype=input_.dtype, handle=input_.handle, flow=input_.flow)
