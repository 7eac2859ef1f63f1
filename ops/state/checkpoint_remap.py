# SPDX-License-Identifier: Apache-2.0
"""Ops that load a matrix from a checkpoint for vocabularies that have changed since."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient, reads
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_FILES = NoGradient("what a file holds does not depend on the graph", silent=True)


def _vocabulary(path: np.ndarray, what: str) -> list[bytes]:
    """The lines of a file."""
    from ...io import files

    if path.ndim:
        raise errors.invalid(f"{what} should be a single string, but got {shape_text(path.shape)}")
    if not path.item():
        raise errors.invalid("new vocab filename cannot be empty.")
    content = files.read_file_to_string(os.fsdecode(path.item()), binary_mode=True)
    lines = content.split(b"\n")
    # A file that ends with a newline has no empty last line.
    return [line.removesuffix(b"\r") for line in (lines[:-1] if not lines[-1] else lines)]


def _remapping(
    c: KernelContext, new_file: np.ndarray, old_file: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    new = _vocabulary(new_file, "new_vocab_file")
    old = _vocabulary(old_file, "old_vocab_file")
    first, count = c.attr("new_vocab_offset"), c.attr("num_new_vocab")
    size = c.attr("old_vocab_size")
    if first + count > len(new):
        raise errors.invalid("lookup table size must be larger than last new vocab entry's line")
    if size > len(old):
        raise errors.invalid(
            f"Invalid vocab_size in {os.fsdecode(old_file.item())}: expected {size}"
        )
    places = {token: i for i, token in enumerate(old[: size if size >= 0 else None])}
    found = [places.get(token, -1) for token in new[first : first + count]]
    result = np.array(found, np.int64)
    return result, np.asarray((result >= 0).sum(), np.int32)


def _remapping_shape(c: ShapeContext) -> list[TensorShape]:
    for shape in c.inputs:
        shape_inference.ranked(shape, 0)
    return [TensorShape([c.attr("num_new_vocab")]), TensorShape([])]


define(
    "GenerateVocabRemapping",
    "new_vocab_file: string, old_vocab_file: string -> remapping: int64, num_present: int32",
    "new_vocab_offset: int >= 0; num_new_vocab: int >= 0; old_vocab_size: int >= -1 = -1",
    shape=_remapping_shape,
    kernel=_remapping,
    gradient=_FILES,
    touches=reads("new_vocab_file", "old_vocab_file"),
    test={"needs": "files"},
    doc="For each line of a new vocabulary, the number of that line in an old one, or -1.",
)


def _check_unique(remapping: np.ndarray) -> None:
    """No old row or column may be wanted twice."""
    seen: dict[int, int] = {}
    for new, old in enumerate(remapping.tolist()):
        if old >= 0 and old in seen:
            raise errors.unimplemented(
                f"Old ID {old} is mapped to both new ID {seen[old]} and {new}, which is not "
                "supported."
            )
        seen[old] = new


def _check_matrix(name: str, kind: dtypes.DType, shape: Any, columns: int | None) -> None:
    if kind != dtypes.float32:
        raise errors.invalid(
            f"Tensor {name} has invalid type {kind.name} instead of expected type float"
        )
    if len(shape) != 2:
        raise errors.invalid(
            f"Tensor {name} has shape {shape_text(shape)} of invalid rank {len(shape)} instead of "
            "expected shape of rank 2."
        )
    if columns is not None and shape[1] != columns:
        raise errors.invalid(
            f"Tensor {name} has shape {shape_text(shape)}, where the size of its 2nd dimension is "
            f"{shape[1]} instead of being equal to num_cols={columns}"
        )


def _pieces(first: int, last: int, limit: int) -> Iterator[tuple[int, int]]:
    """Start and length of runs of rows that are loaded at once."""
    step = limit if limit > 0 else last - first + 1
    for start in range(first, last + 1, step):
        yield start, min(step, last - start + 1)


def _load(
    c: KernelContext,
    path: np.ndarray,
    tensor: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    initial: np.ndarray,
) -> np.ndarray:
    from ...io.bundle_reader import BundleReader
    from ...io.tensor_slice import FULL, TensorSlice

    row_count, column_count = c.attr("num_rows"), c.attr("num_cols")
    for what, remapping, count in (("row", rows, row_count), ("col", columns, column_count)):
        if remapping.size != count and (what == "row" or remapping.size):
            provided = (
                "Size of row_remapping" if what == "row" else "Provided col_remapping, but its size"
            )
            raise errors.invalid(
                f"{provided} is {remapping.size} instead of being equal to num_{what}s={count}"
            )
        _check_unique(remapping)
    wanted = columns if columns.size else np.arange(column_count)
    key = tensor.item()
    result = np.empty((row_count, column_count), np.float32)
    present = (rows >= 0)[:, None] & (wanted >= 0)[None, :]
    with BundleReader(os.fsdecode(path.item())) as reader:
        kind, shape = reader.dtype_and_shape(key)
        _check_matrix(key.decode(), kind, shape, None if columns.size else column_count)
        # Only the rows between the first and the last wanted one are read, some at a time if told
        # so.
        if (rows >= 0).any():
            first, last = int(rows[rows >= 0].min()), int(rows.max())
            for start, length in _pieces(first, last, c.attr("max_rows_in_memory")):
                part = reader.read_slice(key, TensorSlice(((start, length), (0, FULL))))
                here = np.flatnonzero((rows >= start) & (rows < start + length))
                kept = np.flatnonzero(wanted >= 0)
                loaded = part[np.ix_(rows[here] - start, wanted[kept])]
                result[np.ix_(here, kept)] = loaded
    _fill_missing(result, present, initial.reshape(-1))
    return result


def _fill_missing(result: np.ndarray, present: np.ndarray, initial: np.ndarray) -> None:
    missing = int((~present).sum())
    if missing > initial.size:
        raise errors.invalid(
            f"initializing_values contained {initial.size} elements, but more missing values "
            "remain."
        )
    if missing < initial.size:
        raise errors.invalid(
            f"initializing_values contained {initial.size} elements, but only {missing} elements "
            "were used to fill in missing values."
        )
    # Row by row, as TensorFlow takes the initializing values.
    result[~present] = initial


def _load_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[1], 0)
    return TensorShape([c.attr("num_rows"), c.attr("num_cols")])


define(
    "LoadAndRemapMatrix",
    "ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64, "
    "initializing_values: float32 -> output_matrix: float32",
    "num_rows: int >= 0; num_cols: int >= 1; max_rows_in_memory: int = -1",
    shape=_load_shape,
    kernel=_load,
    gradient=_FILES,
    touches=reads("ckpt_path"),
    stateful=True,
    test={"needs": "files"},
    doc="A matrix from a checkpoint rows and columns in a new order.",
)
