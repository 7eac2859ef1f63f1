# SPDX-License-Identifier: Apache-2.0
"""Initializers: what `get_variable` calls with a shape to get an initial value.

They build the same nodes as TensorFlow 1.15, so that the same seeds give the same weights.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.signatures import without_private_bases
from ...engine.types import dtypes
from ...engine.types.shape import dimension_value
from ..public import raw, tf
from ..random import random_ops as random

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from .variable_partitions import PartitionInfo

# Standard deviation of a normal distribution cut off at two deviations.
_TRUNCATED_STDDEV = 0.87962566103423978


class Initializer:
    """Something to be called with a shape; its arguments are its configuration."""

    dtype: Any = None

    def __call__(
        self,
        shape: Any,
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Any:
        """The initial value of a variable, or of the part that `partition_info` tells about."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an initializer."""
        names = inspect.signature(type(self)).parameters
        config = {name: getattr(self, name) for name in names if hasattr(self, name)}
        if "dtype" in config:
            config["dtype"] = config["dtype"].name
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """The initializer of that configuration."""
        return cls(**config)

    def _chosen(self, dtype: DType | None) -> Any:
        return self.dtype if dtype is None else dtype


def _floating(dtype: DTypeLike) -> DType:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


@export("initializers.zeros", "zeros_initializer")
class Zeros(Initializer):
    """An initializer: all zeros.

    Args:
        dtype: of the values where the variable does not say.

    Raises:
        TypeError: `dtype` is no dtype.

    Example:
        >>> v = tf.get_variable("v", [3], initializer=tf.zeros_initializer())
        >>> tf.Session().run(v.initial_value)
        array([0., 0., 0.], dtype=float32)
    """

    def __init__(self, dtype: DTypeLike = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        return tf.zeros(shape, self._chosen(dtype))


@export("initializers.ones", "ones_initializer")
class Ones(Initializer):
    """An initializer: all ones.

    Args:
        dtype: of the values where the variable does not say.

    Raises:
        TypeError: `dtype` is no dtype.

    Example:
        >>> v = tf.get_variable("v", [3], initializer=tf.ones_initializer())
        >>> tf.Session().run(v.initial_value)
        array([1., 1., 1.], dtype=float32)
    """

    def __init__(self, dtype: DTypeLike = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        return tf.ones(shape, self._chosen(dtype))


@export("initializers.constant", "constant_initializer")
class Constant(Initializer):
    """An initializer: one value, or the values of a list, of which the last one repeats.

    Args:
        value: a number, string or bool, a nested list of them or a NumPy array.
        dtype: of the values where the variable does not say.
        verify_shape: whether `value` must have the variable's shape.

    Raises:
        TypeError: the value is none of these, or `dtype` is no dtype.

    Example:
        >>> v = tf.get_variable("v", [2, 2], initializer=tf.constant_initializer([1, 2]))
        >>> tf.Session().run(v.initial_value)
        array([[1., 2.],
               [2., 2.]], dtype=float32)
    """

    def __init__(
        self, value: object = 0, dtype: DTypeLike = dtypes.float32, verify_shape: bool = False
    ) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or "
                "tuple of values, or numpy.ndarray)."
            )
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
        verify_shape: Any = None,
    ) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        return tf.constant(self.value, dtype=self._chosen(dtype), shape=shape, verify_shape=verify)


@export("initializers.random_uniform", "random_uniform_initializer")
class RandomUniform(Initializer):
    """An initializer: uniformly distributed in [minval, maxval).

    Args:
        minval: the lower limit.
        maxval: the upper limit; 1 by default, but integers need one.
        seed: an integer; as of tf.random_uniform.
        dtype: of the values where the variable does not say.

    Raises:
        TypeError: `dtype` is no dtype.

    Example:
        >>> v = tf.get_variable("v", [100], initializer=tf.random_uniform_initializer(-2, -1))
        >>> values = tf.Session().run(v.initial_value)
        >>> bool(values.min() >= -2), bool(values.max() < -1)
        (True, True)
    """

    def __init__(
        self,
        minval: TensorLike = 0,
        maxval: float | None = None,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ) -> None:
        self.minval = minval
        self.maxval = maxval
        self.seed = seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        dtype = self._chosen(dtype)
        return random.random_uniform(shape, self.minval, self.maxval, dtype, seed=self.seed)


class _Normal(Initializer):
    """What the two normal distributions have in common."""

    def __init__(
        self,
        mean: object = 0.0,
        stddev: object = 1.0,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed
        self.dtype = _floating(dtype)


@export("initializers.random_normal", "random_normal_initializer")
@without_private_bases
class RandomNormal(_Normal):
    """An initializer: normally distributed.

    Args:
        mean, stddev: of the distribution.
        seed: an integer; as of tf.random_normal.
        dtype: of the values where the variable does not say; of floating-point numbers.

    Raises:
        ValueError: `dtype` is that of something else.

    Example:
        >>> v = tf.get_variable("v", [1000], initializer=tf.random_normal_initializer(5, 0.1))
        >>> round(float(tf.Session().run(v.initial_value).mean()))
        5
    """

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Any:
        return random.random_normal(
            shape, self.mean, self.stddev, self._chosen(dtype), seed=self.seed
        )


@export("initializers.truncated_normal", "truncated_normal_initializer")
@without_private_bases
class TruncatedNormal(_Normal):
    """An initializer: normally distributed, redrawn when more than two deviations from the mean.

    Args:
        mean, stddev: of the distribution before.
        seed: an integer; as of tf.truncated_normal.
        dtype: of the values where the variable does not say; of floating-point numbers.

    Raises:
        ValueError: `dtype` is that of something else.

    Example:
        >>> v = tf.get_variable("v", [999], initializer=tf.truncated_normal_initializer(stddev=0.1))
        >>> bool(abs(tf.Session().run(v.initial_value)).max() <= 0.2)
        True
    """

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Any:
        return random.truncated_normal(
            shape, self.mean, self.stddev, self._chosen(dtype), seed=self.seed
        )


def _whole(shape: Any, partition_info: PartitionInfo | None) -> Any:
    return shape if partition_info is None else partition_info.full_shape


@export("initializers.uniform_unit_scaling", "uniform_unit_scaling_initializer")
class UniformUnitScaling(Initializer):
    """Uniform, with the variance that keeps the scale of a layer's input."""

    def __init__(
        self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32
    ) -> None:
        self.factor = factor
        self.seed = seed
        self.dtype = _floating(dtype)

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        size = 1.0
        for length in _whole(shape, partition_info)[:-1]:
            size *= float(length)
        # A uniform distribution in [-l, l] has the variance l**2 / 3.
        limit = math.sqrt(3 / max(size, 1.0)) * self.factor
        return random.random_uniform(shape, -limit, limit, self._chosen(dtype), seed=self.seed)


def compute_fans(shape: Any) -> tuple[int, int]:
    """The number of inputs and outputs of one unit of a layer with weights of this shape."""
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return int(shape[0]), int(shape[0])
    # A convolution's unit sees one input of each channel at every position of its window.
    field = math.prod(shape[:-2])
    return int(shape[-2] * field), int(shape[-1] * field)


_compute_fans = compute_fans

_DISTRIBUTIONS = ("normal", "uniform", "truncated_normal", "untruncated_normal")


@export("initializers.variance_scaling", "variance_scaling_initializer")
class VarianceScaling(Initializer):
    """Random, with a variance of `scale` divided by the number of inputs, outputs or their mean."""

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ) -> None:
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError("Invalid `mode` argument:", mode)
        distribution = distribution.lower()
        if distribution not in _DISTRIBUTIONS:
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale = scale
        self.mode = mode
        self.distribution = distribution
        self.seed = seed
        self.dtype = _floating(dtype)

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Any:
        dtype = self._chosen(dtype)
        fan_in, fan_out = compute_fans(_whole(shape, partition_info))
        fans = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}
        scale = self.scale / max(1.0, fans[self.mode])
        if self.distribution in ("normal", "truncated_normal"):
            # Wider, to make up for the variance that is cut off.
            stddev = math.sqrt(scale) / _TRUNCATED_STDDEV
            return random.truncated_normal(shape, 0.0, stddev, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return random.random_normal(shape, 0.0, math.sqrt(scale), dtype, seed=self.seed)
        # A uniform distribution in [-l, l] has the variance l**2 / 3.
        limit = math.sqrt(3.0 * scale)
        return random.random_uniform(shape, -limit, limit, dtype, seed=self.seed)


@export("initializers.glorot_uniform", "glorot_uniform_initializer")
class GlorotUniform(VarianceScaling):
    """Uniform, scaled by the mean of the numbers of inputs and outputs: the default.

    The dtype is that of the call; the one given here means nothing, in TensorFlow 1.15 either.
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)


@export("initializers.glorot_normal", "glorot_normal_initializer")
class GlorotNormal(VarianceScaling):
    """Truncated normal, scaled by the mean of the numbers of inputs and outputs.

    As for GlorotUniform, only the dtype of the call counts.
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)


@export("initializers.lecun_normal")
def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal, scaled by the number of inputs."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


@export("initializers.lecun_uniform")
def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform, scaled by the number of inputs."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


@export("initializers.he_normal")
def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal, scaled by half the number of inputs."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


@export("initializers.he_uniform")
def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform, scaled by half the number of inputs."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


@export("initializers.orthogonal", "orthogonal_initializer")
class Orthogonal(Initializer):
    """A random orthogonal matrix, reshaped."""

    def __init__(
        self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32
    ) -> None:
        self.gain = gain
        self.seed = seed
        self.dtype = _floating(dtype)

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows = 1
        for size in shape[:-1]:
            rows *= size
        rows, columns = int(rows), int(shape[-1])
        tall = (max(rows, columns), min(rows, columns))
        q = orthonormal(tall, self._chosen(dtype), self.seed, full_matrices=False)
        if rows < columns:
            q = tf.matrix_transpose(q)
        return self.gain * tf.reshape(q, shape)


def orthonormal(shape: Sequence[int], dtype: DTypeLike, seed: int | None, **options: Any) -> Any:
    """Random orthonormal columns: uniformly distributed, thanks to the signs of R's diagonal."""
    q, r = raw.Qr(random.random_normal(shape, dtype=dtype, seed=seed), **options)
    # QR itself leaves these signs to the algorithm, and q would not be uniform (arXiv:math-
    # ph/0609050).
    diagonal = tf.diag_part(r)
    return q * tf.sign(diagonal)


class ConvolutionDeltaOrthogonal(Initializer):
    """A convolution that is an orthogonal matrix at its centre and zero elsewhere."""

    def __init__(
        self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32
    ) -> None:
        self.gain = gain
        self.seed = seed
        self.dtype = _floating(dtype)

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        dtype = self._chosen(dtype)
        if len(shape) < 3 or len(shape) > 5:
            raise ValueError(
                "The tensor to initialize must be at least three-dimensional and at most "
                "five-dimensional"
            )
        if shape[-2] > shape[-1]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        q = orthonormal([shape[-1], shape[-1]], dtype, self.seed, full_matrices=False)
        q = q[: shape[-2], :]
        q *= tf.cast(self.gain, dtype=dtype)
        centre = [(size - 1) // 2 for size in shape[:-2]]
        return tf.scatter_nd([centre], tf.expand_dims(q, 0), shape)


@export("initializers.identity")
class Identity(Initializer):
    """The identity matrix, times a gain."""

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = dtypes.float32) -> None:
        self.gain = gain
        self.dtype = _floating(dtype)

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        full_shape = _whole(shape, partition_info)
        if len(full_shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        rows, columns = (dimension_value(size) for size in full_shape)
        value = tf.eye(rows, columns, dtype=self._chosen(dtype))
        if partition_info is not None:
            value = tf.slice(value, partition_info.var_offset, shape)
        return self.gain * value
