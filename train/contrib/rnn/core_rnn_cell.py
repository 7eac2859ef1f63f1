# SPDX-License-Identifier: Apache-2.0
"""Wrappers that put an embedding or a projection before or behind a cell."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....engine.interface import log
from ....ops.nn.embedding import embedding_lookup
from ....ops.public import tf
from ...rnn.cell import RNNCell, assert_like_rnncell
from .parts import Linear, WrappedCell, linear

if TYPE_CHECKING:
    from ..structures import Structure

# The names by which programs that look inside know these.
_Linear, _linear = Linear, linear
__all__ = [
    *("EmbeddingWrapper", "InputProjectionWrapper", "OutputProjectionWrapper", "RNNCell"),
    *("_Linear", "_linear"),
]


@export("contrib.rnn.EmbeddingWrapper")
class EmbeddingWrapper(WrappedCell):
    """A cell whose inputs are numbers of rows of an embedding (tf.contrib.rnn.EmbeddingWrapper).

    Args:
        cell: the cell.
        embedding_classes: the number of rows.
        embedding_size: the size of a row.
        initializer: of the embedding; the scope's, or uniform in ±sqrt(3), if None.
        reuse: True takes variables that exist.

    Raises:
        TypeError: `cell` is no cell.
        ValueError: a size is not positive.

    Example:
        >>> cell = tf.contrib.rnn.EmbeddingWrapper(tf.nn.rnn_cell.GRUCell(4), 10, 3)
        >>> output, state = cell(tf.constant([1, 7]), cell.zero_state(2, tf.float32))
        >>> print(output.shape)
        (2, 4)
    """

    def __init__(
        self,
        cell: RNNCell,
        embedding_classes: int,
        embedding_size: int,
        initializer: Callable[..., Any] | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._cell = cell
        self._embedding_classes = embedding_classes
        self._embedding_size = embedding_size
        self._initializer = initializer

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step of the cell on the rows."""
        with tf.device("/cpu:0"):
            bound = math.sqrt(3)  # of variance 1
            initializer = (
                self._initializer
                or tf.get_variable_scope().initializer
                or tf.random_uniform_initializer(-bound, bound)
            )
            embedding = tf.get_variable(
                "embedding",
                [self._embedding_classes, self._embedding_size],
                initializer=initializer,
                dtype=(state[0] if isinstance(state, tuple) else state).dtype,
            )
            embedded = embedding_lookup(embedding, tf.reshape(inputs, [-1]))
            return self._cell(embedded, state)


@export("contrib.rnn.InputProjectionWrapper")
class InputProjectionWrapper(WrappedCell):
    """A cell whose inputs are projected first (tf.contrib.rnn.InputProjectionWrapper).

    Args:
        cell: the cell.
        num_proj: the size that the inputs are projected to.
        activation: is applied to what is projected, if given.
        input_size: is ignored; deprecated.
        reuse: True takes variables that exist.

    Raises:
        TypeError: `cell` is no cell.

    Example:
        >>> cell = tf.contrib.rnn.InputProjectionWrapper(tf.nn.rnn_cell.GRUCell(4), num_proj=3)
        >>> output, state = cell(tf.zeros([2, 7]), cell.zero_state(2, tf.float32))
        >>> print([v.shape.as_list() for v in tf.trainable_variables()][0])
        [7, 3]
    """

    def __init__(
        self,
        cell: RNNCell,
        num_proj: int,
        activation: Callable[..., Any] | None = None,
        input_size: int | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if input_size is not None:
            log.warn("%s: The input_size parameter is deprecated.", self)
        assert_like_rnncell("cell", cell)
        self._cell = cell
        self._num_proj = num_proj
        self._activation = activation
        self._linear: Linear | None = None

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step of the cell on the projection."""
        if self._linear is None:
            self._linear = Linear(inputs, self._num_proj, True)
        projected = self._linear(inputs)
        return self._cell(self._activation(projected) if self._activation else projected, state)


@export("contrib.rnn.OutputProjectionWrapper")
class OutputProjectionWrapper(WrappedCell):
    """A cell whose outputs are projected (tf.contrib.rnn.OutputProjectionWrapper).

    Args:
        cell: the cell.
        output_size: the size that the outputs are projected to.
        activation: is applied to what is projected, if given.
        reuse: True takes variables that exist.

    Raises:
        TypeError: `cell` is no cell.
        ValueError: the size is not positive.

    Example:
        >>> cell = tf.contrib.rnn.OutputProjectionWrapper(tf.nn.rnn_cell.GRUCell(4), 2)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, state.shape)
        (2, 2) (2, 4)
    """

    def __init__(
        self,
        cell: RNNCell,
        output_size: int,
        activation: Callable[..., Any] | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._cell = cell
        self._output_size = output_size
        self._activation = activation
        self._linear: Linear | None = None

    @property
    def output_size(self) -> int:
        """The size of the projection."""
        return self._output_size

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step of the cell, projected."""
        output, new_state = self._cell(inputs, state)
        if self._linear is None:
            self._linear = Linear(output, self._output_size, True)
        projected = self._linear(output)
        return (self._activation(projected) if self._activation else projected), new_state
