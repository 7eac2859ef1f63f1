# SPDX-License-Identifier: Apache-2.0
"""Programs of Unicode texts and n-grams; see tests/train/contrib/recording.py."""

from __future__ import annotations

from typing import Any

import numpy as np

_RANDOM = np.random.RandomState(0)
_TEXTS = [b"", b"abc\n\x00", b"G\xc3\xb6\xf0\x9f\x98\x8a", b"\xed\xa0\x80\xf0\x90\x80a\xc3"]
_TEXTS += [b"\xff\xfea\x00b\x00", b"\xfe\xff\x00a\xd8\x00\x00b", b"\x00\x00\xfe\xff\x00\x00\x00a"]
_TEXTS += [_RANDOM.randint(0, 256, n).astype(np.uint8).tobytes() for n in range(1, 12)]
_ENCODINGS = ("UTF-8", "UTF-16", "UTF-16-LE", "UTF-32", "US-ASCII", "latin1", "windows-1252")


def _numbers(texts: Any, tf: Any) -> Any:
    """Strings as what JSON can hold: their bytes' numbers."""
    return tf.cast(tf.decode_raw(tf.reduce_join(texts, separator="|"), tf.uint8), tf.int32)


def _decoded(tf: Any) -> list[Any]:
    found: list[Any] = []
    for encoding in _ENCODINGS:
        for errors in ("replace", "ignore"):
            options = {"input_encoding": encoding, "errors": errors}
            found += tf.raw_ops.UnicodeDecodeWithOffsets(input=_TEXTS, **options)
            options.update(replace_control_characters=True, replacement_char=65)
            found += tf.raw_ops.UnicodeDecode(input=_TEXTS, **options)
    return found


def _transcoded(tf: Any) -> list[Any]:
    found = []
    for encoding in _ENCODINGS:
        for output in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
            found.append(_numbers(tf.strings.unicode_transcode(_TEXTS, encoding, output), tf))
    return found


def _encoded(tf: Any) -> list[Any]:
    points = [65, 0x1F60A, -1, 0x110000, 0xD83D, 0xDE0A, 0xD83D, 66, 0xDC00]
    found = []
    for output in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        for errors in ("replace", "ignore"):
            texts = tf.raw_ops.UnicodeEncode(
                input_values=points,
                input_splits=np.array([0, 2, 2, 4, 9]),
                output_encoding=output,
                errors=errors,
            )
            found.append(_numbers(texts, tf))
    return found


def _scripts(tf: Any) -> list[Any]:
    return [tf.strings.unicode_script(np.arange(-5, 0x11000F, 997, np.int32))]


def _ngrams(tf: Any) -> list[Any]:
    found = []
    for widths, width, whole in (([3], -1, 0), ([2, 4], 0, 1), ([3], 1, 1), ([1, 2], 2, 0)):
        texts, splits = tf.raw_ops.StringNGrams(
            data=[b"a", b"bb", b"c", b"d", b"e", b"f"],
            data_splits=np.array([0, 3, 4, 6]),
            separator="+",
            ngram_widths=widths,
            left_pad="<L",
            right_pad="R>",
            pad_width=width,
            preserve_short_sequences=bool(whole),
        )
        found += [_numbers(texts, tf), splits]
    return found


def _fingerprints(tf: Any) -> list[Any]:
    texts = [[b"a", b"b"], [b"", b"long string here 1234567890"]]
    each = (texts, texts[1], np.arange(12.0).reshape(3, 4), np.arange(6, dtype=np.int16))
    return [tf.cast(tf.fingerprint(data), tf.int32) for data in each]


PROGRAMS = {
    "decoded": _decoded,
    "transcoded": _transcoded,
    "encoded": _encoded,
    "scripts": _scripts,
    "ngrams": _ngrams,
    "fingerprints": _fingerprints,
}
