# SPDX-License-Identifier: Apache-2.0
"""Combinations of the features of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import constant
from ....ops.public import raw
from ....ops.sparse.cross import DEFAULT_HASH_KEY, cross_with

if TYPE_CHECKING:
    from ....engine.graph.tensor import SparseTensor

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = DEFAULT_HASH_KEY
constant("contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY", DEFAULT_HASH_KEY)


def sparse_feature_cross(
    inputs: list[Any],
    hashed_output: bool = False,
    num_buckets: int = 0,
    name: str | None = None,
    hash_key: int | None = None,
) -> SparseTensor:
    """All combinations of the features of a row, one of each input.

    Args:
        inputs: a list of tensors and sparse tensors [batch, features] of strings or integers.
        hashed_output: whether hashes are given in the place of texts joined by "_X_".
        num_buckets: the hashes are taken modulo this; 0 leaves them as they are.
        name: of the op.
        hash_key: what fingerprints begin with; None hashes in an older way.

    Returns:
        A SparseTensor of int64 or strings [batch, the most combinations of a row].

    Raises:
        TypeError: inputs is no list of tensors.
    """
    options: dict[str, Any] = {"hash_key": hash_key} if hash_key else {}
    op: Any = raw.SparseFeatureCrossV2 if hash_key else raw.SparseFeatureCross
    return cross_with(op, inputs, hashed_output, num_buckets, name=name, **options)
