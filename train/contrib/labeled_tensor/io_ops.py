# SPDX-License-Identifier: Apache-2.0
"""Labeled tensors that are fed, or parsed from Example protos."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.graph import name_scope
from ....engine.types.dtypes import DType
from ....ops.public import tf
from . import _typecheck as tc
from .core import (
    Axes,
    Axis,
    AxisLike,
    LabeledTensor,
    LabeledTensorLike,
    as_axis,
    convert_to_labeled_tensor,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


@export("contrib.labeled_tensor.FixedLenFeature")
class FixedLenFeature:
    """How a feature of fixed size is parsed, and the axes that it has."""

    def __init__(
        self, axes: Collection[Axis | tuple[str, Any]], dtype: DType, default_value: object = None
    ) -> None:
        """A feature.

        Args:
            axes: each an Axis or a pair of its arguments, of known sizes.
            dtype: of the values.
            default_value: of examples that lack the feature.
        """
        self._axes = [as_axis(axis) for axis in axes]
        self._dtype = dtype
        self._default_value = default_value

    @property
    def axes(self) -> list[Axis]:
        """The axes."""
        return self._axes

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def default_value(self) -> object:
        """What examples that lack the feature have."""
        return self._default_value


@tc.accepts(tc.Mapping(str, FixedLenFeature))
def _without_labels(features: Mapping[str, FixedLenFeature]) -> dict[str, Any]:
    """The features as `tf.parse_example` takes them."""
    found = {}
    for name, feature in features.items():
        shape = [axis.size for axis in feature.axes]
        if None in shape:
            raise ValueError("axes with unknown size are not supported")
        found[name] = tf.FixedLenFeature(shape, feature.dtype, feature.default_value)
    return found


@export("contrib.labeled_tensor.parse_example")
@tc.returns(tc.Dict(str, LabeledTensor))
@tc.accepts(LabeledTensorLike, tc.Mapping(str, FixedLenFeature), tc.Optional(str), object)
def parse_example(
    serialized: LabeledTensor | TensorLike,
    features: Mapping[str, FixedLenFeature],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, LabeledTensor]:
    """Labeled tensors of a batch of Example protos.

    Args:
        serialized: a labeled vector of strings.
        features: what is parsed, by names.
        name: of the operation.
        example_names: a vector of names of the examples, for messages.

    Returns:
        A dict of LabeledTensors, whose first axis is that of `serialized`.

    Raises:
        ValueError: an axis' size is not known.
    """
    serialized = convert_to_labeled_tensor(serialized)
    plain = _without_labels(features)
    parsed = tf.parse_example(serialized.tensor, plain, name, example_names)
    first = list(serialized.axes.values())
    return {key: LabeledTensor(parsed[key], first + features[key].axes) for key in parsed}


@export("contrib.labeled_tensor.parse_single_example")
@tc.returns(tc.Dict(str, LabeledTensor))
@tc.accepts(LabeledTensorLike, tc.Mapping(str, FixedLenFeature), tc.Optional(str), object)
def parse_single_example(
    serialized: LabeledTensor | TensorLike,
    features: Mapping[str, FixedLenFeature],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, LabeledTensor]:
    """Labeled tensors of an Example proto.

    Args:
        serialized: a string, a scalar.
        features: what is parsed, by names.
        name: of the operation.
        example_names: the name of the example, for messages.

    Returns:
        A dict of LabeledTensors.

    Raises:
        ValueError: an axis' size is not known.
    """
    serialized = convert_to_labeled_tensor(serialized)
    plain = _without_labels(features)
    parsed = tf.parse_single_example(serialized.tensor, plain, name, example_names)
    return {key: LabeledTensor(parsed[key], features[key].axes) for key in parsed}


@export("contrib.labeled_tensor.placeholder")
@tc.returns(LabeledTensor)
@tc.accepts(DType, tc.Collection(tc.Union(str, AxisLike)), tc.Optional(str))
def placeholder(
    dtype: DType, axes: Collection[str | Axis | tuple[str, Any]], name: str | None = None
) -> LabeledTensor:
    """A labeled tensor that is fed.

    Args:
        dtype: its dtype.
        axes: each an Axis, a pair of its arguments, or a name, of an axis of unknown size.
        name: of the operation.

    Returns:
        A LabeledTensor.

    Example:
        >>> lt = tf.contrib.labeled_tensor
        >>> image = lt.placeholder(tf.float32, ["batch", ("channel", ["r", "g", "b"])])
        >>> print(image.shape)
        (?, 3)
    """
    with name_scope(name, "lt_placeholder", []) as scope:
        full = Axes([(axis, None) if isinstance(axis, str) else axis for axis in axes])
        shape = [axis.size for axis in full.values()]
        return LabeledTensor(tf.placeholder(dtype, shape, name=scope), full)
