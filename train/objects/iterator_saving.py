# SPDX-License-Identifier: Apache-2.0
"""Iterators in checkpoints: `make_saveable_from_iterator`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.graph import colocate_with
from ...ops.public import raw
from ..checkpoints.saveable import SaveableObject, SaveSpec

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation


class IteratorSaveable(SaveableObject):
    """What a saver saves of an iterator: where it is.

    Args:
      iterator_resource: The iterator's handle.
      name: Of the object in the checkpoint.
      suffix: What the name of its tensor has besides.
    """

    def __init__(self, iterator_resource: Any, name: str, suffix: str = "_STATE") -> None:
        state = raw.SerializeIterator(iterator_resource)
        specs = [SaveSpec(state, "", name + suffix)]
        super().__init__(iterator_resource, specs, name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """An operation that has the iterator go on from there."""
        with colocate_with(self.op):
            return raw.DeserializeIterator(self.op, restored_tensors[0])


def make_saveable_from_iterator(iterator: Any) -> IteratorSaveable:
    """What a tf.train.Saver saves of an iterator: where it is.

    Args:
        iterator: a tf.data.Iterator.

    Example:
        >>> iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(9))
        >>> saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        >>> tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
    """
    # An iterator that is part of an object which is saved says by which name.
    handle, named = iterator._iterator_resource, getattr(iterator, "saveable_name", None)
    if named is not None:
        return IteratorSaveable(handle, named)
    return IteratorSaveable(handle, handle.name, "-state")
