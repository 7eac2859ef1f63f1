# SPDX-License-Identifier: Apache-2.0
"""Strings that fall into rows: their bytes, their n-grams, and rows of them joined."""

from __future__ import annotations

from typing import Any

from ...engine import api
from ...engine.api import export
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import raw, tf
from .reduce import ragged_reduce_aggregate
from .tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    separator: str = "",
    name: str | None = None,
) -> Any:
    """Strings of a tensor, ragged or not, joined along axes."""
    return ragged_reduce_aggregate(
        tf.reduce_join,
        api.NAMES["strings.unsorted_segment_join"],
        inputs,
        axis,
        keepdims,
        separator,
        name or "RaggedSegmentJoin",
    )


@export("strings.bytes_split")
def string_bytes_split(input: Any, name: str | None = None) -> Any:
    """Strings as their bytes.

    Args:
        input: strings of a known rank; may be a RaggedTensor.
        name: the prefix of the names of operations.

    Returns:
        A RaggedTensor of one axis more: a string for each byte; a Tensor for a lone string.

    Raises:
        ValueError: the rank is not known.

    Example:
        >>> tf.Session().run(tf.strings.bytes_split(["hello", "123"])).to_list()
        [[b'h', b'e', b'l', b'l', b'o'], [b'1', b'2', b'3']]
    """
    with name_scope(name, "StringsByteSplit", [input]):
        texts = convert_to_tensor_or_ragged_tensor(input, name="input")
        if isinstance(texts, RaggedTensor):
            return texts.with_flat_values(string_bytes_split(texts.flat_values))
        rank = texts.shape.ndims
        if rank is None:
            raise ValueError("input must have a statically-known rank.")
        if rank == 0:
            return string_bytes_split(tf.stack([texts]))[0]
        if rank > 1:
            return string_bytes_split(RaggedTensor.from_tensor(texts))
        indices, values, sizes = raw.StringSplit(texts, delimiter="", skip_empty=False)
        return RaggedTensor.from_value_rowids(
            values=values, value_rowids=indices[:, 0], nrows=sizes[0], validate=False
        )


# N-grams


def _pads(pad_values: Any, padding_width: int | None) -> tuple[str | bytes, str | bytes, int]:
    """What stands left and right of rows, and how often; -1: as often as the width wants."""
    pads = ("", "") if pad_values is None else pad_values
    pads = pads if isinstance(pads, (list, tuple)) else (pads, pads)
    if not all(isinstance(pad, (str, bytes)) for pad in pads[:2]):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    if padding_width is not None and padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    if pad_values is None:
        return pads[0], pads[1], 0
    return pads[0], pads[1], -1 if padding_width is None else padding_width


@export("strings.ngrams")
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Strings that stand side by side in a row, joined.

    Args:
        data: strings of at least one axis; may be a RaggedTensor.
        ngram_width: how many are joined, or a list of such numbers.
        separator: what stands between them.
        pad_values: a string that rows begin and end with, or a pair of such strings; None: none.
        padding_width: how often at most it stands there; one less than the width if None.
        preserve_short_sequences: whether a row that is too short becomes one n-gram, not none.
        name: the prefix of the names of operations.

    Returns:
        A RaggedTensor in the rows of `data`; a Tensor where `data` is dense.

    Raises:
        TypeError: the padding is no string.
        ValueError: a width is not positive, or the rank of `data` is not known or 0.
        InvalidArgumentError: rows of dense data have different numbers of n-grams.

    Example:
        >>> tf.Session().run(tf.strings.ngrams(["a", "b", "c"], 2)).tolist()
        [b'a b', b'b c']
    """
    with name_scope(name, "StringNGrams", [data]):
        left, right, pad_width = _pads(pad_values, padding_width)
        texts = convert_to_tensor_or_ragged_tensor(data, name="data", dtype=dtypes.string)
        options = (ngram_width, separator, pad_values, padding_width, preserve_short_sequences)
        dense_shape = None
        if isinstance(texts, Tensor):
            dense_shape = tf.concat([tf.shape(texts)[:-1], [-1]], axis=0)
            if texts.shape.ndims is None:
                raise ValueError("Rank of data must be known.")
            if texts.shape.ndims == 0:
                raise ValueError("Data must have rank>0")
            if texts.shape.ndims == 1:
                row = RaggedTensor.from_row_starts(texts, [0], validate=False)
                return ngrams(row, *options, name=name)[0]
            texts = RaggedTensor.from_tensor(texts, ragged_rank=texts.shape.ndims - 1)
        if texts.ragged_rank > 1:
            result = texts.with_values(ngrams(texts.values, *options, name=name))
        else:
            widths = ngram_width if isinstance(ngram_width, (list, tuple)) else [ngram_width]
            if any(width < 1 for width in widths):
                raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
            grams, splits = raw.StringNGrams(
                data=texts.flat_values,
                data_splits=texts.row_splits,
                separator=separator,
                ngram_widths=list(widths),
                left_pad=left,
                right_pad=right,
                pad_width=pad_width,
                preserve_short_sequences=preserve_short_sequences,
            )
            result = RaggedTensor.from_row_splits(grams, splits, validate=False)
        return result if dense_shape is None else tf.reshape(result.flat_values, dense_shape)
