# SPDX-License-Identifier: Apache-2.0
"""Contractions made of transposes, reshapes and matrix products: tensordot and einsum."""

from __future__ import annotations

import logging
import math
import re
import string
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

_LOGGER = logging.getLogger("tensorflow")


# Tensordot


def _contracted_axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    """The axes of a and of b to sum over."""
    if isinstance(axes, (int, np.integer)):
        rank: Any = a.get_shape().ndims
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        if rank is None:
            rank = tf.rank(a)
            first = tf.range(rank - axes, rank, dtype=dtypes.int32)
            return first, tf.range(axes, dtype=dtypes.int32)
        if axes > rank:
            raise ValueError(
                f"'axes' must not be larger than the number of dimensions of tensor {a}."
            )
        return list(range(rank - axes, rank)), list(range(axes))
    if not isinstance(axes, (list, tuple)):
        axes = convert_to_tensor(axes, name="axes", dtype=dtypes.int32)
        return axes[0], axes[1]
    if len(axes) != 2:
        raise ValueError("'axes' must be an integer or have length 2.")
    a_axes, b_axes = axes
    if isinstance(a_axes, (int, np.integer)) and isinstance(b_axes, (int, np.integer)):
        a_axes, b_axes = [a_axes], [b_axes]
    if len(a_axes) != len(b_axes):
        raise ValueError(
            f"Different number of contraction axes 'a' and 'b', {len(a_axes)} != {len(b_axes)}."
        )
    return a_axes, b_axes


def _as_matrix(a: Any, axes: Any, flipped: bool = False) -> tuple[Any, Any, Any]:
    """a as a matrix of free by contracted elements (or flipped), its free sizes, also static."""
    shape = a.get_shape()
    if not (shape.is_fully_defined() and isinstance(axes, (list, tuple))):
        return _as_matrix_dynamically(a, axes, flipped)
    dims = shape.as_list()
    axes = [axis if axis >= 0 else axis + len(dims) for axis in axes]
    free = [i for i in range(len(dims)) if i not in axes]
    sizes = [math.prod(dims[i] for i in group) for group in (free, axes)]
    perm = axes + free if flipped else free + axes
    matrix = tf.reshape(tf.transpose(a, perm), sizes[::-1] if flipped else sizes)
    free_dims = [dims[i] for i in free]
    return matrix, free_dims, free_dims


def _as_matrix_dynamically(a: Tensor, axes: TensorLike, flipped: bool) -> tuple[Any, Any, Any]:
    static = None
    if a.get_shape().ndims is not None and isinstance(axes, (list, tuple)):
        dims = a.get_shape().as_list()
        axes = [axis if axis >= 0 else axis + len(dims) for axis in axes]
        free: Any = [i for i in range(len(dims)) if i not in axes]
        static = [dims[i] for i in free]
        axes = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        free = convert_to_tensor(free, dtype=dtypes.int32, name="free")
        shape = tf.shape(a)
    else:
        shape, rank = tf.shape(a), tf.rank(a)
        axes = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        axes = tf.where(axes >= 0, axes, axes + rank)
        free, _ = tf.setdiff1d(tf.range(rank), axes)
    free_dims, axes_dims = tf.gather(shape, free), tf.gather(shape, axes)
    free_size, axes_size = tf.reduce_prod(free_dims), tf.reduce_prod(axes_dims)
    perm = tf.concat([axes, free] if flipped else [free, axes], 0)
    target = tf.stack([axes_size, free_size] if flipped else [free_size, axes_size])
    return tf.reshape(tf.transpose(a, perm), target), free_dims, static


@export("tensordot", "linalg.tensordot")
def tensordot(a: TensorLike, b: TensorLike, axes: TensorLike, name: str | None = None) -> Tensor:
    """Products of two tensors, summed over pairs of axes, as numpy.tensordot.

    Args:
        a: a tensor of numbers.
        b: a tensor of the same dtype.
        axes: a number n, for the last n axes of `a` with the first n of `b`; or two lists of axes.
        name: of the operation.

    Returns:
        A Tensor whose axes are those left of `a`, then those left of `b`.

    Raises:
        ValueError: the axes do not pair, or their sizes differ.

    Example:
        >>> a, b = tf.ones([2, 3, 4]), tf.ones([4, 5])
        >>> print(tf.tensordot(a, b, 1).shape, tf.tensordot(a, b, [[2], [0]]).shape)
        (2, 3, 5) (2, 3, 5)
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as name:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        a_axes, b_axes = _contracted_axes(a, axes)
        a_matrix, a_free, a_static = _as_matrix(a, a_axes)
        b_matrix, b_free, b_static = _as_matrix(b, b_axes, flipped=True)
        product = tf.matmul(a_matrix, b_matrix)
        if isinstance(a_free, list) and isinstance(b_free, list):
            return tf.reshape(product, a_free + b_free, name=name)
        a_free = convert_to_tensor(a_free, dtype=dtypes.int32)
        b_free = convert_to_tensor(b_free, dtype=dtypes.int32)
        result = tf.reshape(product, tf.concat([a_free, b_free], 0), name=name)
        if a_static is not None and b_static is not None:
            result.set_shape(a_static + b_static)
        return result


# Einsum


@export("einsum", "linalg.einsum")
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Products of tensors, summed over the letters that the result does not have.

    Args:
        equation: letters for the axes of each input and, behind "->", of the result; "..." stands
            for further axes.  Without "->", letters that come once, in order of the alphabet.
        inputs: tensors of one dtype.
        name: the scope of the operations, by keyword.

    Returns:
        A Tensor of that dtype.

    Raises:
        TypeError: there is another keyword than `name`.
        ValueError: the equation cannot be read, or does not fit the inputs.

    Example:
        >>> a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([10, 1])
        >>> tf.Session().run([tf.einsum("ij,j->i", a, b), tf.einsum("ij->", a)])
        [array([12, 34], dtype=int32), np.int32(10)]
    """
    name = kwargs.pop("name", None)
    if kwargs:
        names = ", ".join(sorted(kwargs))
        raise TypeError(f"invalid keyword arguments for this function: {names}")
    with name_scope(name, "einsum", [equation, inputs]) as name:
        tensors = list(inputs)
        labels, output = _parse(equation, [x.get_shape() for x in tensors])
        found = set("".join(labels) + output)
        if _is_trace(equation, labels):
            return tf.trace(tensors[0])
        for text in labels:
            if len(set(text)) != len(text):
                raise ValueError(f"Subscript not supported: an axis appears more than once: {text}")
        for label in found:
            if sum(label in text for text in labels) > 2 and label not in output:
                _LOGGER.warning(
                    "Falling back to exponential-space implementation of einsum()"
                    ' because index "%s" is summed over more than two inputs.',
                    label,
                )
                return _by_broadcasting(equation, tensors)
        return _by_products(equation, tensors, labels, output)


def _is_trace(equation: str, labels: list[str]) -> bool:
    if len(labels) != 1 or "->" in equation:
        return False
    text = labels[0]
    return text == text[::-1] and any(text.count(label) == 2 for label in text)


def _by_products(equation: str, inputs: list[Any], labels: list[str], output: str) -> Tensor:
    result, current = inputs[0], labels[0]
    for other, other_labels in zip(inputs[1:], labels[1:], strict=True):
        summed = (set(current) & set(other_labels)) - set(output)
        result, current = _contract(result, current, other, other_labels, summed)
    if set(current) - set(output):
        axis = [i for i, label in enumerate(current) if label not in output]
        result = tf.reduce_sum(result, axis=axis)
        current = "".join(label for label in current if label in output)
    if sorted(current) != sorted(output):
        raise ValueError(f"Invalid equation: {equation}")
    return _transposed(result, [current.index(label) for label in output])


def _parse(equation: str, shapes: Sequence[Any]) -> tuple[list[str], str]:
    """The labels of each input and of the output, ellipses resolved."""
    equation = equation.replace(" ", "")
    match = re.match("^([a-zA-Z,.]+)(->[a-zA-Z.]*)?$", equation)
    if not match:
        raise ValueError(f"Indices have incorrect format: {equation}")
    labels = match.group(1).split(",")
    output = match.group(2)[2:] if match.group(2) else None
    if len(shapes) != len(labels):
        raise ValueError(
            f'Got {len(shapes)} arguments for equation "{equation}", expecting {len(labels)}'
        )
    ellipsis = ""
    if "..." in equation:
        ellipsis = _resolve_ellipses(labels, shapes)
        if any("." in text for text in labels):
            raise ValueError('period "." found outside of ellipsis')
        if output is not None:
            output = output.replace("...", ellipsis)
            if "." in output:
                raise ValueError('period "." found outside of ellipsis')
    if output is None:
        joined = "".join(labels)
        once = sorted(x for x in set(joined) - set(ellipsis) if joined.count(x) == 1)
        output = ellipsis + "".join(once)
    return labels, output


def _resolve_ellipses(labels: list[str], shapes: Sequence[Any]) -> str:
    """Replaces each `...` in place by unused labels; returns those of the longest."""
    used = "".join(labels)
    unused = "".join(letter for letter in string.ascii_letters if letter not in used)
    longest = ""
    for i, text in enumerate(labels):
        if "..." not in text:
            continue
        parts = text.split("...")
        if len(parts) != 2:
            raise ValueError("Unable to resolve ellipsis. Excess number found.")
        if shapes[i].ndims is None:
            raise ValueError("Unable to statically infer ellipsis axes.")
        count = shapes[i].ndims - len("".join(parts))
        if count < 0:
            raise ValueError("Ellipses lengths do not match.")
        if len(unused) < count:
            raise ValueError("Unable to resolve ellipsis, too many distinct labels.")
        # From the end: ellipses align at their last axes, so equal letters broadcast against each
        # other.
        replacement = unused[-count:] if count > 0 else ""
        labels[i] = text.replace("...", replacement)
        longest = max(longest, replacement, key=len)
    return longest


def _contract(
    t0: Tensor, labels_0: str, t1: Tensor, labels_1: str, summed: set[str]
) -> tuple[Any, str]:
    """Multiplies two tensors and sums over the labels in `summed`, as a batch of products."""
    for i, (t, labels) in enumerate(((t0, labels_0), (t1, labels_1))):
        if len(labels) != len(t.get_shape()):
            raise ValueError(
                f"Tensor t{i} of rank {len(t.get_shape())} does not match einsum reduction of "
                f"length {len(labels)}"
            )
    kept = (set(labels_0) & set(labels_1)) - summed
    free = [set(labels) - kept - summed for labels in (labels_0, labels_1)]

    def order(index: int, label: str) -> tuple[int, str]:
        # Kept labels lead; then t0 is free by summed, t1 is summed by free.
        early = free[0] if index == 0 else summed
        return (-1 if label in kept else 0 if label in early else 1, label)

    sorted_0 = sorted(labels_0, key=lambda label: order(0, label))
    sorted_1 = sorted(labels_1, key=lambda label: order(1, label))
    t0 = _transposed(t0, [labels_0.find(label) for label in sorted_0])
    t1 = _transposed(t1, [labels_1.find(label) for label in sorted_1])
    if summed:
        product = _matrix_product(t0, t1, len(kept), len(summed), len(free[0]), len(free[1]))
        head = sorted_0[: len(kept) + len(free[0])]
        return product, "".join(head + sorted_1[len(sorted_1) - len(free[1]) :])
    for _ in free[1]:
        t0 = tf.expand_dims(t0, -1)
    for _ in free[0]:
        t1 = tf.expand_dims(t1, len(kept))
    return tf.multiply(t0, t1), "".join(sorted_0 + sorted_1[len(kept) :])


def _matrix_product(
    t0: Tensor, t1: Tensor, kept: int, summed: int, free_0: int, free_1: int
) -> Tensor:
    shape_0 = _sizes(t0)
    rows, inner_0 = _total(shape_0[kept:-summed]), _total(shape_0[-summed:])
    t0 = _reshaped(t0, [*shape_0[:kept], rows, inner_0])
    shape_1 = _sizes(t1)
    columns = _total(shape_1[kept + summed :])
    t1 = _reshaped(t1, [*shape_1[:kept], inner_0, columns])
    product = tf.matmul(t0, t1)
    return _reshaped(product, shape_0[: kept + free_0] + shape_1[len(shape_1) - free_1 :])


def _transposed(tensor: Tensor, perm: list[int]) -> Tensor:
    return tensor if perm == list(range(len(perm))) else tf.transpose(tensor, perm=perm)


def _reshaped(tensor: Tensor, shape: Sequence[Any]) -> Tensor:
    target = tuple(-1 if size is None else size for size in shape)
    current = tuple(tensor.get_shape().as_list())
    fits = len(target) == len(current) and all(
        not isinstance(new, Tensor) and (old == new or new == -1)
        for old, new in zip(current, target, strict=True)
    )
    return tensor if fits else tf.reshape(tensor, target)


def _sizes(tensor: Tensor) -> list[Any]:
    """The sizes of a tensor, as nodes where they are not static."""
    sizes: list[Any] = tensor.get_shape().as_list()
    if None in sizes:
        dynamic = tf.shape(tensor)
        sizes = [dynamic[i] if size is None else size for i, size in enumerate(sizes)]
    return sizes


def _total(sizes: Sequence[Any]) -> Any:
    result: Any = 1
    for size in sizes:
        result *= size
    return result


def _by_broadcasting(equation: str, inputs: list[Any]) -> Any:
    """One big product over all labels, then one sum: for labels that three inputs share."""
    labels, output = _parse(equation, [x.get_shape() for x in inputs])
    everything = sorted(set("".join(labels) + output))
    order = [x for x in everything if x not in output] + list(output)
    place = {label: i for i, label in enumerate(order)}
    expanded = []
    for i, (tensor, text) in enumerate(zip(inputs, labels, strict=True)):
        if tensor.get_shape().ndims != len(text):
            raise ValueError(
                f"Input {i} with axes {text} has incorrect number of dimensions "
                f"(expected {len(text)}, got {tensor.get_shape().ndims})"
            )
        arranged = sorted(text, key=place.__getitem__)
        if list(text) != arranged:
            tensor = tf.transpose(tensor, [text.find(label) for label in arranged])
        expanded.append((tensor, arranged))
    shapes = _expanded_shapes(expanded, order)
    total: Any = 1
    reshaped = [tf.reshape(t, shape) for (t, _), shape in zip(expanded, shapes, strict=True)]
    for tensor in reshaped:
        total *= tensor
    return tf.reduce_sum(total, [place[label] for label in order if label not in output])


def _expanded_shapes(inputs: list[tuple[Any, list[str]]], order: list[str]) -> list[list[int]]:
    """Each input's shape with a size of one for every label that it lacks."""
    shapes = []
    for tensor, labels in inputs:
        sizes = dict(zip(labels, tensor.get_shape().as_list(), strict=True))
        # An unknown size is left to Reshape, which allows one per input.
        shapes.append([(sizes[label] or -1) if label in sizes else 1 for label in order])
    for j, label in enumerate(order):
        if len({shape[j] for shape in shapes if shape[j] > 1}) > 1:
            raise ValueError(f"Dimension mismatch on axis: {label}")
    return shapes
