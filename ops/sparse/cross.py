# SPDX-License-Identifier: Apache-2.0
"""Crosses of sparse and dense columns, of which crossed feature columns are made: SparseCross, and
SparseFeatureCross, which `tf.contrib.layers` had before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.record_class import record
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext

DEFAULT_HASH_KEY = 0xDECAFCAFFE
# TensorFlow's name for it.
_DEFAULT_HASH_KEY = DEFAULT_HASH_KEY
# MurmurHash2's multiplier, which FingerprintCat64 mixes with.
_MIX = np.uint64(0xC6A4A7935BD1E995)
_SHIFT = np.uint64(47)
_OLD_STEP = np.uint64(0x9E3779B97F4A7800)
_LARGEST = np.uint64(2**63 - 1)
_SEPARATOR = b"_X_"
# More crosses than this do not fit an array's sizes, let alone memory.
_MOST = 2**31 - 1

_Combine = Callable[[np.ndarray, np.ndarray], np.ndarray]


@record
class _Column:
    """The features of one input, row by row of the batch.

    Args:
        values: all features, in order.
        counts: how many each row has.
        starts: where the features of each row begin.
    """

    values: np.ndarray
    counts: np.ndarray
    starts: np.ndarray


def fingerprint_cat(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """FingerprintCat64 of arrays of uint64: one fingerprint of two, in which order matters."""
    mixed = second * _MIX
    mixed ^= mixed >> _SHIFT
    mixed *= _MIX
    result = ((first ^ _MIX) ^ mixed) * _MIX
    result = (result ^ (result >> _SHIFT)) * _MIX
    return result ^ (result >> _SHIFT)


def _hash_combine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """What SparseFeatureCross makes of two hashes, arrays of uint64."""
    # The shift to the right is that of signed numbers.
    halved = (first.view(np.int64) >> 4).view(np.uint64)
    return first ^ (second + _OLD_STEP + (first << np.uint64(10)) + halved)


def _sparse_column(indices: np.ndarray, values: np.ndarray, batch: int) -> _Column:
    rows = indices[:, 0]
    # Entries behind one that is out of order or outside are not read, as TensorFlow does not.
    wrong = (rows < 0) | (rows >= batch)
    wrong[1:] |= np.diff(rows) < 0
    read = rows[: int(np.argmax(wrong))] if wrong.any() else rows
    counts = np.bincount(read, minlength=batch)
    return _Column(values, counts, np.cumsum(counts) - counts)


def _dense_column(values: np.ndarray) -> _Column:
    rows, width = values.shape
    return _Column(values.reshape(-1), np.full(rows, width), np.arange(rows) * width)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise errors.invalid(message)


def _check_sparse(
    indices: Sequence[np.ndarray], values: Sequence[np.ndarray], shapes: Sequence[np.ndarray]
) -> None:
    for i, (index, value) in enumerate(zip(indices, values)):
        shown = shape_text(index.shape)
        _require(
            index.ndim == 2,
            f"Input indices should be a matrix but received shape {shown} at position {i}",
        )
        _require(
            index.shape[1] == 2,
            f"Expected D2 of index to be 2 got {index.shape[1]} at position {i}",
        )
        _require(
            value.ndim == 1,
            "Input values should be a std::vector but received shape "
            f"{shape_text(value.shape)} at position {i}",
        )
        _require(
            len(index) == len(value),
            f"Expected size of values to be {len(index)} got {len(value)} at position {i}",
        )
    for i, shape in enumerate(shapes):
        _require(
            shape.ndim == 1,
            "Input shapes should be a std::vector but received shape "
            f"{shape_text(shape.shape)} at position {i}",
        )
        _require(
            len(shape) == 2,
            f"shape should imply a 2D tensor, but got {shape_text(shape.shape)} at position {i}",
        )


def _batch_size(shapes: Sequence[np.ndarray], dense: Sequence[np.ndarray]) -> int:
    """The size that all inputs share; raises where they do not."""
    for i, values in enumerate(dense):
        _require(
            values.ndim == 2,
            f"Dense inputs should be a matrix but received shape {shape_text(values.shape)} at "
            f"position {i}",
        )
    sizes = [int(shape[0]) for shape in shapes]
    widths = [len(values) for values in dense]
    batch = (sizes + widths + [0])[0]
    for i, size in enumerate(sizes):
        _require(size == batch, f"Expected batch size {batch} got {size} at position {i}")
    for i, size in enumerate(widths):
        _require(size == batch, f"Expected batch size {batch} got {size} at dense tensor {i}")
    _require(0 <= batch <= _MOST, f"Batch size {batch} is out of range")
    return batch


def _choices(columns: Sequence[_Column], rows: np.ndarray, turn: np.ndarray) -> list[np.ndarray]:
    """Which feature of each column every cross takes: the last column's change fastest."""
    taken = []
    for column in reversed(columns):
        turn, own = np.divmod(turn, column.counts[rows])
        taken.append(column.starts[rows] + own)
    return taken[::-1]


def _hashed(
    columns: Sequence[_Column],
    taken: Sequence[np.ndarray],
    combine: _Combine,
    first: np.ndarray,
    buckets: int,
) -> np.ndarray:
    from farmhash import Fingerprint64

    result = first
    for column, places in zip(columns, taken):
        values = column.values
        if values.dtype == object:
            prints = map(Fingerprint64, values.tolist())
            features = np.fromiter(prints, np.uint64, len(values))
        else:
            features = values.astype(np.uint64)
        result = combine(result, features[places])
    return (result % (np.uint64(buckets) if buckets > 0 else _LARGEST)).astype(np.int64)


def _joined(columns: Sequence[_Column], taken: Sequence[np.ndarray], count: int) -> np.ndarray:
    texts = [
        [v if isinstance(v, bytes) else b"%d" % v for v in column.values[places].tolist()]
        for column, places in zip(columns, taken)
    ]
    result = np.empty(count, object)
    result[:] = [_SEPARATOR.join(parts) for parts in zip(*texts)] if texts else [b""] * count
    return result


def _cross(
    combine: _Combine,
    c: KernelContext,
    indices: Sequence[np.ndarray],
    values: Sequence[np.ndarray],
    shapes: Sequence[np.ndarray],
    dense: Sequence[np.ndarray],
) -> tuple[np.ndarray, ...]:
    _require(
        len(values) == len(indices), f"Expected {len(indices)} input values, got {len(values)}"
    )
    _check_sparse(indices, values, shapes)
    batch = _batch_size(shapes, dense)
    columns = [_sparse_column(i, v, batch) for i, v in zip(indices, values)]
    columns += [_dense_column(v) for v in dense]
    size = np.ones(batch)
    for column in columns:
        size = size * column.counts
    _require(size.sum() <= _MOST, f"{size.sum():.0f} crosses are more than {_MOST}")
    counts = size.astype(np.int64)
    total = int(counts.sum())
    rows = np.repeat(np.arange(batch), counts)
    turn = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    taken = _choices(columns, rows, turn)
    if c.attr("out_type") == dtypes.string:
        crossed = _joined(columns, taken, total)
    else:
        key = DEFAULT_HASH_KEY if combine is _hash_combine else c.attr("hash_key")
        first = np.full(total, np.uint64(key & (2**64 - 1)))
        crossed = _hashed(columns, taken, combine, first, c.attr("num_buckets"))
    most = int(counts.max()) if batch else 0
    return np.stack([rows, turn], 1).astype(np.int64), crossed, np.array([batch, most], np.int64)


def _places() -> list[Any]:
    return [np.array([[0, 0], [1, 0], [1, 1]]), np.array([[0, 1], [1, 0]])]


def _texts() -> list[Any]:
    return [np.array([b"a", b"b", b"c"], object), np.array([b"", b"d"], object)]


def _sizes() -> list[Any]:
    return [np.array([2, 2]), np.array([2, 2])]


_NO_GRADIENT = NoGradient("crosses are texts or their hashes")
_HASHED = {"hashed_output": True, "out_type": dtypes.int64, "internal_type": dtypes.int64}


def _define(
    name: str, dense: str, key: bool, combine: _Combine, gradient: NoGradient = _NO_GRADIENT
) -> None:
    define(
        name,
        f"indices: N * int64, values: sparse_types, shapes: N * int64, {dense}: dense_types -> "
        "output_indices: int64, output_values: out_type, output_shape: int64",
        f"N: int >= 0; hashed_output: bool; num_buckets: int >= 0;{' hash_key: int;' * key} "
        "sparse_types: list({int64, string}) >= 0; dense_types: list({int64, string}) >= 0; "
        "out_type: {int64, string}; internal_type: {int64, string}",
        shape=lambda c: [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])],
        # (No partial function: plans keep what this package declares, not `functools`.)
        kernel=lambda *inputs: _cross(combine, *inputs),
        gradient=gradient,
        dynamic_shape=True,
        doc="All combinations of the features of each row, one of every column.",
        test=lambda: {
            "values": [
                [_places(), _texts(), _sizes(), [np.array([[5, 6], [7, 8]])]],
                [_places(), [np.array([1, 2, 3]), np.array([4, 5])], _sizes(), []],
            ],
            "attrs": [
                {**_HASHED, "num_buckets": 100, **({"hash_key": DEFAULT_HASH_KEY} if key else {})}
            ],
        },
    )


_define("SparseCross", "dense_inputs", True, fingerprint_cat)
_define("SparseFeatureCross", "dense", False, _hash_combine, _NO_GRADIENT.silently)
_define("SparseFeatureCrossV2", "dense", True, fingerprint_cat, _NO_GRADIENT.silently)


def cross_with(
    op: Callable[..., Any], inputs: list[Any], hashed: bool, num_buckets: int, **options: Any
) -> SparseTensor:
    """What an op makes of tensors, sparse and dense ones, that it is to cross.

    Args:
        op: makes the node.
        inputs: a list of tensors.
        hashed: whether hashes are given in the place of texts.
        num_buckets: what hashes are taken modulo, if not 0.
        **options: more attributes, and the name.

    Raises:
        TypeError: inputs is no list of tensors.
    """
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(i, (SparseTensor, Tensor)) for i in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [i for i in inputs if isinstance(i, SparseTensor)]
    dense = [i for i in inputs if not isinstance(i, SparseTensor)]
    texts = all(i.dtype == dtypes.string for i in inputs)

    def converted(value: Any) -> Any:
        return value if value.dtype == dtypes.string else tf.cast(value, dtypes.int64)

    parts = op(
        [i.indices for i in sparse],
        [converted(i.values) for i in sparse],
        [i.dense_shape for i in sparse],
        [converted(i) for i in dense],
        hashed_output=hashed,
        num_buckets=num_buckets,
        out_type=dtypes.int64 if hashed else dtypes.string,
        internal_type=dtypes.string if texts else dtypes.int64,
        **options,
    )
    return SparseTensor(*parts)


@export("sparse.cross")
def sparse_cross(inputs: list[Any], name: str | None = None) -> SparseTensor:
    """The crosses of columns: all combinations of the features of a row, joined by "_X_".

    Args:
        inputs: a list of tensors and sparse tensors [batch, features] of strings or integers.
        name: of the op.

    Returns:
        A SparseTensor of strings [batch, the most crosses of a row].

    Raises:
        TypeError: inputs is no list of tensors.

    Example:
        >>> crosses = tf.sparse.cross([tf.constant([["a", "b"]]), tf.constant([[7]])])
        >>> tf.Session().run(crosses.values)
        array([b'a_X_7', b'b_X_7'], dtype=object)
    """
    return cross_with(raw.SparseCross, inputs, False, 0, hash_key=DEFAULT_HASH_KEY, name=name)


@export("sparse.cross_hashed")
def sparse_cross_hashed(
    inputs: list[Any],
    num_buckets: int = 0,
    hash_key: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """The hashes of crosses of columns: a fingerprint of the fingerprints of what is combined.

    Args:
        inputs: a list of tensors and sparse tensors [batch, features] of strings or integers.
        num_buckets: the hashes are taken modulo this; 0 leaves them as they are.
        hash_key: what fingerprints begin with; None is TensorFlow's own.
        name: of the op.

    Returns:
        A SparseTensor of int64 [batch, the most crosses of a row].

    Raises:
        TypeError: inputs is no list of tensors.

    Example:
        >>> columns = [tf.constant([["a", "b"]]), tf.constant([[7]])]
        >>> tf.Session().run(tf.sparse.cross_hashed(columns, num_buckets=10).values).shape
        (2,)
    """
    key = hash_key or DEFAULT_HASH_KEY
    return cross_with(raw.SparseCross, inputs, True, num_buckets, hash_key=key, name=name)
