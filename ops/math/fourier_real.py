# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms of real numbers over the innermost one, two or three dimensions.

Of the innermost dimension they keep the first half, which states the other.  They are computed in
single precision: by kernels of the library where those take the lengths, or else by SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import OpFunction, define
from ...engine.graph.constants import constant_value_as_shape
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import tf
from .fourier import elements, workers

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# The transform over so many dimensions, and its inverse.
_NAMES = {1: ("RFFT", "IRFFT"), 2: ("RFFT2D", "IRFFT2D"), 3: ("RFFT3D", "IRFFT3D")}


def _halved(length: int) -> int:
    return length // 2 + 1


def _lengths(x: np.ndarray, fft_length: np.ndarray, rank: int, is_inverse: bool) -> list[int]:
    """The sizes of the real side, which fit the input."""
    if x.ndim < rank:
        raise errors.invalid(
            f"Input must have rank of at least {rank} but got: {shape_text(x.shape)}"
        )
    if fft_length.shape != (rank,):
        raise errors.invalid(f"fft_length must have shape [{rank}]")
    lengths = [int(length) for length in fft_length]
    for i, length in enumerate(lengths):
        if length < 0:
            raise errors.invalid(f"fft_length[{i}] must be >= 0, but got: {length}")
        is_half = is_inverse and i == rank - 1
        least, axis = _halved(length) if is_half else length, x.ndim - rank + i
        if 0 < x.shape[axis] < least and x.size:
            raise errors.invalid(
                f"Input dimension {axis} must have length of at least {least} but got: "
                f"{x.shape[axis]}"
            )
    return lengths


def _transform(rank: int, is_inverse: bool) -> Callable[..., np.ndarray]:
    def kernel(c: KernelContext, x: np.ndarray, fft_length: np.ndarray) -> np.ndarray:
        lengths = _lengths(x, fft_length, rank, is_inverse)
        outer, last = x.shape[: x.ndim - rank], lengths[-1]
        half = [*lengths[:-1], _halved(last) if last else 0]
        shape = (*outer, *(lengths if is_inverse else half))
        dtype = np.float32 if is_inverse else np.complex64
        if not x.size or 0 in lengths:
            return np.zeros(shape, dtype)
        from scipy import fft

        taken = half if is_inverse else lengths
        window: Any = (..., *(slice(0, length) for length in taken))
        part = x[window]
        axes = tuple(range(-rank, 0))
        function = fft.irfftn if is_inverse else fft.rfftn
        found = function(part, lengths, axes, workers=workers(c, part))
        return np.asarray(found, dtype)

    return kernel


def _lower(rank: int, is_inverse: bool) -> Callable[..., Value]:
    def lower(b: Builder, op: OpView, x: Value, fft_length: Value) -> Value:
        from ...jit.library import fourier

        known = b.known(fft_length)
        b.require(x.ndim >= rank and fft_length.shape == (rank,))
        if known is None:
            raise b.host("lengths that only a run tells")
        lengths = [fourier.pinned(b, size) for size in known]
        b.require(min(lengths) > 0)
        taken = [*lengths[:-1], _halved(lengths[-1])] if is_inverse else lengths
        sizes = [fourier.pinned(b, size) for size in x.shape[x.ndim - rank :]]
        b.require(all(size >= least for size, least in zip(sizes, taken, strict=True)))
        if sizes != taken:
            x = b.slice(x, [0] * x.ndim, [*x.shape[: x.ndim - rank], *taken])
        outer = range(x.ndim - rank, x.ndim - 1)
        if not is_inverse:
            x = fourier.real_forward(b, x, lengths[-1])
        for axis in reversed(outer):
            x = fourier.transform(b, x, axis, is_inverse)
        return fourier.real_inverse(b, x, lengths[-1]) if is_inverse else x

    return lower


def _shape(rank: int, is_inverse: bool) -> Callable[[ShapeContext], TensorShape]:
    def shape(c: ShapeContext) -> TensorShape:
        shape_inference.ranked_at_least(c.inputs[0], rank)
        lengths = shape_inference.ranked(c.inputs[1], 1)
        shape_inference.require_dim(lengths[0], rank)
        known = c.value(1)
        sizes: list[int | None] = [None] * rank
        if known is not None:
            sizes = [int(length) for length in known]
            if not is_inverse and known[-1]:
                sizes[-1] = _halved(int(known[-1]))
        return c.inputs[0][:-rank].concatenate(sizes)

    return shape


def _turns(length: Tensor) -> Tensor:
    """The matrix of a transform of one dimension."""
    rows = tf.tile(tf.expand_dims(tf.range(length), 0), (length, 1))
    products: Any = rows * tf.transpose(rows, [1, 0])
    kind = dtypes.complex64
    return tf.exp(-2j * np.pi * tf.cast(products, kind) / tf.cast(length, kind))


def _tiled(matrix: Any, t: Any) -> Tensor:
    """A matrix for each of the matrices of t."""
    ones = tf.ones([tf.rank(t) - 2], dtypes.int32)
    expanded = tf.reshape(matrix, tf.concat([ones, tf.shape(matrix)], 0))
    return tf.tile(expanded, tf.concat([tf.shape(t)[:-2], [1, 1]], 0))


def _signs(length: Tensor) -> Any:
    places: Any = tf.range(length)
    return tf.cast(1 - 2 * (places % 2), dtypes.complex64)


def _gradient(rank: int) -> Callable[..., Any]:
    def gradient(op: Operation, grad: Tensor) -> tuple[Any, None]:
        lengths: Any = op.inputs[1]
        sizes = tf.shape(op.inputs[0])
        kind = dtypes.complex64
        # The transform leaves out the conjugates of all but the first column and, for even
        # lengths, the last one: these two count once, the others twice.
        is_even: Any = tf.cast(1 - (lengths[-1] % 2), kind)
        first = grad[..., 0:1]
        if rank == 1:
            last = grad[..., -1:]
            once = first + is_even * last * _signs(sizes[-1])
        else:
            matrix = _tiled(_turns(sizes[-2]), first)
            once = tf.matmul(matrix, tf.conj(first))
            last = tf.matmul(matrix, tf.conj(grad[..., -1:]))
            width = sizes[-1]
            ones = tf.ones([tf.rank(grad) - 1], dtypes.int32)
            last = tf.tile(last, tf.concat([ones, [width]], 0)) * _signs(width)
            once += is_even * last
        size = tf.cast(elements(op.inputs[0], rank), dtypes.float32)
        back: Any = _function(rank, True)(grad, lengths)
        return 0.5 * (back * size + tf.real(once)), None

    return gradient


def _gradient_of_inverse(rank: int) -> Callable[..., Any]:
    def gradient(op: Operation, grad: Tensor) -> tuple[Any, None]:
        lengths: Any = op.inputs[1]
        is_odd: Any = tf.mod(lengths[-1], 2)
        # All but the first column and, for even lengths, the last stand for two of the full
        # transform.
        middle = 2.0 * tf.ones([tf.shape(op.inputs[0])[-1] - 2 + is_odd])
        weights: Any = tf.concat([[1.0], middle, tf.ones([1 - is_odd])], 0)
        scale = tf.reciprocal(tf.cast(elements(grad, rank), dtypes.float32))
        found: Any = _function(rank, False)(grad, lengths)
        return found * tf.cast(scale * weights, dtypes.complex64), None

    return gradient


def _inferred(x: Tensor, rank: int, is_inverse: bool) -> Tensor:
    """The lengths that fit an input; an inverse takes the even one of two that do."""
    shape = x.shape[-rank:]
    if shape.is_fully_defined():
        known = shape_inference.known_sizes(shape)
        if is_inverse and known:
            known[-1] = max(0, 2 * (known[-1] - 1))
        return convert_to_tensor(known, dtypes.int32)
    if not is_inverse:
        return tf.shape(x)[-rank:]
    sizes: list[Any] = list(tf.unstack(tf.shape(x)[-rank:]))
    sizes[-1] = tf.maximum(0, 2 * (sizes[-1] - 1))
    return tf.stack(sizes)


def _padded(x: Tensor, rank: int, lengths: Tensor, is_inverse: bool) -> Tensor:
    """The input with zeros behind it where the transform is longer."""
    sizes = None if x.shape.ndims is None else x.shape.as_list()
    if sizes is not None and 0 in sizes:
        return x
    wanted = constant_value_as_shape(lengths)
    if wanted.is_fully_defined() and sizes is not None and None not in sizes[-rank:]:
        known = shape_inference.known_sizes(wanted)
        if is_inverse:
            known[-1] = _halved(known[-1])
        inner = shape_inference.known_sizes(x.shape[-len(known) :])
        paddings = [[0, max(new - old, 0)] for new, old in zip(known, inner)]
        if any(pad for _, pad in paddings):
            return tf.pad(x, [[0, 0]] * max(len(sizes) - len(known), 0) + paddings)
        return x
    outer = tf.zeros([tf.maximum(0, tf.rank(x) - rank)], lengths.dtype)
    present = tf.shape(x)[-rank:]
    needed: Any = lengths
    if is_inverse:
        needed = tf.concat([needed[:-1], needed[-1:] // 2 + 1], 0)
    behind = tf.concat([outer, tf.maximum(0, needed - present)], 0)
    return tf.pad(x, tf.stack([tf.zeros_like(behind), behind], axis=1))


def _function(rank: int, is_inverse: bool) -> Callable[..., Tensor]:
    """The public function of a transform."""
    op_type = _NAMES[rank][is_inverse]

    def transform(
        input_tensor: TensorLike, fft_length: Sequence[int] | None = None, name: str | None = None
    ) -> Tensor:
        with name_scope(name, op_type.lower(), [input_tensor, fft_length]) as name:
            dtype = dtypes.complex64 if is_inverse else dtypes.float32
            x = convert_to_tensor(input_tensor, dtype)
            x.shape.with_rank_at_least(rank)
            if fft_length is None:
                lengths = _inferred(x, rank, is_inverse)
            else:
                lengths = convert_to_tensor(fft_length, dtypes.int32)
            return OpFunction(op_type)(_padded(x, rank, lengths, is_inverse), lengths, name=name)

    transform.__name__ = op_type.lower()
    return transform


_ABOUT = {
    False: (
        "The Fourier transform of float32 numbers over the last {rank} dimension(s): its first "
        "half.\n\nfft_length: how many numbers it takes, as a vector of {rank}; others are cut or "
        "padded."
    ),
    True: (
        "The real numbers whose transform over the last {rank} dimension(s) the complex64 ones "
        "are.\n\nfft_length: how many numbers there are, as a vector of {rank}; 2 * (n - 1) of the "
        "last unless given."
    ),
}


def _publish(rank: int, is_inverse: bool) -> Callable[..., Tensor]:
    function = _function(rank, is_inverse)
    function.__doc__ = _ABOUT[is_inverse].format(rank=rank)
    public = function.__name__
    return export(f"signal.{public}", f"spectral.{public}")(function)


def _define(rank: int, is_inverse: bool) -> None:
    made: Any = (_gradient_of_inverse if is_inverse else _gradient)(rank)
    if rank == 3:
        made = NoGradient("TensorFlow has no gradient of it")
    random = np.random.RandomState(0)
    sizes, half = (2, 3, 4)[-rank:], (2, 3, 3)[-rank:]
    x: Any = random.uniform(-1, 1, (2, *sizes)).astype(np.float32)
    if is_inverse:
        parts = random.uniform(-1, 1, (2, 2, *half))
        x = (parts[0] + 1j * parts[1]).astype(np.complex64)
    define(
        _NAMES[rank][is_inverse],
        "input: complex64, fft_length: int32 -> output: float32"
        if is_inverse
        else "input: float32, fft_length: int32 -> output: complex64",
        shape=_shape(rank, is_inverse),
        kernel=_transform(rank, is_inverse),
        lower=_lower(rank, is_inverse),
        gradient=made,
        dynamic_shape=True,
        doc=_ABOUT[is_inverse].format(rank=rank).partition("\n")[0],
        test=lambda: {"values": [[x, np.array(sizes, np.int32)]], "gradient": False},
    )


for _rank in _NAMES:
    for _is_inverse in (False, True):
        _define(_rank, _is_inverse)

rfft, irfft = _publish(1, False), _publish(1, True)
rfft2d, irfft2d = _publish(2, False), _publish(2, True)
rfft3d, irfft3d = _publish(3, False), _publish(3, True)
