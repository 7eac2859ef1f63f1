# SPDX-License-Identifier: Apache-2.0
"""Strings as rows of Unicode characters, and rows of characters as strings."""

from __future__ import annotations

from typing import Any

from ...engine.api import export
from ...engine.graph.scope_functions import name_scope
from ...engine.types import dtypes
from ..public import raw, tf
from .array import expand_dims
from .tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged


@export("strings.unicode_encode")
def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """Rows of characters as strings (tf.strings.unicode_encode).

    Args:
        input: int32, characters by their Unicode numbers; may be a RaggedTensor.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace" what is no character, "ignore" it, or be "strict".
        replacement_char: what stands for what is none.
        name: the prefix of the names of operations.

    Returns:
        Strings, of one axis less.

    Raises:
        ValueError: the rank of `input` is not known or 0.
        InvalidArgumentError: when run: something is no character and `errors` is "strict".

    Example:
        >>> tf.Session().run(tf.strings.unicode_encode([71, 111], "UTF-8"))
        b'Go'
    """
    options = (output_encoding, errors, replacement_char)
    with name_scope(name, "UnicodeEncode", [input]):
        points = convert_to_tensor_or_ragged_tensor(input)
        rank = points.shape.ndims
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if is_ragged(points):
            if points.flat_values.shape.ndims > 1:
                return points.with_flat_values(unicode_encode(points.flat_values, *options))
            if points.ragged_rank > 1:
                return points.with_values(unicode_encode(points.values, *options))
            return raw.UnicodeEncode(
                input_values=points.values,
                input_splits=points.row_splits,
                output_encoding=output_encoding,
                errors=errors,
                replacement_char=replacement_char,
            )
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if rank == 2:
            return unicode_encode(RaggedTensor.from_tensor(points), *options)
        if rank > 2:
            rows = tf.reshape(points, tf.stack([-1, tf.shape(points)[-1]]))
            return tf.reshape(unicode_encode(rows, *options), points.shape[:-1])
        splits = tf.stack([0, tf.shape(points, out_type=dtypes.int32)[0]])
        row = RaggedTensor.from_row_splits(points, splits, validate=False)
        return tf.reshape(unicode_encode(row, *options), [])


def _as_rows(input: Any) -> Any:
    """Strings with all axes but the last one ragged, if there is more than one."""
    texts = convert_to_tensor_or_ragged_tensor(input, name="input")
    rank = texts.shape.ndims
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank > 1 and not is_ragged(texts):
        return RaggedTensor.from_tensor(texts, ragged_rank=rank - 1)
    if rank > 1 and texts.ragged_rank < rank - 1:
        inner = RaggedTensor.from_tensor(
            texts.flat_values, ragged_rank=rank - texts.ragged_rank - 1
        )
        return texts.with_flat_values(inner)
    return texts


def _decoded(
    input: Any,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
    with_offsets: bool,
) -> list[Any]:
    """The characters of strings and, if asked for, where they begin."""
    texts = _as_rows(input)
    rank = texts.shape.ndims
    flat = tf.reshape(texts.flat_values if is_ragged(texts) else texts, [-1])
    decode = raw.UnicodeDecodeWithOffsets if with_offsets else raw.UnicodeDecode
    splits, *found = decode(
        input=flat,
        input_encoding=input_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
    )
    if rank == 0:
        return found
    rows = [RaggedTensor.from_row_splits(x, splits, validate=False) for x in found]
    return [texts.with_flat_values(x) for x in rows] if rank > 1 else rows


@export("strings.unicode_decode")
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Strings as rows of characters (tf.strings.unicode_decode).

    Args:
        input: strings of a known rank; may be a RaggedTensor.
        input_encoding: of the strings, such as "UTF-8", "UTF-16" or "latin1".
        errors: "replace" malformed pieces, "ignore" them, or be "strict".
        replacement_char: what stands for malformed pieces.
        replace_control_characters: whether it stands for U+0000 to U+001F, too.
        name: the prefix of the names of operations.

    Returns:
        int32, a RaggedTensor of one axis more; a Tensor for a lone string.

    Raises:
        ValueError: the rank is not known.
        InvalidArgumentError: when run: the encoding is not known, or a string is malformed and
            `errors` is "strict".

    Example:
        >>> tf.Session().run(tf.strings.unicode_decode(["Go", "a"], "UTF-8")).to_list()
        [[71, 111], [97]]
    """
    options = (errors, replacement_char, replace_control_characters)
    with name_scope(name, "UnicodeDecode", [input]):
        return _decoded(input, input_encoding, *options, with_offsets=False)[0]


@export("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """As unicode_decode, and at which byte of its string each character begins.

    Returns:
        A pair of what unicode_decode returns, and int64 in the same rows.
    """
    options = (errors, replacement_char, replace_control_characters)
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        points, offsets = _decoded(input, input_encoding, *options, with_offsets=True)
        return points, offsets


@export("strings.unicode_split")
def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> Any:
    """Strings as rows of strings of one character each (tf.strings.unicode_split).

    Args:
        input: strings of a known rank; may be a RaggedTensor.
        input_encoding: of the strings: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace" malformed pieces, "ignore" them, or be "strict".
        replacement_char: what stands for malformed pieces.
        name: the prefix of the names of operations.

    Returns:
        Strings, a RaggedTensor of one axis more; a Tensor for a lone string.

    Raises:
        ValueError: the rank is not known.

    Example:
        >>> tf.Session().run(tf.strings.unicode_split(["Go", "a"], "UTF-8")).to_list()
        [[b'G', b'o'], [b'a']]
    """
    with name_scope(name, "UnicodeSplit", [input]):
        given = (input, input_encoding, errors, replacement_char, False)
        (points,) = _decoded(*given, with_offsets=False)
        return _each(points, input_encoding, errors, replacement_char)


@export("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> tuple[Any, Any]:
    """As unicode_split, and at which byte of its string each character begins.

    Returns:
        A pair of what unicode_split returns, and int64 in the same rows.
    """
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        given = (input, input_encoding, errors, replacement_char, False)
        points, offsets = _decoded(*given, with_offsets=True)
        return _each(points, input_encoding, errors, replacement_char), offsets


def _each(points: Any, encoding: str, errors: str, replacement_char: int) -> Any:
    """A string of each character."""
    return unicode_encode(
        expand_dims(points, -1),
        output_encoding=encoding,
        errors=errors,
        replacement_char=replacement_char,
    )
