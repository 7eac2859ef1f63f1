# SPDX-License-Identifier: Apache-2.0
"""`BaseDecoder` and `BasicDecoderV2`: decoders that are layers of Keras.

They are made without tensors, and called with all that a decoder begins with.  TensorFlow 1.15 has
them in its modules `decoder` and `basic_decoder`, without public names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.types import nest
from ....engine.types.shape import TensorShape
from ...keras.layers.style import KerasLayer
from ...layers import base_layer
from ...rnn.cell import assert_like_rnncell
from .basic_decoder import BasicDecoderOutput, size_behind
from .decoder import AnyDecoder, dynamic_decode
from .sampler import Sampler

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure


class BaseDecoder(AnyDecoder, KerasLayer):
    """A decoder that decodes when it is called.

    Subclasses have `batch_size`, `output_size`, `output_dtype`, `initialize` and `step`, and may
    have `finalize`.

    Args:
        output_time_major, impute_finished, maximum_iterations, parallel_iterations, swap_memory: as
            tf.contrib.seq2seq.dynamic_decode.
        **kwargs: as of all layers.
    """

    def __init__(
        self,
        output_time_major: bool = False,
        impute_finished: bool = False,
        maximum_iterations: TensorLike | None = None,
        parallel_iterations: int = 32,
        swap_memory: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.output_time_major = output_time_major
        self.impute_finished = impute_finished
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.swap_memory = swap_memory

    def call(self, inputs: Structure, initial_state: Structure = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """(outputs, last state, lengths), as dynamic_decode gives them.

        Args:
            inputs: what `initialize` takes first.
            initial_state: the cell's state before the first step.
            **kwargs: what `initialize` takes else.
        """
        return self._decoded(inputs, {"initial_state": initial_state, **kwargs})

    def _decoded(self, inputs: Structure, begin: dict[str, Any]) -> tuple[Any, Any, Any]:
        return dynamic_decode(
            self,
            output_time_major=self.output_time_major,
            impute_finished=self.impute_finished,
            maximum_iterations=self.maximum_iterations,
            parallel_iterations=self.parallel_iterations,
            swap_memory=self.swap_memory,
            decoder_init_input=inputs,
            decoder_init_kwargs=begin,
        )

    def initialize(self, inputs: Structure, initial_state: Structure = None, **kwargs: Any) -> Any:
        """(finished [batch], first inputs, first state)."""
        raise NotImplementedError

    def step(self, time: Tensor, inputs: Structure, state: Structure) -> Any:
        """(outputs, next state, next inputs, finished), at a step of that number."""
        raise NotImplementedError


class BasicDecoderV2(BaseDecoder):
    """A cell whose inputs a sampler chooses.

    Args:
        cell: an RNNCell.
        sampler: a Sampler (sampler.py).
        output_layer: a layer for the cell's outputs; None for none.
        **kwargs: as BaseDecoder.

    Raises:
        TypeError: one of them is something else.
    """

    def __init__(self, cell: Any, sampler: Any, output_layer: Any = None, **kwargs: Any) -> None:
        assert_like_rnncell("cell", cell)
        if not isinstance(sampler, Sampler):
            raise TypeError(f"sampler must be a Sampler, received: {sampler}")
        if output_layer is not None and not isinstance(output_layer, base_layer.Layer):
            raise TypeError(f"output_layer must be a Layer, received: {output_layer}")
        super().__init__(**kwargs)
        self.cell = cell
        self.sampler = sampler
        self.output_layer = output_layer
        self._cell_dtype: Any = None

    def initialize(
        self, inputs: Structure, initial_state: Structure = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        """(finished, first inputs, first state): the sampler takes all but the state."""
        self._cell_dtype = nest.flatten(initial_state)[0].dtype
        return (*self.sampler.initialize(inputs, **kwargs), initial_state)

    @property
    def batch_size(self) -> Any:
        """How many sequences there are; known from `initialize` on."""
        return self.sampler.batch_size

    def _rnn_output_size(self) -> Any:
        if self.output_layer is None:
            return TensorShape(self.cell.output_size)
        return size_behind(self.cell, self.output_layer)

    @property
    def output_size(self) -> BasicDecoderOutput:
        """The sizes of an output."""
        return BasicDecoderOutput(self._rnn_output_size(), self.sampler.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """The dtypes of an output: that of the state, and that of samples."""
        kinds = nest.map_structure(lambda _: self._cell_dtype, self._rnn_output_size())
        return BasicDecoderOutput(kinds, self.sampler.sample_ids_dtype)

    def step(self, time: Tensor, inputs: Structure, state: Structure) -> Any:
        """(outputs, next state, next inputs, finished)."""
        outputs, new_state = self.cell(inputs, state)
        if self.output_layer is not None:
            outputs = self.output_layer(outputs)
        given = {"time": time, "outputs": outputs, "state": new_state}
        ids = self.sampler.sample(**given)
        finished, next_inputs, next_state = self.sampler.next_inputs(**given, sample_ids=ids)
        return BasicDecoderOutput(outputs, ids), next_state, next_inputs, finished
