# SPDX-License-Identifier: Apache-2.0
"""A decoder that calls a cell, and a helper for what comes next."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import nest
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...layers import base
from ...rnn.cell import assert_like_rnncell
from .decoder import Decoder
from .helper import Helper

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure


@export("contrib.seq2seq.BasicDecoderOutput")
class BasicDecoderOutput(namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """The outputs of a BasicDecoder (tf.contrib.seq2seq.BasicDecoderOutput).

    Args:
        rnn_output: what the cell, or the layer behind it, gives.
        sample_id: what the helper took from that.
    """

    __slots__ = ()


def check_output_layer(layer: object) -> None:
    """Raises a TypeError for what is no layer, and not None."""
    if layer is not None and not isinstance(layer, base.base_layer.Layer):
        raise TypeError(f"output_layer must be a Layer, received: {type(layer)}")


def size_behind(cell: Any, layer: Any) -> Any:
    """The sizes of a cell's output, behind a layer if there is one."""
    size = cell.output_size
    if layer is None:
        return size
    shapes = nest.map_structure(lambda s: TensorShape([None]).concatenate(s), size)
    return nest.map_structure(lambda s: s[1:], layer.compute_output_shape(shapes))


@export("contrib.seq2seq.BasicDecoder")
class BasicDecoder(Decoder):
    """A cell whose inputs a helper chooses (tf.contrib.seq2seq.BasicDecoder).

    Args:
        cell: an RNNCell.
        helper: a Helper.
        initial_state: the cell's state before the first step.
        output_layer: a tf.layers.Layer for the cell's outputs, such as a Dense one; None for none.

    Raises:
        TypeError: one of them is something else.

    Example:
        >>> embedding, cell = tf.zeros([10, 3]), tf.nn.rnn_cell.GRUCell(4)
        >>> helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(embedding, [1, 1], end_token=0)
        >>> state, layer = cell.zero_state(2, tf.float32), tf.layers.Dense(10)
        >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, state, layer)
        >>> outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=5)
        >>> print(outputs.rnn_output.shape, outputs.sample_id.shape)
        (2, ?, 10) (2, ?)
    """

    def __init__(
        self, cell: Any, helper: Helper, initial_state: Structure, output_layer: Any = None
    ) -> None:
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        check_output_layer(output_layer)
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        """How many sequences there are."""
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        return size_behind(self._cell, self._output_layer)

    @property
    def output_size(self) -> BasicDecoderOutput:
        """The sizes of an output."""
        return BasicDecoderOutput(self._rnn_output_size(), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """The dtypes of an output: that of the state, and that of samples."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        kinds = nest.map_structure(lambda _: dtype, self._rnn_output_size())
        return BasicDecoderOutput(kinds, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> tuple[Any, ...]:
        """(finished, first inputs, first state)."""
        return (*self._helper.initialize(), self._initial_state)

    def step(
        self, time: Tensor, inputs: Structure, state: Structure, name: str | None = None
    ) -> Any:
        """(outputs, next state, next inputs, finished)."""
        with tf.name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, new_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            given = {"time": time, "outputs": outputs, "state": new_state}
            ids = self._helper.sample(**given)
            finished, next_inputs, next_state = self._helper.next_inputs(**given, sample_ids=ids)
        return BasicDecoderOutput(outputs, ids), next_state, next_inputs, finished
