# SPDX-License-Identifier: Apache-2.0
"""Strings as tensors: raw bytes, compressed texts, lines of CSV, numbers, tensors in protos."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.dispatch import dispatched
from ...engine.graph import rowwise
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types import dtypes
from ...engine.types.dtypes import DType, boxed, runtime_name
from ...engine.types.shape import TensorShape, shape_text, unknown_shape
from ...engine.types.texts import PackedTexts
from .. import shape_inference
from ..public import raw
from . import at_once, packing
from .files import text_array
from .numbers import parse_numbers

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_TEXT = NoGradient("texts have no derivative")
_RAW = "half, float32, float64, int32, uint16, uint8, int16, int8, int64"


def _like(values: np.ndarray, results: Sequence[Any]) -> np.ndarray:
    """Strings in the shape of `values`."""
    return text_array(results).reshape(values.shape)


def _ordered(rows: np.ndarray, kind: np.dtype[Any], little_endian: bool) -> np.ndarray:
    """Rows of bytes as rows of numbers."""
    size = kind.itemsize
    if not little_endian and size > 1:
        # The machine's own order is little-endian wherever this package runs.
        rows = rows.reshape(-1, size)[:, ::-1].reshape(len(rows), -1)
    return np.ascontiguousarray(rows).view(kind)


def _decode_raw(c: KernelContext, texts: np.ndarray) -> np.ndarray:
    kind = c.out_dtype()
    if not texts.ndim and (text := texts.item()) and not len(text) % kind.itemsize:
        # One text is what pipelines decode for each example.
        if kind.itemsize == 1 or c.attr("little_endian"):
            return np.frombuffer(bytearray(text), kind)
    many = at_once.contents(texts) if packing.is_many(texts) else None
    if many is not None and len(many[0]) == many[1][0] * texts.size and np.ptp(many[1]) == 0:
        length = int(many[1][0])
        if length and not length % kind.itemsize:
            rows = many[0].reshape(texts.size, length)
            return _ordered(rows, kind, c.attr("little_endian")).reshape(*texts.shape, -1).copy()
    flat = texts.reshape(-1).tolist()
    length = len(flat[0]) if flat else 0
    if not set(map(len, flat)) <= {length}:
        i = next(i for i, text in enumerate(flat) if len(text) != length)
        raise errors.invalid(
            "DecodeRaw requires input strings to all be the same size, but element "
            f"{i} has size {length} != {len(flat[i])}"
        )
    if not length:
        return np.zeros((*texts.shape, 0), kind)
    if length % kind.itemsize:
        raise errors.invalid(
            f"Input to DecodeRaw has length {length} that is not a multiple of {kind.itemsize}, "
            f"the size of {runtime_name(c.op._attrs['out_type'])}"
        )
    rows = np.frombuffer(b"".join(flat), np.uint8).reshape(len(flat), length)
    return _ordered(rows, kind, c.attr("little_endian")).reshape(*texts.shape, -1).copy()


def _decode_padded(c: KernelContext, texts: np.ndarray, fixed_length: np.ndarray) -> np.ndarray:
    kind = c.out_dtype()
    if fixed_length.ndim:
        raise errors.invalid(f"k must be scalar, got shape {shape_text(fixed_length.shape)}")
    length = int(fixed_length)
    if length % kind.itemsize:
        raise errors.invalid(
            f"fixed_length ({length}) must be a multiple of the size of out_type ({kind.itemsize})"
        )
    if length <= 0:
        raise errors.invalid(f"fixed_length ({length}) must be greater than zero.")
    whole = b"".join(text[:length].ljust(length, b"\0") for text in texts.flat)
    rows = np.frombuffer(whole, np.uint8).reshape(texts.size, length)
    found = _ordered(rows, kind, c.attr("little_endian"))
    return found.reshape(*texts.shape, length // kind.itemsize).copy()


def _raw_shape(c: ShapeContext) -> TensorShape:
    return c.inputs[0].concatenate([None])


def _raw_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Texts of elements, all of one length."""
    (texts,) = inputs
    if texts.rank != 0 or texts.places is not None:
        return None
    return [rowwise.Rows(rowwise.copied(op, [texts.tensor]).outputs[0], 1)]


def _padded_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[1], 0)
    length = c.value(1)
    width = None if length is None else int(length) // c.out_dtype().size
    return c.inputs[0].concatenate([width])


define(
    "DecodeRaw",
    "bytes: string -> output: out_type",
    f"out_type: {{{_RAW}, complex64, complex128, bool}}; little_endian: bool = true",
    shape=_raw_shape,
    kernel=_decode_raw,
    rows=_raw_rows,
    gradient=_TEXT.silently,
    dynamic_shape=True,
    doc="The bytes of strings of one length as numbers, along a new last axis.",
    test=lambda: {
        "values": [[np.array([b"12345678", b"abcdefgh"], object)], [np.array(b"", object)]],
        "attrs": [
            {"out_type": dtypes.int16},
            {"out_type": dtypes.float64, "little_endian": False},
            {"out_type": dtypes.bool},
        ],
    },
)
define(
    "DecodePaddedRaw",
    "input_bytes: string, fixed_length: int32 -> output: out_type",
    f"out_type: {{{_RAW}}}; little_endian: bool = true",
    shape=_padded_shape,
    kernel=_decode_padded,
    gradient=_TEXT.silently,
    dynamic_shape=True,
    doc="The bytes of strings, cut or padded with zeros to one length, as numbers.",
    test=lambda: {
        "values": [[np.array([b"12345678", b"abc"], object), np.int32(8)]],
        "attrs": [{"out_type": dtypes.uint8}, {"out_type": dtypes.int32, "little_endian": False}],
    },
)


def _decompressed(text: bytes, window: int) -> bytes:
    decompressor = zlib.decompressobj(window)
    try:
        return decompressor.decompress(text)
    except zlib.error as error:
        raise errors.data_loss(str(error)) from None


def _decode_compressed(c: KernelContext, texts: np.ndarray) -> np.ndarray:
    kind = c.attr("compression_type")
    if kind not in ("", "ZLIB", "GZIP"):
        raise errors.invalid("Only ZLIB, GZIP or NONE are supported compressions")
    if not kind:
        return texts.copy()
    # zlib takes 16 more for a gzip header.
    window = zlib.MAX_WBITS if kind == "ZLIB" else zlib.MAX_WBITS + 16
    return _like(texts, [_decompressed(text, window) for text in texts.flat])


define(
    "DecodeCompressed",
    "bytes: string -> output: string",
    "compression_type: string = ''",
    shape=lambda c: c.inputs[0],
    kernel=_decode_compressed,
    is_native=True,
    elementwise=True,
    gradient=_TEXT,
    doc="Decompresses strings.",
    test=lambda: {"values": [[np.array([b"text"], object)]]},
)


def _to_number(c: KernelContext, texts: np.ndarray | PackedTexts) -> np.ndarray:
    kind = c.op._attrs["out_type"]
    flat = texts if isinstance(texts, PackedTexts) else texts.reshape(-1).tolist()
    try:
        return parse_numbers(flat, kind).reshape(texts.shape)
    except ValueError as error:
        shown = error.args[0].split(b"\0")[0].decode(errors="replace")
        raise errors.invalid(
            f"StringToNumberOp could not correctly convert string: {shown}"
        ) from None


define(
    "StringToNumber",
    "string_tensor: string -> output: out_type",
    "out_type: {float32, float64, int32, int64} = float32",
    shape=lambda c: c.inputs[0],
    kernel=_to_number,
    elementwise=True,
    takes_packed=("string_tensor",),
    gradient=_TEXT.silently,
    doc="The numbers that strings are.",
    test=lambda: {
        "values": [[np.array([b"1", b"-20"], object)], [np.array(b" 33 ", object)]],
        "attrs": [{}, {"out_type": dtypes.int32}, {"out_type": dtypes.float64}],
    },
)


def _parse_tensor(c: KernelContext, serialized: np.ndarray) -> np.ndarray:
    from google.protobuf.message import DecodeError

    from ...io import protos
    from ...io.tensor_proto import make_ndarray

    if serialized.ndim:
        shape = shape_text(serialized.shape)
        raise errors.invalid(f"Expected `serialized` to be a scalar, got shape: {shape}")
    text = serialized.item()
    try:
        message = protos.TensorProto.FromString(text)
    except DecodeError:
        shown = text.decode(errors="replace")
        raise errors.invalid(f"Could not parse `serialized` as TensorProto: '{shown}'") from None
    wanted = c.op._attrs["out_type"]
    if message.dtype != wanted.as_datatype_enum:
        known = message.dtype in protos.DataType.values() and message.dtype
        found = runtime_name(dtypes.as_dtype(message.dtype)) if known else "INVALID"
        raise errors.invalid(
            f"Type mismatch between parsed tensor ({found}) and dtype ({runtime_name(wanted)})"
        )
    if wanted == dtypes.variant:
        from ...io.variants import variants_of

        return variants_of(message)
    return make_ndarray(message)


def _serialize_tensor(c: KernelContext, tensor: np.ndarray) -> np.ndarray:
    from ...io import protos
    from ...io.tensor_proto import shape_proto, tensor_proto

    dtype: DType = c.op._attrs["T"]
    # Strings have no raw form in the message.
    if dtype == dtypes.string:
        return boxed(tensor_proto(tensor, dtype).SerializeToString(deterministic=True))
    if dtype == dtypes.variant:
        from ...io.variants import variant_tensor_proto

        return boxed(variant_tensor_proto(tensor).SerializeToString(deterministic=True))
    if tensor.dtype.hasobject:
        raise errors.unimplemented(f"Tensors of {dtype.name} cannot be written")
    message = protos.TensorProto(
        dtype=dtype.as_datatype_enum,
        tensor_shape=shape_proto(tensor.shape),
        tensor_content=tensor.tobytes(),
    )
    return boxed(message.SerializeToString(deterministic=True))


define(
    "ParseTensor",
    "serialized: string -> output: out_type",
    "out_type: type",
    shape=lambda c: unknown_shape(),
    kernel=_parse_tensor,
    gradient=_TEXT.silently,
    dynamic_shape=True,
    doc="The tensor in a serialized TensorProto.",
    test=lambda: {
        # A scalar of 1.5, and two integers.
        "values": [[np.array(b"\x08\x01\x12\0\x2a\x04\0\0\xc0\x3f", object)]],
        "attrs": [{"out_type": dtypes.float32}],
    },
)
define(
    "SerializeTensor",
    "tensor: T -> serialized: string",
    "T: type",
    shape=lambda c: TensorShape([]),
    kernel=_serialize_tensor,
    gradient=_TEXT.silently,
    doc="A tensor as a serialized TensorProto.",
)


def _decode_json(c: KernelContext, texts: np.ndarray) -> np.ndarray:
    from google.protobuf import json_format

    from ...io import protos

    found = []
    for text in texts.flat:
        try:
            message = json_format.Parse(text, protos.Example())
        except (json_format.ParseError, UnicodeDecodeError) as error:
            raise errors.invalid(f"Error while parsing JSON: {error}") from None
        found.append(message.SerializeToString(deterministic=True))
    return _like(texts, found)


define(
    "DecodeJSONExample",
    "json_examples: string -> binary_examples: string",
    shape=lambda c: c.inputs[0],
    kernel=_decode_json,
    gradient=_TEXT,
    doc="Examples written as JSON, serialized.",
    test=lambda: {"values": [[np.array([b"{}"], object)]]},
)


def decode_raw(
    input_bytes: TensorLike,
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The bytes of strings as numbers, along a new last axis.

    Args:
        input_bytes: strings, of any shape, all of one length unless that is fixed.
        out_type: as of tf.decode_raw.
        little_endian: whether numbers begin with their lowest byte.
        fixed_length: of all strings in bytes: longer ones are cut, shorter ones get zeros.
        name: of the operation.

    Returns:
        A Tensor of that dtype, with one dimension more.
    """
    settings: dict[str, Any] = {"out_type": out_type, "little_endian": little_endian, "name": name}
    if fixed_length is not None:
        return raw.DecodePaddedRaw(input_bytes, fixed_length=fixed_length, **settings)
    return raw.DecodeRaw(input_bytes, **settings)


@export("io.decode_raw", "decode_raw")
def decode_raw_v1(
    input_bytes: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: TensorLike | None = None,
) -> Tensor:
    """The bytes of strings as numbers, along a new last axis.

    Args:
        input_bytes: strings, of any shape, all of one length.
        out_type: float16, float32, float64, int32, uint16, uint8, int16, int8, int64, complex64,
            complex128 or bool.
        little_endian: whether numbers begin with their lowest byte.
        name: of the operation.
        bytes: the old name of `input_bytes`.

    Returns:
        A Tensor of that dtype, with one dimension more.

    Raises:
        ValueError: there is no `out_type`.
        TypeError: there is no such dtype.
        InvalidArgumentError: lengths in a run differ, or do not fit the dtype.

    Example:
        >>> tf.Session().run(tf.decode_raw(["ab", "cd"], tf.uint8))
        array([[ 97,  98],
               [ 99, 100]], dtype=uint8)
    """
    input_bytes = deprecated_argument_lookup("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return decode_raw(input_bytes, out_type, little_endian, name=name)


@export("io.decode_compressed", "decode_compressed")
@dispatched
def decode_compressed(
    bytes: TensorLike, compression_type: str = "", name: str | None = None
) -> Tensor:
    """Decompresses strings; compression_type: "ZLIB", "GZIP" or "" for none."""
    return raw.DecodeCompressed(bytes, compression_type=compression_type, name=name)


@export("strings.to_number", "string_to_number")
@dispatched
def string_to_number(
    string_tensor: TensorLike | None = None,
    out_type: DTypeLike = dtypes.float32,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The numbers that strings are.

    Args:
        string_tensor: strings, of any shape.
        out_type: float32, float64, int32 or int64.
        name: of the operation.
        input: another name of `string_tensor`.

    Returns:
        A Tensor of that shape and dtype.

    Raises:
        TypeError: there is no such dtype.
        InvalidArgumentError: a string of a run is no number.

    Example:
        >>> tf.Session().run(tf.string_to_number(["1.5", "-2e3"]))
        array([ 1.5e+00, -2.0e+03], dtype=float32)
    """
    string_tensor = deprecated_argument_lookup("string_tensor", string_tensor, "input", input)
    return raw.StringToNumber(string_tensor, out_type=out_type, name=name)


@export("io.parse_tensor", "parse_tensor")
def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor of type `out_type` in a serialized TensorProto; its shape is not known."""
    return raw.ParseTensor(serialized, out_type=out_type, name=name)


@export("io.serialize_tensor", "serialize_tensor")
def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """A tensor as a serialized TensorProto, which `parse_tensor` reads."""
    return raw.SerializeTensor(tensor, name=name)


@export("io.decode_json_example", "decode_json_example")
def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Examples written as JSON, serialized as `parse_example` takes them."""
    return raw.DecodeJSONExample(json_examples, name=name)
