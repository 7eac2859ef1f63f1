# SPDX-License-Identifier: Apache-2.0
"""The schemas that DecodeProtoV2 and EncodeProto find messages in; protobuf is imported for them.

A source is "local://" (or ""): the messages of the program, and TensorFlow's own; the path of a
file with a FileDescriptorSet; or "bytes://" and the set itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine import errors

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.descriptor_pool import DescriptorPool

_LOCAL = (b"", b"local://")
_BYTES = b"bytes://"


def _pool_of(content: bytes, complaint: str) -> DescriptorPool:
    from google.protobuf import descriptor_pb2, descriptor_pool, message

    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(content)
    except message.DecodeError:
        raise errors.invalid(complaint) from None
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        try:
            pool.AddSerializedFile(file.SerializeToString())
            pool.FindFileByName(file.name)
        except (TypeError, KeyError, ValueError) as error:
            raise errors.invalid(
                f"Failed to load FileDescriptorProto: {file.name}: {error}"
            ) from None
    return pool


def _pool_of_file(path: bytes) -> DescriptorPool | None:
    """The messages in a file, or None if there is no such file."""
    from ...io.files import file_exists, open_binary

    name = path.decode("utf-8", "surrogateescape")
    if b"\0" in path or not file_exists(name):
        return None
    with open_binary(name, "rb") as file:
        content = file.read()
    return _pool_of(content, f"descriptor_source contains invalid FileDescriptorSet: {name}")


def _pools(source: bytes) -> list[DescriptorPool]:
    if source in _LOCAL:
        from google.protobuf import descriptor_pool

        from ...io import protos

        return [descriptor_pool.Default(), protos.pool()]
    wrong = "Source does not represent serialized file descriptor set proto."
    if not source.startswith(_BYTES):
        pool = _pool_of_file(source)
        if pool is None:
            raise errors.invalid(wrong)
        return [pool]
    return [_pool_of(source.removeprefix(_BYTES), wrong)]


class Schema:
    """A message type and the pool that it is in."""

    def __init__(self, source: bytes, message_type: str) -> None:
        for pool in _pools(source):
            try:
                self.message: Descriptor = pool.FindMessageTypeByName(message_type)
            except KeyError:
                continue
            self.pool = pool
            return
        raise errors.invalid(f"No descriptor found for message type {message_type}")

    def field(self, name: str, with_extensions: bool) -> FieldDescriptor:
        """A field by its name, or an extension by its full name."""
        found = self.message.fields_by_name.get(name)
        if found is None and with_extensions:
            extensions = self.pool.FindAllExtensions(self.message)
            found = next((each for each in extensions if each.full_name == name), None)
        if found is None:
            raise errors.invalid(f"Unknown field: {name} in message type {self.message.full_name}")
        return found

    def reserialized(self, is_text: bool) -> Callable[[bytes], bytes]:
        """A function that makes serialized messages of texts, or of messages nobody has checked."""
        from google.protobuf import message, message_factory, text_format

        kind: Any = message_factory.GetMessageClass(self.message)

        def convert(data: bytes) -> bytes:
            try:
                if is_text:
                    parsed = text_format.Parse(data, kind(), descriptor_pool=self.pool)
                else:
                    parsed = kind.FromString(data)
            except (text_format.ParseError, UnicodeDecodeError):
                raise errors.data_loss("Unable to parse text protobuf") from None
            except message.DecodeError:
                raise errors.data_loss("Unable to parse binary protobuf") from None
            return parsed.SerializeToString(deterministic=True)

        return convert


@functools.lru_cache(maxsize=64)
def schema(source: bytes, message_type: str) -> Schema:
    """The schema of a message type; kept, as making pools takes long."""
    return Schema(source, message_type)


def repeats(field: FieldDescriptor) -> bool:
    """Whether a field may have several values."""
    try:
        return bool(field.is_repeated)
    except AttributeError:
        # Before protobuf 6.30.
        return bool(field.label == field.LABEL_REPEATED)


def default_of(field: FieldDescriptor) -> Any:
    """What a tensor holds where a message does not have the field; None for messages."""
    value = field.default_value
    if isinstance(value, str):
        value = value.encode()
    # Texts end at their first zero, as C has them.
    return value.partition(b"\0")[0] if isinstance(value, bytes) else value
