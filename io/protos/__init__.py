# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's messages: its package names, fields and numbers, so that its files are ours.

`protos.GraphDef`, `protos.DataType`, `protos.DT_FLOAT` … are built from `messages.binpb` (compiled
from the .proto files here by generate.py) when first asked for; importing this module does not
import protobuf.  The descriptors live in a pool of their own: a real TensorFlow in the same
process keeps its own messages.
"""

from __future__ import annotations

import functools
import os
import types
from typing import TYPE_CHECKING, Any

from ...engine.api import lazy

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool

ON_DEMAND = ("generate",)

_COMPILED = os.path.join(os.path.dirname(__file__), "messages.binpb")

# Public name -> message, where TensorFlow 1.15 publishes it.
_PUBLIC = {
    "": "AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions HistogramProto LogMessage "
    "MetaGraphDef NameAttrList NodeDef OptimizerOptions RunMetadata RunOptions SessionLog Summary "
    "SummaryMetadata TensorInfo",
    "contrib.tensorboard.plugins.projector.": "EmbeddingInfo ProjectorConfig SpriteMetadata",
    "profiler.": "AdviceProto GraphNodeProto MultiGraphNodeProto OpLogProto",
    "summary.": "Event SessionLog Summary SummaryDescription TaggedRunMetadata",
    "train.": "BytesList ClusterDef Example Feature FeatureList FeatureLists Features FloatList "
    "Int64List JobDef SaverDef SequenceExample ServerDef",
}
for _module, _names in _PUBLIC.items():
    for _name in _names.split():
        lazy(f"io.protos:{_name}", _module + _name)


@functools.cache
def files() -> dict[str, Any]:
    """The FileDescriptorProto of each .proto file by its path, such as those of `import` lines."""
    from google.protobuf import descriptor_pb2

    with open(_COMPILED, "rb") as file_:
        content = file_.read()
    compiled = descriptor_pb2.FileDescriptorSet.FromString(content)
    return {file.name: file for file in compiled.file}


@functools.cache
def pool() -> DescriptorPool:
    """The private pool that holds the messages."""
    from google.protobuf import any_pb2, descriptor_pool, wrappers_pb2

    private = descriptor_pool.DescriptorPool()
    for known in (any_pb2, wrappers_pb2):
        private.AddSerializedFile(known.DESCRIPTOR.serialized_pb)
    for file in files().values():
        private.AddSerializedFile(file.SerializeToString())
    return private


@functools.cache
def module(path: str) -> types.ModuleType:
    """What `import …_pb2` gives for the .proto file at `path`: its messages, enums and values."""
    if path not in files():
        raise KeyError(f"there are no messages of {path}")
    described = types.ModuleType(path.removesuffix(".proto").replace("/", ".") + "_pb2")
    vars(described).update(_members(path), DESCRIPTOR=pool().FindFileByName(path))
    return described


def _members(path: str) -> dict[str, Any]:
    from google.protobuf import message_factory
    from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

    file = pool().FindFileByName(path)
    members: dict[str, Any] = {}
    for name, descriptor in file.enum_types_by_name.items():
        members[name] = EnumTypeWrapper(descriptor)
        members.update((value.name, value.number) for value in descriptor.values)
    for name, descriptor in file.message_types_by_name.items():
        members[name] = message_factory.GetMessageClass(descriptor)
        members[name].__module__ = __name__  # where pickle finds the class again
    return members


@functools.cache
def _home() -> dict[str, str]:
    """Which .proto file each top-level name is in."""
    home = {}
    for path, file in files().items():
        for message in file.message_type:
            home[message.name] = path
        for enum in file.enum_type:
            home[enum.name] = path
            home.update((value.name, path) for value in enum.value)
    return home


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name not in _home():
        raise AttributeError(f"TensorFlow has no message or enum called {name!r} here")
    value = getattr(module(_home()[name]), name)
    globals()[name] = value  # the next look-up finds it without coming here
    return value
