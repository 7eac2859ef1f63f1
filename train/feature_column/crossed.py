# SPDX-License-Identifier: Apache-2.0
"""Columns of combinations of categories."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.types import dtypes
from ...ops.public import tf
from ...ops.sparse.cross import sparse_cross_hashed
from .categorical import HashedCategoricalColumn
from .protocol import (
    CategoricalColumn,
    IdWeightPair,
    _CategoricalColumn,
    _FeatureColumn,
    arguments_of,
    config_of,
    is_new,
    sparse_tensors_of,
    spec_of,
)
from .serialization import deserialize_feature_column, serialize_feature_column

if TYPE_CHECKING:
    from ...engine.graph.tensor import SparseTensor
    from .state import Cache, Objects, StateManager


@export("feature_column.crossed_column")
def crossed_column(
    keys: Iterable[Any], hash_bucket_size: int, hash_key: int | None = None
) -> CrossedColumn:
    """A column of all combinations of categories, numbered by their hashes.

    Args:
        keys: two or more names of features, or categorical columns but those by hash.
        hash_bucket_size: the number of categories, which hashes are taken modulo.
        hash_key: what fingerprints begin with; None is TensorFlow's own.

    Returns:
        A categorical column.

    Raises:
        ValueError: there are fewer keys than two, one is of another kind, or the size is wrong.

    Example:
        >>> tf.feature_column.crossed_column(["make", "color"], 1000).name
        'color_X_make'
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:  # type: ignore[arg-type]
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, _CategoricalColumn)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column "
                f"except HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before "
                "crossing will increase probability of collision. Instead, use the feature name as "
                f"a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


class CrossedColumn(
    CategoricalColumn, namedtuple("CrossedColumn", ("keys", "hash_bucket_size", "hash_key"))
):
    """What crossed_column gives."""

    @property
    def _is_v2_column(self) -> bool:
        return all(isinstance(key, str) or is_new(key) for key in collect_leaf_level_keys(self))

    @property
    def name(self) -> str:
        """The names of all that is combined, in order."""
        keys = collect_leaf_level_keys(self)
        return "_X_".join(
            sorted(key.name if isinstance(key, _FeatureColumn) else key for key in keys)
        )

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How all that is combined is read."""
        spec: dict[str, Any] = {}
        for key in self.keys:
            of_text = isinstance(key, str)
            spec.update({key: tf.VarLenFeature(dtypes.string)} if of_text else spec_of(key))
        return spec

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> SparseTensor:
        """The hashes of the combinations."""
        tensors = []
        for key in collect_leaf_level_keys(self):
            if isinstance(key, str):
                tensors.append(transformation_cache.get(key, state_manager))
                continue
            ids = sparse_tensors_of(key, transformation_cache, state_manager)
            if ids.weight_tensor is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates "
                    f"weight_tensor. Given column: {key.name}"
                )
            tensors.append(ids.id_tensor)
        return sparse_cross_hashed(
            inputs=tensors, num_buckets=self.hash_bucket_size, hash_key=self.hash_key
        )

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        return self.hash_bucket_size  # type: ignore[no-any-return]

    def get_sparse_tensors(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> IdWeightPair:
        """The ids, without weights."""
        return IdWeightPair(transformation_cache.get(self, state_manager), None)

    @property
    def parents(self) -> list[Any]:
        """The columns and keys that are combined."""
        return list(self.keys)

    def _get_config(self) -> dict[str, Any]:
        keys = tuple(serialize_feature_column(key) for key in self.keys)
        return {**config_of(self), "keys": keys}

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Objects = None, columns_by_name: Objects = None
    ) -> CrossedColumn:
        given = arguments_of(cls, config)
        given["keys"] = tuple(
            deserialize_feature_column(key, custom_objects, columns_by_name)
            for key in config["keys"]
        )
        return cls(**given)


def collect_leaf_level_keys(cross: Any) -> list[Any]:
    """The keys of a cross, with those of crosses among them instead of the crosses."""
    leaves: list[Any] = []
    for key in cross.keys:
        leaves += collect_leaf_level_keys(key) if isinstance(key, CrossedColumn) else [key]
    return leaves
