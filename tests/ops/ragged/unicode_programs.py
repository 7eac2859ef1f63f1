# SPDX-License-Identifier: Apache-2.0
"""Programs of strings as rows of characters; see tests/train/contrib/recording.py."""

from __future__ import annotations

from typing import Any

_TEXTS = ["G\xf6\xf6d".encode(), b"", "\U0001f60a!".encode(), b"a\xffb"]


def _numbers(texts: Any, tf: Any) -> Any:
    """Strings as what JSON can hold: their bytes' numbers."""
    return tf.cast(tf.decode_raw(tf.reduce_join(texts, separator="|"), tf.uint8), tf.int32)


def _decoded(tf: Any) -> list[Any]:
    strings = tf.strings
    found: list[Any] = [strings.unicode_decode(_TEXTS[0], "UTF-8")]
    for texts in (_TEXTS, [_TEXTS, _TEXTS[::-1]]):
        points, offsets = strings.unicode_decode_with_offsets(texts, "UTF-8", errors="ignore")
        found += [points.flat_values, *points.nested_row_splits, offsets.flat_values]
    return found


def _split(tf: Any) -> list[Any]:
    pieces, offsets = tf.strings.unicode_split_with_offsets(_TEXTS, "UTF-8")
    lone = tf.strings.unicode_split(_TEXTS[2], "UTF-8")
    return [_numbers(pieces.values, tf), pieces.row_splits, offsets.values, _numbers(lone, tf)]


def _encoded(tf: Any) -> list[Any]:
    rows = tf.ragged.constant([[71, 246], [], [128522, -1]])
    nested = tf.ragged.constant([[[71, 246], []], [[65]]])
    encode = tf.strings.unicode_encode
    return [
        _numbers(encode(rows, "UTF-16-BE"), tf),
        _numbers(encode(nested, "UTF-8").values, tf),
        _numbers(encode([[[71, 72]], [[73, 74]]], "UTF-8"), tf),
        _numbers(tf.stack([encode([71, 72], "UTF-32-BE")]), tf),
    ]


PROGRAMS = {"decoded": _decoded, "split": _split, "encoded": _encoded}
