# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms over the innermost one, two or three dimensions.

They run on the host, in the precision of their input, by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import OpFunction, define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation

_COMPLEX = "Tcomplex: {complex64, complex128} = complex64"
# The transform over so many dimensions, and its inverse.
_NAMES = {1: ("FFT", "IFFT"), 2: ("FFT2D", "IFFT2D"), 3: ("FFT3D", "IFFT3D")}


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
        return np.asarray(function(x, axes=tuple(range(-rank, 0))), x.dtype)

    return kernel


def _unchanged(rank: int) -> Callable[[Any], TensorShape]:
    def shape(c: ShapeContext) -> TensorShape:
        shape_inference.ranked_at_least(c.inputs[0], rank)
        return c.inputs[0]

    return shape


def _elements(x: Tensor, rank: int) -> Tensor:
    """How many numbers one transform takes."""
    return tf.reduce_prod(tf.shape(x)[-rank:])


def _gradient(rank: int, is_inverse: bool) -> Callable[..., Tensor]:
    # The adjoint of the transform is the inverse without its factor 1 / size, and the reverse.
    def gradient(op: Operation, grad: Tensor) -> Tensor:
        size = tf.cast(_elements(grad, rank), grad.dtype)
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


def _length_of(c: KernelContext, x: np.ndarray, fft_length: np.ndarray) -> int:
    if x.ndim < 1:
        raise errors.invalid(f"Input must have rank of at least 1 but got: {shape_text(x.shape)}")
    if fft_length.shape != (1,):
        raise errors.invalid("fft_length must have shape [1]")
    length = int(fft_length[0])
    if length < 0:
        raise errors.invalid(f"fft_length[0] must be >= 0, but got: {length}")
    return length


def _require_enough(x: np.ndarray, least: int) -> None:
    if x.size and x.shape[-1] < least:
        raise errors.invalid(
            f"Input dimension {x.ndim - 1} must have length of at least {least} but got: "
            f"{x.shape[-1]}"
        )


def _rfft(c: KernelContext, x: np.ndarray, fft_length: np.ndarray) -> np.ndarray:
    length = _length_of(c, x, fft_length)
    _require_enough(x, length)
    shape = (*x.shape[:-1], length // 2 + 1 if length else 0)
    if not x.size or not length:
        return np.zeros(shape, np.complex64)
    from scipy import fft

    return np.asarray(fft.rfft(x[..., :length], axis=-1), np.complex64)


def _irfft(c: KernelContext, x: np.ndarray, fft_length: np.ndarray) -> np.ndarray:
    length = _length_of(c, x, fft_length)
    _require_enough(x, length // 2 + 1 if length else 0)
    if not x.size or not length:
        return np.zeros((*x.shape[:-1], length), np.float32)
    from scipy import fft

    return np.asarray(fft.irfft(x, length, axis=-1), np.float32)


def _real_shape(is_inverse: bool) -> Callable[[Any], TensorShape]:
    def shape(c: ShapeContext) -> TensorShape:
        shape_inference.ranked_at_least(c.inputs[0], 1)
        known = c.value(1)
        if known is None:
            last = None
        else:
            length = int(np.ravel(known)[0])
            last = length if is_inverse or not length else length // 2 + 1
        return c.inputs[0][:-1].concatenate([last])

    return shape


def _rfft_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    x, fft_length = op.inputs
    length, kind = tf.shape(x)[-1], grad.dtype
    # The transform leaves out the conjugates of all but the first entry and, for even lengths,
    # the last one: these two count once, the others twice.
    is_even = tf.cast(1 - (fft_length[-1] % 2), kind)
    signs = tf.cast(1 - 2 * (tf.range(length) % 2), kind)
    once = grad[..., 0:1] + is_even * grad[..., -1:] * signs
    size = tf.cast(_elements(x, 1), kind.real_dtype)
    return 0.5 * (OpFunction("IRFFT")(grad, fft_length) * size + tf.real(once)), None


def _irfft_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    x, fft_length = op.inputs
    is_odd = fft_length[-1] % 2
    # All entries but the first and, for even lengths, the last stand for two of the full transform.
    middle = 2.0 * tf.ones([tf.shape(x)[-1] - 2 + is_odd])
    weights = tf.concat([[1.0], middle, tf.ones([1 - is_odd])], 0)
    scale = tf.reciprocal(tf.cast(_elements(grad, 1), grad.dtype))
    found = OpFunction("RFFT")(grad, fft_length)
    return found * tf.cast(scale * weights, dtypes.complex64), None


_REAL_TEST = {
    "values": [[np.array([[1, 5, -2, 3], [0, 1, 4, 2]], np.float32), np.array([4], np.int32)]]
}
define(
    "RFFT",
    "input: float32, fft_length: int32 -> output: complex64",
    shape=_real_shape(is_inverse=False),
    kernel=_rfft,
    gradient=_rfft_gradient,
    dynamic_shape=True,
    doc="The first half of the Fourier transform of real numbers, which states the other.",
    test={**_REAL_TEST, "gradient": False},
)
define(
    "IRFFT",
    "input: complex64, fft_length: int32 -> output: float32",
    shape=_real_shape(is_inverse=True),
    kernel=_irfft,
    gradient=_irfft_gradient,
    dynamic_shape=True,
    doc="The real numbers whose transform begins like that.",
    test={
        "values": [
            [np.array([[1, 5j, -2], [0, 1 + 2j, 4]], np.complex64), np.array([4], np.int32)]
        ],
        "gradient": False,
    },
)


def _real_arguments(
    input: TensorLike, dtype: dtypes.DType, fft_length: Sequence[int] | None, is_inverse: bool
) -> tuple[Tensor, Tensor]:
    """The input, padded with zeros where the transform is longer, and the length as a tensor."""
    x = convert_to_tensor(input, dtype)
    x.set_shape(x.shape.with_rank_at_least(1))
    if fft_length is None:
        known = None if x.shape.ndims is None else x.shape.as_list()[-1]
        if known is not None:
            # An inverse cannot know whether its result had an odd length; it takes the even one.
            known = max(0, 2 * (known - 1)) if is_inverse else known
            return x, tf.constant([known], dtypes.int32)
        last = tf.shape(x)[-1:]
        return x, tf.maximum(0, 2 * (last - 1)) if is_inverse else last
    length = convert_to_tensor(fft_length, dtypes.int32)
    wanted = length[0] // 2 + 1 if is_inverse else length[0]
    missing = tf.maximum(wanted - tf.shape(x)[-1], 0)
    front = tf.zeros([tf.rank(x) - 1, 2], dtypes.int32)
    return tf.pad(x, tf.concat([front, [[0, missing]]], 0)), length


@export("signal.rfft", "spectral.rfft")
def rfft(
    input_tensor: TensorLike, fft_length: Sequence[int] | None = None, name: str | None = None
) -> Tensor:
    """The Fourier transform of float32 numbers over the last dimension: its first half.

    fft_length: how many numbers it takes, as a vector of one; others are cut or padded.
    """
    with name_scope(name, "rfft", [input_tensor, fft_length]) as name:
        x, length = _real_arguments(input_tensor, dtypes.float32, fft_length, False)
        return OpFunction("RFFT")(x, length, name=name)


@export("signal.irfft", "spectral.irfft")
def irfft(
    input_tensor: TensorLike, fft_length: Sequence[int] | None = None, name: str | None = None
) -> Tensor:
    """The real numbers whose transform `rfft` would be; complex64.

    fft_length: how many numbers there are, as a vector of one; 2 * (n - 1) of n unless given.
    """
    with name_scope(name, "irfft", [input_tensor, fft_length]) as name:
        x, length = _real_arguments(input_tensor, dtypes.complex64, fft_length, True)
        return OpFunction("IRFFT")(x, length, name=name)
