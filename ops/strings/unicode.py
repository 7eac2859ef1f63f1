# SPDX-License-Identifier: Apache-2.0
"""Strings as Unicode characters: decoded, encoded, in other encodings, by their scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from .. import shape_inference
from ..public import raw
from .encodings import CharacterReader, encoded
from .files import mapped
from .scripts import scripts_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor

_TEXT = NoGradient("texts have no derivative")
_LARGEST = 0x10FFFF
# The last of the control characters.
_CONTROL = 0x1F
_ERRORS = "errors: {'strict', 'replace', 'ignore'} = 'replace'; replacement_char: int = 65533"
_READING = f"{_ERRORS}; replace_control_characters: bool = false"
_OUTPUT = "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}"
_SPLITS = "Tsplits: {int32, int64} = int64"


def _words() -> np.ndarray:
    return np.array(["G\xf6\xf6d\n".encode(), "\U0001f60a".encode(), b"", b"a\xffb"], object)


def _replacement(c: KernelContext) -> int:
    character = int(c.attr("replacement_char"))
    if not 0 <= character <= _LARGEST:
        raise errors.invalid("replacement_char out of unicode codepoint range")
    return character


class _Reader:
    """Reads texts as the attributes of an op say."""

    def __init__(self, c: KernelContext) -> None:
        self._reader = CharacterReader(c.attr("input_encoding"))
        self.errors = c.attr("errors")
        self.replacement = _replacement(c)
        self.last_control = _CONTROL if c.attr("replace_control_characters") else -1

    def read(self, text: bytes) -> Iterator[tuple[int, int, bool]]:
        """(character, where it begins, whether it stands for something else)."""
        at = 0
        for character, length, is_wrong in self._reader.read(text):
            if is_wrong and self.errors == "strict":
                raise errors.invalid("Invalid formatting on input string")
            is_replaced = is_wrong or character <= self.last_control
            if not is_replaced:
                yield character, at, False
            elif self.errors != "ignore":
                yield self.replacement, at, True
            at += length


def _transcode(c: KernelContext, texts: np.ndarray) -> np.ndarray:
    reader, encoding = _Reader(c), c.attr("output_encoding")

    def transcoded(text: bytes) -> bytes:
        found = list(reader.read(text))
        # Control characters are a fault here, and not in UnicodeDecode.
        if reader.errors == "strict" and any(is_replaced for _, _, is_replaced in found):
            raise errors.invalid("Invalid formatting on input string")
        return encoded([character for character, _, _ in found], encoding)

    return mapped(texts, transcoded)


def _decode(c: KernelContext, texts: np.ndarray) -> tuple[np.ndarray, ...]:
    reader = _Reader(c)
    rows = [list(reader.read(text)) for text in texts.reshape(-1).tolist()]
    splits = np.cumsum([0, *map(len, rows)]).astype(c.out_dtype())
    values = np.array([character for row in rows for character, _, _ in row], np.int32)
    if c.type == "UnicodeDecode":
        return splits, values
    return splits, values, np.array([at for row in rows for _, at, _ in row], np.int64)


def _encode(c: KernelContext, values: np.ndarray, splits: np.ndarray) -> np.ndarray:
    policy, encoding, replacement = c.attr("errors"), c.attr("output_encoding"), _replacement(c)
    if splits.size and splits.max() > values.size:
        raise errors.invalid(
            f"input_splits must not be larger than {values.size}, got {splits.max()}"
        )
    wrong = (values < 0) | (values > _LARGEST)
    found, at = np.empty(max(splits.size - 1, 0), object), 0
    for i, end in enumerate(splits[1:].tolist()):
        row, is_wrong = values[at:end], wrong[at:end]
        if is_wrong.any():
            if policy == "strict":
                raise errors.invalid("Code point value out of valid Unicode range.")
            row = row[~is_wrong] if policy == "ignore" else np.where(is_wrong, replacement, row)
        found[i] = encoded(row.tolist(), encoding)
        at = max(at, end)
    return found


def _decoded_shape(c: ShapeContext) -> list[TensorShape]:
    sizes = c.inputs[0].as_list() if c.inputs[0].ndims is not None else [None]
    count = shape_inference.product(sizes)
    splits = TensorShape([None if count is None else count + 1])
    return [splits, *[TensorShape([None])] * (len(c.op.outputs) - 1)]


def _encoded_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[0], 1)
    (count,) = shape_inference.ranked(c.inputs[1], 1)
    return TensorShape([None if count is None else count - 1])


define(
    "UnicodeScript",
    "input: int32 -> output: int32",
    shape=lambda c: c.inputs[0],
    kernel=lambda c, points: scripts_of(points),
    elementwise=True,
    gradient=_TEXT,
    doc="The numbers that ICU has for the scripts of characters; -1 for what is no character.",
    test=lambda: {"values": [[np.array([65, 1041, 0x4E00, -1, 0x110000], np.int32)]]},
)
define(
    "UnicodeTranscode",
    "input: string -> output: string",
    f"input_encoding: string; {_OUTPUT}; {_READING}",
    shape=lambda c: c.inputs[0],
    kernel=_transcode,
    elementwise=True,
    gradient=_TEXT,
    doc="Strings in another encoding.",
    test=lambda: {
        "values": [[_words()]],
        "attrs": [
            {"input_encoding": "UTF-8", "output_encoding": "UTF-16-BE"},
            {
                "input_encoding": "latin1",
                "output_encoding": "UTF-8",
                "replace_control_characters": True,
                "replacement_char": 63,
            },
        ],
    },
)
for _name, _more in (
    ("UnicodeDecode", ""),
    ("UnicodeDecodeWithOffsets", ", char_to_byte_starts: int64"),
):
    define(
        _name,
        f"input: string -> row_splits: Tsplits, char_values: int32{_more}",
        f"input_encoding: string; {_READING}; {_SPLITS}",
        shape=_decoded_shape,
        kernel=_decode,
        dynamic_shape=True,
        gradient=_TEXT,
        doc="The characters of strings, one string behind the other.",
        test=lambda: {
            "values": [[_words()]],
            "attrs": [{"input_encoding": "UTF-8"}, {"input_encoding": "UTF-8", "errors": "ignore"}],
        },
    )
define(
    "UnicodeEncode",
    "input_values: int32, input_splits: Tsplits -> output: string",
    f"errors: {{'ignore', 'replace', 'strict'}} = 'replace'; {_OUTPUT}; "
    f"replacement_char: int = 65533; {_SPLITS}",
    shape=_encoded_shape,
    kernel=_encode,
    gradient=_TEXT,
    doc="Strings of rows of characters.",
    test=lambda: {
        "values": [[np.array([71, 246, 128522, -1], np.int32), np.array([0, 2, 2, 4])]],
        "attrs": [{"output_encoding": "UTF-8"}, {"output_encoding": "UTF-16-BE"}],
    },
)


@export("strings.unicode_script")
@dispatched
def unicode_script(input: TensorLike, name: str | None = None) -> Tensor:
    """The scripts of characters (tf.strings.unicode_script).

    Args:
        input: int32, characters by their Unicode numbers.
        name: of the op.

    Returns:
        int32, the shape of `input`: ICU's numbers of scripts; -1 for what is no character.

    Example:
        >>> tf.Session().run(tf.strings.unicode_script([1041, 65]))
        array([ 8, 25], dtype=int32)
    """
    return raw.UnicodeScript(input, name=name)


@export("strings.unicode_transcode")
def unicode_transcode(
    input: TensorLike,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Strings in another encoding (tf.strings.unicode_transcode).

    Args:
        input: strings of any shape.
        input_encoding: of `input`, such as "UTF-8", "UTF-16" or "SHIFT-JIS".
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace" malformed pieces, "ignore" them, or be "strict".
        replacement_char: what stands for malformed pieces.
        replace_control_characters: whether it stands for U+0000 to U+001F, too.
        name: of the op.

    Returns:
        strings, the shape of `input`.

    Raises:
        InvalidArgumentError: when run: the encoding is not known, or a string is malformed
            and `errors` is "strict".

    Example:
        >>> tf.Session().run(tf.strings.unicode_transcode(["ab"], "UTF-8", "UTF-16-BE"))
        array([b'\\x00a\\x00b'], dtype=object)
    """
    return raw.UnicodeTranscode(
        input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        name=name,
    )
