# SPDX-License-Identifier: Apache-2.0
"""Columns of the combinations of others' categories."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .....engine.api import export
from ..sparse_feature_cross_op import sparse_feature_cross
from .protocol import Categorical, check_checkpoint, zero_weights
from .real_valued import _BucketizedColumn
from .sparse import _SparseColumn

if TYPE_CHECKING:
    from .....engine.graph.tensor import SparseTensor


class _CrossedColumn(
    Categorical,
    namedtuple(
        "_CrossedColumn",
        (
            "columns",
            "hash_bucket_size",
            "hash_key",
            "combiner",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
        ),
    ),
):
    """What crossed_column gives."""

    def __new__(
        cls,
        columns: Sequence[Any],
        hash_bucket_size: int,
        hash_key: int | None,
        combiner: str = "sum",
        ckpt_to_load_from: str | None = None,
        tensor_name_in_ckpt: str | None = None,
    ) -> Any:
        for column in columns:
            if not isinstance(column, (_SparseColumn, _CrossedColumn, _BucketizedColumn)):
                raise TypeError(
                    "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn "
                    f"instances. (column {column} is a {type(column).__name__})"
                )
        if len(columns) < 2:
            raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
        if hash_bucket_size < 2:
            raise ValueError(
                f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}"
            )
        check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        by_name = tuple(sorted(columns, key=lambda column: column.name))
        return super().__new__(
            cls,
            by_name,
            hash_bucket_size,
            hash_key,
            combiner,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
        )

    @property
    def name(self) -> str:
        """The names of all that is combined, in order."""
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def config(self) -> dict[str, Any]:
        """How all that is combined is read."""
        return {key: value for column in self.columns for key, value in column.config.items()}

    @property
    def length(self) -> int:
        """The number of ids."""
        return self.hash_bucket_size  # type: ignore[no-any-return]

    @property
    def parent_columns(self) -> tuple[Any, ...]:
        """The columns that are combined."""
        return tuple(self.columns)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        raise ValueError(
            f"CrossedColumn is not supported in DNN. Please use embedding_column. column: {self}"
        )

    def _checkpoint_path(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        return zero_weights(input_tensor, None, self.length, self.combiner)

    def _transform_feature(self, inputs: Any) -> SparseTensor:
        tensors = []
        for column in _leaves(self):
            # What categories are by themselves is hashed, not their ids.
            if isinstance(column, _SparseColumn):
                tensors.append(inputs.get(column.name))
            else:
                tensors.append(column.to_sparse_tensor(inputs.get(column)))
        return sparse_feature_cross(
            tensors,
            hashed_output=True,
            num_buckets=self.hash_bucket_size,
            hash_key=self.hash_key,
            name="cross",
        )


def _leaves(cross: _CrossedColumn) -> list[Any]:
    """The columns of a cross, with those of crosses among them instead of the crosses."""
    leaves: list[Any] = []
    for column in cross.columns:
        leaves += _leaves(column) if isinstance(column, _CrossedColumn) else [column]
    return leaves


@export("contrib.layers.crossed_column")
def crossed_column(
    columns: Sequence[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> _CrossedColumn:
    """A column of all combinations of categories, numbered by their hashes.

    Args:
        columns: two or more columns of categories, ranges or combinations.
        hash_bucket_size: the number of ids, which hashes are taken modulo.
        combiner: how weights of an example's ids are put together: "sum", "mean" or "sqrtn".
        ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint and the name of the tensor in it with
            which weights of linear models begin.
        hash_key: what fingerprints begin with; None hashes in an older way.

    Returns:
        A column for linear models; networks take it within `embedding_column`.

    Raises:
        TypeError: one of the columns is of another kind.
        ValueError: there are fewer columns than two, or fewer ids.

    Example:
        >>> layers = tf.contrib.layers
        >>> make = layers.sparse_column_with_hash_bucket("make", 100)
        >>> color = layers.sparse_column_with_keys("color", ["red", "blue"])
        >>> layers.crossed_column([make, color], 1000).name
        'color_X_make'
    """
    return _CrossedColumn(
        columns,
        hash_bucket_size,
        hash_key,
        combiner=combiner,
        ckpt_to_load_from=ckpt_to_load_from,
        tensor_name_in_ckpt=tensor_name_in_ckpt,
    )
