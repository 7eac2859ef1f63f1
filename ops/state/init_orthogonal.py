# SPDX-License-Identifier: Apache-2.0
"""Orthogonal convolutions in one to three dimensions, as products of small orthogonal kernels.

A kernel while it is made is a dictionary from positions to matrices.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes
from ..public import tf
from ..random.random_ops import random_normal
from .init import ConvolutionDeltaOrthogonal, Initializer, _floating, orthonormal

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike
    from ...engine.graph.tensor import Tensor
    from .variable_partitions import PartitionInfo

_Kernel = dict[tuple[int, ...], Any]


class ConvolutionOrthogonal(Initializer):
    """A convolution that keeps the length of its input; subclasses say over how many axes."""

    _axes: int
    _word: str

    def __init__(
        self, gain: float = 1.0, seed: Any = None, dtype: DTypeLike = dtypes.float32
    ) -> None:
        self.gain = gain
        self.seed = seed
        self.dtype = _floating(dtype)

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Any:
        dtype = self._chosen(dtype)
        if len(shape) != self._axes + 2:
            raise ValueError(f"The tensor to initialize must be {self._word}-dimensional")
        if shape[-2] > shape[-1]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        if any(size != shape[0] for size in shape[: self._axes]):
            raise ValueError("Kernel sizes must be equal.")
        kernel = self._orthogonal_kernel(shape[0], shape[-2], shape[-1])
        return kernel * tf.cast(self.gain, dtype=dtype)

    def _next_seed(self) -> Any:
        """The seed of the next random matrix: each has its own."""
        seed = self.seed
        if seed:
            self.seed += 1
        return seed

    def _orthogonal_matrix(self, n: int) -> Any:
        return orthonormal([n, n], self.dtype, self._next_seed())

    def _symmetric_projection(self, n: int) -> Any:
        """The projection onto some of the columns of an orthogonal matrix, chosen at random."""
        q = self._orthogonal_matrix(n)
        mask = tf.cast(random_normal([n], seed=self._next_seed()) > 0, self.dtype)
        columns = tf.multiply(q, mask)
        return tf.matmul(columns, tf.matrix_transpose(columns))

    def _factor(self, bit: int, projection: Tensor, eye: Tensor) -> Tensor:
        """The projection or the one onto the complement."""
        return eye - projection if bit else projection

    def _block_orth(self, *projections: Any) -> _Kernel:
        """The orthogonal kernel of width two that a projection for each axis makes."""
        shapes = [p.shape.as_list() for p in projections]
        if any(shape != shapes[0] for shape in shapes):
            raise ValueError("The dimension of the matrices must be the same.")
        eye = tf.eye(shapes[0][0], dtype=self.dtype)
        kernel = {}
        for bits in itertools.product((0, 1), repeat=self._axes):
            factors = [self._factor(b, p, eye) for b, p in zip(bits, projections, strict=True)]
            kernel[bits] = functools.reduce(tf.matmul, factors)
        return kernel

    def _matrix_conv(self, first: _Kernel, second: _Kernel) -> _Kernel:
        """The convolution of two kernels."""
        origin = (0,) * self._axes
        n = first[origin].shape.as_list()[0]
        if n != second[origin].shape.as_list()[0]:
            raise ValueError("The entries in matrices m1 and m2 must have the same dimensions!")
        width, other = max(first)[0] + 1, max(second)[0] + 1
        result: _Kernel = {}
        for at in itertools.product(range(width + other - 1), repeat=self._axes):
            total = tf.zeros([n, n], self.dtype)
            for i in itertools.product(*(range(min(width, a + 1)) for a in at)):
                j = tuple(a - b for a, b in zip(at, i, strict=True))
                if max(j) < other:
                    total += tf.matmul(first[i], second[j])
            result[at] = total
        return result

    def _orthogonal_kernel(self, ksize: int, cin: int, cout: int) -> Any:
        if cin > cout:
            raise ValueError(
                "The number of input channels cannot exceed the number of output channels."
            )
        orth = self._orthogonal_matrix(cout)[0:cin, :]
        if ksize == 1:
            for _ in range(self._axes):
                orth = tf.expand_dims(orth, 0)
            return orth

        def block() -> _Kernel:
            return self._block_orth(*[self._symmetric_projection(cout) for _ in range(self._axes)])

        # Xiao and others, "Dynamical isometry and a mean field theory of CNNs" (arXiv 1806.05393),
        # algorithm 1: a kernel of width k is a product of k - 1 blocks of width two, each made of
        # projections.
        kernel = block()
        for _ in range(ksize - 2):
            kernel = self._matrix_conv(kernel, block())
        for at in itertools.product(range(ksize), repeat=self._axes):
            kernel[at] = tf.matmul(orth, kernel[at])
        return self._stacked(kernel, ksize)

    def _stacked(self, kernel: _Kernel, size: int, at: tuple[int, ...] = ()) -> Any:
        if len(at) == self._axes:
            return kernel[at]
        return tf.stack([self._stacked(kernel, size, (*at, i)) for i in range(size)])


class ConvolutionOrthogonal1D(ConvolutionOrthogonal):
    """An orthogonal convolution over one axis."""

    _axes, _word = 1, "three"


class ConvolutionOrthogonal2D(ConvolutionOrthogonal):
    """An orthogonal convolution over two axes."""

    _axes, _word = 2, "four"


class ConvolutionOrthogonal3D(ConvolutionOrthogonal):
    """An orthogonal convolution over three axes."""

    _axes, _word = 3, "five"

    # The nodes that 1.15 makes in three dimensions; there the bits are the other way round, too.
    def _factor(self, bit: int, projection: Tensor, eye: Tensor) -> Tensor:
        return bit * projection + (1 - bit) * (eye - projection)


convolutional_delta_orthogonal = ConvolutionDeltaOrthogonal
convolutional_orthogonal_1d = ConvolutionOrthogonal1D
convolutional_orthogonal_2d = ConvolutionOrthogonal2D
convolutional_orthogonal_3d = ConvolutionOrthogonal3D
