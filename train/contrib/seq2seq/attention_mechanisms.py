# SPDX-License-Identifier: Apache-2.0
"""Attention mechanisms: functions from a query to weights over a memory."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.types import dtypes, nest
from ....engine.types.shape import dimension_value
from ....ops.nn.softmax import softmax
from ....ops.public import tf
from ...layers import base
from ...layers.core import Dense
from ...rnn.cell import zero_state_tensors
from .attention_maths import (
    bahdanau_score,
    luong_score,
    masked_score,
    monotonic_probabilities,
    prepare_memory,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure

_Probability = Callable[..., Any] | None


@export("contrib.seq2seq.AttentionMechanism")
class AttentionMechanism:
    """Base class of attention mechanisms (tf.contrib.seq2seq.AttentionMechanism)."""

    @property
    def alignments_size(self) -> Any:
        """How many places there are to attend to."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the state."""
        raise NotImplementedError


class AlignedAttention(AttentionMechanism):
    """A mechanism whose state is its weights, one for each place of a memory."""

    _alignments_size: Any

    @property
    def alignments_size(self) -> Any:
        """How many places there are to attend to."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """The size of the state: that of the weights."""
        return self._alignments_size

    def initial_alignments(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        """The weights before the first step: zeros."""
        return zero_state_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        """The state before the first step: the weights."""
        return self.initial_alignments(batch_size, dtype)


class FirstAligned(AlignedAttention):
    """A mechanism that begins at the first place."""

    def initial_alignments(self, batch_size: TensorLike, dtype: DTypeLike) -> Tensor:
        """The weights before the first step: all on the first place."""
        first = tf.zeros((batch_size,), dtype=dtypes.int32)
        return tf.one_hot(first, self._alignments_size, dtype=dtype)


def _layer(units: int, name: str, dtype: DTypeLike | None) -> Dense:
    return Dense(units, name=name, use_bias=False, dtype=dtype or dtypes.float32)


class MemoryAttention(AlignedAttention):
    """Keys and values of a memory, and weights of scores.

    Args:
        query_layer, memory_layer: layers for queries and keys; None for none.
        memory: [batch, time, ...].
        probability_fn: a function(scores, former weights) -> weights.
        memory_sequence_length: int [batch], how much of the memory there is; None for all.
        check_inner_dims_defined: whether the memory's inner sizes must be known.
        score_mask_value: the score of what is not there; -inf if None.
        custom_key_value_fn: a function(keys, values) -> (keys, values); None for none.
        name: of the operations.
    """

    def __init__(
        self,
        query_layer: Any,
        memory: Structure,
        probability_fn: Any,
        memory_sequence_length: TensorLike | None = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, base.base_layer.Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = memory_layer.dtype
        if not callable(probability_fn):
            raise TypeError(
                f"probability_fn must be callable, saw type: {type(probability_fn).__name__}"
            )
        if score_mask_value is None:
            score_mask_value = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, previous: probability_fn(
            masked_score(score, memory_sequence_length, score_mask_value), previous
        )
        with tf.name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = prepare_memory(memory, memory_sequence_length, check_inner_dims_defined)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            shape = self._keys.shape
            self._batch_size = dimension_value(shape[0]) or tf.shape(self._keys)[0]
            self._alignments_size = dimension_value(shape[1]) or tf.shape(self._keys)[1]

    @property
    def memory_layer(self) -> Any:
        """The layer that makes keys of the memory."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer for queries."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """What attention weighs."""
        return self._values

    @property
    def keys(self) -> Any:
        """What queries are compared with."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """How many memories there are."""
        return self._batch_size


def _of_scores(probability_fn: _Probability) -> Callable[..., Any]:
    function = probability_fn or softmax
    return lambda score, _: function(score)


def _luong(query: Tensor, keys: Structure, scale: bool) -> Tensor:
    g = None
    if scale:
        ones = tf.ones_initializer
        g = tf.get_variable("attention_g", dtype=query.dtype, initializer=ones, shape=())
    return luong_score(query, keys, g)


def _bahdanau(query: Tensor, processed: Any, keys: Structure, units: int, normalize: bool) -> Any:
    dtype = query.dtype
    v = tf.get_variable("attention_v", [units], dtype=dtype)
    if not normalize:
        return bahdanau_score(processed, keys, v)
    start = tf.constant_initializer(math.sqrt(1.0 / units))
    g = tf.get_variable("attention_g", dtype=dtype, initializer=start, shape=())
    zeros = tf.zeros_initializer()
    b = tf.get_variable("attention_b", [units], dtype=dtype, initializer=zeros)
    return bahdanau_score(processed, keys, v, g, b)


@export("contrib.seq2seq.LuongAttention")
class LuongAttention(MemoryAttention):
    """Products of query and keys (tf.contrib.seq2seq.LuongAttention), arXiv 1508.04025.

    Args:
        num_units: the size of the keys, which must be that of queries.
        memory: [batch, time, ...], such as an encoder's outputs.
        memory_sequence_length: int [batch], how much of the memory there is; None for all.
        scale: whether scores have a scale that is trained.
        probability_fn: from scores to weights; softmax if None.
        score_mask_value: the score of what is not there; -inf if None.
        dtype: of the layer; float32 if None.
        custom_key_value_fn: a function(keys, values) -> (keys, values); None for none.
        name: of the operations.

    Example:
        >>> attention = tf.contrib.seq2seq.LuongAttention(4, tf.zeros([2, 5, 3]), [5, 2])
        >>> weights, _ = attention(tf.zeros([2, 4]), state=None)
        >>> print(weights.shape)
        (2, 5)
    """

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        probability_fn: _Probability = None,
        score_mask_value: Any = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str | None = "LuongAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_of_scores(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._scale = scale

    def __call__(self, query: Tensor, state: Structure) -> tuple[Any, Any]:
        """(weights [batch, time], next state) for a query [batch, units]."""
        with tf.variable_scope(None, "luong_attention", [query]):
            score = _luong(query, self._keys, self._scale)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


@export("contrib.seq2seq.BahdanauAttention")
class BahdanauAttention(MemoryAttention):
    """A layer that compares query and keys (tf.contrib.seq2seq.BahdanauAttention), 1409.0473.

    Args:
        num_units: the size of that layer.
        memory, memory_sequence_length, probability_fn, score_mask_value, dtype,
            custom_key_value_fn, name: as LuongAttention.
        normalize: whether the layer's weights are normalised (arXiv 1602.07868).

    Example:
        >>> attention = tf.contrib.seq2seq.BahdanauAttention(4, tf.zeros([2, 5, 3]))
        >>> weights, _ = attention(tf.zeros([2, 7]), state=None)
        >>> print(weights.shape)
        (2, 5)
    """

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        probability_fn: _Probability = None,
        score_mask_value: Any = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str | None = "BahdanauAttention",
    ) -> None:
        super().__init__(
            query_layer=_layer(num_units, "query_layer", dtype),
            memory_layer=_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_of_scores(probability_fn),
            custom_key_value_fn=custom_key_value_fn,
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize

    def __call__(self, query: Tensor, state: Structure) -> tuple[Any, Any]:
        """(weights [batch, time], next state) for a query [batch, ...]."""
        with tf.variable_scope(None, "bahdanau_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            score = _bahdanau(query, processed, self._keys, self._num_units, self._normalize)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class MonotonicAttention(FirstAligned, MemoryAttention):
    """What begins at the first place."""


def _monotonic(noise: float, mode: str, seed: int | None) -> Callable[..., Any]:
    return functools.partial(monotonic_probabilities, sigmoid_noise=noise, mode=mode, seed=seed)


@export("contrib.seq2seq.BahdanauMonotonicAttention")
class BahdanauMonotonicAttention(MonotonicAttention):
    """Bahdanau's attention that never goes back (tf.contrib.seq2seq), arXiv 1704.00784.

    Args:
        num_units, memory, memory_sequence_length, normalize, score_mask_value, dtype, name: as
            BahdanauAttention.
        sigmoid_noise: how much noise scores get, in training.
        sigmoid_noise_seed: of that noise.
        score_bias_init: what the scores' bias begins with.
        mode: as tf.contrib.seq2seq.monotonic_attention.
    """

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str | None = "BahdanauMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=_layer(num_units, "query_layer", dtype),
            memory_layer=_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._score_bias_init = score_bias_init

    def __call__(self, query: Tensor, state: Structure) -> tuple[Any, Any]:
        """(weights [batch, time], next state) for a query and the weights before."""
        with tf.variable_scope(None, "bahdanau_monotonic_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            score = _bahdanau(query, processed, self._keys, self._num_units, self._normalize)
            score += tf.get_variable(
                "attention_score_bias", dtype=processed.dtype, initializer=self._score_bias_init
            )
        alignments = self._probability_fn(score, state)
        return alignments, alignments


@export("contrib.seq2seq.LuongMonotonicAttention")
class LuongMonotonicAttention(MonotonicAttention):
    """Luong's attention that never goes back (tf.contrib.seq2seq), arXiv 1704.00784.

    Args:
        num_units, memory, memory_sequence_length, scale, score_mask_value, dtype, name: as
            LuongAttention.
        sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode: as BahdanauMonotonicAttention.
    """

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str | None = "LuongMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._scale = scale
        self._score_bias_init = score_bias_init

    def __call__(self, query: Tensor, state: Structure) -> tuple[Any, Any]:
        """(weights [batch, time], next state) for a query and the weights before."""
        with tf.variable_scope(None, "luong_monotonic_attention", [query]):
            score = _luong(query, self._keys, self._scale)
            score += tf.get_variable(
                "attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init
            )
        alignments = self._probability_fn(score, state)
        return alignments, alignments
