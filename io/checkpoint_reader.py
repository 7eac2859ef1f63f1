# SPDX-License-Identifier: Apache-2.0
"""`tf.train.NewCheckpointReader`: looks into a checkpoint without a graph, of either format."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.compat import as_bytes, path_to_str
from ..engine.errors import NotFoundError, OpError
from ..engine.types import dtypes
from . import files
from .bundle_reader import BundleReader, nearest
from .checkpoint_v1 import V1Reader
from .tensor_bundle import index_path


def open_checkpoint(prefix: str) -> BundleReader | V1Reader:
    """A reader for what is under a prefix: a bundle, or else files of the first format."""
    if _has_index(prefix):
        return BundleReader(prefix)
    try:
        return V1Reader(prefix)
    except NotFoundError as error:
        hint = nearest_checkpoints(prefix)
        raise errors.not_found(f"{error.message}{hint}") from None


def _has_index(prefix: str) -> bool:
    try:
        return bool(files.get_matching_files(index_path(prefix)))
    except OpError as error:
        # TensorFlow's readers say it so, where its functions that look for files do not.
        kind = "Not found" if isinstance(error, NotFoundError) else "Failed precondition"
        raise errors.invalid(
            "Unsuccessful TensorSliceReader constructor: Failed to get matching files on "
            f"{prefix}: {kind}: {error.message}"
        ) from None


def nearest_checkpoints(prefix: str) -> str:
    """A hint at checkpoints in the folder of one that does not exist, or nothing."""
    folder, name = os.path.split(prefix)
    if not files.is_directory(folder or "."):
        return ""
    names = [path[:-6] for path in files.list_directory(folder or ".") if path.endswith(".index")]
    return nearest(name, sorted(names))


class CheckpointReader:
    """The tensors of a checkpoint by name."""

    def __init__(self, filename: Any) -> None:
        self._reader = open_checkpoint(as_bytes(path_to_str(filename)).decode())
        reader = self._reader
        keys = reader.tensors() if isinstance(reader, BundleReader) else reader.names()
        found = {key: reader.dtype_and_shape(key) for key in keys}
        self._types = {key.decode(errors="replace"): kind for key, (kind, _) in found.items()}
        self._shapes = {
            key.decode(errors="replace"): list(shape) for key, (_, shape) in found.items()
        }

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shape of each tensor."""
        return {name: list(shape) for name, shape in self._shapes.items()}

    def get_variable_to_dtype_map(self) -> dict[str, dtypes.DType]:
        """The type of each tensor."""
        return dict(self._types)

    def _GetVariableToDataTypeMap(self) -> dict[str, int]:  # noqa: N802 - TensorFlow's name
        return {name: dtype.as_datatype_enum for name, dtype in self._types.items()}

    def has_tensor(self, tensor_str: bytes | str) -> bool:
        """Whether there is a tensor of that name."""
        return as_bytes(tensor_str) in self._reader

    def get_tensor(self, tensor_str: bytes | str) -> Any:
        """The value of a tensor; NotFoundError if there is none of that name."""
        key = as_bytes(tensor_str)
        if isinstance(self._reader, V1Reader) and key not in self._reader:
            name = key.decode(errors="replace")
            hint = nearest(name, list(self._shapes))
            raise errors.not_found(f"{name} not found in checkpoint file{hint}")
        value: np.ndarray = self._reader.read(key)
        return value[()] if value.ndim == 0 else value

    def debug_string(self) -> bytes:
        """A line per tensor: name, type and shape."""
        return self._reader.debug_string().encode()


def new_checkpoint_reader(filepattern: object) -> CheckpointReader:
    """A reader for the checkpoint with that prefix."""
    return CheckpointReader(filepattern)
