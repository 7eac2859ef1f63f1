# SPDX-License-Identifier: Apache-2.0
"""Discrete cosine transforms, by Fourier transforms of twice the length."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import dimension_value
from ..math.fourier_real import irfft, rfft
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


def _check(x: Any, type: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if type == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        last = dimension_value(x.shape[-1])
        if last is not None and last < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _length(x: Tensor) -> Any:
    return dimension_value(x.shape[-1]) or tf.shape(x)[-1]


def _fitted(x: Any, n: int) -> Any:
    """The first n numbers, zeros where there are less."""
    length = _length(x)
    if n <= length:
        return x[..., 0:n]
    rank = len(x.shape)
    paddings = [[0, 0] for _ in range(rank - 1)] + [[0, n - length]]
    return tf.pad(x, paddings=convert_to_tensor(paddings, dtype=dtypes.int32))


def _weights(first: Any, others: Any, length: Any) -> Tensor:
    """One number, and another one everywhere behind it."""
    return tf.pad(tf.expand_dims(first, 0), [[0, length - 1]], constant_values=others)


@export("signal.dct", "spectral.dct")
def dct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Discrete cosine transforms along the last dimension (tf.signal.dct).

    Args:
        input: float32 [..., samples].
        type: 1, 2 or 3, as scipy.fftpack.dct has them.
        n: how many numbers it takes; others are cut or padded by zeros.
        axis: -1.
        norm: "ortho" for lengths that stay; None.
        name: of the scope.

    Returns:
        float32 of the shape of what it takes.

    Raises:
        ValueError: the type is not among these, or does not go with the other arguments.
        NotImplementedError: another axis.

    Example:
        >>> print(tf.Session().run(tf.signal.dct([1.0, 2.0, 3.0])).round(3))
        [12.    -3.464  0.   ]
    """
    x: Any = input if isinstance(input, Tensor) else convert_to_tensor(input, dtypes.float32)
    _check(x, type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        x = convert_to_tensor(x, dtype=dtypes.float32)
        if n is not None:
            x = _fitted(x, n)
        length = _length(x)
        floats = tf.cast(length, dtypes.float32)
        if type == 1:
            return tf.real(rfft(tf.concat([x, x[..., -2:0:-1]], axis=-1)))
        return (_second if type == 2 else _third)(x, length, floats, norm == "ortho")


def _second(x: Any, length: Any, floats: Any, is_ortho: bool) -> Any:
    turns = -tf.range(floats) * math.pi * 0.5 / floats
    scale = 2.0 * tf.exp(tf.complex(0.0, turns))
    full = rfft(x, fft_length=[2 * length])
    found = tf.real(full[..., :length] * scale)
    if is_ortho:
        first = 0.5 * tf.rsqrt(floats)
        found *= _weights(first, first * tf.sqrt(2.0), length)
    return found


def _third(x: Any, length: Any, floats: Any, is_ortho: bool) -> Any:
    if is_ortho:
        first = tf.sqrt(floats)
        x *= _weights(first, first * tf.sqrt(0.5), length)
    else:
        x *= floats
    turns = tf.range(floats) * math.pi * 0.5 / floats
    scale = 2.0 * tf.exp(tf.complex(0.0, turns))
    full = irfft(scale * tf.complex(x, 0.0), fft_length=[2 * length])
    return tf.real(full)[..., :length]


@export("signal.idct", "spectral.idct")
def idct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Inverse cosine transforms along the last dimension (tf.signal.idct).

    Args:
        input: float32 [..., samples].
        type: of the transform that it undoes: 1, 2 or 3.
        n: how many numbers it takes; others are cut or padded by zeros.
        axis: -1.
        norm: "ortho" for lengths that stay; None: the result is as large as `dct` made it.
        name: of the scope.

    Returns:
        float32 of the same shape.

    Raises:
        ValueError: the type is not among these.
    """
    x = input if isinstance(input, Tensor) else convert_to_tensor(input, dtypes.float32)
    _check(x, type, n, axis, norm)
    return dct(x, type={1: 1, 2: 3, 3: 2}[type], n=n, axis=axis, norm=norm, name=name)
