# SPDX-License-Identifier: Apache-2.0
"""Parts of labeled tensors by labels, and other forms of them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.public import tf
from . import _typecheck as tc
from .core import (
    Axes,
    Axis,
    AxisLike,
    AxisOrderError,
    AxisValue,
    LabeledTensor,
    LabeledTensorLike,
    as_axis,
    concat_axes,
    convert_to_labeled_tensor,
    slice_function,
    transpose,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

    Labeled = LabeledTensor | TensorLike
    AnyAxis = str | Axis | tuple[str, Any]


def _take(tensor: LabeledTensor, places: Tensor, axis: Axis, name: str) -> LabeledTensor:
    """The tensor at some places of an axis, which is `axis` then."""
    with name_scope(name, "lt_take", [tensor]) as scope:
        moved = Axes([axis, *tensor.axes.remove(axis.name).values()])
        first = transpose(tensor, list(moved))
        taken = LabeledTensor(tf.gather(first.tensor, places), moved)
        return transpose(taken, list(tensor.axes), name=scope)


def _slice_of_labels(axis: Axis, labels: slice) -> slice:
    """The places of a slice of labels; the last one is in it."""
    start = None if labels.start is None else axis.index(labels.start)
    stop = None if labels.stop is None else axis.index(labels.stop) + 1
    if labels.step is not None:
        raise NotImplementedError("slicing with a step is not yet supported")
    return slice(start, stop)


def _labeled_axis(tensor: LabeledTensor, name: str) -> Axis:
    if name not in tensor.axes:
        raise ValueError(
            f"The tensor does not have an axis named {name}. Its axes are: {list(tensor.axes)!r}"
        )
    axis = tensor.axes[name]
    if axis.labels is None:
        raise ValueError(f"The axis named {name} does not have labels. The axis is: {axis!r}")
    return axis


@export("contrib.labeled_tensor.select")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, tc.Mapping(str, tc.Union(slice, Hashable, list)), tc.Optional(str))
def select(
    labeled_tensor: Labeled, selection: Mapping[str, Any], name: str | None = None
) -> LabeledTensor:
    """A part of a tensor, by labels.

    Args:
        labeled_tensor: the tensor.
        selection: names of axes with a label (that axis is gone then), a slice of labels, the
            last of which is in it, or one of them with a list of labels.
        name: of the operation.

    Returns:
        A LabeledTensor.

    Raises:
        ValueError: there is no such axis, or it has no labels.
        KeyError: a label is not there.
        NotImplementedError: a list stands beside others, or a slice has a step.

    Example:
        >>> lt = tf.contrib.labeled_tensor
        >>> image = lt.LabeledTensor(tf.constant([[1, 2, 3]]), ["x", ("channel", ["r", "g", "b"])])
        >>> print(tf.Session().run(lt.select(image, {"channel": ["b", "r"]})))
        [[3 1]]
    """
    with name_scope(name, "lt_select", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        slices: dict[str, Any] = {}
        lists: dict[str, Tensor] = {}
        for axis_name, value in selection.items():
            axis = _labeled_axis(labeled_tensor, axis_name)
            if isinstance(value, slice):
                slices[axis_name] = _slice_of_labels(axis, value)
            elif isinstance(value, Hashable):
                slices[axis_name] = axis.index(value)
            elif lists:
                raise NotImplementedError(
                    "select does not yet support more than one list selection at the same time"
                )
            else:
                places = [axis.index(label) for label in value]
                lists[axis_name] = convert_to_tensor(places, dtype=dtypes.int64)
        if lists and slices:
            raise NotImplementedError(
                "select does not yet support combined scalar and list selection"
            )
        for axis_name, at in lists.items():
            chosen = Axis(axis_name, selection[axis_name])
            return _take(labeled_tensor, at, chosen, name=scope)
        return slice_function(labeled_tensor, slices, name=scope)


@export("contrib.labeled_tensor.concat")
@tc.returns(LabeledTensor)
@tc.accepts(tc.Collection(LabeledTensorLike), str, tc.Optional(str))
def concat(
    labeled_tensors: Collection[Labeled], axis_name: str, name: str | None = None
) -> LabeledTensor:
    """Tensors one after another along an axis.

    Args:
        labeled_tensors: at least one; their other axes are equal.
        axis_name: the axis.
        name: of the operation.

    Returns:
        A LabeledTensor; its axis has labels if all tensors' axes have.

    Raises:
        ValueError: there are no tensors, no such axis, or other axes differ.
    """
    with name_scope(name, "lt_concat", list(labeled_tensors)) as scope:
        tensors = [convert_to_labeled_tensor(tensor) for tensor in labeled_tensors]
        if not tensors:
            raise ValueError(f"concat expects at least 1 tensor, but received {tensors}")
        axes = tensors[0].axes
        names = list(axes)
        if axis_name not in names:
            raise ValueError(f"{axis_name} not in {names}")
        shared = axes.remove(axis_name)
        for tensor in tensors[1:]:
            others = tensor.axes.remove(axis_name)
            if others != shared:
                raise ValueError(
                    f"Mismatched shared axes: the first tensor had axes {shared!r} but this "
                    f"tensor has axes {others!r}."
                )
        long = concat_axes([tensor.axes[axis_name] for tensor in tensors])
        joined = tf.concat([t.tensor for t in tensors], names.index(axis_name), name=scope)
        return LabeledTensor(joined, [long if n == axis_name else axes[n] for n in names])


@export("contrib.labeled_tensor.pack")
@tc.returns(LabeledTensor)
@tc.accepts(tc.Collection(LabeledTensorLike), tc.Union(str, AxisLike), int, tc.Optional(str))
def pack(
    labeled_tensors: Collection[Labeled],
    new_axis: AnyAxis,
    axis_position: int = 0,
    name: str | None = None,
) -> LabeledTensor:
    """Tensors side by side along a new axis.

    Args:
        labeled_tensors: at least one; their axes are equal.
        new_axis: an Axis, a pair of its arguments, or its name.
        axis_position: where the new axis is.
        name: of the operation.

    Returns:
        A LabeledTensor.

    Raises:
        ValueError: there are no tensors, or their axes differ.
    """
    with name_scope(name, "lt_pack", list(labeled_tensors)) as scope:
        tensors = [convert_to_labeled_tensor(tensor) for tensor in labeled_tensors]
        if not tensors:
            raise ValueError(f"pack expects at least 1 tensors, but received {tensors}")
        axes = tensors[0].axes
        for tensor in tensors:
            if tensor.axes != axes:
                raise ValueError(f"Non-identical axes. Expected {axes} but got {tensor.axes}")
        packed = tf.stack([t.tensor for t in tensors], axis=axis_position, name=scope)
        all_axes: list[Any] = list(axes.values())
        all_axes.insert(axis_position, new_axis)
        return LabeledTensor(packed, all_axes)


@export("contrib.labeled_tensor.unpack")
@tc.returns(tc.List(LabeledTensor))
@tc.accepts(LabeledTensorLike, tc.Optional(str), tc.Optional(str))
def unpack(
    labeled_tensor: Labeled, axis_name: str | None = None, name: str | None = None
) -> list[LabeledTensor]:
    """The tensors at all places of an axis.

    Args:
        labeled_tensor: the tensor.
        axis_name: the axis; the first if None.
        name: of the operation.

    Returns:
        A list of LabeledTensors without that axis.

    Raises:
        ValueError: there is no such axis.
    """
    with name_scope(name, "lt_unpack", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        names = list(labeled_tensor.axes)
        axis_name = names[0] if axis_name is None else axis_name
        if axis_name not in names:
            raise ValueError(f"{axis_name} not in {names}")
        parts = tf.unstack(labeled_tensor.tensor, axis=names.index(axis_name), name=scope)
        axes = [labeled_tensor.axes[n] for n in names if n != axis_name]
        return [LabeledTensor(part, axes) for part in parts]


def _run_of_axes(names: list[str], existing: list[str]) -> tuple[int, int]:
    """Where axes that come one after another begin and end."""
    if not set(existing) <= set(names):
        raise ValueError(
            f"existing_axes {existing!r} are not contained in the set of axis names {names!r} on "
            "the input labeled tensor"
        )
    start, stop = names.index(existing[0]), names.index(existing[-1]) + 1
    if existing != names[start:stop]:
        raise AxisOrderError(
            f"existing_axes {existing!r} are not a slice of axis names {names!r} on the input "
            "labeled tensor. Use `transpose` or `impose_axis_order` to reorder axes on the input "
            "explicitly."
        )
    return start, stop


@export("contrib.labeled_tensor.reshape")
@tc.returns(LabeledTensor)
@tc.accepts(
    LabeledTensorLike, tc.Collection(str), tc.Collection(tc.Union(str, AxisLike)), tc.Optional(str)
)
def reshape(
    labeled_tensor: Labeled,
    existing_axes: Collection[str],
    new_axes: Collection[AnyAxis],
    name: str | None = None,
) -> LabeledTensor:
    """A tensor with other axes in place of some that come one after another.

    Args:
        labeled_tensor: the tensor.
        existing_axes: the names of the axes that go.
        new_axes: those that come: each an Axis or a pair of its arguments; one may be a name, and
            has the size that is left.
        name: of the operation.

    Returns:
        A LabeledTensor.

    Raises:
        ValueError: an axis is not there, they do not come one after another, or the sizes of
            several new ones are not given.
    """
    with name_scope(name, "lt_reshape", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        start, stop = _run_of_axes(list(labeled_tensor.axes), list(existing_axes))
        if sum(isinstance(axis, str) for axis in new_axes) > 1:
            raise ValueError(
                "at most one axis in new_axes can have unknown size. All other axes must have an "
                f"indicated integer size or labels: {new_axes!r}"
            )
        values = list(labeled_tensor.axes.values())
        axes: list[Any] = [*values[:start], *new_axes, *values[stop:]]
        sizes = [None if isinstance(axis, str) else as_axis(axis).size for axis in axes]
        shape = [-1 if size is None else size for size in sizes]
        return LabeledTensor(tf.reshape(labeled_tensor.tensor, shape, name=scope), axes)


@export("contrib.labeled_tensor.rename_axis")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, str, str, tc.Optional(str))
def rename_axis(
    labeled_tensor: LabeledTensor, existing_name: str, new_name: str, name: str | None = None
) -> LabeledTensor:
    """A tensor with another name for an axis.

    Args:
        labeled_tensor: the tensor.
        existing_name: the axis' name.
        new_name: its name in the result.
        name: of the operation.

    Returns:
        A LabeledTensor.

    Raises:
        ValueError: there is no such axis.
    """
    with name_scope(name, "lt_rename_axis", [labeled_tensor]) as scope:
        if existing_name not in labeled_tensor.axes:
            raise ValueError(
                f"existing_name {existing_name!r} are not contained in the set of axis names "
                f"{list(labeled_tensor.axes)!r} on the input labeled tensor"
            )
        renamed = Axis(new_name, labeled_tensor.axes[existing_name].value)
        return reshape(labeled_tensor, [existing_name], [renamed], name=scope)


@export("contrib.labeled_tensor.random_crop")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, tc.Mapping(str, int), tc.Optional(int), tc.Optional(str))
def random_crop(
    labeled_tensor: Labeled,
    shape_map: Mapping[str, int],
    seed: int | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """A part of given size at a place that is drawn.

    Args:
        labeled_tensor: the tensor.
        shape_map: names of axes with the sizes they are to have; their labels are lost.
        seed: an integer, for what is drawn.
        name: of the operations.

    Returns:
        A LabeledTensor.

    Raises:
        ValueError: there is no such axis.
    """
    with name_scope(name, "lt_random_crop", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        for axis_name in shape_map:
            if axis_name not in labeled_tensor.axes:
                raise ValueError(f"Selection axis {axis_name} not in axes {labeled_tensor.axes}")
        axes = [
            Axis(axis.name, shape_map[axis.name]) if axis.name in shape_map else axis
            for axis in labeled_tensor.axes.values()
        ]
        shape = [len(axis) for axis in axes]
        crop = tf.random_crop(labeled_tensor.tensor, shape, seed=seed, name=scope)
        return LabeledTensor(crop, axes)


@export("contrib.labeled_tensor.squeeze")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, tc.Optional(tc.Collection(str)), tc.Optional(str))
def squeeze(
    labeled_tensor: Labeled, axis_names: Collection[str] | None = None, name: str | None = None
) -> LabeledTensor:
    """A tensor without axes of size 1.

    Args:
        labeled_tensor: the tensor.
        axis_names: the axes that go; all of size 1 if None.
        name: of the operation.

    Returns:
        A LabeledTensor.

    Raises:
        ValueError: an axis is not there, or is longer.
    """
    with name_scope(name, "lt_squeeze", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        axes = labeled_tensor.axes
        if axis_names is None:
            axis_names = [axis.name for axis in axes.values() if len(axis) == 1]
        for axis_name in axis_names:
            if axis_name not in axes:
                raise ValueError(f"axis {axis_name} is not in tensor axes {axes}")
            if len(axes[axis_name]) != 1:
                raise ValueError(
                    "cannot squeeze axis with size greater than 1: "
                    f"({axis_name}, {axes[axis_name]})"
                )
        gone = [i for i, axis in enumerate(axes) if axis in axis_names]
        tensor = labeled_tensor.tensor
        squeezed = tf.squeeze(tensor, gone, name=scope) if gone else tf.identity(tensor, scope)
        return LabeledTensor(squeezed, [a for a in axes.values() if a.name not in axis_names])


def _check_are_axes(what: str, names: Mapping[str, object], axes: Axes) -> None:
    if not set(names) <= set(axes):
        raise ValueError(
            f"{what} axes {list(names)!r} are not contained in the set of axis names "
            f"{list(axes)!r} on the input labeled tensor"
        )


@export("contrib.labeled_tensor.tile")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, tc.Mapping(str, tc.Union(int, Tensor)), tc.Optional(str))
def tile(
    labeled_tensor: Labeled, multiples: Mapping[str, TensorLike], name: str | None = None
) -> LabeledTensor:
    """A tensor repeated along axes without labels.

    Args:
        labeled_tensor: the tensor.
        multiples: names of axes with how many times each is there.
        name: of the operation.

    Returns:
        A LabeledTensor.

    Raises:
        ValueError: there is no such axis, or it has labels.
    """
    with name_scope(name, "lt_tile", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        axes = labeled_tensor.axes
        _check_are_axes("tile", multiples, axes)
        labeled = [axis for axis in multiples if axes[axis].labels is not None]
        if labeled:
            raise ValueError(f"cannot tile axes with tick labels: {labeled!r}")
        times = [multiples.get(axis, 1) for axis in axes]
        tiled = tf.tile(labeled_tensor.tensor, times, name=scope)
        return LabeledTensor(tiled, [a.name if a.labels is None else a for a in axes.values()])


@export("contrib.labeled_tensor.pad")
@tc.returns(LabeledTensor)
@tc.accepts(
    LabeledTensorLike, tc.Mapping(str, tc.Tuple(AxisValue, AxisValue)), str, tc.Optional(str)
)
def pad(
    labeled_tensor: Labeled,
    paddings: Mapping[str, tuple[Any, Any]],
    mode: str = "CONSTANT",
    name: str | None = None,
) -> LabeledTensor:
    """A tensor with more places before and after those of its axes.

    Args:
        labeled_tensor: the tensor.
        paddings: names of axes with what comes before and after: how many places, or their labels.
        mode: "CONSTANT", "REFLECT" or "SYMMETRIC", as of `tf.pad`.
        name: of the operation.

    Returns:
        A LabeledTensor; an axis has labels if both parts and the axis have.

    Raises:
        ValueError: there is no such axis.
    """
    with name_scope(name, "lt_pad", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        _check_are_axes("pad", paddings, labeled_tensor.axes)
        axes = []
        sizes = []
        for axis in labeled_tensor.axes.values():
            before, after = (Axis(axis.name, part) for part in paddings.get(axis.name, (0, 0)))
            sizes.append((len(before), len(after)))
            padded = axis.name in paddings
            axes.append(concat_axes([before, axis, after]) if padded else axis)
        return LabeledTensor(tf.pad(labeled_tensor.tensor, sizes, mode, name=scope), axes)
