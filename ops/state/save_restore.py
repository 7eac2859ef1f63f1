# SPDX-License-Identifier: Apache-2.0
"""The ops that write and read checkpoints; the formats are those of io/."""

from __future__ import annotations

import os
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient, reads, writes
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.dtypes import boxed
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import raw
from ..ranks import ranked, scalar

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation

_FILES = NoGradient("what a file holds does not depend on the graph")


def _check_names(c: ShapeContext, first: int, count: int, vectors: int) -> None:
    """Names (and slices) are vectors with an element per tensor."""
    shape_inference.ranked(c.inputs[0], 0)
    for i in range(first, first + vectors):
        size = shape_inference.ranked(c.inputs[i], 1)[0]
        if size is not None and size != count:
            raise ValueError(f"Dimension must be {count} but is {size}")


def _save_shape(c: ShapeContext, vectors: int = 2) -> list[TensorShape]:
    _check_names(c, 1, len(c.inputs) - 1 - vectors, vectors)
    return []


def _slice_shape(text: bytes) -> TensorShape:
    """The static shape of what is restored for a shape and slice."""
    if not text:
        return TensorShape(None)
    from ...io.tensor_slice import parse_shape_and_slice

    try:
        return TensorShape(parse_shape_and_slice(text.decode())[2])
    except errors.OpError as error:
        raise ValueError(error.message) from None


def _restore_v2_shape(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[0], 0)
    shape_inference.ranked(c.inputs[1], 1)
    shape_inference.ranked(c.inputs[2], 1)
    shape_inference.merge(c.inputs[1], c.inputs[2])
    outputs = len(c.op.outputs)
    slices = c.value(2)
    if slices is None:
        return [shape_inference.unknown()] * outputs
    if slices.size != outputs:
        raise ValueError("The number of shape_and_slice doesn't match tensor outputs.")
    return [_slice_shape(text) for text in slices]


def _one_text(value: np.ndarray, what: str) -> str:
    """A prefix or file name: one element."""
    if value.size != 1:
        raise errors.invalid(f"{what} should have a single element, got {value.size} instead.")
    return os.fsdecode(value.reshape(-1)[0])


def _validate(names: np.ndarray, slices: np.ndarray) -> None:
    if names.ndim != 1 or slices.ndim != 1:
        raise errors.invalid(
            "Input tensor_names and shape_and_slices should be an 1-D tensors, got "
            f"{shape_text(names.shape)} and {shape_text(slices.shape)} instead."
        )
    if names.size != slices.size:
        raise errors.invalid(
            "tensor_names and shape_and_slices have different number of elements: "
            f"{names.size} vs. {slices.size}"
        )


def _part_to_save(text: bytes, tensor: np.ndarray) -> tuple[Any, Any]:
    """Full shape and slice of a tensor that is a part of another."""
    from ...io.tensor_slice import parse_shape_and_slice

    shape, part, part_shape = parse_shape_and_slice(text.decode())
    if part_shape != tensor.shape:
        raise errors.invalid(
            "Slice in shape_and_slice specification does not match the shape of the tensor to  "
            f"save: {text.decode()}, tensor: {shape_text(tensor.shape)}"
        )
    return shape, part


def _save_v2(
    c: KernelContext,
    prefix: np.ndarray,
    names: np.ndarray,
    slices: np.ndarray,
    tensors: list[np.ndarray],
) -> None:
    from ...io.tensor_bundle import BundleWriter

    path = _one_text(prefix, "Input prefix")
    _validate(names, slices)
    if len(tensors) != names.size:
        raise errors.invalid(f"Got {names.size} tensor names but {len(tensors)} tensors.")
    kinds = c.attr("dtypes")
    size = sum(tensor.nbytes for tensor in tensors if tensor.dtype != object)
    with BundleWriter(path, size) as writer:
        for name, text, tensor, kind in zip(names, slices, tensors, kinds):
            if text:
                shape, part = _part_to_save(text, tensor)
                writer.add_slice(name, shape, part, tensor, kind)
            else:
                writer.add(name, tensor, kind)
        writer.finish()


def _save_v1(c: KernelContext, filename: np.ndarray, names: np.ndarray, *rest: Any) -> None:
    """Save and SaveSlices: the first format."""
    from ...io import checkpoint_v1
    from ...io.tensor_slice import TensorSlice

    path = _one_text(filename, "Input 0 (filename)")
    *slices, tensors = rest
    if slices and slices[0].size != names.size:
        raise errors.invalid(
            f"Expected {names.size} elements for the tensor shapes and slices but got "
            f"{slices[0].size}"
        )
    if len(tensors) != names.size:
        raise errors.invalid(f"Got {names.size} tensor names but {len(tensors)} tensors.")
    texts = slices[0].reshape(-1) if slices else [b""] * names.size
    parts = []
    for name, text, tensor, kind in zip(names.reshape(-1), texts, tensors, c.attr("T")):
        shape, part = tensor.shape, TensorSlice.full(tensor.ndim)
        if text:
            shape, part = _part_to_save(text, tensor)
        parts.append((name, shape, part, tensor, kind))
    checkpoint_v1.write(path, parts)


def _restore_v2(
    c: KernelContext, prefix: np.ndarray, names: np.ndarray, slices: np.ndarray
) -> tuple[np.ndarray, ...]:
    from ...io.checkpoint_reader import open_checkpoint

    kinds = c.attr("dtypes")
    if names.size != len(kinds):
        raise errors.invalid(f"Got {names.size} tensor names, but {len(kinds)} expected dtypes.")
    path = _one_text(prefix, "Input prefix")
    _validate(names, slices)
    while True:
        reader = open_checkpoint(path)
        try:
            return _restored_all(c, reader, names, slices)
        except errors.DataLossError:
            # Another process may have saved under the same name between index and data.
            if not reader.is_outdated:
                raise


def _restored_all(
    c: KernelContext, reader: Any, names: np.ndarray, slices: np.ndarray
) -> tuple[Any, ...]:
    keys, texts, kinds = names.tolist(), slices.tolist(), c.attr("dtypes")
    wrong = []
    # In the order of names, in which TensorFlow reads and complains.
    for name, kind in sorted(zip(keys, kinds), key=itemgetter(0)):
        stored, _ = reader.dtype_and_shape(name)
        if stored is not kind and stored != kind.base_dtype:
            wrong.append(_other_type(name, kind, stored))
    if wrong:
        raise errors.invalid("\n".join(wrong))
    # In one direction through the file, all of it, before anything gets a value.
    places = [reader.place(key) for key in keys]
    results: list[Any] = [None] * len(keys)
    for i in sorted(range(len(keys)), key=places.__getitem__):
        results[i] = _restored(reader, keys[i], texts[i], c.may_defer)
    reader.check()
    return tuple(results)


def _other_type(name: bytes, kind: dtypes.DType, stored: dtypes.DType) -> str:
    return (
        f"tensor_name = {name.decode()}; expected dtype {dtypes.runtime_name(kind)} does not equal "
        f"original dtype {dtypes.runtime_name(stored)}"
    )


def _restored(reader: Any, name: bytes, text: bytes, defer: bool = False) -> Any:
    """A tensor, or the slice that is asked for; with `defer` perhaps the Source of one."""
    if not text:
        return reader.read(name, defer)
    from ...io.tensor_slice import parse_shape_and_slice

    full, part, _ = parse_shape_and_slice(text.decode())
    stored = reader.dtype_and_shape(name)[1]
    if full != stored:
        raise errors.invalid(
            reader.wrong_shape(name.decode(), shape_text(full), shape_text(stored))
        )
    return reader.read_slice(name, part, defer)


def _restore_v1(
    c: KernelContext, pattern: np.ndarray, name: np.ndarray, text: np.ndarray | None = None
) -> np.ndarray:
    """Restore and RestoreSlice: one tensor of a checkpoint of the first format."""
    from ...io.checkpoint_v1 import V1Reader

    key = name.reshape(-1)[0]
    with V1Reader(_one_text(pattern, "Input 0 (file_pattern)")) as reader:
        stored, _ = reader.dtype_and_shape(key)
        kind = c.attr("dt")
        if stored != kind.base_dtype:
            raise errors.invalid(
                f"Expected to restore a tensor of type {dtypes.runtime_name(kind)}, got a "
                f"tensor of type {dtypes.runtime_name(stored)} instead: "
                f"tensor_name = {key.decode()}"
            )
        return _restored(reader, key, b"" if text is None else text.reshape(-1)[0])


def _merge(c: KernelContext, prefixes: np.ndarray, destination: np.ndarray) -> None:
    from ...io import files
    from ...io.tensor_bundle import merge_bundles

    sources = [os.fsdecode(prefix) for prefix in prefixes]
    target = os.fsdecode(destination.item())
    merge_bundles(sources, target)
    if not c.attr("delete_old_dirs"):
        return
    for folder in {os.path.dirname(source) for source in sources} - {os.path.dirname(target)}:
        try:
            files.remove_empty_directory(folder)
        except errors.OpError:
            continue  # Somebody else's files are in it; it does no harm.


def _text(value: str) -> np.ndarray:
    return boxed(value.encode("utf-8", "surrogateescape"))


def _scalars(c: ShapeContext) -> TensorShape:
    for shape in c.inputs:
        shape_inference.ranked(shape, 0)
    return TensorShape([])


def _merge_shape(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[0], 1)
    shape_inference.ranked(c.inputs[1], 0)
    return []


def _restore_v1_shape(c: ShapeContext) -> TensorShape:
    for shape in c.inputs:
        shape_inference.ranked(shape, 0)
    text = c.value(2) if len(c.inputs) > 2 else None
    return shape_inference.unknown() if text is None else _slice_shape(text.item())


define(
    "SaveV2",
    "prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes",
    "dtypes: list(type) >= 1",
    shape=_save_shape,
    kernel=_save_v2,
    gradient=_FILES,
    touches=writes("prefix"),
    transfer="file",
    stateful=True,
    test={"needs": "files"},
    doc="Writes tensors as a checkpoint.",
)
define(
    "RestoreV2",
    "prefix: string, tensor_names: string, shape_and_slices: string -> tensors: dtypes",
    "dtypes: list(type) >= 1",
    shape=_restore_v2_shape,
    kernel=_restore_v2,
    gradient=_FILES,
    touches=reads("prefix"),
    transfer="file",
    stateful=True,
    dynamic_shape=True,
    test={"needs": "files"},
    doc="Reads tensors from a checkpoint of either format.",
)
define(
    "MergeV2Checkpoints",
    "checkpoint_prefixes: string, destination_prefix: string",
    "delete_old_dirs: bool = true",
    shape=_merge_shape,
    kernel=_merge,
    gradient=_FILES,
    touches=writes("checkpoint_prefixes", "destination_prefix"),
    transfer="file",
    stateful=True,
    test={"needs": "files"},
    doc="Makes one checkpoint of several that were written in shards.",
)
define(
    "Save",
    "filename: string, tensor_names: string, data: T",
    "T: list(type) >= 1",
    shape=lambda c: _save_shape(c, 1),
    kernel=_save_v1,
    gradient=_FILES,
    touches=writes("filename"),
    transfer="file",
    stateful=True,
    test={"needs": "files"},
    doc="Writes tensors as a checkpoint of the first format.",
)
define(
    "SaveSlices",
    "filename: string, tensor_names: string, shapes_and_slices: string, data: T",
    "T: list(type) >= 1",
    shape=_save_shape,
    kernel=_save_v1,
    gradient=_FILES,
    touches=writes("filename"),
    transfer="file",
    stateful=True,
    test={"needs": "files"},
    doc="Writes tensors and slices of tensors as a checkpoint of the first format.",
)
define(
    "Restore",
    "file_pattern: string, tensor_name: string -> tensor: dt",
    "dt: type; preferred_shard: int = -1",
    shape=_restore_v1_shape,
    kernel=_restore_v1,
    gradient=_FILES,
    touches=reads("file_pattern"),
    transfer="file",
    stateful=True,
    dynamic_shape=True,
    test={"needs": "files"},
    doc="Reads a tensor from a checkpoint of the first format.",
)
define(
    "RestoreSlice",
    "file_pattern: string, tensor_name: string, shape_and_slice: string -> tensor: dt",
    "dt: type; preferred_shard: int = -1",
    shape=_restore_v1_shape,
    kernel=_restore_v1,
    gradient=_FILES,
    touches=reads("file_pattern"),
    transfer="file",
    stateful=True,
    dynamic_shape=True,
    test={"needs": "files"},
    doc="Reads a slice of a tensor from a checkpoint of the first format.",
)
_SHARD = ("basename", "shard", "num_shards")
define(
    "ShardedFilename",
    "basename: string, shard: int32, num_shards: int32 -> filename: string",
    shape=_scalars,
    kernel=ranked(
        lambda c, base, shard, shards: _text(
            f"{os.fsdecode(base.item())}-{int(shard):05d}-of-{int(shards):05d}"
        ),
        *(scalar(i, f"{_SHARD[i]} must be a scalar, got shape {{shape}}") for i in range(3)),
    ),
    gradient=_FILES,
    test=lambda: {"values": [[_text("model"), np.int32(1), np.int32(2)]]},
    doc="The name of one shard of a file.",
)
define(
    "ShardedFilespec",
    "basename: string, num_shards: int32 -> filename: string",
    shape=_scalars,
    kernel=ranked(
        lambda c, base, shards: _text(f"{os.fsdecode(base.item())}-?????-of-{int(shards):05d}"),
        scalar(0, "basename must be a scalar, got shape {shape}"),
        scalar(1, "num_shards must be a scalar, got shape {shape}"),
    ),
    gradient=_FILES,
    test=lambda: {"values": [[_text("model"), np.int32(2)]]},
    doc="The pattern that all shards of a file match.",
)


# The names of tensorflow.python.ops.io_ops.
def _save(
    filename: Tensor,
    tensor_names: Sequence[str],
    tensors: Sequence[Any],
    tensor_slices: Sequence[str] | None = None,
    name: str = "save",
) -> Operation:
    """Writes tensors as a checkpoint of the first format."""
    if tensor_slices is None:
        return raw.Save(filename, tensor_names, tensors, name=name)
    return raw.SaveSlices(filename, tensor_names, tensor_slices, tensors, name=name)


def _restore_slice(
    file_pattern: TensorLike,
    tensor_name: TensorLike,
    shape_and_slice: TensorLike,
    tensor_type: object,
    name: str = "restore_slice",
    preferred_shard: int = -1,
) -> Tensor:
    """Reads a slice of a tensor from a checkpoint of the first format."""
    kind = dtypes.as_dtype(tensor_type).base_dtype
    return raw.RestoreSlice(
        file_pattern, tensor_name, shape_and_slice, kind, preferred_shard, name=name
    )


def save_v2(
    prefix: TensorLike,
    tensor_names: Sequence[str],
    shape_and_slices: Sequence[str],
    tensors: Sequence[Any],
    name: str | None = None,
) -> Operation:
    """The op that writes a checkpoint."""
    return raw.SaveV2(prefix, tensor_names, shape_and_slices, tensors, name=name)


def restore_v2(
    prefix: Any,
    tensor_names: Sequence[str],
    shape_and_slices: Sequence[str],
    dtypes: Sequence[Any],
    name: str | None = None,
) -> list[Tensor]:
    """The tensors of a checkpoint."""
    return raw.RestoreV2(prefix, tensor_names, shape_and_slices, dtypes, name=name)
