# SPDX-License-Identifier: Apache-2.0
"""GatherTree: the sequences of a beam search, from the ids and parents of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from ..shape_inference import merge, merge_dim, ranked

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext


def _shape(c: ShapeContext) -> TensorShape:
    ids, parents = TensorShape(ranked(c.inputs[0], 3)), TensorShape(ranked(c.inputs[1], 3))
    (batch,) = ranked(c.inputs[2], 1)
    ranked(c.inputs[3], 0)
    time, known, beams = ranked(merge(ids, parents), 3)
    return TensorShape([time, merge_dim(known, batch), beams])


def _check(ids: np.ndarray, parents: np.ndarray, lengths: np.ndarray, end: np.ndarray) -> None:
    shape = shape_text(ids.shape)
    if ids.ndim != 3:
        raise errors.invalid(f"step_ids must be a 3-tensor, saw shape: {shape}")
    if lengths.ndim != 1:
        text = shape_text(lengths.shape)
        raise errors.invalid(f"max_sequence_lengths must be a vector, saw shape: {text}")
    if end.ndim:
        raise errors.invalid(f"end_token must be a scalar, saw shape: {shape_text(end.shape)}")
    if ids.shape != parents.shape:
        raise errors.invalid(
            "step_ids.shape must match parent_ids.shape.  but shapes are: "
            f"{shape} and {shape_text(parents.shape)}"
        )
    if ids.shape[1] != lengths.shape[0]:
        raise errors.invalid(
            "batch size dimensions step_ids.shape[1] and max_sequence_lengths.shape[0] must match."
            f"  but shapes are: {shape} and {shape_text(lengths.shape)}"
        )


def _refuse(parents: np.ndarray, live: np.ndarray, level: int) -> None:
    """The error for a parent that is no beam."""
    wrong = live & ((parents < 0) | (parents >= parents.shape[1]))
    if wrong.any():
        batch, beam = np.argwhere(wrong)[0]
        raise errors.invalid(
            f"Saw invalid parent id {parents[batch, beam]} at (batch, time, beam) == "
            f"({batch}, {level}, {beam})"
        )


def _kernel(
    c: KernelContext, ids: np.ndarray, parents: np.ndarray, lengths: np.ndarray, end: np.ndarray
) -> np.ndarray:
    _check(ids, parents, lengths, end)
    time, batch, beams = ids.shape
    result = np.full(ids.shape, end, ids.dtype)
    last = np.minimum(lengths, time) - 1
    at = np.broadcast_to(np.arange(beams), (batch, beams)).astype(ids.dtype)
    for level in reversed(range(time)):
        live = np.broadcast_to((last >= level)[:, np.newaxis], at.shape)
        _refuse(at, live, level)
        found = np.where(live, at, 0)
        result[level] = np.where(live, np.take_along_axis(ids[level], found, 1), end)
        at = np.where(live, np.take_along_axis(parents[level], found, 1), at)
    # What comes behind the first end of a sequence is an end, too.
    ended = np.cumsum(result == end, axis=0) > 0
    return np.where(ended, end, result).astype(ids.dtype)


def _steps() -> np.ndarray:
    return np.array([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]], np.int32)


def _parents() -> np.ndarray:
    return np.array([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]]], np.int32)


gather_tree = export("contrib.seq2seq.gather_tree")(
    define(
        "GatherTree",
        "step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T -> beams: T",
        "T: {int32}",
        shape=_shape,
        kernel=_kernel,
        gradient=NoGradient("ids have none"),
        doc="""The sequences of a beam search, followed back from the last step's beams.

        Args:
            step_ids: [time, batch, beams], what each beam took at each step.
            parent_ids: the same, which beam of the step before it came from.
            max_sequence_lengths: [batch], how many steps count.
            end_token: what ends a sequence, and fills it behind its end.

        Example:
            >>> ids, parents = [[[1, 2]], [[3, 4]]], [[[0, 0]], [[1, 0]]]
            >>> beams = tf.contrib.seq2seq.gather_tree(ids, parents, [2], 9)
            >>> print(tf.Session().run(beams)[:, 0].tolist())
            [[2, 1], [3, 4]]
        """,
        test=lambda: {
            "values": [[_steps(), _parents(), np.array([3], np.int32), np.array(10, np.int32)]]
        },
    )
)
