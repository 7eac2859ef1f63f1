# SPDX-License-Identifier: Apache-2.0
"""Layers of several inputs: sums, products, maxima, and inputs one behind the other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ..backend import elements, networks
from ..backend.published import nn
from .style import KerasLayer


def _sizes(shapes: Any) -> list[list[Any]]:
    if not isinstance(shapes, (list, tuple)):
        raise ValueError("A merge layer should be called on a list of inputs.")
    return [TensorShape(shape).as_list() for shape in shapes]


def _has_masks(inputs: Any, mask: Any) -> bool:
    """Whether there is a mask of an input; ValueError unless both are lists of one length."""
    if mask is None:
        return False
    for name, value in (("mask", mask), ("inputs", inputs)):
        if not isinstance(value, list):
            raise ValueError(f"`{name}` should be a list.")
    if len(mask) != len(inputs):
        raise ValueError("The lists `inputs` and `mask` should have the same length.")
    return any(m is not None for m in mask)


class _Merge(KerasLayer):
    """A function of inputs whose shapes can be broadcast to each other."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merge_function(self, inputs: Sequence[Any]) -> Any:
        raise NotImplementedError

    def build(self, input_shape: Any) -> None:
        """Checks the inputs' shapes; ValueError for less than two, or others' batch sizes."""
        if not isinstance(input_shape, (list, tuple)) or isinstance(input_shape, TensorShape):
            raise ValueError("A merge layer should be called on a list of inputs.")
        if len(input_shape) < 2:
            raise ValueError(
                "A merge layer should be called on a list of at least 2 inputs. Got "
                f"{len(input_shape)} inputs."
            )
        shapes = [s for s in map(TensorShape, input_shape) if s.ndims is not None]
        batches = {s.as_list()[0] for s in shapes if s.ndims} - {None}
        if len(batches) > 1:
            raise ValueError(
                f"Can not merge tensors with different batch sizes. Got tensors with shapes : "
                f"{input_shape}"
            )
        functools.reduce(_broadcast, [s.as_list()[1:] for s in shapes] or [[]])
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The function of the inputs, those of lower rank with ones behind the batch's axis."""
        if not isinstance(inputs, (list, tuple)):
            raise ValueError("A merge layer should be called on a list of inputs.")
        ranks = [x.shape.ndims for x in inputs]
        if None not in ranks and len(set(ranks)) > 1:
            highest = max(ranks)
            widened = []
            for x, rank in zip(inputs, ranks):
                for _ in range(highest - rank):
                    x = tf.expand_dims(x, axis=1)
                widened.append(x)
            inputs = widened
        return self._merge_function(inputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape that all inputs are broadcast to."""
        shapes = _sizes(input_shape)
        batches = {sizes[0] for sizes in shapes} - {None}
        rest = functools.reduce(_broadcast, [sizes[1:] for sizes in shapes])
        return TensorShape([batches.pop() if len(batches) == 1 else None, *rest])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Where all masks are true; None unless all inputs have one."""
        if not _has_masks(inputs, mask):
            return None
        masks = [tf.expand_dims(m, axis=0) for m in mask if m is not None]
        return tf.reduce_all(tf.cast(tf.concat(masks, axis=0), tf.bool), axis=0)


def _broadcast(one: list[Any], other: list[Any]) -> list[Any]:
    """The sizes that two shapes are broadcast to; ValueError if they cannot be."""
    if len(one) < len(other):
        one, other = other, one
    head: list[Any] = one[: len(one) - len(other)]
    found: list[Any] = []
    for i, j in zip(one[len(head) :], other):
        if i is None or j is None:
            found.append(None)
        elif 1 in (i, j):
            found.append(max(i, j))
        elif i == j:
            found.append(i)
        else:
            raise ValueError(f"Operands could not be broadcast together with shapes {one} {other}")
    return [*head, *found]


def _folded(function: Callable[[Any, Any], Any]) -> Any:
    def merge(self: Any, inputs: Sequence[Any]) -> Any:
        return functools.reduce(function, inputs)

    return merge


class Add(_Merge):
    """The sum of the inputs."""

    _merge_function = _folded(lambda x, y: x + y)


class Multiply(_Merge):
    """The product of the inputs' elements."""

    _merge_function = _folded(lambda x, y: x * y)


class Average(_Merge):
    """The mean of the inputs."""

    def _merge_function(self, inputs: Sequence[Any]) -> Any:
        return functools.reduce(lambda x, y: x + y, inputs) / len(inputs)


class Maximum(_Merge):
    """The largest of the inputs' elements."""

    _merge_function = _folded(lambda x, y: tf.maximum(x, y))


class Minimum(_Merge):
    """The smallest of the inputs' elements."""

    _merge_function = _folded(lambda x, y: tf.minimum(x, y))


class Subtract(_Merge):
    """The first of two inputs less the second."""

    def build(self, input_shape: Any) -> None:
        """Checks the inputs' shapes; ValueError for another number than two."""
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")

    def _merge_function(self, inputs: Sequence[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")
        return inputs[0] - inputs[1]


class Concatenate(_Merge):
    """The inputs one behind the other along an axis."""

    _arguments = ("axis",)

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        """Checks the inputs' shapes; ValueError where they differ along another axis."""
        if not isinstance(input_shape, (list, tuple)) or len(input_shape) < 2:
            raise ValueError(
                "A `Concatenate` layer should be called on a list of at least 2 inputs"
            )
        rest = set()
        for shape in map(TensorShape, input_shape):
            if shape.ndims is not None:
                sizes = shape.as_list()
                del sizes[self.axis]
                rest.add(tuple(sizes))
        if len(rest) > 1:
            raise ValueError(
                "A `Concatenate` layer requires inputs with matching shapes except for the concat "
                f"axis. Got inputs shapes: {[tuple(sizes) for sizes in _sizes(input_shape)]}"
            )
        self.built = True

    def _merge_function(self, inputs: Sequence[Any]) -> Any:
        return elements.concatenate(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes, that along the axis being the sum."""
        shapes = _sizes(input_shape)
        whole = list(shapes[0])
        lengths = [sizes[self.axis] for sizes in shapes]
        whole[self.axis] = None if None in lengths else sum(lengths)
        return TensorShape(whole)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks one behind the other, true for inputs that have none."""
        if not _has_masks(inputs, mask):
            return None
        masks = []
        for x, m in zip(inputs, mask):
            if m is None:
                m = tf.ones_like(x, dtype=tf.bool)
            elif m.shape.ndims < x.shape.ndims:
                m = tf.expand_dims(m, axis=-1)
            masks.append(m)
        whole = tf.concat([tf.cast(m, tf.bool) for m in masks], axis=self.axis)
        return tf.reduce_all(whole, axis=-1)


class Dot(_Merge):
    """The product of two inputs over an axis of each.

    Args:
        axes: the axis of both, or one of each.
        normalize: whether the inputs are divided by their norms, which gives cosines.
        name, trainable, dtype: as of all layers.
    """

    _arguments = ("axes", "normalize")

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            if not isinstance(axes, (list, tuple)):
                raise TypeError("Invalid type for `axes` - should be a list or an int.")
            if len(axes) != 2 or not all(isinstance(axis, int) for axis in axes):
                raise ValueError("Invalid format for `axes` - should contain two `int` elements")
        self.axes = axes
        self.normalize = normalize

    def _both(self, ranks: Sequence[int]) -> list[int]:
        given = [self.axes] * 2 if isinstance(self.axes, int) else list(self.axes)
        return [axis % rank for axis, rank in zip(given, ranks)]

    def build(self, input_shape: Any) -> None:
        """Checks the inputs' shapes; ValueError where sizes along the axes differ."""
        shapes = _sizes(input_shape)
        if len(shapes) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        axes = self._both([len(sizes) for sizes in shapes])
        if shapes[0][axes[0]] != shapes[1][axes[1]]:
            raise ValueError(
                f"Dimension incompatibility {shapes[0][axes[0]]} != {shapes[1][axes[1]]}. Layer "
                f"shapes: {tuple(shapes[0])}, {tuple(shapes[1])}"
            )
        self.built = True

    def _merge_function(self, inputs: Sequence[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError("A `Dot` layer should be called on exactly 2 inputs")
        x, y = inputs
        axes = self._both([x.shape.ndims, y.shape.ndims])
        if self.normalize:
            x, y = nn.l2_normalize(x, axis=axes[0]), nn.l2_normalize(y, axis=axes[1])
        return networks.batch_dot(x, y, axes)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The product."""
        return self._merge_function(inputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes without those summed over; [batch, 1] if none is left."""
        x, y = _sizes(input_shape)
        axes = self._both([len(x), len(y)])
        del x[axes[0]], y[axes[1]], y[0]
        return TensorShape([*x, *y] if len(x) + len(y) > 1 else [*x, *y, 1])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """None."""
        return None


def add(inputs: Any, **kwargs: Any) -> Any:
    """The sum of tensors by an `Add` layer of these arguments."""
    return Add(**kwargs)(inputs)


def subtract(inputs: Any, **kwargs: Any) -> Any:
    """The difference of two tensors by a `Subtract` layer of these arguments."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs: Any, **kwargs: Any) -> Any:
    """The product of tensors by a `Multiply` layer of these arguments."""
    return Multiply(**kwargs)(inputs)


def average(inputs: Any, **kwargs: Any) -> Any:
    """The mean of tensors by an `Average` layer of these arguments."""
    return Average(**kwargs)(inputs)


def maximum(inputs: Any, **kwargs: Any) -> Any:
    """The largest of tensors' elements by a `Maximum` layer of these arguments."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs: Any, **kwargs: Any) -> Any:
    """The smallest of tensors' elements by a `Minimum` layer of these arguments."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """Tensors one behind the other by a `Concatenate` layer of these arguments."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs: Any, axes: Any, normalize: bool = False, **kwargs: Any) -> Any:
    """The product of two tensors by a `Dot` layer of these arguments."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
