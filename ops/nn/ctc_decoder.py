# SPDX-License-Identifier: Apache-2.0
"""The ops and functions that read labels out of scores: CTCGreedyDecoder, CTCBeamSearchDecoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import SparseTensor
from ...engine.types.shape import TensorShape
from ..public import raw
from ..shape_inference import merge_dim, ranked
from ..sparse.common import indices_of
from .ctc_beams import Search

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_NO_GRADIENT = NoGradient("labels have no gradient")
_TYPES = "T: {float32, float64} = float32"


def _shapes(paths: int, batch: int | None) -> list[TensorShape]:
    parts = [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]
    return [*(part for part in parts for _ in range(paths)), TensorShape([batch, paths])]


def _batch(c: ShapeContext) -> int | None:
    return merge_dim(ranked(c.inputs[0], 3)[1], ranked(c.inputs[1], 1)[0])


def _require(scores: np.ndarray, lengths: np.ndarray) -> None:
    """Raises the errors of both ops for what they refuse."""
    if scores.ndim != 3:
        raise errors.invalid("inputs is not a 3-Tensor")
    time, batch, _ = scores.shape
    if time == 0:
        raise errors.invalid("max_time is 0")
    if lengths.ndim != 1:
        raise errors.invalid("sequence_length is not a vector")
    if batch != len(lengths):
        raise errors.failed_precondition(
            "len(sequence_length) != batch_size.  "
            f"len(sequence_length):  {len(lengths)} batch_size: {batch}"
        )
    too_long = np.flatnonzero(lengths > time)
    if len(too_long):
        raise errors.failed_precondition(f"sequence_length({too_long[0]}) <= {time}")


def _sparse(counts: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts of a sparse matrix whose rows have so many values each."""
    shape = np.array([len(counts), counts.max(initial=0)], np.int64)
    return indices_of(counts), values.astype(np.int64), shape


def _greedy(c: KernelContext, scores: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, ...]:
    _require(scores, lengths)
    time, _, classes = scores.shape
    best = scores.argmax(-1)
    counted = np.arange(time)[:, None] < lengths
    kept = counted & (best != classes - 1)
    if c.attr("merge_repeated"):
        kept[1:] &= best[1:] != best[:-1]
    total = np.where(counted, scores.max(-1), 0).sum(0, dtype=scores.dtype)
    # (Zeros stay above zero.)
    return *_sparse(kept.sum(0), best.T[kept.T]), 0 - total[:, None]


define(
    "CTCGreedyDecoder",
    "inputs: T, sequence_length: int32 -> decoded_indices: int64, decoded_values: int64, "
    "decoded_shape: int64, log_probability: T",
    f"merge_repeated: bool = false; {_TYPES}",
    shape=lambda c: _shapes(1, _batch(c)),
    kernel=_greedy,
    gradient=_NO_GRADIENT,
    dynamic_shape=True,
    doc="""The labels of the highest scores of each step, without blanks.

    The blank is the last class.
    """,
    test=lambda: {
        "values": [
            [
                np.random.RandomState(3).uniform(-2, 2, [7, 2, 3]).astype(np.float32),
                np.array([7, 4], np.int32),
            ]
        ],
        "attrs": [{}, {"merge_repeated": True}],
    },
)


def _beams(c: KernelContext, scores: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, ...]:
    _require(scores, lengths)
    paths, merges = c.attr("top_paths"), c.attr("merge_repeated")
    found: list[list[list[int]]] = []
    logs = np.zeros((scores.shape[1], paths), scores.dtype)
    with np.errstate(all="ignore"):
        for row, length in enumerate(lengths.tolist()):
            search = Search(c.attr("beam_width"))
            for t in range(length):
                search.step(scores[t, row])
            labels, logs[row] = search.best(paths, merges)
            found.append(labels)
    parts = []
    for path in range(paths):
        rows = [labels[path] for labels in found]
        counts = np.array([len(row) for row in rows], np.int64)
        parts.append(_sparse(counts, np.array([label for row in rows for label in row])))
    return *(part for group in zip(*parts) for part in group), logs


define(
    "CTCBeamSearchDecoder",
    "inputs: T, sequence_length: int32 -> decoded_indices: top_paths * int64, "
    "decoded_values: top_paths * int64, decoded_shape: top_paths * int64, log_probability: T",
    f"beam_width: int >= 1; top_paths: int >= 1; merge_repeated: bool = true; {_TYPES}",
    shape=lambda c: _shapes(c.attr("top_paths"), _batch(c)),
    kernel=_beams,
    gradient=_NO_GRADIENT,
    dynamic_shape=True,
    doc="""The most probable sequences of labels, as a beam search finds them.

    The blank is the last class.
    """,
    test=lambda: {
        "values": [
            [
                np.random.RandomState(3).uniform(-2, 2, [7, 2, 4]).astype(np.float32),
                np.array([7, 4], np.int32),
            ]
        ],
        "attrs": [
            {"beam_width": 6, "top_paths": 3},
            {"beam_width": 20, "top_paths": 2, "merge_repeated": False},
        ],
    },
)


@export("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Any]:
    """The labels of the highest scores of each step, without blanks.

    The blank is the last class.

    Args:
        inputs: scores, float32 or float64, [time, batch, classes].
        sequence_length: an int32 vector, the number of steps of each row.
        merge_repeated: whether a label that is the highest of steps that follow each other counts
            once.

    Returns:
        (a list of one SparseTensor of int64, [batch, most labels]; the sums of the highest scores,
        below zero where those are above, [batch, 1]).

    Raises:
        FailedPreconditionError: there are not as many lengths as rows, or they are above `time`.

    Example:
        >>> scores = tf.one_hot([[0], [0], [2], [1]], 3)
        >>> (labels,), _ = tf.nn.ctc_greedy_decoder(scores, [4])
        >>> tf.Session().run(labels.values)
        array([0, 1])
    """
    indices, values, shape, logs = raw.CTCGreedyDecoder(
        inputs, sequence_length, merge_repeated=merge_repeated
    )
    return [SparseTensor(indices, values, shape)], logs


@export("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Any]:
    """The most probable sequences of labels, as a beam search finds them.

    The blank is the last class.

    Args:
        inputs: scores, float32 or float64, [time, batch, classes].
        sequence_length: an int32 vector, the number of steps of each row.
        beam_width: how many sequences are kept at each step.
        top_paths: how many are wanted, no more than are kept.
        merge_repeated: whether the same label twice in a row counts once in what is found, though
            there was a blank between.

    Returns:
        (a list of `top_paths` SparseTensors of int64, [batch, most labels]; the logarithms of their
        probabilities, [batch, top_paths]).

    Raises:
        InvalidArgumentError: fewer sequences than wanted are kept.
        FailedPreconditionError: there are not as many lengths as rows, or they are above `time`.
    """
    *parts, logs = raw.CTCBeamSearchDecoder(
        inputs,
        sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=merge_repeated,
    )
    return [SparseTensor(*part) for part in zip(*parts)], logs


@export("nn.ctc_beam_search_decoder_v2")
def ctc_beam_search_decoder_v2(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Any]:
    """The most probable sequences of labels, whose labels may repeat.

    Args:
        inputs: scores, float32 or float64, [time, batch, classes]; the blank is the last class.
        sequence_length: an int32 vector, the number of steps of each row.
        beam_width: how many sequences are kept at each step.
        top_paths: how many are wanted, no more than are kept.

    Returns:
        As `tf.nn.ctc_beam_search_decoder`.

    Raises:
        InvalidArgumentError: fewer sequences than wanted are kept.
        FailedPreconditionError: there are not as many lengths as rows, or they are above `time`.
    """
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, False)
