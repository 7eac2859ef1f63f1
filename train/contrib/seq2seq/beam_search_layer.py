# SPDX-License-Identifier: Apache-2.0
"""`BeamSearchDecoderV2`: a beam search that is a layer of Keras.

TensorFlow 1.15 has it in its module `beam_search_decoder`, without a public name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .beam_search_decoder import BeamSearchDecoderMixin
from .decoder_layer import BaseDecoder
from .helper import rows_of

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ..structures import Structure


class BeamSearchDecoderV2(BeamSearchDecoderMixin, BaseDecoder):
    """A beam search with a cell, which gets its tensors when it is called.

    Args:
        cell: an RNNCell.
        beam_width: how many sequences are followed.
        embedding_fn: a function from ids to vectors; None for rows of the matrix that the call
            gets.
        output_layer, length_penalty_weight, coverage_penalty_weight, reorder_tensor_arrays: as
            tf.contrib.seq2seq.BeamSearchDecoder.
        **kwargs: as BaseDecoder.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: embedding_fn cannot be called.
    """

    def __init__(
        self,
        cell: Any,
        beam_width: int,
        embedding_fn: Callable[..., Any] | None = None,
        output_layer: Any = None,
        length_penalty_weight: float = 0.0,
        coverage_penalty_weight: float = 0.0,
        reorder_tensor_arrays: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._set_options(
            *(cell, beam_width, output_layer, length_penalty_weight, coverage_penalty_weight),
            reorder_tensor_arrays,
        )
        if embedding_fn is not None and not callable(embedding_fn):
            raise ValueError(f"embedding_fn is expected to be a callable, got {type(embedding_fn)}")
        self._embedding_fn = embedding_fn

    def initialize(  # type: ignore[override]
        self,
        embedding: TensorLike | None,
        start_tokens: TensorLike,
        end_token: TensorLike,
        initial_state: Structure,
    ) -> tuple[Any, Any, Any]:
        """(finished, first inputs, first state).

        Args:
            embedding: a matrix; None if there is an embedding_fn.
            start_tokens: int32 [batch], the ids of the first inputs.
            end_token: the id that ends a sequence.
            initial_state: the cell's state for batch times beam_width rows; see tile_batch.

        Raises:
            ValueError: there are a matrix and a function, the tokens are no vector, or the end is
                no scalar.
        """
        if embedding is not None and self._embedding_fn is not None:
            raise ValueError("embedding and embedding_fn cannot be provided at same time")
        if embedding is not None:
            self._embedding_fn = rows_of(embedding)
        self._set_start(start_tokens, end_token, initial_state)
        return self._finished, self._start_inputs, self._first_state()

    def call(  # type: ignore[override]
        self,
        embedding: TensorLike | None,
        start_tokens: TensorLike,
        end_token: TensorLike,
        initial_state: Structure,
        **kwargs: Any,
    ) -> Any:
        """(outputs, last state, lengths), as dynamic_decode gives them; as `initialize`."""
        given = {"start_tokens": start_tokens, "end_token": end_token}
        return self._decoded(embedding, {**kwargs, **given, "initial_state": initial_state})
