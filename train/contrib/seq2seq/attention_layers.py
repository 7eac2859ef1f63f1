# SPDX-License-Identifier: Apache-2.0
"""Luong's and Bahdanau's attention as layers of Keras, monotonic or not.

TensorFlow 1.15 has them in its module `attention_wrapper`, without public names.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.types import dtypes
from ....ops.nn.softmax import softmax
from ....ops.public import tf
from ...keras import initializers
from ...keras.layers.core import Dense
from ...keras.serialization import serialize_keras_object
from .attention_layer import MemoryAttentionLayer
from .attention_maths import bahdanau_score, hardmax, luong_score, monotonic_probabilities
from .attention_mechanisms import FirstAligned

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure

_PROBABILITIES: dict[str, Callable[..., Any]] = {"softmax": softmax, "hardmax": hardmax}


def _named_probability(name: str) -> Callable[..., Any]:
    """The function from scores to weights that has a name."""
    function = _PROBABILITIES.get(name)
    if function is None:
        raise ValueError(
            f"Invalid probability function: {name}, options are {_PROBABILITIES.keys()}"
        )
    return lambda score, _: function(score)


def _inner(kwargs: dict[str, Any], name: str, units: int, dtype: DTypeLike) -> Any:
    """An inner layer as it is given, or a new one."""
    return kwargs.pop(name, None) or Dense(units, name=name, use_bias=False, dtype=dtype)


class _Luong(MemoryAttentionLayer):
    """Products of query and keys, with a scale that is trained if `scale` says so."""

    scale: bool
    attention_g: Any

    def build(self, input_shape: Any) -> None:
        """Makes the scale, once."""
        super().build(input_shape)
        if self.scale and self.attention_g is None:
            self.attention_g = self.add_weight(
                "attention_g", initializer=tf.ones_initializer(), shape=()
            )
        self._build_bias()
        self.built = True

    def _score(self, query: Tensor) -> Tensor:
        return luong_score(query, self.keys, self.attention_g)


class _Bahdanau(MemoryAttentionLayer):
    """A layer that compares query and keys, normalised if `normalize` says so."""

    units: int
    normalize: bool
    attention_v: Any
    attention_g: Any
    attention_b: Any
    kernel_initializer: Any

    def build(self, input_shape: Any) -> None:
        """Makes the weights, once."""
        super().build(input_shape)
        if self.attention_v is None:
            self.attention_v = self.add_weight(
                "attention_v", [self.units], dtype=self.dtype, initializer=self.kernel_initializer
            )
        self._build_bias()
        if self.normalize and self.attention_g is None and self.attention_b is None:
            start = tf.constant_initializer(math.sqrt(1.0 / self.units))
            self.attention_g = self.add_weight("attention_g", initializer=start, shape=())
            self.attention_b = self.add_weight(
                "attention_b", shape=[self.units], initializer=tf.zeros_initializer()
            )
        self.built = True

    def _score(self, query: Tensor) -> Any:
        processed = self.query_layer(query) if self.query_layer else query
        return bahdanau_score(
            processed, self.keys, self.attention_v, self.attention_g, self.attention_b
        )


class _Biased(FirstAligned, MemoryAttentionLayer):
    """Monotonic attention: scores have a bias, and weights begin at the first place."""

    score_bias_init: float
    attention_score_bias: Any

    def _build_bias(self) -> None:
        if self.attention_score_bias is None:
            dtype: Any = self.dtype
            start = tf.constant_initializer(self.score_bias_init, dtype=dtype)
            self.attention_score_bias = self.add_weight(
                "attention_score_bias", shape=(), dtype=dtype, initializer=start
            )

    def _set_monotonic(
        self, sigmoid_noise: float, seed: int | None, score_bias_init: float, mode: str
    ) -> None:
        self.sigmoid_noise = sigmoid_noise
        self.sigmoid_noise_seed = seed
        self.score_bias_init = score_bias_init
        self.mode = mode
        self.attention_score_bias = None

    def _score(self, query: Tensor) -> Any:
        return super()._score(query) + self.attention_score_bias


def _monotonic(noise: float, mode: str, seed: int | None) -> Callable[..., Any]:
    return functools.partial(monotonic_probabilities, sigmoid_noise=noise, mode=mode, seed=seed)


class LuongAttentionV2(_Luong):
    """Products of query and keys as a Keras layer, arXiv 1508.04025.

    Args:
        units: the size of the keys, which must be that of queries.
        memory: [batch, time, ...], such as an encoder's outputs; None to give it later.
        memory_sequence_length: int [batch], how much of the memory there is; None for all.
        scale: whether scores have a scale that is trained.
        probability_fn: "softmax" or "hardmax".
        dtype: of the layer; float32 if None.
        name: of the layer.
        **kwargs: `memory_layer`, a Keras layer for keys, and as of all layers.

    Raises:
        ValueError: another probability_fn.
    """

    _arguments = ("units", "scale")

    def __init__(
        self,
        units: int,
        memory: Structure | None,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        probability_fn: str = "softmax",
        dtype: DTypeLike | None = None,
        name: str = "LuongAttention",
        **kwargs: Any,
    ) -> None:
        dtype = dtypes.float32 if dtype is None else dtype
        self.probability_fn_name = probability_fn
        self.units = units
        self.scale = scale
        self.attention_g = None
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            memory_layer=_inner(kwargs, "memory_layer", units, dtype),
            probability_fn=_named_probability(probability_fn),
            name=name,
            dtype=dtype,
            **kwargs,
        )

    @property
    def scale_weight(self) -> Any:
        """The variable that scales scores, or None."""
        return self.attention_g

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {**super().get_config(), "probability_fn": self.probability_fn_name}


class BahdanauAttentionV2(_Bahdanau):
    """A layer that compares query and keys, as a Keras layer, arXiv 1409.0473.

    Args:
        units: the size of that layer.
        memory, memory_sequence_length, probability_fn, dtype, name: as LuongAttentionV2.
        normalize: whether the layer's weights are normalised (arXiv 1602.07868).
        kernel_initializer: an initializer of the weights, or its name.
        **kwargs: `query_layer` and `memory_layer`, and as of all layers.

    Raises:
        ValueError: another probability_fn.
    """

    _arguments = ("units", "normalize")

    def __init__(
        self,
        units: int,
        memory: Structure | None,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        probability_fn: str = "softmax",
        kernel_initializer: Any = "glorot_uniform",
        dtype: DTypeLike | None = None,
        name: str = "BahdanauAttention",
        **kwargs: Any,
    ) -> None:
        dtype = dtypes.float32 if dtype is None else dtype
        self.probability_fn_name = probability_fn
        self.units = units
        self.normalize = normalize
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.attention_v = self.attention_g = self.attention_b = None
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=_inner(kwargs, "query_layer", units, dtype),
            memory_layer=_inner(kwargs, "memory_layer", units, dtype),
            probability_fn=_named_probability(probability_fn),
            name=name,
            dtype=dtype,
            **kwargs,
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {
            **super().get_config(),
            "probability_fn": self.probability_fn_name,
            "kernel_initializer": serialize_keras_object(self.kernel_initializer),
        }


_MONOTONIC = ("sigmoid_noise", "sigmoid_noise_seed", "score_bias_init", "mode")


class BahdanauMonotonicAttentionV2(_Biased, _Bahdanau):
    """Bahdanau's attention that never goes back, as a Keras layer, arXiv 1704.00784.

    Args:
        units, memory, memory_sequence_length, normalize, kernel_initializer, dtype, name, **kwargs:
            as BahdanauAttentionV2.
        sigmoid_noise: how much noise scores get, in training.
        sigmoid_noise_seed: of that noise.
        score_bias_init: what the scores' bias begins with.
        mode: as tf.contrib.seq2seq.monotonic_attention.
    """

    _arguments = ("units", "normalize", *_MONOTONIC)

    def __init__(
        self,
        units: int,
        memory: Structure | None,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        kernel_initializer: Any = "glorot_uniform",
        dtype: DTypeLike | None = None,
        name: str = "BahdanauMonotonicAttention",
        **kwargs: Any,
    ) -> None:
        dtype = dtypes.float32 if dtype is None else dtype
        self.units = units
        self.normalize = normalize
        self._set_monotonic(sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.attention_v = self.attention_g = self.attention_b = None
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=_inner(kwargs, "query_layer", units, dtype),
            memory_layer=_inner(kwargs, "memory_layer", units, dtype),
            probability_fn=_monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
            name=name,
            dtype=dtype,
            **kwargs,
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        started = serialize_keras_object(self.kernel_initializer)
        return {**super().get_config(), "kernel_initializer": started}


class LuongMonotonicAttentionV2(_Biased, _Luong):
    """Luong's attention that never goes back, as a Keras layer, arXiv 1704.00784.

    Args:
        units, memory, memory_sequence_length, scale, dtype, name, **kwargs: as LuongAttentionV2.
        sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode: as BahdanauMonotonicAttentionV2.
    """

    _arguments = ("units", "scale", *_MONOTONIC)

    def __init__(
        self,
        units: int,
        memory: Structure | None,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str = "LuongMonotonicAttention",
        **kwargs: Any,
    ) -> None:
        dtype = dtypes.float32 if dtype is None else dtype
        self.units = units
        self.scale = scale
        self.attention_g = None
        self._set_monotonic(sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode)
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            memory_layer=_inner(kwargs, "memory_layer", units, dtype),
            probability_fn=_monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
            name=name,
            dtype=dtype,
            **kwargs,
        )
