# SPDX-License-Identifier: Apache-2.0
"""`tf.io.decode_proto` and `tf.io.encode_proto` against protobuf's own messages."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.parsing.proto_wire import FORMS

pytestmark = pytest.mark.programs

TYPES = {form.name: number for number, form in FORMS.items() if form.name != "group"}
_DEFAULTS = (
    "double=1.5 float=-2.5 bool=true string=abc bytes=xy int64=-3 uint64=4 int32=-5 fixed64=6 "
    "fixed32=7 enum=B uint32=8 sfixed32=-9 sfixed64=10 sint32=-11 sint64=12"
)
DEFAULTS = dict(pair.split("=") for pair in _DEFAULTS.split())
NUMBERS = [name for name in TYPES if name not in ("string", "bytes", "message")]


@functools.cache
def schema() -> descriptor_pb2.FileDescriptorSet:
    """A message with a repeated, a packed and two optional fields of each type."""
    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="every.proto", package="every", syntax="proto2")
    enum = file.enum_type.add(name="Kind")
    for name, number in (("A", 3), ("B", 1), ("C", -7)):
        enum.value.add(name=name, number=number)
    part = file.message_type.add(name="Part")
    part.field.add(name="x", number=1, type=TYPES["int32"], label=1)
    whole = file.message_type.add(name="Whole")
    for place, (name, kind) in enumerate(TYPES.items()):
        of_type = {"message": ".every.Part", "enum": ".every.Kind"}.get(name)
        more: dict[str, Any] = {"type": kind} | ({"type_name": of_type} if of_type else {})
        number = 4 * place + 1
        whole.field.add(name=f"many_{name}", number=number, label=3, **more)
        whole.field.add(name=f"one_{name}", number=number + 1, label=1, **more)
        if name in DEFAULTS:
            more["default_value"] = DEFAULTS[name]
            whole.field.add(name=f"default_{name}", number=number + 2, label=1, **more)
            del more["default_value"]
        if name in NUMBERS:
            packed = whole.field.add(name=f"packed_{name}", number=number + 3, label=3, **more)
            packed.options.packed = True
    return files


@functools.cache
def pool() -> descriptor_pool.DescriptorPool:
    found = descriptor_pool.DescriptorPool()
    found.Add(schema().file[0])
    return found


def kind_of(name: str) -> Any:
    return message_factory.GetMessageClass(pool().FindMessageTypeByName(f"every.{name}"))


SOURCE = b"bytes://" + schema().SerializeToString()
FIELDS = [field.name for field in schema().file[0].message_type[1].field]


def dtype_of(field: str, which: int = 0) -> tf.DType:
    return tf.as_dtype(FORMS[TYPES[field.partition("_")[2]]].dtypes[which])


def extremes(name: str) -> list[Any]:
    """Some values of a type, of which the first two are its least and largest."""
    if name == "message":
        return [kind_of("Part")(x=5), kind_of("Part")(), kind_of("Part")(x=-1)]
    if name in ("float", "double"):
        return [-2.5, 1e30, 0.0]
    others = {"bool": [True, False, True], "enum": [-7, 3, 1], "string": ["ab", "", "ü"]}
    if name in others or name == "bytes":
        return others.get(name, [b"\0\xff", b"", b"x"])
    bits, is_unsigned = 64 if "64" in name else 32, name.startswith(("u", "f"))
    least = 0 if is_unsigned else -(1 << bits - 1)
    return [least, least + (1 << bits) - 1, 77]


def full() -> Any:
    whole = kind_of("Whole")()
    for field in FIELDS:
        form, _, name = field.partition("_")
        if name == "message":
            if form == "many":
                whole.many_message.extend(extremes(name))
            else:
                whole.one_message.CopyFrom(extremes(name)[0])
        elif form in ("many", "packed"):
            getattr(whole, field).extend(extremes(name))
        else:
            setattr(whole, field, extremes(name)[1])
    return whole


def plain(value: Any) -> Any:
    """A field's value as a tensor has it."""
    if isinstance(value, message.Message):
        return value.SerializeToString()
    return value.encode() if isinstance(value, str) else value


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), settings.override(jit="never"), tf.Session() as sess:
        yield sess


def decode(session: Any, messages: Any, **options: Any) -> Any:
    options = {
        "message_type": "every.Whole",
        "field_names": FIELDS,
        "output_types": [dtype_of(field) for field in FIELDS],
        "descriptor_source": SOURCE,
        **options,
    }
    return session.run(tf.io.decode_proto(messages, **options))


@pytest.mark.parametrize("form", ["binary", "sanitized", "text"])
def test_fields_are_what_protobuf_finds(session: Any, form: str) -> None:
    whole = full()
    data = str(whole).encode() if form == "text" else whole.SerializeToString()
    options = {"message_format": "text"} if form == "text" else {"sanitize": form == "sanitized"}
    sizes, values = decode(session, data, **options)
    for field, size, found in zip(FIELDS, sizes, values):
        expected = getattr(whole, field)
        many = list(expected) if field.startswith(("many", "packed")) else [expected]
        assert size == len(many), field
        assert found.tolist() == [plain(value) for value in many], field
        assert found.dtype == dtype_of(field).as_numpy_dtype


def test_missing_fields_have_defaults(session: Any) -> None:
    sizes, values = decode(session, [b"", full().SerializeToString()])
    assert not sizes[0].any()
    empty = kind_of("Whole")()
    for field, found in zip(FIELDS, values):
        first = plain(getattr(empty, field)) if field.startswith(("one", "default")) else None
        if first is not None:
            assert found[0].tolist() == [first], field
        else:
            assert not any(found[0].tolist()), field


def test_narrow_numbers_may_be_wide(session: Any) -> None:
    wide = [field for field in FIELDS if len(FORMS[TYPES[field.partition("_")[2]]].dtypes) > 1]
    # TensorFlow takes packed int32 for unsigned here; values without a sign are the same.
    fields = [field for field in wide if field != "packed_int32"]
    types = [dtype_of(field, 1) for field in fields]
    whole = full()
    _, values = decode(session, whole.SerializeToString(), field_names=fields, output_types=types)
    for field, found in zip(fields, values):
        expected = getattr(whole, field)
        assert found.tolist() == (
            list(expected) if field.startswith(("many", "packed")) else [expected]
        )
        assert found.dtype in (np.int64, np.uint64, np.float64)


def test_encoding_is_the_reverse(session: Any) -> None:
    messages = [full().SerializeToString(), b"", kind_of("Whole")(one_int32=4).SerializeToString()]
    sizes, values = decode(session, messages)
    types = [dtype_of(field) for field in FIELDS]
    encoded = tf.io.encode_proto(
        sizes=sizes,
        values=[tf.constant(value, dtype) for value, dtype in zip(values, types)],
        field_names=FIELDS,
        message_type="every.Whole",
        descriptor_source=SOURCE,
    )
    assert encoded.shape.as_list() == [3]
    assert session.run(encoded).tolist() == messages


def test_a_group_keeps_its_tags(session: Any) -> None:
    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="group.proto", package="old", syntax="proto2")
    holder = file.message_type.add(name="Holder")
    group = holder.nested_type.add(name="Pair")
    group.field.add(name="x", number=2, type=5, label=1)
    holder.field.add(name="pair", number=1, type=10, label=3, type_name=".old.Holder.Pair")
    data = b"\x0b\x10\x05\x0c" + b"\x0b\x0c"
    found = decode(
        session,
        data,
        message_type="old.Holder",
        field_names=["pair"],
        output_types=[tf.string],
        descriptor_source=b"bytes://" + files.SerializeToString(),
    )
    assert found.values[0].tolist() == [b"\x0b\x10\x05\x0c", b"\x0b\x0c"]


def test_messages_of_the_program_and_of_tensorflow_are_local(session: Any) -> None:
    bytes_list = tf.train.BytesList(value=[b"a", b"bc"]).SerializeToString()
    options = {
        "field_names": ["value"],
        "output_types": [tf.string],
        "descriptor_source": "local://",
    }
    found = decode(session, bytes_list, message_type="tensorflow.BytesList", **options)
    assert found.values[0].tolist() == [b"a", b"bc"]
    file = descriptor_pb2.FileDescriptorProto(name="n").SerializeToString()
    options["field_names"] = ["name"]
    found = decode(session, file, message_type="google.protobuf.FileDescriptorProto", **options)
    assert found.values[0].tolist() == [b"n"]


def test_a_file_may_describe_messages(session: Any, tmp_path: Path) -> None:
    path = tmp_path / "schema"
    path.write_bytes(schema().SerializeToString())
    assert decode(session, full().SerializeToString(), descriptor_source=str(path)).sizes.any()
    path.write_bytes(b"\xff\xff")
    with pytest.raises(tf.errors.InvalidArgumentError, match="contains invalid FileDescriptorSet"):
        decode(session, b"", descriptor_source=str(path))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"message_type": "every.No"}, "No descriptor found for message type every.No"),
        (
            {"field_names": ["no"], "output_types": [tf.int32]},
            "Unknown field: no in message type every.Whole",
        ),
        (
            {"field_names": ["one_int32"], "output_types": [tf.float32]},
            "Unexpected output type for every.Whole.one_int32: 1 to 1",
        ),
        ({"message_format": "json"}, "format must be one of binary or text"),
        (
            {"output_types": [tf.int32]},
            "field_names and output_types attributes must have the same length",
        ),
        (
            {"descriptor_source": "/there/is/none"},
            "Source does not represent serialized file descriptor set proto.",
        ),
        (
            {"descriptor_source": b"bytes://\xff"},
            "Source does not represent serialized file descriptor set proto.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_requests_are_refused(session: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        decode(session, b"", **options)
    assert caught.value.message.partition("\n")[0] == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x00", "CountFields: Failed to consume entire buffer"),
        (b"\x0c", "CountFields: Failed to consume entire buffer"),
        (b"\xff", "CountFields: Failed to consume entire buffer"),
        (b"\x09\1\2", "ReadValue: Failed skipping field when counting"),
        (b"\xfa\x3f\x05a", "Failed skipping unrequested field"),
        (b"\xfb\x3f", "Failed skipping unrequested field"),
        (b"\x22\x09a", "ReadPackedValues: Skipping packed field failed"),
        (b"\x22\x03abc", "Illegal data length for packed fixed-size type: 3"),
        (b"\x42\xff\xff\xff\xff\xff\x01", "CollectField: Failed reading packed size"),
    ],
    ids=repr,
)
def test_damaged_messages_are_refused(session: Any, data: bytes, text: str) -> None:
    with pytest.raises(tf.errors.DataLossError) as caught:
        decode(session, data)
    assert caught.value.message.partition("\n")[0] == text


def test_any_bytes_are_decoded_or_refused(session: Any) -> None:
    rng, text = np.random.default_rng(5), tf.placeholder(tf.string, [])
    types = [dtype_of(field) for field in FIELDS]
    decoded = tf.io.decode_proto(text, "every.Whole", FIELDS, types, SOURCE)
    data, refused = full().SerializeToString(), 0
    for _ in range(300):
        changed = bytearray(data)
        for _ in range(3):
            changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
        try:
            session.run(decoded, {text: bytes(changed[: int(rng.integers(len(data))) + 1])})
        except tf.errors.DataLossError:
            refused += 1
    assert 50 < refused < 300


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"values": [np.zeros((1, 2), np.float32)]},
            "Incompatible type for field one_int32.  Saw dtype: float but field type is: int32",
        ),
        (
            {"sizes": [[3]]},
            "Size to write must not be larger than value tensor; but saw: 3 > 2 at message 0 "
            "field 0",
        ),
        (
            {"sizes": [[1, 1]]},
            "sizes should be batch_size + [len(field_names)].  Saw: [1,2] but expected: [1,1]",
        ),
        (
            {"field_names": ["one_int32", "one_bool"]},
            "Length of inputs list must match field_names",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tensors_that_do_not_fit_are_refused(
    session: Any, options: dict[str, Any], text: str
) -> None:
    options = {
        "sizes": [[1]],
        "values": [np.zeros((1, 2), np.int32)],
        "field_names": ["one_int32"],
        "message_type": "every.Whole",
        "descriptor_source": SOURCE,
        **options,
    }
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(tf.io.encode_proto(**options))
    assert caught.value.message.partition("\n")[0] == text
