# SPDX-License-Identifier: Apache-2.0
"""Names and labels of a tensor's axes."""

from __future__ import annotations

from collections import OrderedDict, abc
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from ....engine.api import export
from ....engine.types.shape import Dimension
from . import _typecheck as tc

LabelsLike = tc.Union(np.ndarray, range, list, tuple)
DimensionLike = tc.Optional(tc.Union(Dimension, int))
AxisValue = tc.Union(LabelsLike, DimensionLike)


@export("contrib.labeled_tensor.Axis")
class Axis:
    """An axis: its name, and its size or the labels of its places."""

    @tc.accepts(object, str, AxisValue)
    def __init__(self, name: str, value: Sequence[object] | Dimension | int | None) -> None:
        """An axis.

        Args:
            name: a string.
            value: a size, None if that is not known, or the labels: all different.

        Raises:
            ValueError: a label comes twice.
        """
        labels = None
        if not isinstance(value, Dimension):
            if value is not None and not isinstance(value, int):
                labels = tuple(value)
                value = len(labels)
            value = Dimension(value)
        if value.value == 0:
            labels = ()
        self._name = name
        self._dimension = value
        self._labels: tuple[Any, ...] | None = labels
        self._places = None if labels is None else {label: i for i, label in enumerate(labels)}
        if labels is not None and len(self._places or ()) != len(labels):
            raise ValueError(f"Tick labels must be unique, but got {labels}")

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def dimension(self) -> Dimension:
        """The size as a Dimension."""
        return self._dimension

    @property
    def size(self) -> int | None:
        """The size, None if it is not known."""
        return self._dimension.value

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The labels, None if there are none."""
        return self._labels

    @property
    def value(self) -> tuple[Any, ...] | Dimension:
        """The labels, or else the size."""
        return self.dimension if self.labels is None else self.labels

    def index(self, value: object) -> int:
        """The place of a label.

        Args:
            value: a label.

        Returns:
            An integer.

        Raises:
            ValueError: the axis has no labels.
            KeyError: it has not this one.
        """
        if self._places is None:
            raise ValueError("Axis does not have tick labels")
        return self._places[value]

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}', {self.value!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Axis):
            return False
        mine, theirs = (self.name, self.size, self.labels), (other.name, other.size, other.labels)
        return mine == theirs

    def __hash__(self) -> int:
        return hash((self.name, self.size, self.labels))

    def __len__(self) -> int:
        if self.size is None:
            raise ValueError(f"axis {self.name!r} has unknown length")
        return self.size


AxisLike = tc.Union(Axis, tc.Tuple(str, AxisValue))


@export("contrib.labeled_tensor.as_axis")
@tc.returns(Axis)
@tc.accepts(AxisLike)
def as_axis(axis_data: Axis | tuple[str, Any]) -> Axis:
    """An axis by what stands for one.

    Args:
        axis_data: an Axis, or a pair of its arguments.

    Returns:
        An Axis; the one that is given.
    """
    return axis_data if isinstance(axis_data, Axis) else Axis(*axis_data)


@export("contrib.labeled_tensor.Axes")
class Axes(abc.Mapping[str, Axis]):
    """The axes of a tensor in order: a mapping from names."""

    @tc.accepts(object, tc.List(AxisLike))
    def __init__(self, axes: list[Axis | tuple[str, Any]]) -> None:
        """Some axes.

        Args:
            axes: a list of Axis, or of pairs of a name and a size or labels.

        Raises:
            ValueError: two have one name.
        """
        self._axes: OrderedDict[str, Axis] = OrderedDict()
        for axis in map(as_axis, axes):
            if axis.name in self._axes:
                raise ValueError(f"Duplicate axis name: {axis.name}")
            self._axes[axis.name] = axis

    def __iter__(self) -> Iterator[str]:
        return iter(self._axes)

    def __len__(self) -> int:
        return len(self._axes)

    @tc.accepts(object, str)
    def __getitem__(self, name: str) -> Axis:
        return self._axes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._axes

    def __hash__(self) -> int:
        return hash(tuple(self.items()))

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}([{listed(self, ' ' * len(name + '(['))}])"

    @tc.accepts(object, str)
    def remove(self, axis_name: str) -> Axes:
        """The other axes.

        Args:
            axis_name: of the one that is left out.

        Returns:
            Other Axes.

        Raises:
            KeyError: there is no axis of this name.
        """
        if axis_name not in self:
            raise KeyError(axis_name)
        return Axes([axis for axis in self.values() if axis.name != axis_name])


def listed(axes: Axes, indent: str) -> str:
    """The axes as pairs, a line each."""
    return f",\n{indent}".join(f"('{axis.name}', {axis.value!r})" for axis in axes.values())


@tc.returns(Axis)
@tc.accepts(tc.Collection(Axis))
def concat_axes(axes: Collection[Axis]) -> Axis:
    """The axis of tensors put one after another along axes of one name.

    Args:
        axes: at least one.

    Returns:
        An Axis with all labels, if all have labels, or else with the sum of their sizes.

    Raises:
        ValueError: there are no axes, or they have several names.
    """
    if not axes:
        raise ValueError("axes must not be empty")
    names = {axis.name for axis in axes}
    if len(names) > 1:
        raise ValueError(f"axes do not all have the same name: {names!r}")
    labels = [axis.labels for axis in axes if axis.labels is not None]
    if len(labels) == len(axes):
        return Axis(names.pop(), tuple(label for some in labels for label in some))
    sizes = [axis.size for axis in axes if axis.size is not None]
    return Axis(names.pop(), sum(sizes) if len(sizes) == len(axes) else None)
