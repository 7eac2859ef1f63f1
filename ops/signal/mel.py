# SPDX-License-Identifier: Apache-2.0
"""Mel spectrograms, which have frequencies as the ear has them, and their cepstra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import dimension_value
from ..public import tf
from .dct import dct
from .frames import frame

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

# The mel scale is linear below one frequency and logarithmic above it.
_BREAK_HERTZ = 700.0
_HIGH_Q = 1127.0


def _hertz_to_mel(frequencies: TensorLike) -> Tensor:
    with name_scope(None, "hertz_to_mel", [frequencies]):
        hertz: Any = convert_to_tensor(frequencies)
        return _HIGH_Q * tf.log(1.0 + (hertz / _BREAK_HERTZ))


def _check(bins: int, rate: float, lower: float, upper: float, dtype: dtypes.DType) -> None:
    if bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {rate}")
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if upper > rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
            f"Got: {upper} for sample_rate: {rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")


@export("signal.linear_to_mel_weight_matrix", "contrib.signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: dtypes.DType = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The matrix that makes mel spectrograms (tf.signal.linear_to_mel_weight_matrix).

    Args:
        num_mel_bins: how many bands there are.
        num_spectrogram_bins: how many frequencies the spectrogram has.
        sample_rate: samples per second.
        lower_edge_hertz: where the first band begins.
        upper_edge_hertz: where the last one ends.
        dtype: of floats.
        name: of the last op.

    Returns:
        [num_spectrogram_bins, num_mel_bins]: spectrograms are multiplied by it.

    Raises:
        ValueError: the arguments make no bands.

    Example:
        >>> tf.signal.linear_to_mel_weight_matrix(4, 9).shape.as_list()
        [9, 4]
    """
    with name_scope(name, "linear_to_mel_weight_matrix") as name:
        if isinstance(sample_rate, Tensor):
            sample_rate = constant_value(sample_rate)
            if sample_rate is None:
                raise ValueError(
                    "`sample_rate` was a non-constant Tensor. Must be a Python float or a constant "
                    "Tensor."
                )
        _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        rate: Any = convert_to_tensor(sample_rate, dtype, name="sample_rate")
        lower = convert_to_tensor(lower_edge_hertz, dtype, name="lower_edge_hertz")
        upper = convert_to_tensor(upper_edge_hertz, dtype, name="upper_edge_hertz")
        zero = convert_to_tensor(0.0, dtype)
        # No band has the constant part.
        frequencies = tf.linspace(zero, rate / 2.0, num_spectrogram_bins)[1:]
        places = tf.expand_dims(_hertz_to_mel(frequencies), 1)
        # Each band begins and ends in the middles of its neighbours.
        ends = tf.linspace(_hertz_to_mel(lower), _hertz_to_mel(upper), num_mel_bins + 2)
        thirds = tf.split(frame(ends, frame_length=3, frame_step=1), 3, axis=1)
        begin, middle, end = (tf.reshape(t, [1, num_mel_bins]) for t in thirds)
        rising: Any = (places - begin) / (middle - begin)
        falling: Any = (end - places) / (end - middle)
        weights = tf.maximum(zero, tf.minimum(rising, falling))
        return tf.pad(weights, [[1, 0], [0, 0]], name=name)


@export("signal.mfccs_from_log_mel_spectrograms", "contrib.signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: TensorLike, name: str | None = None
) -> Tensor:
    """Mel-frequency cepstral coefficients (tf.signal.mfccs_from_log_mel_spectrograms).

    Args:
        log_mel_spectrograms: float32 [..., num_mel_bins], logarithms of magnitudes.
        name: of the scope.

    Returns:
        float32 of the same shape; programs take the first 13 or so.

    Raises:
        ValueError: there are no bins.

    Example:
        >>> print(tf.Session().run(tf.signal.mfccs_from_log_mel_spectrograms([1.0, 2.0])).round(3))
        [ 3.    -0.707]
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        logs = convert_to_tensor(log_mel_spectrograms, dtype=dtypes.float32)
        bins: Any = dimension_value(logs.shape[-1]) if logs.shape.ndims else None
        if bins == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {logs}")
        if bins is None:
            bins = tf.shape(logs)[-1]
        # (HTK's scale, which is orthogonal but for the first coefficient.)
        return dct(logs, type=2) * tf.rsqrt(tf.cast(bins, dtypes.float32) * 2.0)
