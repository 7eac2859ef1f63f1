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
from ...jit.kernel import scalar as k
from ..found_rows import column_of, elements_at, shape_of_rows
from ..public import raw
from ..run_checks import error_of
from ..shape_inference import merge_dim, ranked
from ..sparse.common import indices_of
from .ctc_beams import Search

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_NO_GRADIENT = NoGradient("labels have no gradient", silent=True)
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
    _require_lengths(lengths, time)


def _require_lengths(lengths: np.ndarray, time: Any) -> None:
    too_long = np.flatnonzero(lengths > time)
    if len(too_long):
        raise errors.failed_precondition(f"sequence_length({too_long[0]}) <= {time}")


def _sparse(counts: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts of a sparse matrix whose rows have so many values each."""
    shape = np.array([len(counts), counts.max(initial=0)], np.int64)
    return indices_of(counts), values.astype(np.int64), shape


def _labels(c: KernelContext, scores: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, ...]:
    """The best class of each step [time, batch], and which steps count, and which give a label."""
    time, _, classes = scores.shape
    # What is no number is passed over, but for a first one, which nothing is greater than.
    best = np.where(np.isnan(scores), -np.inf, scores).argmax(-1)
    best = np.where(np.isnan(scores[..., 0]), 0, best)
    counted = np.arange(time)[:, None] < lengths
    kept = counted & (best != classes - 1)
    if c.attr("merge_repeated"):
        kept[1:] &= best[1:] != best[:-1]
    return best, counted, kept


def _greedy(c: KernelContext, scores: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, ...]:
    _require(scores, lengths)
    best, counted, kept = _labels(c, scores, lengths)
    most = np.take_along_axis(scores, best[..., None], -1)[..., 0]
    total = np.where(counted, most, 0).sum(0, dtype=scores.dtype)
    # (Zeros stay above zero.)
    return *_sparse(kept.sum(0), best.T[kept.T]), 0 - total[:, None]


def _label_count(c: KernelContext, scores: np.ndarray, lengths: np.ndarray) -> Any:
    is_whole = scores.ndim == 3 and lengths.shape == scores.shape[1:2] and scores.size
    return [np.count_nonzero(_labels(c, scores, lengths)[2])] if is_whole else None


def _firsts(b: Builder, scores: Value) -> Value:
    """The first class of each step and row."""
    steps = scores.shape[:2]
    return b.reshape(b.slice(scores, (0, 0, 0), (*steps, 1)), steps)


def _unless_first_is_none(best: Any, first: Any) -> Any:
    """A best class, which is the first one where that is no number: a scalar body."""
    return k.select(k.ne(first, first), k.cast(0, "int64"), best)


def _kept_labels(b: Builder, op: OpView, scores: Value, lengths: Value) -> tuple[Value, ...]:
    """As `_labels`, row by row: [batch, time]."""
    b.require(scores.ndim == 3 and lengths.ndim == 1)
    time, batch, classes = scores.shape
    b.require(b.equal(batch, lengths.shape[0]))
    b.require(not any(b.equal(size, 0) for size in (time, batch, classes)))
    best = b.map(_unless_first_is_none, b.reduce("argmax", scores, [2]), _firsts(b, scores))
    best = b.transpose(best, [1, 0])
    step = b.iota((batch, time), 1, "int64")
    length = b.broadcast(b.reshape(b.cast(lengths, "int64"), (batch, 1)), (batch, time))
    counted = b.map(k.lt, step, length)
    blank = b.constant(classes - 1, "int64")
    kept = b.map(lambda is_in, x, n: k.logical_and(is_in, k.ne(x, n)), counted, best, blank)
    if op.attr("merge_repeated"):
        before = b.slice(best, (0, 0), (batch, time - 1))
        before = b.concat([b.full((batch, 1), -1, "int64"), before], 1)
        kept = b.map(lambda kept, x, y: k.logical_and(kept, k.ne(x, y)), kept, best, before)
    return best, counted, kept


def _measured_labels(b: Builder, op: OpView, scores: Value, lengths: Value) -> list[Any]:
    kept = _kept_labels(b, op, scores, lengths)[2]
    return [b.reduce("sum", b.cast(kept, "int64"), None)]


def _lower_greedy(b: Builder, op: OpView, scores: Value, lengths: Value, sizes: Value) -> Any:
    from ...jit import library

    known = b.known(sizes)
    if known is None:
        return NotImplemented
    best, counted, kept = _kept_labels(b, op, scores, lengths)
    limit = b.constant(scores.shape[0], "int64")
    too_long = b.reduce("any", b.map(k.gt, b.cast(lengths, "int64"), limit), None)
    b.require_not(too_long, error_of(_require_lengths), lengths, limit)
    found = library.coordinates(b, kept, known.item(0))
    number = b.cast(kept, "int64")
    places = library.running(b, "add", number, 1, exclusive=True)
    columns = [column_of(b, found, 0), elements_at(b, places, found)]
    indices = b.concat([b.reshape(column, (found.shape[0], 1)) for column in columns], 1)
    shape = shape_of_rows(b, kept.shape[:1], b.reduce("sum", number, [1]))
    first = _firsts(b, scores)
    most = b.map(lambda x, y: k.select(k.ne(y, y), y, x), b.reduce("max", scores, [2]), first)
    most = b.transpose(most, [1, 0])
    scored = b.map(lambda is_in, x: k.select(is_in, x, 0), counted, most)
    total = b.map(lambda x: k.sub(0, x), b.reduce("sum", scored, [1], keepdims=True))
    return indices, elements_at(b, best, found), shape, total


define(
    "CTCGreedyDecoder",
    "inputs: T, sequence_length: int32 -> decoded_indices: int64, decoded_values: int64, "
    "decoded_shape: int64, log_probability: T",
    f"merge_repeated: bool = false; {_TYPES}",
    shape=lambda c: _shapes(1, _batch(c)),
    kernel=_greedy,
    lower=_lower_greedy,
    gradient=_NO_GRADIENT,
    dynamic_shape=_label_count,
    measured_sizes=_measured_labels,
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
