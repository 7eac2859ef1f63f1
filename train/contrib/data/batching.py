# SPDX-License-Identifier: Apache-2.0
"""Batches without a smaller last one, and shapes of elements that are stated or checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.deprecation import deprecated
from ....engine.types import dtypes
from ....engine.types.shape import as_shape
from ....ops.data import nest, structure
from ....ops.data.dataset_v1 import (
    DatasetV1,
    get_legacy_output_classes,
    get_legacy_output_shapes,
    get_legacy_output_types,
)
from ....ops.data.unary import UnaryDataset
from ..framework.tensor_util import with_shape

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

Apply = Callable[[DatasetV1], Any]


@export("contrib.data.batch_and_drop_remainder")
@deprecated(None, "Use `tf.data.Dataset.batch(..., drop_remainder=True)`.")
def batch_and_drop_remainder(batch_size: TensorLike) -> Apply:
    """`Dataset.batch` without a smaller last batch.

    Example:
        >>> batches = tf.data.Dataset.range(5).apply(tf.contrib.data.batch_and_drop_remainder(2))
        >>> print(batches.output_shapes)
        (2,)
    """
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


@export("contrib.data.padded_batch_and_drop_remainder")
@deprecated(None, "Use `tf.data.Dataset.padded_batch(..., drop_remainder=True)`.")
def padded_batch_and_drop_remainder(
    batch_size: TensorLike, padded_shapes: object, padding_values: object = None
) -> Apply:
    """`Dataset.padded_batch` without a smaller last batch."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


@export("contrib.data.assert_element_shape")
def assert_element_shape(expected_shapes: object) -> Apply:
    """A transformation that gives the same elements, which must have these shapes.

    Args:
        expected_shapes: shapes in the structure of an element; what is unknown is not checked.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: a shape is known to be another.

    Example:
        >>> rows = tf.data.Dataset.from_generator(lambda: [[1, 2]], tf.int32)
        >>> stated = rows.apply(tf.contrib.data.assert_element_shape(tf.TensorShape([2])))
        >>> print(stated.output_shapes)
        (2,)
    """

    def checked(*elements: Any) -> Any:
        pairs = zip(nest.flatten(expected_shapes), nest.flatten(elements))
        # A shape of unknown rank, and a scalar's, is false.
        found = [with_shape(shape, tensor) if shape else tensor for shape, tensor in pairs]
        return nest.pack_sequence_as(elements, found)

    def transformed(dataset: DatasetV1) -> _RestructuredDataset:
        shapes = get_legacy_output_shapes(dataset)
        pairs = zip(nest.flatten(shapes), nest.flatten_up_to(shapes, expected_shapes))
        merged = nest.pack_sequence_as(shapes, [known.merge_with(new) for known, new in pairs])
        types, classes = get_legacy_output_types(dataset), get_legacy_output_classes(dataset)
        return _RestructuredDataset(dataset.map(checked), types, merged, classes)

    return transformed


class _RestructuredDataset(UnaryDataset):
    """The same elements in another structure, or with other shapes that fit."""

    def __init__(
        self,
        dataset: Any,
        output_types: Any,
        output_shapes: Any = None,
        output_classes: Any = None,
    ) -> None:
        """ValueError where types, shapes or structures do not fit."""
        given_types = get_legacy_output_types(dataset)
        output_types = nest.map_structure(dtypes.as_dtype, output_types)
        if nest.flatten(given_types) != nest.flatten(output_types):
            raise ValueError(
                f"Dataset with output types {given_types!r} cannot be restructured to have output "
                f"types {output_types!r}"
            )
        shapes = _shapes(get_legacy_output_shapes(dataset), output_types, output_shapes)
        if output_classes is None:
            classes = nest.flatten(get_legacy_output_classes(dataset))
            output_classes = nest.pack_sequence_as(output_types, classes)
        self._structure = structure.convert_legacy_structure(output_types, shapes, output_classes)
        super().__init__(dataset, dataset._variant_tensor)


def _shapes(given: object, types: object, shapes: object) -> Any:
    if shapes is None:
        return nest.pack_sequence_as(types, nest.flatten(given))
    nest.assert_same_structure(types, shapes)
    for old, new in zip(nest.flatten(given), nest.flatten_up_to(types, shapes)):
        if not old.is_compatible_with(new):
            raise ValueError(
                f"Dataset with output shapes {given!r} cannot be restructured to have incompatible "
                f"output shapes {shapes!r}"
            )
    return nest.map_structure_up_to(types, as_shape, shapes)
