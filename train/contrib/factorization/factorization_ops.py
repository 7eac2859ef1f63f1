# SPDX-License-Identifier: Apache-2.0
"""Weighted alternating least squares: a sparse matrix as the product of two narrow ones."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import SparseTensor
from ....ops.public import tf
from . import wals_variables as made
from .wals_solution import Side, solve

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor

_Solution = tuple["Tensor", "Operation", "Tensor", "Tensor", "Tensor"]


@export("contrib.factorization.WALSModel")
class WALSModel:
    """Factors U and V of a matrix A of which few elements are known.

    They make the sum of w (a - u v)² small, with what their squares cost.  An unknown element
    counts as a zero of weight `unobserved_weight`, a known one has the product of its row's and its
    column's weight more.

    Args:
        input_rows, input_cols: the shape of A.
        n_components: the width of the factors.
        unobserved_weight: how much elements count that are not known.
        regularization: what the squares of the factors cost; None for nothing.
        row_init, col_init: "random", a tensor, or a list of one for each shard.
        num_row_shards, num_col_shards: how many variables the factors are in.
        row_weights, col_weights: a number, weights, or a list of them for each shard; None for
            elements that all count the same.
        use_factors_weights_cache: whether workers keep copies of factors and weights.
        use_gramian_cache: whether workers keep copies of the factors' products with themselves.
        use_scoped_vars: whether operations of variables are in name scopes.

    Raises:
        ValueError: weights are of a kind that they cannot be.

    Example:
        >>> model = tf.contrib.factorization.WALSModel(3, 2, 1, row_init=tf.ones([3, 1]))
        >>> known = tf.SparseTensor([[0, 0], [2, 1]], [1.0, 2.0], [3, 2])
        >>> update = model.update_col_factors(known)[1]
        >>> with tf.Session() as sess:
        ...     sess.run(tf.group(model.initialize_op, tf.local_variables_initializer()))
        ...     sess.run(model.worker_init)
        ...     sess.run(model.col_update_prep_gramian_op)
        ...     sess.run(model.initialize_col_update_op)
        ...     sess.run(update)
        ...     sess.run(model.col_factors[0]).round(3)
        array([[0.846],
               [1.692]], dtype=float32)
    """

    def __init__(
        self,
        input_rows: int,
        input_cols: int,
        n_components: int,
        unobserved_weight: float = 0.1,
        regularization: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True,
        use_scoped_vars: bool = False,
    ) -> None:
        self._input_rows, self._input_cols = input_rows, input_cols
        self._num_row_shards, self._num_col_shards = num_row_shards, num_col_shards
        self._n_components = n_components
        self._unobserved_weight, self._regularization = unobserved_weight, regularization
        self._regularization_matrix = (
            regularization * tf.eye(n_components) if regularization is not None else None
        )
        if (row_weights is None) != (col_weights is None):
            raise AssertionError("row_weights and col_weights are None both or neither")
        self._use_factors_weights_cache = use_factors_weights_cache
        self._use_gramian_cache = use_gramian_cache

        def scope(name: str) -> Any:
            return tf.name_scope(name) if use_scoped_vars else nullcontext()

        rows, cols = (input_rows, num_row_shards), (input_cols, num_col_shards)
        with scope("row_weights"):
            self._row_weights = self._create_weights(row_weights, *rows, "row_weights")
        with scope("col_weights"):
            self._col_weights = self._create_weights(col_weights, *cols, "col_weights")
        with scope("row_factors"):
            self._row_factors = self._create_factors(
                input_rows, n_components, num_row_shards, row_init, "row_factors"
            )
        with scope("col_factors"):
            self._col_factors = self._create_factors(
                input_cols, n_components, num_col_shards, col_init, "col_factors"
            )
        self._row_gramian = made.create_gramian(n_components, "row_gramian")
        self._col_gramian = made.create_gramian(n_components, "col_gramian")
        with tf.name_scope("row_prepare_gramian"):
            self._row_update_prep_gramian = made.prepare_gramian(
                self._col_factors, self._col_gramian
            )
        with tf.name_scope("col_prepare_gramian"):
            self._col_update_prep_gramian = made.prepare_gramian(
                self._row_factors, self._row_gramian
            )
        with tf.name_scope("transient_vars"):
            self._create_transient_vars()

    _create_factors = staticmethod(made.create_factors)
    _create_weights = staticmethod(made.create_weights)
    _shard_sizes = staticmethod(made.shard_sizes)
    _get_sharding_func = staticmethod(made.sharding_function)
    scatter_update = staticmethod(made.scatter_update)

    def _create_transient_vars(self) -> None:
        """Copies for workers, and what fills and empties them."""
        factors, gramians = not self._use_factors_weights_cache, not self._use_gramian_cache
        row_factors = made.cached_copy(self._row_factors, "row_factors_cache", factors)
        col_factors = made.cached_copy(self._col_factors, "col_factors_cache", factors)
        row_weights = made.cached_copy(self._row_weights, "row_wt_cache", factors)
        col_weights = made.cached_copy(self._col_weights, "col_wt_cache", factors)
        row_gramian = made.cached_copy(self._row_gramian, "row_gramian_cache", gramians)
        col_gramian = made.cached_copy(self._col_gramian, "col_gramian_cache", gramians)
        self._row_factors_cache, self._col_factors_cache = row_factors.values, col_factors.values
        self._row_wt_cache, self._col_wt_cache = row_weights.values, col_weights.values
        self._row_gramian_cache, self._col_gramian_cache = row_gramian.values, col_gramian.values
        self._row_updates_init = tf.group(
            col_factors.fill, row_factors.empty, col_gramian.fill, row_gramian.empty
        )
        self._col_updates_init = tf.group(
            row_factors.fill, col_factors.empty, row_gramian.fill, col_gramian.empty
        )
        if self._row_wt_cache is None:
            self._worker_init = tf.no_op(name="worker_init")
        else:
            self._worker_init = tf.group(row_weights.fill, col_weights.fill, name="worker_init")

    @property
    def row_factors(self) -> list[Any]:
        """The shards of the factors of rows."""
        return self._row_factors

    @property
    def col_factors(self) -> list[Any]:
        """The shards of the factors of columns."""
        return self._col_factors

    @property
    def row_weights(self) -> list[Any] | None:
        """The shards of the weights of rows, or None."""
        return self._row_weights

    @property
    def col_weights(self) -> list[Any] | None:
        """The shards of the weights of columns, or None."""
        return self._col_weights

    @property
    def initialize_op(self) -> Operation:
        """The operation that initializes the variables that workers share."""
        found = [*self._row_factors, *self._col_factors, self._row_gramian, self._col_gramian]
        return tf.variables_initializer(
            [*found, *(self._row_weights or ()), *(self._col_weights or ())]
        )

    @property
    def worker_init(self) -> Operation:
        """The operation with which each worker begins."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> Operation:
        """To be run once before rows are updated, by one worker."""
        return self._row_update_prep_gramian

    @property
    def col_update_prep_gramian_op(self) -> Operation:
        """To be run once before columns are updated, by one worker."""
        return self._col_update_prep_gramian

    @property
    def initialize_row_update_op(self) -> Operation:
        """To be run by each worker before it updates rows."""
        return self._row_updates_init

    @property
    def initialize_col_update_op(self) -> Operation:
        """To be run by each worker before it updates columns."""
        return self._col_updates_init

    def update_row_factors(
        self, sp_input: SparseTensor | None = None, transpose_input: bool = False
    ) -> _Solution:
        """Solves for the factors of the rows that an input has elements of.

        Args:
            sp_input: some rows of A, all known elements of them.
            transpose_input: whether it is columns of the transpose of A.

        Returns:
            The new factors, the operation that stores them, the loss that the rows stand for, what
            the squares of all factors cost, and the sum of all weights.
        """
        return self._process_input_helper(True, sp_input, transpose_input)

    def update_col_factors(
        self, sp_input: SparseTensor | None = None, transpose_input: bool = False
    ) -> _Solution:
        """Solves for the factors of the columns that an input has elements of.

        Args:
            sp_input: some columns of A, all known elements of them.
            transpose_input: whether it is rows of the transpose of A.

        Returns:
            As `update_row_factors`.
        """
        return self._process_input_helper(False, sp_input, transpose_input)

    def project_row_factors(
        self,
        sp_input: SparseTensor | None = None,
        transpose_input: bool = False,
        projection_weights: Any = None,
    ) -> Tensor:
        """The factors of rows, known to the model or not; nothing is stored.

        Args:
            sp_input, transpose_input: as of `update_row_factors`.
            projection_weights: the weights of the rows, or of each; 1 if None.
        """
        weights = 1 if projection_weights is None else projection_weights
        return self._process_input_helper(True, sp_input, transpose_input, weights)[0]

    def project_col_factors(
        self,
        sp_input: SparseTensor | None = None,
        transpose_input: bool = False,
        projection_weights: Any = None,
    ) -> Tensor:
        """The factors of columns, known to the model or not; nothing is stored.

        Args:
            sp_input, transpose_input: as of `update_col_factors`.
            projection_weights: the weights of the columns, or of each; 1 if None.
        """
        weights = 1 if projection_weights is None else projection_weights
        return self._process_input_helper(False, sp_input, transpose_input, weights)[0]

    def _process_input_helper(
        self,
        update_row_factors: bool,
        sp_input: SparseTensor | None = None,
        transpose_input: bool = False,
        row_weights: Any = None,
    ) -> _Solution:
        if not isinstance(sp_input, SparseTensor):
            raise AssertionError(f"sp_input must be a SparseTensor, not {type(sp_input)}")
        rows, cols = self._input_rows, self._input_cols
        if update_row_factors:
            side = Side(
                *("row_update", self._row_factors, self._col_factors_cache),
                *(self._row_wt_cache, self._col_wt_cache, self._col_gramian_cache),
                *(rows, cols, made.sharding_function(rows, self._num_row_shards)),
            )
        else:
            side = Side(
                *("col_update", self._col_factors, self._row_factors_cache),
                *(self._col_wt_cache, self._row_wt_cache, self._row_gramian_cache),
                *(cols, rows, made.sharding_function(cols, self._num_col_shards)),
            )
            transpose_input = not transpose_input
        return solve(
            *(side, sp_input, transpose_input, row_weights),
            *(self._unobserved_weight, self._regularization, self._regularization_matrix),
        )
