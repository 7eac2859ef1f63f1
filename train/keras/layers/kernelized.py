# SPDX-License-Identifier: Apache-2.0
"""`RandomFourierFeatures`: a layer after which a linear model is a kernel machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ....ops.state.init import Initializer
from ...layers.input_spec import InputSpec
from .. import initializers
from ..backend.convolutions import bias_add
from .style import KerasLayer

_KERNELS = ["gaussian", "laplacian"]


class RandomFourierFeatures(KerasLayer):
    """cos(x W / scale + b) for random W and b, whose inner products are about a kernel's values.

    Features of x and y, multiplied and summed, are about output_dim / 2 times K(x, y), which is
    exp(-|x-y|² / (2 scale²)) of "gaussian" and exp(-|x-y|₁ / scale) of "laplacian": Rahimi and
    Recht, Random Features for Large-Scale Kernel Machines.

    Args:
        output_dim: how many features.
        kernel_initializer: one of the two names, or an initializer of W, [inputs, output_dim].
        scale: as above; the root of half the number of inputs if None for "gaussian", else 1.
        trainable: whether the scale is learned.
        name: the layer's.

    Raises:
        ValueError: output_dim or scale is not positive, or there is no kernel of that name.

    Example:
        >>> layer = RandomFourierFeatures(64, scale=2.0)
        >>> print(layer(tf.ones([3, 5])).shape)
        (3, 64)
    """

    def __init__(
        self,
        output_dim: int,
        kernel_initializer: Any = "gaussian",
        scale: float | None = None,
        trainable: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if output_dim <= 0:
            raise ValueError(f"`output_dim` should be a positive integer. Given: {output_dim}.")
        if isinstance(kernel_initializer, str) and kernel_initializer.lower() not in _KERNELS:
            raise ValueError(
                f"Unsupported kernel type: {kernel_initializer!r}. Supported kernel types: "
                f"{_KERNELS}."
            )
        if scale is not None and scale <= 0.0:
            raise ValueError(f"When provided, `scale` should be a positive float. Given: {scale}.")
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.output_dim = output_dim
        self.kernel_initializer = kernel_initializer
        self.scale = scale

    def build(self, input_shape: Any) -> None:
        """Makes W, b and the scale; ValueError where the number of inputs is unknown."""
        shape = TensorShape(input_shape)
        if shape.ndims != 2:
            raise ValueError(
                f"The rank of the input tensor should be 2. Got {shape.ndims} instead."
            )
        count = shape.as_list()[1]
        if count is None:
            raise ValueError(
                "The last dimension of the inputs to `RandomFourierFeatures` should be defined. "
                "Found `None`."
            )
        self.input_spec = InputSpec(ndim=2, axes={1: count})
        unscaled = self.add_weight(
            name="unscaled_random_features",
            shape=(count, self.output_dim),
            dtype=dtypes.float32,
            initializer=self._initializer(count),
            trainable=False,
        )
        self.bias = self.add_weight(
            name="random_features_bias",
            shape=(self.output_dim,),
            dtype=dtypes.float32,
            initializer=tf.random_uniform_initializer(minval=0.0, maxval=2 * np.pi),
            trainable=False,
        )
        if self.scale is None:
            self.scale = np.sqrt(count / 2.0) if self._kernel() == "gaussian" else 1.0
        scale = self.add_weight(
            name="random_features_scale",
            shape=(1,),
            dtype=dtypes.float32,
            initializer=tf.constant_initializer(self.scale),
            trainable=True,
            constraint="NonNeg",
        )
        self.kernel = (1.0 / scale) * unscaled
        super().build(input_shape)

    def _kernel(self) -> str:
        own = self.kernel_initializer
        return own.lower() if isinstance(own, str) else ""

    def _initializer(self, count: int) -> Any:
        if self._kernel() == "gaussian":
            return tf.random_normal_initializer(stddev=1.0)
        if self._kernel() == "laplacian":
            # A Cauchy distribution, whose Fourier transform the kernel is.
            shares = np.random.uniform(low=0.0, high=1.0, size=(count, self.output_dim))
            return tf.constant_initializer(np.tan(np.pi * (shares - 0.5)))
        return self.kernel_initializer

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The features: float32, [batch, output_dim]."""
        inputs = tf.cast(tf.convert_to_tensor(inputs, dtype=self.dtype), dtypes.float32)
        return tf.cos(bias_add(tf.matmul(inputs, self.kernel), self.bias))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[batch, output_dim]; ValueError where the number of inputs is unknown."""
        shape = TensorShape(input_shape).with_rank(2)
        if shape.as_list()[-1] is None:
            raise ValueError(
                f"The innermost dimension of input shape must be defined. Given: {shape}"
            )
        return shape[:-1].concatenate(self.output_dim)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        own = self.kernel_initializer
        kernel = initializers.serialize(own) if isinstance(own, Initializer) else own
        arguments = {"output_dim": self.output_dim, "kernel_initializer": kernel}
        return {**super().get_config(), **arguments, "scale": self.scale}


# The kernels that features are about.


def _as_matrix(x: Any) -> Any:
    rank = len(x.shape)
    if rank not in (1, 2):
        raise ValueError(f"The input tensor should have rank 1 or 2. Given rank: {rank}")
    return tf.expand_dims(x, 0) if rank == 1 else x


def inner_product(u: Any, v: Any) -> Any:
    """Inner products of all rows of u with all rows of v, which may be vectors: [m, n]."""
    return tf.matmul(_as_matrix(u), _as_matrix(v), transpose_b=True)


def _pairs(x: Any, y: Any) -> tuple[Any, Any]:
    """Rows of both, so that their differences are those of all pairs."""
    x, y = _as_matrix(x), _as_matrix(y)
    if x.shape[1] != y.shape[1]:
        raise ValueError(
            "The outermost dimensions of the input tensors should match. Given: "
            f"{y.shape[1]} vs {x.shape[1]}."
        )
    return tf.expand_dims(x, 1), tf.expand_dims(y, 0)


def exact_gaussian_kernel(x: Any, y: Any, stddev: float) -> Any:
    """exp(-|u-v|² / (2 stddev²)) for all rows u of x and v of y.

    Args:
        x, y: [m, size] and [n, size], or vectors of that size.
        stddev: the kernel's width.

    Returns:
        A tensor, [m, n].

    Raises:
        ValueError: the sizes differ, or a rank is another.
    """
    x, y = _pairs(x, y)
    return tf.exp(-tf.reduce_sum(tf.squared_difference(x, y), 2) / (2 * stddev * stddev))


def exact_laplacian_kernel(x: Any, y: Any, stddev: float) -> Any:
    """exp(-|u-v|₁ / stddev) for all rows; arguments as those of exact_gaussian_kernel."""
    x, y = _pairs(x, y)
    return tf.exp(-tf.reduce_sum(tf.abs(x - y), 2) / stddev)
