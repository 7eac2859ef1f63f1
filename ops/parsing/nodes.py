# SPDX-License-Identifier: Apache-2.0
"""The ops that parse Examples and SequenceExamples, in batches and one at a time."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape, shape_text
from ...engine.types.texts import PackedTexts
from .. import shape_inference
from .example_single import SingleParser
from .example_store import Dense, Features, Sparse, check_defaults, nothing, parse_batch
from .rows import examples, sequence_examples
from .sequence_fast import Asked
from .sequence_store import parse_sequences, parse_single_sequence

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_TEXT = NoGradient("texts have no derivative")
_KINDS = "list({float32, int64, string}) >= 0"
# An Example (and a SequenceExample, with it as context) whose feature `a` is the integer 5.
_SAMPLE = b"\n\x0c\n\n\n\x01a\x12\x05\x1a\x03\n\x01\x05"
_ONE, _BATCH, _NONE = (np.array(value, object) for value in (_SAMPLE, [_SAMPLE, b""], []))
_A, _B, _C = (np.array(name, object) for name in (b"a", b"b", b"c"))


def _seven() -> np.ndarray:
    return np.array(7, np.int64)


def _keys(given: Sequence[Any]) -> list[str]:
    """Keys given as attributes, or as scalar tensors."""
    plain = [key.item() if isinstance(key, np.ndarray) else key for key in given]
    return [key.decode() if isinstance(key, bytes) else str(key) for key in plain]


def sparse_features(keys: Sequence[Any], types: Sequence[Any]) -> list[Sparse]:
    if len(keys) != len(types):
        raise errors.invalid("len(sparse_keys) != len(sparse_types)")
    return [Sparse(*pair) for pair in zip(_keys(keys), types)]


def dense_features(
    keys: Sequence[Any],
    types: Sequence[Any],
    shapes: Sequence[TensorShape],
    defaults: Sequence[np.ndarray] | None = None,
) -> list[Dense]:
    if len(keys) != len(types):
        raise errors.invalid("len(dense_keys) != len(dense_types)")
    if len(keys) != len(shapes):
        raise errors.invalid("len(dense_keys) != len(dense_shapes)")
    result = []
    for i, (key, dtype) in enumerate(zip(_keys(keys), types)):
        sizes = as_shape(shapes[i]).sizes
        if sizes is None or None in sizes[1:]:
            text = "<unknown>" if sizes is None else shape_text(sizes)
            raise errors.invalid(
                f"dense_shapes[{i}] has unknown rank or unknown inner dimensions: {text}"
            )
        default = nothing(dtype, (0,)) if defaults is None else defaults[i]
        result.append(Dense(key, dtype, tuple(sizes), default))
    return result


def _texts(value: np.ndarray, what: str) -> list[bytes]:
    if value.ndim != 1:
        raise errors.invalid(
            f"Expected {what} to be a vector, got shape: {shape_text(value.shape)}"
        )
    return value.tolist()


def _packed_or_listed(serialized: Any) -> Sequence[bytes]:
    is_packed = isinstance(serialized, PackedTexts)
    return serialized if is_packed else _texts(serialized, "serialized")


def _text(value: np.ndarray, what: str) -> bytes:
    if value.ndim:
        raise errors.invalid(
            f"Expected {what} to be a scalar, got shape: {shape_text(value.shape)}"
        )
    return value.item()


def _parse_example(
    c: KernelContext,
    serialized: Any,
    names: np.ndarray,
    sparse_keys: Sequence[np.ndarray],
    dense_keys: Sequence[np.ndarray],
    defaults: Sequence[np.ndarray],
) -> list[np.ndarray]:
    named = _texts(names, "names") if names.size else []
    if named and len(named) != serialized.size:
        raise errors.invalid(
            f"Expected len(names) == len(serialized), but got: {len(named)} vs. {serialized.size}"
        )
    texts = _packed_or_listed(serialized)
    memory: _Wanted = c.kernel_state(_Wanted)
    return parse_batch(texts, named, memory.features(c, sparse_keys, dense_keys, defaults))


def _parse_single_example(
    c: KernelContext, serialized: np.ndarray, defaults: Sequence[np.ndarray]
) -> list[np.ndarray]:
    text = _text(serialized, "serialized")
    memory: _Single = c.kernel_state(_Single)
    return memory.parser(c, defaults)(text)


class _Wanted:
    """What a node looks for in batches; put together again when it is given other arrays."""

    def __init__(self) -> None:
        # Keys and defaults that were given last, and what was put together then.
        self._last: tuple[list[Any], list[Any], Features] | None = None

    def features(
        self,
        c: KernelContext,
        sparse_keys: Sequence[np.ndarray],
        dense_keys: Sequence[np.ndarray],
        defaults: Sequence[np.ndarray],
    ) -> Features:
        """The sparse and the dense features."""
        keys, last = [key.tolist() for key in (*sparse_keys, *dense_keys)], self._last
        # (The same array may have other contents by now, which are read where they are needed.)
        if last is not None and last[0] == keys and all(map(operator.is_, last[1], defaults)):
            return last[2]
        attrs = c.op._attrs
        dense = dense_features(dense_keys, attrs["Tdense"], attrs["dense_shapes"], defaults)
        check_defaults(dense)
        found = Features(sparse_features(sparse_keys, attrs["sparse_types"]), dense)
        self._last = keys, list(defaults), found
        return found


class _Single:
    """What reads Examples one by one; made again when other defaults are given."""

    def __init__(self) -> None:
        # The defaults that were given last, and what was made then.
        self._last: tuple[Sequence[np.ndarray], SingleParser] | None = None

    def parser(self, c: KernelContext, defaults: Sequence[np.ndarray]) -> SingleParser:
        """What reads what a node asks for."""
        last = self._last
        # (The same array may have other contents by now, which are read where they are needed.)
        if last is not None and all(map(operator.is_, last[0], defaults)):
            return last[1]
        attrs = c.op._attrs
        dense = dense_features(
            attrs["dense_keys"], attrs["Tdense"], attrs["dense_shapes"], defaults
        )
        check_defaults(dense)
        made = SingleParser(sparse_features(attrs["sparse_keys"], attrs["sparse_types"]), dense)
        self._last = list(defaults), made
        return made


def _asked(
    attrs: dict[Any, Any],
    keys: Sequence[Sequence[Any]],
    defaults: Sequence[np.ndarray],
    missing: Sequence[Any],
) -> Asked:
    """keys: of sparse and dense features of the context, then of lists."""
    dense = dense_features(
        keys[1], attrs["Tcontext_dense"], attrs["context_dense_shapes"], defaults
    )
    for i, asked in enumerate(dense):
        if asked.default.size and asked.default.shape != asked.shape:
            raise errors.invalid(
                f"def_value[{i}].shape() == {shape_text(asked.default.shape)} != "
                f"context_dense_shapes_[{i}] == {shape_text(asked.shape)}"
            )
    return Asked(
        sparse_features(keys[0], attrs["context_sparse_types"]),
        dense,
        sparse_features(keys[2], attrs["feature_list_sparse_types"]),
        dense_features(
            keys[3], attrs["feature_list_dense_types"], attrs["feature_list_dense_shapes"]
        ),
        set(_keys(missing)),
    )


class _AskedOfSequences:
    """What a node looks for in SequenceExamples; put together again when it is given others."""

    def __init__(self) -> None:
        # Keys and shapes of defaults that were given last, and what was put together then.
        self._last: tuple[list[Any], Asked] | None = None

    def asked(
        self,
        c: KernelContext,
        keys: Sequence[Sequence[Any]],
        defaults: Sequence[np.ndarray],
        missing: Sequence[Any],
    ) -> Asked:
        """See `_asked`."""
        names: list[Any] = [list(map(_key, each)) for each in (*keys, missing)]
        names.append([default.shape for default in defaults])
        if self._last is not None and self._last[0] == names:
            return self._last[1].with_defaults(defaults)
        found = _asked(c.op._attrs, keys, defaults, missing)
        self._last = names, found
        return found


def _key(key: Any) -> Any:
    return key.item() if isinstance(key, np.ndarray) else key


_PARTS = ("context_sparse", "context_dense", "feature_list_sparse", "feature_list_dense")


def _parse_sequence(
    c: KernelContext, serialized: Any, debug_name: np.ndarray, defaults: Sequence[np.ndarray]
) -> list[np.ndarray]:
    names = _texts(debug_name, "debug_name") if debug_name.size else []
    texts, attrs = _packed_or_listed(serialized), c.op._attrs
    keys = [attrs[f"{part}_keys"] for part in _PARTS]
    missing = attrs["feature_list_dense_missing_assumed_empty"]
    memory: _AskedOfSequences = c.kernel_state(_AskedOfSequences)
    return parse_sequences(texts, names, memory.asked(c, keys, defaults, missing))


def _parse_single_sequence(
    c: KernelContext,
    serialized: np.ndarray,
    missing: np.ndarray,
    context_sparse: Sequence[np.ndarray],
    context_dense: Sequence[np.ndarray],
    list_sparse: Sequence[np.ndarray],
    list_dense: Sequence[np.ndarray],
    defaults: Sequence[np.ndarray],
    debug_name: np.ndarray,
) -> list[np.ndarray]:
    names = _texts(missing, "feature_list_dense_missing_assumed_empty")
    name = _text(debug_name, "debug_name") if debug_name.size else None
    text = _text(serialized, "serialized")
    keys = (context_sparse, context_dense, list_sparse, list_dense)
    memory: _AskedOfSequences = c.kernel_state(_AskedOfSequences)
    return parse_single_sequence(text, name, memory.asked(c, keys, defaults, names))


def _sparse_shapes(count: int, rank: int) -> list[TensorShape]:
    shapes = (TensorShape([None, rank]), shape_inference.vector(None), shape_inference.vector(rank))
    return [shape for shape in shapes for _ in range(count)]


def _dense_shapes(front: TensorShape, shapes: Sequence[Any]) -> list[TensorShape]:
    return [front.concatenate(as_shape(shape)) for shape in shapes]


def _batch_of(c: ShapeContext) -> int | None:
    for shape in c.inputs[:2]:
        shape_inference.ranked(shape, 1)
    known = shape_inference.dims(c.inputs[0])
    return None if known is None else known[0]


def _example_shapes(c: ShapeContext) -> list[TensorShape]:
    front = shape_inference.vector(_batch_of(c))
    attrs = c.op._attrs
    return [
        *_sparse_shapes(len(attrs["sparse_types"]), 2),
        *_dense_shapes(front, attrs["dense_shapes"]),
    ]


def _single_shapes(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[0], 0)
    attrs = c.op._attrs
    return [
        *_sparse_shapes(len(attrs["sparse_types"]), 1),
        *_dense_shapes(TensorShape([]), attrs["dense_shapes"]),
    ]


def _sequence_shapes(c: ShapeContext) -> list[TensorShape]:
    batch, attrs = _batch_of(c), c.op._attrs
    lists = attrs["feature_list_dense_shapes"]
    return [
        *_sparse_shapes(len(attrs["context_sparse_types"]), 2),
        *_dense_shapes(shape_inference.vector(batch), attrs["context_dense_shapes"]),
        *_sparse_shapes(len(attrs["feature_list_sparse_types"]), 3),
        *_dense_shapes(TensorShape([batch, None]), lists),
        *(shape_inference.vector(batch) for _ in lists),
    ]


def _single_sequence_shapes(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[0], 0)
    shape_inference.ranked(c.inputs[1], 1)
    attrs = c.op._attrs
    return [
        *_sparse_shapes(len(attrs["context_sparse_types"]), 1),
        *_dense_shapes(TensorShape([]), attrs["context_dense_shapes"]),
        *_sparse_shapes(len(attrs["feature_list_sparse_types"]), 2),
        *_dense_shapes(shape_inference.vector(None), attrs["feature_list_dense_shapes"]),
    ]


define(
    "ParseExample",
    "serialized: string, names: string, sparse_keys: Nsparse * string, "
    "dense_keys: Ndense * string, dense_defaults: Tdense -> sparse_indices: Nsparse * int64, "
    "sparse_values: sparse_types, sparse_shapes: Nsparse * int64, dense_values: Tdense",
    f"Nsparse: int >= 0; Ndense: int >= 0; sparse_types: {_KINDS}; Tdense: {_KINDS}; "
    "dense_shapes: list(shape) >= 0",
    shape=_example_shapes,
    kernel=_parse_example,
    is_native=True,
    takes_packed=("serialized",),
    gradient=_TEXT,
    dynamic_shape=True,
    doc="The features of a batch of serialized Examples.",
    test=lambda: {
        "values": [
            [_BATCH, _NONE, [_A], [_B, _C], [_seven(), _seven()]],
            [_BATCH, _NONE, [_C], [_A, _B], [_seven(), _seven()]],
        ],
        "attrs": [{"sparse_types": [dtypes.int64], "dense_shapes": [[], []]}],
    },
)
define(
    "ParseSingleExample",
    "serialized: string, dense_defaults: Tdense -> sparse_indices: num_sparse * int64, "
    "sparse_values: sparse_types, sparse_shapes: num_sparse * int64, dense_values: Tdense",
    "num_sparse: int >= 0; sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; "
    f"sparse_types: {_KINDS}; Tdense: {_KINDS}; dense_shapes: list(shape) >= 0",
    shape=_single_shapes,
    kernel=_parse_single_example,
    rows=examples,
    gradient=_TEXT,
    dynamic_shape=True,
    doc="The features of a serialized Example.",
    test=lambda: {
        "values": [[_ONE, [_seven(), _seven()]]],
        "attrs": [
            {
                "num_sparse": 1,
                "sparse_keys": [sparse],
                "dense_keys": dense,
                "sparse_types": [dtypes.int64],
                "dense_shapes": [[], []],
            }
            for sparse, dense in (("a", ["b", "c"]), ("c", ["a", "b"]))
        ],
    },
)
_CONTEXT = (
    "context_sparse_indices: Ncontext_sparse * int64, "
    "context_sparse_values: context_sparse_types, "
    "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense"
)
_LISTS = (
    "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
    "feature_list_sparse_values: feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse * int64, "
    "feature_list_dense_values: feature_list_dense_types"
)
_COUNTS = "; ".join(f"N{part}: int >= 0 = 0" for part in _PARTS)
define(
    "ParseSequenceExample",
    "serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense -> "
    f"{_CONTEXT}, {_LISTS}, feature_list_dense_lengths: Nfeature_list_dense * int64",
    "feature_list_dense_missing_assumed_empty: list(string) >= 0; "
    "context_sparse_keys: list(string) >= 0; context_dense_keys: list(string) >= 0; "
    "feature_list_sparse_keys: list(string) >= 0; feature_list_dense_keys: list(string) >= 0; "
    f"{_COUNTS}; context_sparse_types: {_KINDS} = []; Tcontext_dense: {_KINDS} = []; "
    f"feature_list_dense_types: {_KINDS} = []; context_dense_shapes: list(shape) >= 0 = []; "
    f"feature_list_sparse_types: {_KINDS} = []; feature_list_dense_shapes: list(shape) >= 0 = []",
    shape=_sequence_shapes,
    kernel=_parse_sequence,
    is_native=True,
    takes_packed=("serialized",),
    gradient=_TEXT,
    dynamic_shape=True,
    doc="The features of a batch of serialized SequenceExamples.",
    test=lambda: {
        "values": [[_BATCH, _NONE, [_seven()]]],
        "attrs": [
            {
                **{f"{part}_keys": [key] for part, key in zip(_PARTS, keys)},
                "feature_list_dense_missing_assumed_empty": [keys[3]],
                **{f"N{part}": 1 for part in _PARTS},
                "context_sparse_types": [dtypes.int64],
                "feature_list_sparse_types": [dtypes.float32],
                "feature_list_dense_types": [dtypes.string],
                "context_dense_shapes": [[]],
                "feature_list_dense_shapes": [[]],
            }
            for keys in ("abcd", "badc")
        ],
    },
)
define(
    "ParseSingleSequenceExample",
    "serialized: string, feature_list_dense_missing_assumed_empty: string, "
    "context_sparse_keys: Ncontext_sparse * string, "
    "context_dense_keys: Ncontext_dense * string, "
    "feature_list_sparse_keys: Nfeature_list_sparse * string, "
    "feature_list_dense_keys: Nfeature_list_dense * string, "
    f"context_dense_defaults: Tcontext_dense, debug_name: string -> {_CONTEXT}, {_LISTS}",
    f"{_COUNTS}; context_sparse_types: {_KINDS} = []; Tcontext_dense: {_KINDS} = []; "
    f"feature_list_dense_types: {_KINDS} = []; context_dense_shapes: list(shape) >= 0 = []; "
    f"feature_list_sparse_types: {_KINDS} = []; feature_list_dense_shapes: list(shape) >= 0 = []",
    shape=_single_sequence_shapes,
    kernel=_parse_single_sequence,
    is_native=True,
    rows=sequence_examples,
    gradient=_TEXT,
    dynamic_shape=True,
    doc="The features of a serialized SequenceExample.",
    test=lambda: {
        "values": [[_ONE, np.array([b"b"], object), [_A], [_A], [_B], [_B], [_seven()], _B]],
        "attrs": [
            {
                "context_sparse_types": [dtypes.int64],
                "feature_list_sparse_types": [dtypes.float32],
                "feature_list_dense_types": [dtypes.string],
                "context_dense_shapes": [[]],
                "feature_list_dense_shapes": [[]],
            }
        ],
    },
)
