# SPDX-License-Identifier: Apache-2.0
"""Files as tensors: their names, and their contents as strings."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient, reads, writes
from ...engine.types.dtypes import boxed
from ...engine.types.shape import TensorShape, as_shape, shape_text
from .. import shape_inference
from ..public import raw
from ..shape_inference import known_sizes

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_FILES = NoGradient("what a file holds does not depend on the graph")


def text_array(values: Sequence[bytes]) -> np.ndarray:
    """A vector of strings."""
    return np.fromiter(values, object, len(values))


def mapped(texts: np.ndarray, function: Callable[[bytes], Any], kind: Any = object) -> np.ndarray:
    """The results of a function for every string, in the shape of the strings.

    (Of C's functions, as methods of bytes are, no step of it is Python's.)
    """
    found = map(function, texts.reshape(-1).tolist())
    return np.fromiter(found, kind, texts.size).reshape(texts.shape)


def _one(value: np.ndarray, what: str) -> bytes:
    if value.ndim:
        raise errors.invalid(
            f"{what} tensor must be scalar, but had shape: {shape_text(value.shape)}"
        )
    return value.item()


def _matching(c: KernelContext, pattern: np.ndarray) -> np.ndarray:
    from ...io.files import get_matching_files

    if pattern.ndim > 1:
        raise errors.invalid(
            "Input patterns tensor must be scalar or vector, but had shape: "
            f"{shape_text(pattern.shape)}"
        )
    found = (name for item in pattern.flat for name in get_matching_files(os.fsdecode(item)))
    return text_array(sorted(os.fsencode(name) for name in found))


def _read(c: KernelContext, filename: np.ndarray) -> np.ndarray:
    from ...io.files import read_file_to_string

    name = os.fsdecode(_one(filename, "Input filename"))
    return boxed(read_file_to_string(name, binary_mode=True))


def _write(c: KernelContext, filename: np.ndarray, contents: np.ndarray) -> None:
    from ...io.files import recursive_create_dir, write_string_to_file

    name = os.fsdecode(_one(filename, "Input filename"))
    text = _one(contents, "Contents")
    folder = os.path.dirname(name)
    if folder:
        recursive_create_dir(folder)
    write_string_to_file(name, text)


def _names_shape(c: ShapeContext) -> TensorShape:
    if c.inputs[0].ndims is not None and c.inputs[0].ndims > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {c.inputs[0].ndims}")
    return TensorShape([None])


define(
    "MatchingFiles",
    "pattern: string -> filenames: string",
    shape=_names_shape,
    kernel=_matching,
    gradient=_FILES,
    touches=reads("pattern"),
    dynamic_shape=True,
    doc="The sorted names of the files that match any of the patterns.",
    test=lambda: {"values": [[np.array(b"/no such file *", object)]]},
)
define(
    "ReadFile",
    "filename: string -> contents: string",
    shape=shape_inference.scalars,
    kernel=_read,
    gradient=_FILES,
    touches=reads("filename"),
    doc="The contents of a file.",
    test=lambda: {"values": [[np.array(b"/dev/null", object)]]},
)
define(
    "WriteFile",
    "filename: string, contents: string ->",
    shape=shape_inference.scalars,
    kernel=_write,
    gradient=_FILES,
    touches=writes("filename"),
    stateful=True,
    doc="Writes a file, and makes the folders above it.",
    test=lambda: {"values": [[np.array(b"/dev/null", object), np.array(b"", object)]]},
)


@export("io.matching_files", "matching_files")
def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """The sorted names of the files that match a pattern, or one of a vector of patterns."""
    return raw.MatchingFiles(pattern, name=name)


def _memory(c: KernelContext) -> np.ndarray:
    """A tensor as it lies in a file; there may be more in it."""
    from ...io.files import read_file_to_string

    kind, sizes = c.out_dtype(), known_sizes(as_shape(c.op._attrs["shape"]))
    text = read_file_to_string(c.attr("memory_region_name"), binary_mode=True)
    wanted = int(np.prod(sizes, dtype=np.int64)) * kind.itemsize
    if wanted > len(text):
        raise errors.internal(
            f"Readonly memory region has wrong length ({len(text)}) when allocating {wanted}"
        )
    return np.frombuffer(text[:wanted], kind).reshape(sizes).copy()


define(
    "ImmutableConst",
    "-> tensor: dtype",
    "dtype: type; shape: shape; memory_region_name: string",
    shape=lambda c: as_shape(c.op._attrs["shape"]),
    kernel=_memory,
    gradient=_FILES,
    touches=reads("memory_region_name"),
    test={"needs": "files"},
    doc="A tensor whose numbers are the first bytes of a file, as this machine has them in memory.",
)


@export("io.read_file", "read_file")
def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """The contents of a file, a scalar string."""
    return raw.ReadFile(filename, name=name)


@export("io.write_file", "write_file")
def write_file(filename: TensorLike, contents: str, name: str | None = None) -> Operation:
    """An operation that writes a string to a file; missing folders are made."""
    return raw.WriteFile(filename, contents, name=name)
