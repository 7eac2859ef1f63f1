# SPDX-License-Identifier: Apache-2.0
"""Strings taken apart at separators, and joined along dimensions or by segments."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.dispatch import dispatched
from ...engine.graph import rowwise
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text, unknown_shape
from ...engine.types.texts import PackedTexts
from .. import shape_inference
from ..public import raw, tf
from ..sparse.common import indices_of
from . import at_once, packing
from .files import text_array

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ..ragged.tensor import RaggedTensor

_TEXT = NoGradient("texts have no derivative")
_SPACE = b" \t\n\v\f\r"


def _lines() -> np.ndarray:
    return np.array([b"a b  c", b"", b" d"], object)


def _require(texts: np.ndarray | PackedTexts, separator: np.ndarray, name: str) -> bytes:
    if texts.ndim != 1:
        raise errors.invalid(f"input must be a vector, got shape: {shape_text(texts.shape)}")
    if separator.ndim:
        raise errors.invalid(f"{name} must be a scalar, got shape: {shape_text(separator.shape)}")
    return separator.item()


def _listed(rows: Sequence[Sequence[bytes]]) -> list[np.ndarray]:
    """The parts of all strings as a sparse matrix."""
    if len(rows) == 1:
        count = len(rows[0])
        return [indices_of([count]), text_array(rows[0]), np.array([1, count], np.int64)]
    lengths = list(map(len, rows))
    shape = np.array([len(rows), max(lengths, default=0)], np.int64)
    return [indices_of(lengths), text_array(list(chain.from_iterable(rows))), shape]


def _of_parts(
    c: KernelContext, count: int, parts: PackedTexts, indices: np.ndarray, most: int
) -> list[Any]:
    """The same of the parts of `count` texts that are known with their places."""
    values = parts if 1 in c.packs else packing.objects_of(parts)
    return [indices, values, np.array([count, most], np.int64)]


def _split(
    c: KernelContext, texts: np.ndarray | PackedTexts, delimiter: np.ndarray
) -> list[np.ndarray]:
    marks = _require(texts, delimiter, "delimiter")
    pattern = re.compile(b"[" + re.escape(marks) + b"]") if len(marks) > 1 else None
    skips_empty = c.attr("skip_empty")
    if marks and packing.is_many(texts):
        found = at_once.split(texts, marks, skips_empty)
        if found is not None:
            return _of_parts(c, len(texts), *found)

    if not marks:
        return _listed([[text[i : i + 1] for i in range(len(text))] for text in texts.tolist()])
    if pattern is None:
        rows = list(map(bytes.split, texts.tolist(), repeat(marks)))
    else:
        rows = list(map(pattern.split, texts.tolist()))
    if any(b"" in row for row in rows):
        # (What is empty has no parts, whether or not empty parts are skipped.)
        rows = [
            [part for part in row if part] if skips_empty else row if row != [b""] else []
            for row in rows
        ]
    return _listed(rows)


def _split_v2(
    c: KernelContext, texts: np.ndarray | PackedTexts, sep: np.ndarray
) -> list[np.ndarray]:
    mark, most = _require(texts, sep, "sep"), c.attr("maxsplit")
    if most == 0:
        return _listed([[text] for text in texts.tolist()])
    most = most if most > 0 else -1
    if most < 0 and len(mark) < 2 and packing.is_many(texts):
        at_a_time = at_once.split(texts, mark or _SPACE, not mark, keeps_empty=bool(mark))
        if at_a_time is not None:
            return _of_parts(c, len(texts), *at_a_time)

    def parts(text: bytes) -> list[bytes]:
        # Python's own split, with None for white space: StringSplitV2 was made after it.
        found = text.split(mark or None, most)
        # Where the words have run out, what is left is an empty part too.
        if not mark and len(found) == most:
            found.append(b"")
        return found

    return _listed([parts(text) for text in texts.tolist()])


def _split_shape(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[0], 1)
    shape_inference.ranked(c.inputs[1], 0)
    return [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]


def _rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Of elements with one string each all are taken apart at once."""
    texts, separator = inputs
    shape = texts.tensor.shape
    is_one = texts.rank == 1 and texts.places is None and shape.ndims == 2 and shape[1] == 1
    if not is_one or separator.rank is not None:
        return None
    flat = tf.reshape(texts.tensor, [-1])
    indices, values, _ = rowwise.copied(op, [flat, separator.tensor]).outputs
    owners = indices[:, 0]
    lengths = tf.unsorted_segment_sum(tf.ones_like(owners), owners, tf.shape(flat)[0])
    return [None, rowwise.Rows(values, 1, indices, lengths), None]


define(
    "StringSplit",
    "input: string, delimiter: string -> indices: int64, values: string, shape: int64",
    "skip_empty: bool = true",
    shape=_split_shape,
    kernel=_split,
    rows=_rows,
    takes_packed=("input",),
    gives_packed=True,
    gradient=_TEXT.silently,
    dynamic_shape=True,
    doc="Strings taken apart at any of some characters, as a sparse matrix.",
    test=lambda: {
        "values": [[_lines(), np.array(mark, object)] for mark in (b" ", b" b", b"")],
        "attrs": [{}, {"skip_empty": False}],
    },
)
define(
    "StringSplitV2",
    "input: string, sep: string -> indices: int64, values: string, shape: int64",
    "maxsplit: int = -1",
    shape=_split_shape,
    kernel=_split_v2,
    rows=_rows,
    takes_packed=("input",),
    gives_packed=True,
    gradient=_TEXT,
    dynamic_shape=True,
    doc="Strings taken apart at a separator or at white space, as a sparse matrix.",
    test=lambda: {
        "values": [[_lines(), np.array(mark, object)] for mark in (b" ", b" b", b"")],
        "attrs": [{}, {"maxsplit": 1}, {"maxsplit": 0}],
    },
)


def _reduce_join(c: KernelContext, inputs: np.ndarray, axes: np.ndarray) -> np.ndarray:
    wanted: list[int] = []
    for axis in axes.reshape(-1).tolist():
        if not -inputs.ndim <= axis < inputs.ndim:
            raise errors.out_of_range(
                f"Invalid reduction dimension {axis} for input with {inputs.ndim} dimension(s)"
            )
        if axis % inputs.ndim in wanted:
            raise errors.invalid(f"Duplicate reduction dimension {axis}")
        wanted.append(axis % inputs.ndim)
    kept = [axis for axis in range(inputs.ndim) if axis not in wanted]
    separator = c.attr("separator").encode()
    shape = tuple(inputs.shape[axis] for axis in kept)
    if not wanted:
        return inputs.copy()
    # The dimension that is named first is joined first: it varies fastest.
    inner = math.prod(inputs.shape[axis] for axis in wanted)
    rows = inputs.transpose(kept + wanted[::-1]).reshape(math.prod(shape), inner)
    found = None
    if packing.is_many(rows) and (texts := packing.packed(rows)) is not None:
        found = at_once.joined(texts, np.arange(0, rows.size + 1, inner), separator)
    joined = text_array(list(map(separator.join, rows.tolist()))) if found is None else found
    if c.attr("keep_dims"):
        shape = tuple(1 if i in wanted else size for i, size in enumerate(inputs.shape))
    return joined.reshape(shape)


define(
    "ReduceJoin",
    "inputs: string, reduction_indices: int32 -> output: string",
    "keep_dims: bool = false; separator: string = ''",
    shape=shape_inference.reduction,
    kernel=_reduce_join,
    gradient=_TEXT.silently,
    doc="Strings joined along dimensions, in the order in which these are named.",
    test=lambda: {
        "values": [
            [np.array([[b"a", b"b"], [b"c", b"d"]], object), np.array([1, 0], np.int32)],
            [np.array([[b"a", b"b"], [b"c", b"d"]], object), np.array([-1], np.int32)],
        ],
        "attrs": [{}, {"keep_dims": True, "separator": "-"}],
    },
)


def _segment_join(
    c: KernelContext, inputs: np.ndarray, segment_ids: np.ndarray, num_segments: np.ndarray
) -> np.ndarray:
    rank, count = segment_ids.ndim, int(num_segments)
    if not rank:
        raise errors.invalid("Segment_id cannot have rank 0")
    if rank > inputs.ndim:
        raise errors.out_of_range(
            f"Invalid segment_id rank {rank} for input with {inputs.ndim} dimension(s)"
        )
    for i, size in enumerate(segment_ids.shape):
        if size != inputs.shape[i]:
            raise errors.invalid(
                f"Segment dimension is {size} while input dimension is {inputs.ndim} in rank {i}"
            )
    if ((segment_ids < 0) | (segment_ids >= count)).any():
        raise errors.invalid(
            "segment_ids are not allowed to exceed num_segments or to have negative values."
        )
    rest = inputs.shape[rank:]
    rows = inputs.reshape(segment_ids.size, math.prod(rest))
    separator = c.attr("separator").encode()
    # Rows of a segment stand together, in their order, once they are sorted by it.
    ids = segment_ids.reshape(-1)
    # (Numbers of 16 bits are sorted by their digits, in a fraction of the time.)
    order = np.argsort(ids.astype(np.uint16) if count <= 1 << 16 else ids, kind="stable")
    ends = np.cumsum(np.bincount(ids, minlength=count)).tolist()
    result = np.empty((count, rows.shape[1]), object)
    for number, column in enumerate(rows.T):
        result[:, number] = _joined_groups(column, order, [0, *ends], separator)
    return result.reshape((count, *rest))


def _joined_groups(
    column: np.ndarray, order: np.ndarray, bounds: list[int], separator: bytes
) -> np.ndarray:
    """The texts of a column in an order, those between bounds joined."""
    if packing.is_many(column) and (texts := packing.packed(column)) is not None:
        ordered = PackedTexts(texts.data, texts.places.take(order, axis=0))
        found = at_once.joined(ordered, np.array(bounds, np.int64), separator)
        if found is not None:
            return found
    groups = map(column[order].tolist().__getitem__, map(slice, bounds[:-1], bounds[1:]))
    return text_array(list(map(separator.join, groups)))


def _segment_shape(c: ShapeContext) -> TensorShape:
    data, ids = c.inputs[0], c.inputs[1]
    shape_inference.ranked(c.inputs[2], 0)
    count = c.value(2)
    if ids.ndims is not None:
        shape_inference.ranked_at_least(data, ids.ndims)
        for size, wanted in zip(data.as_list() if data.ndims is not None else (), ids.as_list()):
            if None not in (size, wanted) and size != wanted:
                raise ValueError(f"Dimensions must be equal, but are {size} and {wanted}")
    if data.ndims is None or ids.ndims is None:
        return unknown_shape()
    return TensorShape([None if count is None else int(count)]).concatenate(data[ids.ndims :])


define(
    "UnsortedSegmentJoin",
    "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string",
    "separator: string = ''; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32",
    shape=_segment_shape,
    kernel=_segment_join,
    gradient=_TEXT,
    doc="Strings of the same segment, joined.",
    test=lambda: {
        "values": [
            [np.array([b"a", b"b", b"c"], object), np.array([2, 0, 2], np.int32), np.int32(4)],
            [
                np.array([[b"a", b"b"], [b"c", b"d"]], object),
                np.array([1, 1], np.int64),
                np.int32(2),
            ],
        ],
        "attrs": [{}, {"separator": ", "}],
    },
)


def _sparse(found: Sequence[Any]) -> SparseTensor:
    return SparseTensor(*found)


@export("string_split")
def string_split(
    source: TensorLike,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """A vector of strings taken apart at every character of `sep`, as a SparseTensor.

    sep: " " unless given; with "", strings fall into bytes.  skip_empty: whether empty parts are
    left out.  result_type: "SparseTensor" or "RaggedTensor".
    """
    with name_scope(name, "StringSplit", [source]):
        sep = deprecated_argument_lookup("sep", sep, "delimiter", delimiter)
        delimiter = convert_to_tensor(" " if sep is None else sep, dtype=dtypes.string)
        source = convert_to_tensor(source, dtype=dtypes.string)
        result = _sparse(raw.StringSplit(source, delimiter=delimiter, skip_empty=skip_empty))
        return result if _wants_sparse(result_type) else _ragged(result)


@export("strings.split")
def strings_split(
    input: TensorLike | None = None,
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """Strings taken apart at a separator, or at white space if there is none.

    Args:
        input: strings of any known rank; may be a RaggedTensor.
        sep: the separator; with None or "", white space of any length is one.
        maxsplit: at how many places at most, if not negative.
        result_type: "SparseTensor" or "RaggedTensor".
        source: the old name of `input`.
        name: the prefix of the names of operations.

    Returns:
        A SparseTensor or RaggedTensor of one axis more than `input`: the parts of each string.
        As a RaggedTensor, those of a lone string are a Tensor.

    Raises:
        ValueError: `result_type` is another.

    Example:
        >>> parts = tf.strings.split(["a b", "", "c"], result_type="RaggedTensor")
        >>> tf.Session().run(parts).to_list()
        [[b'a', b'b'], [], [b'c']]
    """
    input = deprecated_argument_lookup("input", input, "source", source)
    is_sparse = _wants_sparse(result_type)
    with name_scope(name, "StringSplit", [input]):
        texts = _dense_or_ragged(input)
        if is_sparse and texts.shape.ndims == 1:
            return _split_vector(texts, sep, maxsplit)
        if is_sparse and texts.shape.ndims == 0:
            # (TensorFlow 1.15 has nothing for it: what it takes for ragged is a Tensor.)
            return _split_vector(tf.expand_dims(texts, 0), sep, maxsplit)
        result = strings_split_v2(texts, sep, maxsplit)
        return result.to_sparse() if is_sparse else result


def _dense_or_ragged(input: Any) -> Any:
    from ..ragged.tensor import convert_to_tensor_or_ragged_tensor

    return convert_to_tensor_or_ragged_tensor(input, dtype=dtypes.string, name="input")


def strings_split_v2(
    input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None
) -> Any:
    """The parts of strings as a RaggedTensor of one axis more, or as a Tensor those of one."""
    with name_scope(name, "StringSplit", [input]):
        input = _dense_or_ragged(input)
        if not isinstance(input, Tensor):
            return input.with_flat_values(strings_split_v2(input.flat_values, sep, maxsplit))
        rank = input.shape.ndims
        if rank == 0:
            return strings_split_v2(tf.stack([input]), sep, maxsplit)[0]
        if rank in (1, None):
            return _ragged(_split_vector(input, sep, maxsplit))
        return strings_split_v2(tf.RaggedTensor.from_tensor(input), sep, maxsplit)


def _split_vector(input: Tensor, sep: Any, maxsplit: int) -> SparseTensor:
    sep = convert_to_tensor("" if sep is None else sep, dtype=dtypes.string)
    return _sparse(raw.StringSplitV2(input, sep=sep, maxsplit=maxsplit))


def _wants_sparse(result_type: str) -> bool:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    return result_type == "SparseTensor"


def _ragged(parts: SparseTensor) -> RaggedTensor:
    """The rows of a sparse matrix without gaps."""
    return tf.RaggedTensor.from_value_rowids(
        values=parts.values,
        value_rowids=parts.indices[:, 0],
        nrows=parts.dense_shape[0],
        validate=False,
    )


@export("strings.reduce_join", "reduce_join")
@dispatched
def reduce_join(
    inputs: TensorLike,
    axis: TensorLike | None = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Strings joined along dimensions, in the order in which `axis` names them; all if None."""
    keepdims = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(None, "ReduceJoin", [inputs, axis]):
        inputs = convert_to_tensor(inputs)
        if axis is None:
            rank = inputs.shape.ndims
            if rank is None:
                axis = tf.range(tf.rank(inputs) - 1, -1, -1)
            else:
                axis = tf.constant(np.arange(rank - 1, -1, -1), dtype=dtypes.int32)
        return raw.ReduceJoin(
            inputs=inputs,
            reduction_indices=axis,
            keep_dims=bool(keepdims),
            separator=separator,
            name=name,
        )


@export("strings.unsorted_segment_join")
def unsorted_segment_join(
    inputs: TensorLike,
    segment_ids: TensorLike,
    num_segments: int,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """Strings of the same segment, joined in their order; "" for segments without any."""
    return raw.UnsortedSegmentJoin(
        inputs, segment_ids, num_segments, separator=separator, name=name
    )
