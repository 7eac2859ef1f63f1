# SPDX-License-Identifier: Apache-2.0
"""The base of attention that is a layer of Keras: a memory first, then [query, state] each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.types import dtypes, nest
from ....engine.types.shape import dimension_value
from ....ops.public import tf
from ...keras.layers.style import KerasLayer
from ...layers import base_layer
from .attention_maths import mask_scores, prepare_memory
from .attention_mechanisms import AlignedAttention

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure

_INNER = ("query_layer", "memory_layer")


class MemoryAttentionLayer(AlignedAttention, KerasLayer):
    """A layer that is called with a memory once, and then with queries.

    Args:
        memory: [batch, time, ...], or None to call the layer with it later, with
            `setup_memory=True`.
        probability_fn: a function(scores, former weights) -> weights.
        query_layer, memory_layer: Keras layers for queries and keys; None for none.
        memory_sequence_length: int [batch], how much of the memory there is; None for all.
        **kwargs: as of all layers.

    Raises:
        TypeError: an inner layer is none, or probability_fn cannot be called.
    """

    def __init__(
        self,
        memory: Structure | None,
        probability_fn: Callable[..., Any],
        query_layer: Any = None,
        memory_layer: Any = None,
        memory_sequence_length: TensorLike | None = None,
        **kwargs: Any,
    ) -> None:
        for what, layer in zip(_INNER, (query_layer, memory_layer)):
            if layer is not None and not isinstance(layer, base_layer.Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        if memory_layer is not None:
            kwargs.setdefault("dtype", memory_layer.dtype)
        super().__init__(**kwargs)
        self.query_layer = query_layer
        self.memory_layer = memory_layer
        if not callable(probability_fn):
            raise TypeError(
                f"probability_fn must be callable, saw type: {type(probability_fn).__name__}"
            )
        self.probability_fn = probability_fn
        self.keys: Any = None
        self.values: Any = None
        self.batch_size: Any = None
        self._memory_initialized = False
        self.supports_masking = True
        self.score_mask_value = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        if memory is not None:
            lengths = memory_sequence_length
            inputs = memory if lengths is None else [memory, lengths]
            self.values = super().__call__(inputs, setup_memory=True)

    def build(self, input_shape: Any) -> None:
        """Builds the layer for keys, or, when there is a memory, that for queries."""
        if self._memory_initialized:
            layer, shape = self.query_layer, input_shape[0]
        else:
            layer = self.memory_layer
            shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        if layer is not None and not layer.built:
            layer.build(shape)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if self._memory_initialized:
            if len(inputs) not in (2, 3):
                raise ValueError(f"Expect the inputs to have 2 or 3 tensors, got {len(inputs)}")
            if len(inputs) == 2:
                # So that a network of Keras sees that queries need the memory.
                inputs = [*inputs, self.values]
        return super().__call__(inputs, *args, **kwargs)

    def call(  # type: ignore[override]
        self, inputs: Any, mask: Any = None, setup_memory: bool = False, **kwargs: Any
    ) -> Any:
        """The prepared memory, or (weights, next state).

        Args:
            inputs: a memory, [memory] or [memory, lengths] with setup_memory, else
                [query, state] and perhaps the prepared memory.
            mask: bool [batch, time], what there is of the memory; None for all.
            setup_memory: whether the inputs are a memory.
            **kwargs: unused.

        Raises:
            ValueError: the inputs are too few or too many, or there is no memory yet.
        """
        del kwargs
        if not setup_memory:
            if not self._memory_initialized:
                raise ValueError("Cannot query the attention before the setup of memory")
            if len(inputs) not in (2, 3):
                raise ValueError(
                    "Expect the inputs to have query, state, and optional processed memory, got "
                    f"{len(inputs)} items"
                )
            return self._calculate_attention(inputs[0], inputs[1])
        memory, lengths = inputs, None
        if isinstance(inputs, list):
            if len(inputs) not in (1, 2):
                raise ValueError(f"Expect inputs to have 1 or 2 tensors, got {len(inputs)}")
            memory, lengths = (*inputs, None)[:2]
        self._setup_memory(memory, lengths, mask)
        # The call with a query builds what that needs.
        self.built = False
        return self.values

    def _setup_memory(
        self, memory: Any, memory_sequence_length: Any = None, memory_mask: Any = None
    ) -> None:
        if self._memory_initialized:
            raise ValueError("The memory for the attention has already been setup.")
        if memory_sequence_length is not None and memory_mask is not None:
            raise ValueError(
                "memory_sequence_length and memory_mask cannot be used at same time for attention."
            )
        with tf.name_scope(self.name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self.values = prepare_memory(memory, memory_sequence_length, True, memory_mask)
            self.keys = self.values if self.memory_layer is None else self.memory_layer(self.values)
            shape = self.keys.shape
            self.batch_size = dimension_value(shape[0]) or tf.shape(self.keys)[0]
            self._alignments_size = dimension_value(shape[1]) or tf.shape(self.keys)[1]
        if memory_mask is not None:
            # (Lengths alone mask the memory, and not the scores, as in TensorFlow 1.15.)
            given, value = self.probability_fn, self.score_mask_value
            self.probability_fn = lambda score, previous: given(
                mask_scores(score, memory_mask, value), previous
            )
        self._memory_initialized = True

    def _calculate_attention(self, query: Tensor, state: Structure) -> tuple[Any, Any]:
        """(weights, next state); classes that compute weights some other way override it."""
        alignments = self.probability_fn(self._score(query), state)
        return alignments, alignments

    def _build_bias(self) -> None:
        """Scores have none."""

    def _score(self, query: Tensor) -> Any:
        raise NotImplementedError("_calculate_attention need to be implemented by subclasses.")

    def compute_mask(self, inputs: Any, mask: Any = None) -> tuple[None, None]:
        """None: the memory's mask is not one of weights and state."""
        del inputs, mask
        return None, None

    def get_config(self) -> dict[str, Any]:
        """The arguments; a memory is a tensor, for which None stands."""
        inner = {name: getattr(self, name) for name in _INNER}
        layers = {
            name: {"class_name": type(layer).__name__, "config": layer.get_config()}
            for name, layer in inner.items()
            if layer is not None
        }
        return {**super().get_config(), **layers, "memory": None}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Any = None
    ) -> MemoryAttentionLayer:
        """A layer from its arguments, with inner layers from theirs."""
        from ...keras.layers.table import deserialize

        made = {
            name: deserialize(config[name], custom_objects)
            for name in _INNER
            if config.get(name) is not None
        }
        return cls(**{**config, **made})
