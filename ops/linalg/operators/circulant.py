# SPDX-License-Identifier: Apache-2.0
"""Operators that Fourier transforms make diagonal: circulant ones of one to three dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.signatures import without_private_bases
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape, broadcast_static, dimension_value
from ...public import tf
from ..solve import adjoint as _adjoint
from . import broadcasting as util
from .diagonal import require_dimensions
from .operator import Hint, Hints, LinearOperator

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.operation import Operation


def _to_complex(x: Tensor) -> Tensor:
    """Numbers as complex ones of the same precision."""
    if x.dtype.is_complex:
        return x
    wide = x.dtype.base_dtype == dtypes.float64
    return tf.cast(x, dtypes.complex128 if wide else dtypes.complex64)


def _last_axis_first(x: Tensor, back: bool = False) -> Tensor:
    """The last axis becomes the first, or the first becomes the last."""
    rank = x.shape.ndims
    if rank is not None:
        return tf.transpose(x, perm=np.roll(np.arange(rank), -1 if back else 1))
    axes = tf.range(tf.rank(x))
    parts = [axes[1:], axes[:1]] if back else [axes[-1:], axes[:-1]]
    return tf.transpose(x, perm=tf.concat(parts, 0))


class _Circulant(LinearOperator):
    """What circulant operators of all dimensions share."""

    _depth: int

    def _set(
        self, spectrum: TensorLike, input_output_dtype: DTypeLike, hints: Hints, name: str
    ) -> None:
        non_singular, symmetric, positive, square = hints
        with name_scope(name, values=[spectrum]):
            self._spectrum = convert_to_tensor(spectrum, name="spectrum")
            dims = self._spectrum.shape.ndims
            if dims is not None and dims < self._depth:
                raise ValueError(
                    f"Argument spectrum must have at least {self._depth} dimensions.  Found: "
                    f"{self._spectrum}"
                )
            if not self._spectrum.dtype.is_complex:
                if symmetric is False:
                    raise ValueError(
                        "A real spectrum always corresponds to a self-adjoint operator."
                    )
                symmetric = True
            if square is False:
                raise ValueError("A [[nested] block] circulant operator is always square.")
            self._block_shape_tensor = tf.shape(self._spectrum)[-self._depth :]
            self._spectrum_complex = _to_complex(self._spectrum)
            self._abs_spectrum = tf.abs(self._spectrum)
            self._conj_spectrum = tf.conj(self._spectrum_complex)
            kind = dtypes.as_dtype(input_output_dtype)
            hints = (non_singular, symmetric, positive, True)
            LinearOperator.__init__(self, kind, [self._spectrum], *hints, name)

    @property
    def block_depth(self) -> int:
        """The number of dimensions of the transforms."""
        return self._depth

    @property
    def block_shape(self) -> TensorShape:
        """The sizes of those dimensions."""
        return self._spectrum.shape[-self._depth :]

    def block_shape_tensor(self) -> Tensor:
        """The same as a tensor."""
        return self._block_shape_tensor

    @property
    def spectrum(self) -> Tensor:
        """The eigenvalues, in the order of the transform's frequencies."""
        return self._spectrum

    def _shape(self) -> TensorShape:
        size = self.block_shape.num_elements()
        return self._spectrum.shape[: -self._depth].concatenate(TensorShape([size, size]))

    def _shape_tensor(self) -> Tensor:
        shape = tf.shape(self._spectrum)
        size = tf.reduce_prod(shape[-self._depth :])
        return tf.concat((shape[: -self._depth], [size, size]), 0)

    # Transforms

    def _fft(self, x: Tensor) -> Tensor:
        return (tf.fft, tf.fft2d, tf.fft3d)[self._depth - 1](_to_complex(x))

    def _ifft(self, x: Tensor) -> Tensor:
        return (tf.ifft, tf.ifft2d, tf.ifft3d)[self._depth - 1](_to_complex(x))

    def _blocks(self, matrix: Tensor) -> Tensor:
        """Columns, each in the shape of a block."""
        columns = _last_axis_first(matrix)
        if columns.shape.is_fully_defined() and self.block_shape.is_fully_defined():
            return tf.reshape(columns, columns.shape[:-1].concatenate(self.block_shape))
        leading = tf.shape(columns)[:-1]
        return tf.reshape(columns, tf.concat((leading, self._block_shape_tensor), 0))

    def _columns(self, blocks: Tensor) -> Tensor:
        """The opposite of `_blocks`."""
        if blocks.shape.is_fully_defined():
            sizes: list[Any] = blocks.shape.as_list()
            flat: Any = [*sizes[: -self._depth], int(np.prod(sizes[-self._depth :]))]
        else:
            shape = tf.shape(blocks)
            size = tf.reduce_prod(shape[-self._depth :])
            flat = tf.concat((shape[: -self._depth], [size]), 0)
        return _last_axis_first(tf.reshape(blocks, flat), back=True)

    def _same_batch(self, x: Tensor, spectrum: Tensor) -> tuple[Tensor, Tensor]:
        as_matrix = tf.concat((self.batch_shape_tensor(), [-1, 1]), axis=0)
        matrices = (x, tf.reshape(spectrum, as_matrix))
        x, spectrum = util.broadcast_matrix_batch_dims(matrices)
        batch = tf.shape(x)[:-2]
        as_blocks = tf.concat((batch, self._block_shape_tensor), axis=0)
        return x, tf.reshape(spectrum, as_blocks)

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """The first column, in the shape of a block."""
        with self._name_scope(name):
            return tf.cast(self._ifft(self._spectrum_complex), self.dtype)

    # Checks

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Operation:
        """An operation that fails unless the matrix is real."""
        epsilon = np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps
        with self._name_scope(name):
            size = tf.cast(self.domain_dimension_tensor(), self.dtype.real_dtype)
            imaginary = tf.abs(tf.imag(self.convolution_kernel()))
            return tf.assert_less(imaginary, epsilon * size, message="Spectrum was not Hermitian")

    def _assert_non_singular(self) -> Operation:
        text = "Singular operator:  Spectrum contained zero values."
        return util.assert_no_entries_with_modulus_zero(self.spectrum, message=text)

    def _assert_positive_definite(self) -> Operation:
        text = "Not positive definite:  Real part of spectrum was not all positive."
        return tf.assert_positive(tf.real(self.spectrum), message=text)

    def _assert_self_adjoint(self) -> Operation:
        text = "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        return util.assert_zero_imag_part(self.spectrum, message=text)

    # Results

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = _adjoint(x) if adjoint_arg else x
        spectrum = self._conj_spectrum if adjoint else self._spectrum_complex
        x, spectrum = self._same_batch(tf.cast(x, spectrum.dtype), spectrum)
        # The transform makes the operator diagonal.
        found = self._ifft(spectrum * self._fft(self._blocks(x)))
        return tf.cast(self._columns(found), self.dtype)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = _adjoint(rhs) if adjoint_arg else rhs
        spectrum = self._conj_spectrum if adjoint else self._spectrum_complex
        rhs, spectrum = self._same_batch(tf.cast(rhs, spectrum.dtype), spectrum)
        found = self._ifft(self._fft(self._blocks(rhs)) / spectrum)
        return tf.cast(self._columns(found), self.dtype)

    def _block_axes(self) -> list[int]:
        return [-1 - i for i in range(self._depth)]

    def _determinant(self) -> Tensor:
        return tf.cast(tf.reduce_prod(self.spectrum, axis=self._block_axes()), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        logs = tf.reduce_sum(tf.log(self._abs_spectrum), axis=self._block_axes())
        return tf.cast(logs, self.dtype)

    def _diag_part(self) -> Tensor:
        size: Any = dimension_value(self.domain_dimension)
        shape: Any = self.shape[:-1]
        if not self.shape.is_fully_defined():
            shape, size = self.shape_tensor()[:-1], self.domain_dimension_tensor()
        ones = tf.ones(shape, dtype=self.dtype)
        return (self.trace() / tf.cast(size, self.dtype))[..., None] * ones

    def _trace(self) -> Tensor:
        # The sum of the eigenvalues.
        axes = self._block_axes()
        real = tf.reduce_sum(tf.real(self.spectrum), axis=axes)
        if not self.dtype.is_complex:
            return tf.cast(real, self.dtype)
        if self.is_self_adjoint:
            imaginary = tf.zeros_like(real)
        else:
            imaginary = tf.reduce_sum(tf.imag(self.spectrum), axis=axes)
        return tf.cast(tf.complex(real, imaginary), self.dtype)


_ARGUMENTS = """

    Args:
        spectrum: the eigenvalues, in the order of the transform's frequencies.
        input_output_dtype: of what the operator is multiplied with.
        is_non_singular: whether no eigenvalue is zero.
        is_self_adjoint: whether all are real.
        is_positive_definite: whether all have a positive real part.
        is_square: True.
        name: of the scope of its operations.

    Raises:
        ValueError: `spectrum` has too few dimensions, or a hint cannot be true.

    Example:
        >>> spectrum = tf.constant({}, tf.complex64)
        >>> operator = tf.linalg.{}(spectrum)
        >>> tf.Session().run(operator.trace())
        np.complex64(10+0j)
    """


@export("linalg.LinearOperatorCirculant")
@without_private_bases
class LinearOperatorCirculant(_Circulant):
    __doc__ = "Circulant matrices: every column is the one before it, moved down by one." + (
        _ARGUMENTS.format("[4.0, 3.0, 2.0, 1.0]", "LinearOperatorCirculant")
    )
    _depth = 1

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = dtypes.complex64,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._set(spectrum, input_output_dtype, hints, name)


@export("linalg.LinearOperatorCirculant2D")
@without_private_bases
class LinearOperatorCirculant2D(_Circulant):
    __doc__ = "Block circulant matrices, whose blocks are circulant." + (
        _ARGUMENTS.format("[[4.0, 3.0], [2.0, 1.0]]", "LinearOperatorCirculant2D")
    )
    _depth = 2

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = dtypes.complex64,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = True,
        name: str = "LinearOperatorCirculant2D",
    ) -> None:
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._set(spectrum, input_output_dtype, hints, name)


@export("linalg.LinearOperatorCirculant3D")
@without_private_bases
class LinearOperatorCirculant3D(_Circulant):
    __doc__ = "Block circulant matrices, whose blocks are block circulant." + (
        _ARGUMENTS.format("[[[4.0, 3.0], [2.0, 1.0]]]", "LinearOperatorCirculant3D")
    )
    _depth = 3

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = dtypes.complex64,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = True,
        name: str = "LinearOperatorCirculant3D",
    ) -> None:
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._set(spectrum, input_output_dtype, hints, name)


@export("linalg.LinearOperatorToeplitz")
class LinearOperatorToeplitz(LinearOperator):
    """Toeplitz matrices: entries are the same along every diagonal.

    Args:
        col: the first column.
        row: the first row, whose first entry is that of the column.
        is_non_singular: whether they have inverses.
        is_self_adjoint: whether they equal their conjugate transposes.
        is_positive_definite: whether x^H A x has a positive real part for every x but zero.
        is_square: True or None.
        name: of the scope of its operations.

    Raises:
        ValueError: row and column are of different sizes, or `is_square` is False.

    Example:
        >>> operator = tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 5.0])
        >>> tf.Session().run(operator.trace())
        np.float32(2.0)
    """

    def __init__(
        self,
        col: TensorLike,
        row: TensorLike,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        with name_scope(name, values=[row, col]):
            self._row = convert_to_tensor(row, name="row")
            self._col = convert_to_tensor(col, name="col")
            require_dimensions(self._row, 1, "row")
            require_dimensions(self._col, 1, "col")
            sizes = [dimension_value(x.shape[-1]) for x in (self._row, self._col)]
            if None not in sizes and sizes[0] != sizes[1]:
                raise ValueError(
                    "Expected square matrix, got row and col with mismatched dimensions."
                )
            if is_square is False:
                raise ValueError("Only square Toeplitz operators currently supported.")
            # A part of a circulant matrix of twice the size.
            middle = tf.zeros_like(self._col[..., 0:1])
            above = tf.reverse(self._row[..., 1:], axis=[-1])
            column = tf.concat([self._col, middle, above], axis=-1)
            spectrum = tf.fft(_to_complex(column))
            self._circulant = LinearOperatorCirculant(spectrum, input_output_dtype=self._row.dtype)
            hints = (is_non_singular, is_self_adjoint, is_positive_definite, True)
            super().__init__(self._row.dtype, [self._row, self._col], *hints, name)

    @property
    def col(self) -> Tensor:
        """The first column."""
        return self._col

    @property
    def row(self) -> Tensor:
        """The first row."""
        return self._row

    def _shape(self) -> TensorShape:
        shape = broadcast_static(self.row.shape, self.col.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Tensor:
        shape = tf.broadcast_dynamic_shape(tf.shape(self.row), tf.shape(self.col))
        return tf.concat((shape, [shape[-1]]), 0)

    def _assert_self_adjoint(self) -> Operation:
        text = "row and col are not the same, and so this operator is not self-adjoint."
        return tf.assert_equal(self.row, self.col, message=text)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = _adjoint(x) if adjoint_arg else x
        longer = tf.concat([x, tf.zeros_like(x)], axis=-2)
        found = self._circulant.matmul(longer, adjoint=adjoint, adjoint_arg=False)
        return tf.cast(found[..., : self.domain_dimension_tensor(), :], self.dtype)

    def _trace(self) -> Tensor:
        return tf.cast(self.domain_dimension_tensor(), dtype=self.dtype) * self.col[..., 0]

    def _diag_part(self) -> Tensor:
        return self.col[..., 0:1] * tf.ones([self.domain_dimension_tensor()], self.dtype)
