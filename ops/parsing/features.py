# SPDX-License-Identifier: Apache-2.0
"""What is asked of an Example: kinds of features, and what they mean for the ops that parse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import Tensor
from ...engine.interface.log import warning
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape
from ..array.constant import constant
from ..public import tf

if TYPE_CHECKING:
    from ...engine.types.dtypes import DType


@export("io.VarLenFeature", "VarLenFeature")
class VarLenFeature(NamedTuple):
    """A feature of any number of values, parsed as a SparseTensor (tf.io.VarLenFeature)."""

    dtype: Any


@export("io.SparseFeature", "SparseFeature")
class SparseFeature(NamedTuple):
    """Features of indices and of values, parsed as one SparseTensor (tf.io.SparseFeature).

    index_key: one key, or one for each dimension; size: likewise, how large dimensions are.
    already_sorted: whether indices come in order.
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


@export("io.FixedLenFeature", "FixedLenFeature")
class FixedLenFeature(NamedTuple):
    """A feature of one shape; required unless it has a default (tf.io.FixedLenFeature)."""

    shape: Any
    dtype: Any
    default_value: Any = None


@export("io.FixedLenSequenceFeature", "FixedLenSequenceFeature")
class FixedLenSequenceFeature(NamedTuple):
    """A feature of rows of one shape, padded in batches (tf.io.FixedLenSequenceFeature)."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class Wanted:
    """Features by the kinds that the ops know: sparse and dense ones."""

    def __init__(self, features: Mapping[str, Any] | None, kinds: Iterable[type]) -> None:
        self.sparse_keys: list[str] = []
        self.sparse_types: list[Any] = []
        self.dense_keys: list[str] = []
        self.dense_types: list[Any] = []
        self.dense_shapes: list[Any] = []
        self.dense_defaults: dict[str, Any] = {}
        adders = {
            VarLenFeature: self._add_variable,
            SparseFeature: self._add_sparse,
            FixedLenFeature: self._add_fixed,
            FixedLenSequenceFeature: self._add_rows,
        }
        # In order of keys: the ops' outputs are told apart by their place.
        for key in sorted(features or ()):
            feature = (features or {})[key]
            kind = next((kind for kind in adders if isinstance(feature, kind)), None)
            if kind is None:
                raise ValueError(f"Invalid feature {key}:{feature}.")
            if kind not in kinds:
                raise ValueError(f"Unsupported {kind.__name__} {feature}.")
            adders[kind](key, feature)

    @staticmethod
    def _require_type(key: str, feature: Any) -> None:
        if not feature.dtype:
            raise ValueError(f"Missing type for feature {key}.")

    def _add_variable(self, key: str, feature: Any) -> None:
        self._require_type(key, feature)
        self.sparse_keys.append(key)
        self.sparse_types.append(feature.dtype)

    def _add_sparse(self, key: str, feature: Any) -> None:
        if not feature.index_key:
            raise ValueError(f"Missing index_key for SparseFeature {feature}.")
        if not feature.value_key:
            raise ValueError(f"Missing value_key for SparseFeature {feature}.")
        self._require_type(key, feature)
        keys = feature.index_key
        keys = [keys] if isinstance(keys, str) else keys
        if len(keys) > 1:
            warning(
                "SparseFeature is a complicated feature config and should only be used after "
                "careful consideration of VarLenFeature."
            )
        for index_key in sorted(keys):
            known = self._sparse_type(index_key, dtypes.int64)
            if known != dtypes.int64:
                raise ValueError(f"Conflicting type {known} vs int64 for feature {index_key}.")
        known = self._sparse_type(feature.value_key, feature.dtype)
        if known != feature.dtype:
            raise ValueError(
                f"Conflicting type {known} vs {feature.dtype} for feature {feature.value_key}."
            )

    def _sparse_type(self, key: str, dtype: DType) -> Any:
        """The type of a sparse feature, which is added if it is not there yet."""
        if key not in self.sparse_keys:
            self.sparse_keys.append(key)
            self.sparse_types.append(dtype)
        return self.sparse_types[self.sparse_keys.index(key)]

    def _require_shape(self, key: str, feature: Any) -> None:
        self._require_type(key, feature)
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")

    def _add_dense(self, key: str, feature: Any) -> None:
        self.dense_keys.append(key)
        self.dense_shapes.append(feature.shape)
        self.dense_types.append(feature.dtype)
        if feature.default_value is not None:
            self.dense_defaults[key] = feature.default_value

    def _add_fixed(self, key: str, feature: Any) -> None:
        self._require_shape(key, feature)
        sizes = as_shape(feature.shape).sizes
        if feature.shape and sizes and sizes[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. "
                "Consider using FixedLenSequenceFeature."
            )
        if sizes is None or None in sizes:
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but received "
                f"{feature.shape}."
            )
        self._add_dense(key, feature)

    def _add_rows(self, key: str, feature: Any) -> None:
        self._require_shape(key, feature)
        if feature.allow_missing:
            self.dense_defaults[key] = None
        self._add_dense(key, feature)

    @property
    def count(self) -> int:
        """The number of keys."""
        return len(self.sparse_keys) + len(self.dense_keys)

    def require(self, what: str = "") -> None:
        """ValueError for keys that are both dense and sparse."""
        both = set(self.dense_keys) & set(self.sparse_keys)
        if both and what:
            raise ValueError(
                f"{what}_dense and {what}_sparse keys must not intersect; intersection: {both}"
            )
        if both:
            raise ValueError(f"Dense and sparse keys must not intersect; intersection: {both}")

    def defaults(self, reshapes: bool = True) -> list[Any]:
        """A tensor for each dense feature: its default, what pads it, or nothing."""
        return [
            self._default(key, dtype, as_shape(shape), reshapes)
            for key, dtype, shape in zip(self.dense_keys, self.dense_types, self.dense_shapes)
        ]

    def _default(self, key: str, dtype: DType, shape: TensorShape, reshapes: bool) -> Tensor:
        value = self.dense_defaults.get(key)
        if shape.sizes and shape.sizes[0] is None:
            if value is None:
                zero: Any = "" if dtype == dtypes.string else 0
                return convert_to_tensor(zero, dtype=dtype)
            padding = convert_to_tensor(value, dtype=dtype, name=f"padding_{plain_name(key)}")
            return tf.reshape(padding, [])
        if value is None:
            return constant([], dtype=dtype)
        if isinstance(value, Tensor):
            return value
        made = convert_to_tensor(value, dtype=dtype, name=f"key_{plain_name(key)}")
        return tf.reshape(made, shape) if reshapes else made


def plain_name(key: str) -> str:
    """A key as part of the name of an operation."""
    return re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)


def with_rows(features: Mapping[str, Any]) -> dict[str, Any]:
    """Features whose sequences have a first dimension of any size."""
    result = dict(features)
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError(
                    "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
                )
            result[key] = feature._replace(shape=[None, *feature.shape])
    return result


def with_merged(features: Mapping[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Of what was parsed what was asked for; sparse features are put together from their parts."""
    found = dict(found)
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            keys: str | Sequence[str] = feature.index_key
            ids: Any = found[keys] if isinstance(keys, str) else [found[each] for each in keys]
            found[key] = tf.sparse_merge(
                ids,
                found[feature.value_key],
                vocab_size=feature.size,
                already_sorted=feature.already_sorted,
            )
    return {key: value for key, value in found.items() if key in features}
