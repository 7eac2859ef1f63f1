# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms over the innermost one, two or three dimensions.

They are computed in the precision of their input: by kernels of the library, axis after axis, or,
of lengths that those do not take and by reference kernels, by SciPy.  Those of real numbers are
fourier_real.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import OpFunction, define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_COMPLEX = "Tcomplex: {complex64, complex128} = complex64"
# The transform over so many dimensions, and its inverse.
_NAMES = {1: ("FFT", "IFFT"), 2: ("FFT2D", "IFFT2D"), 3: ("FFT3D", "IFFT3D")}


# A transform of fewer numbers takes less time than to wake threads for it.
_LEAST_SHARED = 1 << 16


def workers(c: KernelContext, x: np.ndarray) -> int:
    """How many threads share the transforms of an array: of many numbers all that kernels have."""
    from ...jit import threads

    if x.size < _LEAST_SHARED:
        return 1
    config = None if c.session is None else c.session.config
    return (config.intra_op_parallelism_threads if config else 0) or threads.count()


def _transform(rank: int, is_inverse: bool) -> Callable[..., np.ndarray]:
    def kernel(c: KernelContext, x: np.ndarray) -> np.ndarray:
        # As TensorFlow in the precision of its input, which NumPy's transform leaves.
        from scipy import fft

        if x.ndim < rank:
            raise errors.invalid(
                f"Input must have rank of at least {rank} but got: {shape_text(x.shape)}"
            )
        if not x.size:
            return x.copy()
        function = fft.ifftn if is_inverse else fft.fftn
        axes = tuple(range(-rank, 0))
        return np.asarray(function(x, axes=axes, workers=workers(c, x)), x.dtype)

    return kernel


def _unchanged(rank: int) -> Callable[[Any], TensorShape]:
    def shape(c: ShapeContext) -> TensorShape:
        shape_inference.ranked_at_least(c.inputs[0], rank)
        return c.inputs[0]

    return shape


def transformed(b: Builder, x: Value, rank: int, is_inverse: bool) -> Value:
    """The compiled form of a transform over the innermost dimensions, from the last one on."""
    from ...jit.library import fourier

    for axis in range(x.ndim - 1, x.ndim - 1 - rank, -1):
        x = fourier.transform(b, x, axis, is_inverse)
    return x


def _lower(rank: int, is_inverse: bool) -> Callable[..., Value]:
    def lower(b: Builder, op: OpView, x: Value) -> Value:
        b.require(x.ndim >= rank)
        return transformed(b, x, rank, is_inverse)

    return lower


def elements(x: Tensor, rank: int) -> Tensor:
    """How many numbers one transform takes."""
    return tf.reduce_prod(tf.shape(x)[-rank:])


def _gradient(rank: int, is_inverse: bool) -> Callable[..., Tensor]:
    # The adjoint of the transform is the inverse without its factor 1 / size, and the reverse.
    def gradient(op: Operation, grad: Tensor) -> Tensor:
        size = tf.cast(elements(grad, rank), grad.dtype)
        other = OpFunction(_NAMES[rank][not is_inverse])(grad)
        return other / size if is_inverse else other * size

    return gradient


def _define_complex(rank: int, is_inverse: bool) -> None:
    name = _NAMES[rank][is_inverse]
    define(
        name,
        "input: Tcomplex -> output: Tcomplex",
        _COMPLEX,
        shape=_unchanged(rank),
        kernel=_transform(rank, is_inverse),
        lower=_lower(rank, is_inverse),
        gradient=_gradient(rank, is_inverse),
        doc=f"The {'inverse ' if is_inverse else ''}Fourier transform over {rank} dimension(s).",
        test={
            "shapes": [[[4, 3, 5]], [[2, 2, 1, 8]]],
            "dtypes": ["complex64", "complex128"],
            "gradient": False,
            "rtol": 1e-4,
        },
    )

    def function(input: Tensor, name: str | None = None) -> Tensor:
        return OpFunction(op_type)(input, name=name)

    op_type = name
    inverse = "inverse " if is_inverse else ""
    function.__doc__ = (
        f"The {inverse}Fourier transform of complex64 or complex128 numbers over the innermost "
        f"{rank} dimension(s)."
    )
    public = function.__name__ = name.lower()
    export(f"signal.{public}", f"spectral.{public}", public)(function)


for _rank in _NAMES:
    for _is_inverse in (False, True):
        _define_complex(_rank, _is_inverse)


@export("signal.fftshift")
def fftshift(x: TensorLike, axes: Any = None, name: str | None = None) -> Tensor:
    """A spectrum with frequency zero in the middle (tf.signal.fftshift).

    Args:
        x: a tensor of known sizes.
        axes: the axis or axes to shift; all if None.
        name: of the operation.

    Returns:
        A Tensor of the same shape and dtype.

    Example:
        >>> print(tf.Session().run(tf.signal.fftshift([0, 1, 2, -2, -1])))
        [-2 -1  0  1  2]
    """
    return _shifted(x, axes, name, "fftshift", 1)


@export("signal.ifftshift")
def ifftshift(x: TensorLike, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift` (tf.signal.ifftshift).

    Args:
        x: a tensor of known sizes.
        axes: the axis or axes to shift; all if None.
        name: of the operation.

    Returns:
        A Tensor of the same shape and dtype.

    Example:
        >>> print(tf.Session().run(tf.signal.ifftshift([-2, -1, 0, 1, 2])))
        [ 0  1  2 -2 -1]
    """
    return _shifted(x, axes, name, "ifftshift", -1)


def _shifted(x: TensorLike, axes: Any, name: str | None, default: str, sign: int) -> Tensor:
    with name_scope(name, default) as name:
        given = convert_to_tensor(x)
        sizes: Any = given.shape.as_list()
        if axes is None:
            axes = tuple(range(len(sizes)))
        if isinstance(axes, int):
            shift: Any = sign * int(sizes[axes] // 2)
        else:
            shift = [sign * int(sizes[axis] // 2) for axis in axes]
        return tf.roll(given, shift, axes, name)
