# SPDX-License-Identifier: Apache-2.0
"""Protocol buffers as tensors: `tf.io.decode_proto` and `tf.io.encode_proto`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient, reads
from ...engine.record_class import record
from ...engine.types import dtypes
from ...engine.types.dtypes import DType, runtime_name
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from . import proto_schema
from .proto_wire import FORMS, Field, read_fields, write_field

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor

    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_MESSAGES = NoGradient("serialized messages have no derivative", silent=True)


@record(frozen=True)
class _Wanted:
    """A field of a message and its tensor."""

    name: str
    field: Field
    default: Any
    is_packed: bool


def _schema(c: KernelContext) -> proto_schema.Schema:
    source = c.op._attrs["descriptor_source"]
    raw_source = source if isinstance(source, bytes) else str(source).encode()
    if raw_source.startswith(b"bytes://") or raw_source in (b"", b"local://"):
        return proto_schema.schema(raw_source, c.attr("message_type"))
    # A file may change between sessions.
    return proto_schema.Schema(raw_source, c.attr("message_type"))


def _texts(c: KernelContext, name: str) -> list[str]:
    values = c.op._attrs[name]
    return [value.decode() if isinstance(value, bytes) else value for value in values]


def _wanted(name: str, field: FieldDescriptor) -> _Wanted:
    form = FORMS[field.type]
    is_packed = bool(field.GetOptions().packed)
    described = Field(field.number, form, proto_schema.repeats(field))
    default = b"" if form.name in ("message", "group") else None
    if default is None and not described.is_repeated:
        default = proto_schema.default_of(field)
    return _Wanted(name, described, default, is_packed)


# Decoding


@record(frozen=True)
class _Decoder:
    fields: list[_Wanted]
    dtypes: list[np.dtype[Any]]
    # Makes a checked message of what came, if that is asked for.
    convert: Any

    def decode(self, messages: np.ndarray) -> tuple[np.ndarray, ...]:
        """The number of values of each field of each message, and the values."""
        if not messages.size:
            raise errors.invalid("Bufs argument must contain at least one value")
        fields = [wanted.field for wanted in self.fields]
        rows = []
        for message in messages.reshape(-1):
            data = self.convert(message) if self.convert else message
            rows.append(read_fields(data, fields))
        sizes = np.array([[len(values) for values in row] for row in rows], np.int32)
        sizes = sizes.reshape(*messages.shape, len(fields))
        columns = [self._column(i, [row[i] for row in rows]) for i in range(len(fields))]
        return sizes, *(column.reshape(*messages.shape, column.shape[1]) for column in columns)

    def _column(self, i: int, rows: list[list[Any]]) -> np.ndarray:
        dtype, default = self.dtypes[i], self.fields[i].default
        width = max(1, *map(len, rows))
        if default is None:
            default = b"" if dtype.kind == "O" else 0
        found = np.full((len(rows), width), default, dtype)
        for place, values in enumerate(rows):
            for at, value in enumerate(values):
                if value is not None:
                    found[place, at] = value
        return found


def _make_decoder(c: KernelContext) -> _Decoder:
    schema, names = _schema(c), _texts(c, "field_names")
    types: list[DType] = [dtypes.as_dtype(item) for item in c.op._attrs["output_types"]]
    if len(names) != len(types):
        raise errors.invalid("field_names and output_types attributes must have the same length")
    fields = []
    for name, dtype in zip(names, types):
        field = schema.field(name, with_extensions=True)
        if dtype.name not in FORMS[field.type].dtypes:
            raise errors.invalid(
                f"Unexpected output type for {field.full_name}: {field.cpp_type} to "
                f"{dtype.as_datatype_enum}"
            )
        fields.append(_wanted(name, field))
    form = c.attr("message_format")
    if form not in ("binary", "text"):
        raise errors.invalid("format must be one of binary or text")
    is_text = form == "text"
    convert = schema.reserialized(is_text) if is_text or c.attr("sanitize") else None
    return _Decoder(fields, [dtype.np_dtype for dtype in types], convert)


def _decode(c: KernelContext, messages: np.ndarray) -> tuple[np.ndarray, ...]:
    decoder: _Decoder = c.kernel_state(lambda: _make_decoder(c))
    return decoder.decode(messages)


def _decoded_shapes(c: ShapeContext) -> list[TensorShape]:
    count = len(c.attr("output_types"))
    values = [c.inputs[0].concatenate([None]) for _ in range(count)]
    return [c.inputs[0].concatenate([count]), *values]


_EXAMPLE = {"message_type": "tensorflow.Int64List", "field_names": ["value"]}

decode_proto = export("io.decode_proto")(
    define(
        "DecodeProtoV2",
        "bytes: string -> sizes: int32, values: output_types",
        "message_type: string; field_names: list(string); output_types: list(type) >= 0; "
        "descriptor_source: string = 'local://'; message_format: string = 'binary'; "
        "sanitize: bool = false",
        shape=_decoded_shapes,
        kernel=_decode,
        gradient=_MESSAGES,
        dynamic_shape=True,
        touches=reads("descriptor_source"),
        doc="""Fields of serialized protocol buffers as tensors.

        Args:
            message_type: the full name of the messages' type, as "tensorflow.Example".
            field_names: the fields: names, or full names of extensions.
            output_types: a dtype for each field; submessages, texts and bytes are strings.
            descriptor_source: where types are described: "local://", those of the program; a file
                with a FileDescriptorSet; or "bytes://" and such a set.
            message_format: "binary" or "text".
            sanitize: whether messages are parsed and written again before.

        Returns:
            A tuple of sizes, [..., fields], how many values each message has of each field, and a
            list of tensors [..., most values of any message], filled up with the field's default.

        Raises:
            InvalidArgumentError: when it runs: there is no such type or field, or it has no such
                dtype.
            DataLossError: when it runs: a string is no such message.
        """,
        function_name="decode_proto",
        test=lambda: {
            "values": [[np.array([b"\x08\x05\x08\x07", b"\x0a\x01\x03"], object)]],
            "attrs": [{**_EXAMPLE, "output_types": [dtypes.int64]}],
        },
    )
)

# Encoding


def _check_values(wanted: list[_Wanted], values: list[np.ndarray], types: list[DType]) -> None:
    for item, value, dtype in zip(wanted, values, types):
        if dtype.name not in item.field.form.dtypes:
            raise errors.invalid(
                f"Incompatible type for field {item.name}.  Saw dtype: {runtime_name(dtype)} but "
                f"field type is: {item.field.form.name}"
            )
        if value.ndim < 2:
            raise errors.invalid(
                f"Invalid shape for field {item.name}.  Saw shape {shape_text(value.shape)} but it "
                "should be at least a matrix."
            )
        if value.shape[:-1] != values[0].shape[:-1]:
            raise errors.invalid("Values must match up to the last dimension")


def _check_sizes(sizes: np.ndarray, values: list[np.ndarray]) -> None:
    expected = (*(values[0].shape[:-1] if values else ()), len(values))
    if sizes.shape != expected:
        raise errors.invalid(
            f"sizes should be batch_size + [len(field_names)].  Saw: {shape_text(sizes.shape)} but "
            f"expected: {shape_text(expected)}"
        )
    rows = sizes.reshape(-1, len(values)) if values else sizes.reshape(1, 0)
    for i, value in enumerate(values):
        for message in np.flatnonzero(rows[:, i] > value.shape[-1]):
            raise errors.invalid(
                "Size to write must not be larger than value tensor; but saw: "
                f"{rows[message, i]} > {value.shape[-1]} at message {message} field {i}"
            )


def _make_fields(c: KernelContext) -> list[_Wanted]:
    schema = _schema(c)
    return [
        _wanted(name, schema.field(name, with_extensions=False))
        for name in _texts(c, "field_names")
    ]


def _encode(c: KernelContext, sizes: np.ndarray, values: list[np.ndarray]) -> np.ndarray:
    wanted: list[_Wanted] = c.kernel_state(lambda: _make_fields(c))
    if len(wanted) != len(values):
        raise errors.invalid("Length of inputs list must match field_names")
    types = [dtypes.as_dtype(item) for item in c.op._attrs["Tinput_types"]]
    _check_values(wanted, values, types)
    _check_sizes(sizes, values)
    shape = values[0].shape[:-1] if values else ()
    result = np.empty(shape, object)
    flat = result.reshape(-1)
    rows = sizes.reshape(len(flat), len(values))
    tables = [value.reshape(len(flat), value.shape[-1]) for value in values]
    order = sorted(range(len(wanted)), key=lambda i: wanted[i].field.number)
    for message in range(len(flat)):
        parts = []
        for i in order:
            count = int(rows[message, i])
            # As in TensorFlow a size below zero is no value, and yet a packed field is written.
            if count != 0:
                some = tables[i][message, : max(count, 0)].tolist()
                parts.append(write_field(wanted[i].field, some, wanted[i].is_packed))
        flat[message] = b"".join(parts)
    return result


def _encoded_shape(c: ShapeContext) -> TensorShape:
    found = shape_inference.unknown()
    for shape in c.inputs[1:]:
        sizes = shape_inference.ranked_at_least(shape, 2)
        if sizes is not None:
            found = shape_inference.merge(found, TensorShape(sizes[:-1]))
    return found


encode_proto = export("io.encode_proto")(
    define(
        "EncodeProto",
        "sizes: int32, values: Tinput_types -> bytes: string",
        "field_names: list(string); message_type: string; "
        "descriptor_source: string = 'local://'; Tinput_types: list(type) >= 1",
        shape=_encoded_shape,
        kernel=_encode,
        gradient=_MESSAGES,
        touches=reads("descriptor_source"),
        doc="""Tensors as serialized protocol buffers; the reverse of `tf.io.decode_proto`.

        Args:
            sizes: [..., fields]: how many values each message has of each field.
            values: a tensor [..., most values] for each field.
            field_names: the fields.
            message_type: the full name of the messages' type, as "tensorflow.Example".
            descriptor_source: where types are described, as of `tf.io.decode_proto`.

        Raises:
            InvalidArgumentError: when it runs: there is no such type or field, a tensor's dtype or
                shape is not the field's, or a size is larger than its tensor.
        """,
        test=lambda: {
            "values": [[np.array([[2], [1]], np.int32), [np.array([[5, 7], [3, 0]], np.int64)]]],
            "attrs": [_EXAMPLE],
        },
    )
)
