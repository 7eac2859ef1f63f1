# SPDX-License-Identifier: Apache-2.0
"""Convolution over two and three spatial axes and its two gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.types.shape import TensorShape
from .. import shape_inference
from ..public import raw, tf
from ..ranks import image, ranked, vector
from . import views
from . import window as nw

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_PADDING = "padding: {'SAME', 'VALID'}"
_EXPLICIT = "padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []"
_FLOATS = "T: {half, bfloat16, float32, float64}"
ATTRS_2D = (
    f"{_FLOATS}; strides: list(int); use_cudnn_on_gpu: bool = true; {_EXPLICIT}; "
    "data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]"
)
_ATTRS_3D = (
    f"{_FLOATS}; strides: list(int) >= 5; {_PADDING}; "
    "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]"
)


def geometry(attr: Callable[..., Any], sizes: Sequence[Any], windows: Sequence[Any]) -> nw.Window:
    """The window of a convolution op."""
    form, padding = attr("data_format"), attr("padding")
    explicit = nw.pairs(attr("explicit_paddings"), form) if padding == "EXPLICIT" else None
    strides, dilations = nw.spatial(attr("strides"), form), nw.spatial(attr("dilations"), form)
    return nw.window(sizes, windows, strides, padding, dilations, explicit)


def _check_attrs(attr: Callable[..., Any], rank: int) -> None:
    form = attr("data_format")
    for name in ("strides", "dilations"):
        values = attr(name)
        if len(values) != rank:
            raise ValueError(
                f"Conv{rank - 2}D on {form} expects the {name} attribute to contain {rank} values, "
                f"but got: {len(values)}"
            )
        if values[0] != 1 or nw.channels(values, form) != 1:
            raise ValueError(
                "Current implementation does not yet support "
                f"{name} in the batch and depth dimensions."
            )
        if min(values) <= 0:
            raise ValueError(f"Dimensions of {name} should be larger than 0.")
    if rank == 4 and attr("padding") == "EXPLICIT":
        _check_explicit(list(attr("explicit_paddings")), form)


def _check_explicit(explicit: list[int], form: str) -> None:
    if len(explicit) != 8:
        raise ValueError(
            f"explicit_paddings attribute must contain 8 values, but got: {len(explicit)}"
        )
    if min(explicit) < 0:
        raise ValueError("All elements of explicit_paddings must be nonnegative")
    channel = 2 if nw.is_channels_first(form) else 6
    if any(explicit[:2]) or any(explicit[channel : channel + 2]):
        raise ValueError(
            "Nonzero explicit padding in the batch or depth dimensions is not supported"
        )


def _conv_shape(rank: int) -> Callable[[Any], TensorShape]:
    def shape(c: ShapeContext) -> TensorShape:
        form = c.attr("data_format")
        x, w = nw.known_dims(c.inputs[0], rank), nw.known_dims(c.inputs[1], rank)
        _check_attrs(c.attr, rank)
        deep, wanted = nw.channels(x, form), w[-2]
        if deep is not None and wanted and deep % wanted:
            raise ValueError(
                f"Depth of input ({deep}) is not a multiple of input depth of filter ({wanted})"
            )
        out = geometry(c.attr, nw.spatial(x, form), w[:-2]).out
        return TensorShape(nw.arranged(x[0], out, w[-1], form))

    return shape


# Patches made at a time take at most about this many values.
_PATCHES = 1 << 24


def _chunks(images: int, out: Any, depth: int) -> Iterator[slice]:
    """Batches of images whose patches are not too large together."""
    step = max(1, _PATCHES // max(1, math.prod(out) * depth))
    for start in range(0, images, step):
        yield slice(start, start + step)


def _rows(x: np.ndarray) -> np.ndarray:
    """All axes but the last made into one."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _patches(padded: np.ndarray, window: nw.Window) -> np.ndarray:
    """One row per output position: the window's part of the padded input."""
    parts = [padded[where] for _, where in window.offsets()]
    stacked = np.concatenate(parts, axis=-1)
    return _rows(stacked)


def convolve(x: np.ndarray, w: np.ndarray, window: nw.Window) -> np.ndarray:
    """The convolution of a channels-last array."""
    padded, flat = window.pad(x), _rows(w)
    result = np.zeros([x.shape[0], *cast("list[int]", window.out), w.shape[-1]], x.dtype)
    for batch in _chunks(len(x), window.out, len(flat)):
        product = _patches(padded[batch], window) @ flat
        result[batch] = product.reshape(result[batch].shape)
    return result


def _sum_type(dtype: np.dtype) -> np.dtype:
    """Half precision accumulates in single."""
    return np.dtype(np.float32) if dtype.itemsize == 2 else dtype


def convolve_input_gradient(
    shape: Sequence[int], w: np.ndarray, dy: np.ndarray, window: nw.Window
) -> np.ndarray:
    """The gradient with respect to a channels-last input of the given shape."""
    padded = window.padded_zeros(shape[0], shape[-1], dy.dtype)
    flat, depth = _rows(w), shape[-1]
    for batch in _chunks(len(dy), window.out, len(flat)):
        grad = dy[batch]
        product = _rows(grad) @ flat.T
        patches = product.reshape(*grad.shape[:-1], product.shape[-1])
        for i, (_, where) in enumerate(window.offsets()):
            # Windows overlap: what they read in common adds up.
            padded[batch][where] += patches[..., i * depth : (i + 1) * depth]
    return window.unpad(padded)


def convolve_filter_gradient(
    x: np.ndarray, shape: Sequence[int], dy: np.ndarray, window: nw.Window
) -> np.ndarray:
    """The gradient with respect to the filter."""
    padded, depth = window.pad(x), math.prod(shape[:-1])
    result = np.zeros((depth, shape[-1]), dy.dtype)
    for batch in _chunks(len(dy), window.out, depth):
        result += _patches(padded[batch], window).T @ _rows(dy[batch])
    return result.reshape(shape)


def _require_depth(x: np.ndarray, depth: int) -> None:
    if x.shape[-1] != depth:
        raise errors.invalid(f"input and filter must have the same depth: {x.shape[-1]} vs {depth}")


@np.errstate(all="ignore")
def _forward(c: KernelContext, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    form, kind = c.attr("data_format"), _sum_type(x.dtype)
    last = nw.channels_last(x, form).astype(kind, copy=False)
    _require_depth(last, w.shape[-2])
    window = nw.at_run_time(geometry, c.attr, last.shape[1:-1], w.shape[:-2])
    result = convolve(last, w.astype(kind, copy=False), window)
    return nw.channels_back(result.astype(x.dtype, copy=False), form)


@np.errstate(all="ignore")
def _input_gradient(
    c: KernelContext, sizes: np.ndarray, w: np.ndarray, dy: np.ndarray
) -> np.ndarray:
    form, kind = c.attr("data_format"), _sum_type(dy.dtype)
    shape = _full_input(sizes, w, dy, form)
    window = nw.at_run_time(geometry, c.attr, nw.spatial(shape, form), w.shape[:-2])
    last = nw.channels_last(dy, form).astype(kind, copy=False)
    _require_output(last, window, w.shape[-1])
    _require_gradient(c, shape[0], nw.channels(shape, form), last, w.shape)
    ordered = [shape[0], *nw.spatial(shape, form), nw.channels(shape, form)]
    result = convolve_input_gradient(ordered, w.astype(kind, copy=False), last, window)
    return nw.channels_back(result.astype(dy.dtype, copy=False), form)


def _full_input(sizes: np.ndarray, w: np.ndarray, dy: np.ndarray, form: str) -> list[int]:
    """The input's shape; two values name only height and width."""
    given = shape_inference.run_time_sizes(sizes)
    if len(given) == len(w.shape):
        return given
    if len(given) == len(w.shape) - 2:
        return nw.arranged(dy.shape[0], given, w.shape[-2], form)
    raise errors.invalid("Conv2DBackpropInput: input_sizes must be a vector of 2 or 4 values")


def _require_output(dy: np.ndarray, window: nw.Window, depth: int) -> None:
    if list(dy.shape[1:-1]) != window.out or dy.shape[-1] != depth:
        expected = [*window.out, depth]
        raise errors.invalid(
            f"Size of out_backprop doesn't match computed: actual = {list(dy.shape[1:])}, "
            f"computed = {expected}"
        )


def _require_gradient(
    c: KernelContext, batch: int, depth: int, dy: np.ndarray, filters: Sequence[int]
) -> None:
    """Batch and channels of a gradient's inputs."""
    if batch != dy.shape[0]:
        raise _refused(
            c,
            f"input and out_backprop must have the same batch sizeinput batch: {batch}outbackprop "
            f"batch: {dy.shape[0]} batch_dim: 0",
        )
    if depth != filters[-2]:
        raise _refused(c, "input depth must be evenly divisible by filter depth")


def _refused(c: KernelContext, text: str) -> errors.InvalidArgumentError:
    label = c.type.replace("Conv2DBackprop", "Conv2DCustomBackprop")
    return errors.invalid(f"{label}: {text}")


@np.errstate(all="ignore")
def _filter_gradient(
    c: KernelContext, x: np.ndarray, sizes: np.ndarray, dy: np.ndarray
) -> np.ndarray:
    form, kind = c.attr("data_format"), _sum_type(dy.dtype)
    shape = shape_inference.run_time_sizes(sizes)
    if len(shape) != x.ndim:
        raise _refused(c, f"filter must be {x.ndim}-dimensional")
    last = nw.channels_last(x, form).astype(kind, copy=False)
    grad = nw.channels_last(dy, form).astype(kind, copy=False)
    window = nw.at_run_time(geometry, c.attr, last.shape[1:-1], shape[:-2])
    _require_output(grad, window, shape[-1])
    _require_gradient(c, last.shape[0], last.shape[-1], grad, shape)
    result = convolve_filter_gradient(last, shape, grad, window)
    return result.astype(dy.dtype, copy=False)


def _library_arguments(op: OpView) -> tuple[Any, ...]:
    form = op.attr("data_format")
    padding: Any = op.attr("padding")
    if padding == "EXPLICIT":
        padding = nw.pairs(op.attr("explicit_paddings"), form)
    strides, dilations = op.attr("strides"), op.attr("dilations")
    return nw.spatial(strides, form), padding, nw.spatial(dilations, form), form


def _lower_forward(b: Builder, op: OpView, x: Value, w: Value) -> Any:
    from ...jit import library

    return library.conv2d(b, x, w, *_library_arguments(op))


def _lower_input_gradient(b: Builder, op: OpView, sizes: Value, w: Value, dy: Value) -> Any:
    from ...jit import library

    shape = b.known(sizes)
    if shape is None or len(shape) != 4:
        return NotImplemented
    return library.conv2d_input_gradient(b, tuple(shape.tolist()), w, dy, *_library_arguments(op))


def _lower_filter_gradient(b: Builder, op: OpView, x: Value, sizes: Value, dy: Value) -> Any:
    from ...jit import library

    shape = b.known(sizes)
    if shape is None or (shape.dtype == object and not all(isinstance(n, int) for n in shape)):
        return NotImplemented
    static = tuple(int(n) for n in shape)
    return library.conv2d_filter_gradient(b, x, static, dy, *_library_arguments(op))


def _attrs_of(op: Operation, *names: str) -> dict[str, Any]:
    return {name: op.attr(name) for name in names}


_NAMES_2D = (
    "strides",
    "padding",
    "explicit_paddings",
    "use_cudnn_on_gpu",
    "data_format",
    "dilations",
)
_NAMES_3D = ("strides", "padding", "data_format", "dilations")


def _conv2d_gradient(op: Operation, grad: Tensor) -> list[Any]:
    x, w = op.inputs
    attrs = _attrs_of(op, *_NAMES_2D)
    # One ShapeN for both, as in 1.15; Conv3D has two Shape nodes there.
    shape_x, shape_w = tf.shape_n([x, w])
    return [
        raw.Conv2DBackpropInput(shape_x, w, grad, **attrs),
        raw.Conv2DBackpropFilter(x, shape_w, grad, **attrs),
    ]


# A convolution is linear in the input and in the filter.  So its gradients are, too, and their
# gradients are convolutions and gradients of convolutions again.
def _input_gradient_gradient(op: Operation, grad: Tensor) -> list[Any]:
    _, w, dy = op.inputs
    attrs = _attrs_of(op, *_NAMES_2D)
    return [
        None,
        raw.Conv2DBackpropFilter(grad, tf.shape(w), dy, **attrs),
        raw.Conv2D(grad, w, **attrs),
    ]


def _filter_gradient_gradient(op: Operation, grad: Tensor) -> list[Any]:
    x, _, dy = op.inputs
    attrs = _attrs_of(op, *_NAMES_2D)
    return [
        raw.Conv2DBackpropInput(tf.shape(x), grad, dy, **attrs),
        None,
        raw.Conv2D(x, grad, **attrs),
    ]


def _sizes_shape(rank: int) -> Callable[[Any], TensorShape]:
    def shape(c: ShapeContext) -> TensorShape:
        given = c.value_as_shape(0)
        if given.ndims == rank - 2:
            form, w = c.attr("data_format"), nw.known_dims(c.inputs[1], rank)
            dy = nw.known_dims(c.inputs[2], rank)
            return TensorShape(nw.arranged(dy[0], given.as_list(), w[-2], form))
        return given.with_rank(rank)

    return shape


def _ramp(*shape: int) -> np.ndarray:
    """A sample array without structure that could hide an error."""
    return np.sin(np.arange(math.prod(shape), dtype=np.float32) * 0.7).reshape(shape)


_SAMPLES_3D = [{"strides": [1, 1, 1, 1, 1], "padding": "SAME"}]
_SAMPLES = [
    {"strides": [1, 1, 1, 1], "padding": "SAME"},
    {"strides": [1, 2, 2, 1], "padding": "VALID"},
    {"strides": [1, 1, 1, 1], "padding": "VALID", "dilations": [1, 2, 2, 1]},
    {
        "strides": [1, 2, 1, 1],
        "padding": "EXPLICIT",
        "explicit_paddings": [0, 0, 1, 0, 2, 1, 0, 0],
    },
    {"strides": [1, 1, 1, 1], "padding": "SAME", "data_format": "NCHW"},
]
define(
    "Conv2D",
    "input: T, filter: T -> output: T",
    ATTRS_2D,
    shape=_conv_shape(4),
    kernel=ranked(
        _forward,
        image(0, "input must be 4-dimensional{shape}"),
        image(1, "filter must be 4-dimensional: {shape}"),
    ),
    lower=_lower_forward,
    gradient=_conv2d_gradient,
    doc="The convolution of images.",
    test=lambda: {
        "shapes": [[[2, 7, 7, 7], [3, 3, 7, 4]]],
        "attrs": _SAMPLES,
        "dtypes": ["float32", "float64"],
        "gradient": True,
        "rtol": 1e-4,
    },
)
define(
    "Conv2DBackpropInput",
    "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    ATTRS_2D,
    shape=_sizes_shape(4),
    kernel=ranked(
        _input_gradient,
        vector(0, "Conv2DBackpropInput: input_sizes input must be 1-dim, not {rank}"),
        image(1, "Conv2DCustomBackpropInput: filter must be 4-dimensional"),
        image(2, "Conv2DCustomBackpropInput: out_backprop must be 4-dimensional"),
    ),
    lower=_lower_input_gradient,
    gradient=_input_gradient_gradient,
    doc="The gradient of Conv2D with respect to its input.",
    test=lambda: {
        "values": [[np.array([2, 5, 5, 3], np.int32), _ramp(2, 2, 3, 4), _ramp(2, 5, 5, 4)]],
        "attrs": _SAMPLES[:1],
        "rtol": 1e-4,
    },
)
define(
    "Conv2DBackpropFilter",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    ATTRS_2D,
    shape=lambda c: c.value_as_shape(1).with_rank(4),
    kernel=ranked(
        _filter_gradient,
        image(0, "Conv2DCustomBackpropFilter: input must be 4-dimensional"),
        vector(1, "Conv2DCustomBackpropFilter: filter_sizes input must be 1-dim, not {rank}"),
        image(2, "Conv2DCustomBackpropFilter: out_backprop must be 4-dimensional"),
    ),
    lower=_lower_filter_gradient,
    gradient=_filter_gradient_gradient,
    doc="The gradient of Conv2D with respect to its filter.",
    test=lambda: {
        "values": [[_ramp(2, 5, 5, 3), np.array([2, 2, 3, 4], np.int32), _ramp(2, 5, 5, 4)]],
        "attrs": _SAMPLES[:1],
        "rtol": 1e-4,
    },
)


def _conv3d_gradient(op: Operation, grad: Tensor) -> list[Any]:
    x, w = op.inputs
    attrs = _attrs_of(op, *_NAMES_3D)
    return [
        raw.Conv3DBackpropInputV2(tf.shape(x), w, grad, **attrs),
        raw.Conv3DBackpropFilterV2(x, tf.shape(w), grad, **attrs),
    ]


def _input_3d_gradient(op: Operation, grad: Tensor) -> list[Any]:
    _, w, dy = op.inputs
    attrs = _attrs_of(op, *_NAMES_3D)
    return [
        None,
        raw.Conv3DBackpropFilterV2(grad, tf.shape(w), dy, **attrs),
        raw.Conv3D(grad, w, **attrs),
    ]


def _filter_3d_gradient(op: Operation, grad: Tensor) -> list[Any]:
    x, _, dy = op.inputs
    attrs = _attrs_of(op, *_NAMES_3D)
    return [
        raw.Conv3DBackpropInputV2(tf.shape(x), grad, dy, **attrs),
        None,
        raw.Conv3D(x, grad, **attrs),
    ]


define(
    "Conv3D",
    "input: T, filter: T -> output: T",
    _ATTRS_3D,
    shape=_conv_shape(5),
    kernel=_forward,
    lower=views.lower_conv3d,
    gradient=_conv3d_gradient,
    doc="The convolution of volumes.",
    test=lambda: {
        "shapes": [[[1, 4, 4, 4, 2], [2, 2, 2, 2, 3]]],
        "attrs": _SAMPLES_3D,
        "gradient": True,
    },
)
define(
    "Conv3DBackpropInputV2",
    "input_sizes: Tshape, filter: T, out_backprop: T -> output: T",
    f"{_ATTRS_3D}; Tshape: index = int32",
    shape=_sizes_shape(5),
    kernel=_input_gradient,
    lower=views.lower_conv3d_input_gradient,
    gradient=_input_3d_gradient,
    doc="The gradient of Conv3D with respect to its input.",
    test=lambda: {
        "values": [
            [np.array([1, 3, 3, 3, 2], np.int32), _ramp(2, 2, 2, 2, 3), _ramp(1, 3, 3, 3, 3)]
        ],
        "attrs": _SAMPLES_3D,
    },
)
define(
    "Conv3DBackpropFilterV2",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    _ATTRS_3D,
    shape=lambda c: c.value_as_shape(1).with_rank(5),
    kernel=_filter_gradient,
    lower=views.lower_conv3d_filter_gradient,
    gradient=_filter_3d_gradient,
    doc="The gradient of Conv3D with respect to its filter.",
    test=lambda: {
        "values": [
            [_ramp(1, 3, 3, 3, 2), np.array([2, 2, 2, 2, 3], np.int32), _ramp(1, 3, 3, 3, 3)]
        ],
        "attrs": _SAMPLES_3D,
    },
)
