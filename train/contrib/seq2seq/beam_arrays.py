# SPDX-License-Identifier: Apache-2.0
"""Arrays in a cell's state that follow the sequences of a beam search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.graph.constants import constant_value
from ....engine.interface import log
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape, dimension_value
from ....ops.flow.tensor_array import TensorArray
from ....ops.nn.beam_search import gather_tree
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure


def require_rank(t: Structure) -> int:
    """The rank; ValueError where it is unknown."""
    if t.shape.ndims is None:
        raise ValueError(f"Expected tensor ({t}) to have known rank, but ndims == None.")
    rank: int = t.shape.ndims
    return rank


def gather_tree_from_array(t: Structure, parent_ids: Any, sequence_length: Tensor) -> Tensor:
    """Steps [time, batch, beams, ...] put in the order of the sequences.

    Args:
        t: what the beams had at each step.
        parent_ids: [time, batch, beams], which beam of the step before each came from.
        sequence_length: [batch, beams].
    """
    time, batch, beams = (
        dimension_value(parent_ids.shape[axis]) or tf.shape(parent_ids)[axis] for axis in range(3)
    )
    beam_ids = tf.expand_dims(tf.expand_dims(tf.range(beams), 0), 0)
    beam_ids = tf.tile(beam_ids, [time, batch, 1])
    longest = tf.cast(tf.reduce_max(sequence_length, axis=1), dtypes.int32)
    ordered_ids = gather_tree(
        step_ids=beam_ids,
        parent_ids=parent_ids,
        max_sequence_lengths=longest,
        end_token=beams + 1,
    )
    # Behind the end of a sequence the order does not matter, and must not be out of range.
    mask = tf.sequence_mask(sequence_length, maxlen=time)
    ordered_ids = tf.where(tf.transpose(mask, perm=[2, 0, 1]), x=ordered_ids, y=beam_ids)
    times = tf.tile(tf.reshape(tf.range(time), [-1, 1, 1]), [1, batch, beams])
    batches = tf.tile(tf.reshape(tf.range(batch), [-1, 1, 1]), [1, time, beams])
    batches = tf.transpose(batches, perm=[1, 0, 2])
    indices = tf.stack([times, batches, ordered_ids], -1)
    shape = tf.shape(t)
    ordered = tf.gather_nd(tf.reshape(t, [time, batch, beams, -1]), indices)
    return tf.reshape(ordered, shape)


def _fits(shape: Any, batch: int | None, beams: int) -> bool:
    """Whether elements of a shape can be beams, as far as sizes are known."""
    if batch is None or dimension_value(shape[0]) is None:
        return True
    second = dimension_value(shape[1]) if shape.ndims >= 2 else None
    # TensorFlow's condition, which wants both forms at once where two sizes are known.
    if shape[0] != batch * beams or (
        second is not None and (shape[0] != batch or shape[1] != beams)
    ):
        log.warn(
            "TensorArray reordering expects elements to be reshapable to %s which is incompatible "
            "with the current shape %s. Consider setting reorder_tensor_arrays to False to disable "
            "TensorArray reordering during the beam search.",
            TensorShape([batch, beams, None]),
            shape,
        )
        return False
    return True


def check_batch_beam(t: Structure, batch_size: Any, beam_width: int) -> Any:
    """An assertion that elements are beams, merged or not."""
    batch, beams = batch_size, beam_width
    shape = tf.shape(t)
    merged = tf.equal(shape[1], batch * beams)
    if t.shape.ndims != 2:
        split = tf.logical_and(tf.equal(shape[1], batch), tf.equal(shape[2], beams))
        merged = tf.logical_or(merged, split)
    text = (
        "TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1] "
        f"which is incompatible with the dynamic shape of {t.name} elements. Consider setting "
        "reorder_tensor_arrays to False to disable TensorArray reordering during the beam search."
    )
    return tf.Assert(merged, [text])


def sorted_array(t: Structure, parent_ids: Tensor, lengths: Tensor, batch: Any, beams: int) -> Any:
    """An array of steps in the order of the sequences; what is none, or cannot be, as it is."""
    if not isinstance(t, TensorArray):
        return t
    shape: Any = t.element_shape
    if shape.ndims is None or shape.ndims < 1:
        log.warn(
            "The TensorArray %s in the cell state is not amenable to sorting based on the beam "
            "search result. For a TensorArray to be sorted, its elements shape must be defined "
            "and have at least a rank of 1, but saw shape: %s",
            t.handle.name,
            shape,
        )
        return t
    if not _fits(shape, constant_value(batch), beams):
        return t
    steps = t.stack()
    with tf.control_dependencies([check_batch_beam(steps, batch, beams)]):
        return gather_tree_from_array(steps, parent_ids, lengths)
