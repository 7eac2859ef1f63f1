# SPDX-License-Identifier: Apache-2.0
"""Max and average pooling over two and three spatial axes, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.dtypes import as_dtype
from ...engine.types.shape import TensorShape
from ...jit.kernel import scalar as k
from .. import shape_inference
from ..math.limits import lowest
from ..public import raw, tf
from ..ranks import Rank, ranked, vector
from . import pool_maxima as windows
from . import views
from . import window as nw
from .conv import _attrs_of, _ramp

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_FLOATS = "T: {half, bfloat16, float32, float64}"
_WINDOW = "ksize: list(int) >= {n}; strides: list(int) >= {n}; padding: {{'SAME', 'VALID'}}"
_FORM = {
    4: "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
    5: "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'",
}
_NAMES = ("ksize", "strides", "padding", "data_format")


class _Pool:
    """One pooling: the window, and arrays as channels-last with the window's axes inside.

    Pooling over channels makes the channels one more window axis, before a new one of size one.
    """

    def __init__(
        self,
        c: KernelContext,
        shape: Sequence[int],
        ksize: Any = None,
        strides: Any = None,
    ) -> None:
        self.form = c.attr("data_format") if _has(c, "data_format") else "NHWC"
        ksize = c.attr("ksize") if ksize is None else [int(n) for n in ksize]
        strides = c.attr("strides") if strides is None else [int(n) for n in strides]
        self.deep = nw.channels(ksize, self.form) != 1
        if ksize[0] != 1 or strides[0] != 1:
            raise errors.unimplemented("Pooling is not yet supported on the batch dimension.")
        ends = [nw.channels(v, self.form) for v in (shape, ksize, strides)] if self.deep else []
        sizes, windows, steps = (
            nw.spatial(v, self.form) + ends[i : i + 1]
            for i, v in enumerate((shape, ksize, strides))
        )
        if self.deep:
            _require_depth(*ends)
            if any(size != 1 for v in (ksize, strides) for size in nw.spatial(v, self.form)):
                raise errors.unimplemented(
                    "MaxPooling supports exactly one of pooling across depth or pooling across "
                    "width/height."
                )
        padding = c.attr("padding")
        self.window = nw.at_run_time(nw.window, sizes, windows, steps, padding)
        depth = 1 if self.deep else nw.channels(shape, self.form)
        self.output = [int(shape[0]), *self.window.out, int(depth)]

    def inside(self, x: np.ndarray) -> np.ndarray:
        """An array as the window sees it."""
        last = nw.channels_last(x, self.form)
        return last[..., None] if self.deep else last

    def outside(self, x: np.ndarray) -> np.ndarray:
        """The reverse of `inside`."""
        return nw.channels_back(x[..., 0] if self.deep else x, self.form)

    def zeros(self, like: np.ndarray) -> np.ndarray:
        """Zeros in the shape of the padded input."""
        return self.window.padded_zeros(like.shape[0], like.shape[-1], like.dtype)

    def result(self, like: np.ndarray, fill: object = 0) -> np.ndarray:
        """An array in the shape of the output."""
        return np.full([like.shape[0], *self.window.out, like.shape[-1]], fill, like.dtype)


def _require_depth(size: int, window: int, stride: int) -> None:
    """What pooling over channels supports."""
    if size % window:
        raise errors.unimplemented(
            "Depthwise max pooling requires the depth window to evenly divide the input depth"
        )
    if stride != window:
        raise errors.unimplemented(
            "Depthwise max pooling requires the depth window to equal the depth stride"
        )


def _has(c: KernelContext | ShapeContext, name: str) -> bool:
    return any(attr.name == name for attr in c.op.definition.attrs)


@np.errstate(all="ignore")
def _max_pool(
    c: KernelContext,
    x: np.ndarray,
    ksize: np.ndarray | None = None,
    strides: np.ndarray | None = None,
) -> np.ndarray:
    pool = _Pool(c, x.shape, ksize, strides)
    return pool.outside(windows.maxima(pool, pool.inside(x)))


@np.errstate(all="ignore")
def _max_pool_grad(
    c: KernelContext,
    x: np.ndarray,
    y: np.ndarray,
    dy: np.ndarray,
    ksize: np.ndarray | None = None,
    strides: np.ndarray | None = None,
) -> np.ndarray:
    pool = _Pool(c, x.shape, ksize, strides)
    inner, top, grad = pool.inside(x), pool.inside(y), pool.inside(dy)
    _require_output(pool, grad, top)
    result = pool.zeros(grad)
    # In 1.15 volumes share a gradient among near maxima; images give it to the first one.
    is_shared = len(pool.window.axes) == 3 and not pool.deep and x.dtype.itemsize > 2
    hits = windows.near_hits(pool, inner, top) if is_shared else windows.first_hits(pool, inner)
    for where, hit in hits:
        result[where] += np.where(hit, grad, 0).astype(grad.dtype, copy=False)
    return pool.outside(pool.window.unpad(result))


def _require_output(pool: _Pool, *arrays: np.ndarray) -> None:
    for array in arrays:
        if list(array.shape) != pool.output:
            raise errors.invalid(
                f"Expected grad and orig_output of shape {pool.output}, got {list(array.shape)}"
            )


def _max_pool_grad_grad(
    c: KernelContext,
    x: np.ndarray,
    y: np.ndarray,
    ddx: np.ndarray,
    ksize: np.ndarray | None = None,
    strides: np.ndarray | None = None,
) -> np.ndarray:
    pool = _Pool(c, x.shape, ksize, strides)
    inner, top, grad = pool.inside(x), pool.inside(y), pool.inside(ddx)
    _require_output(pool, top)
    if grad.shape != inner.shape:
        raise errors.invalid(f"Expected grad of shape {list(inner.shape)}, got {list(grad.shape)}")
    padded = pool.window.pad(grad)
    result = np.zeros_like(top)
    for where, hit in windows.equal_hits(pool, inner, top):
        np.copyto(result, padded[where], where=hit)
    return pool.outside(result)


def _counts(pool: _Pool, like: np.ndarray) -> np.ndarray:
    """How many elements of the input each window covers."""
    ones = np.ones([1, *(a.size for a in pool.window.axes), 1], like.dtype)
    padded, result = pool.window.pad(ones), pool.result(ones)
    for _, where in pool.window.offsets():
        result += padded[where]
    return result


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _avg_pool(c: KernelContext, x: np.ndarray) -> np.ndarray:
    pool = _Pool(c, x.shape)
    inner = _wide(pool.inside(x))
    padded, result = pool.window.pad(inner), pool.result(inner)
    for _, where in pool.window.offsets():
        result += padded[where]
    result /= _counts(pool, inner)
    return pool.outside(result.astype(x.dtype, copy=False))


def _avg_pool_grad(c: KernelContext, sizes: np.ndarray, dy: np.ndarray) -> np.ndarray:
    shape = shape_inference.run_time_sizes(sizes)
    if len(shape) != dy.ndim:
        text = f"out_backprop must be 1-dimensional and {dy.ndim} elements"
        raise errors.invalid(text)
    pool = _Pool(c, shape)
    grad = _wide(pool.inside(dy))
    _require_output(pool, grad)
    share = grad / _counts(pool, grad)
    result = pool.zeros(grad)
    for _, where in pool.window.offsets():
        result[where] += share
    return pool.outside(pool.window.unpad(result).astype(dy.dtype, copy=False))


def _pool_shape(rank: int) -> Callable[[Any], TensorShape]:
    def shape(c: ShapeContext) -> TensorShape:
        form = c.attr("data_format") if _has(c, "data_format") else "NHWC"
        if _has(c, "ksize"):
            ksize, strides = c.attr("ksize"), c.attr("strides")
        else:
            ksize, strides = c.value(1), c.value(2)
            if ksize is None or strides is None:
                return TensorShape([None] * rank)
        x = nw.known_dims(c.inputs[0], rank)
        return _pooled(
            x, [int(n) for n in ksize], [int(n) for n in strides], form, c.attr("padding")
        )

    return shape


def _pooled(
    x: list[Any], ksize: Sequence[int], strides: Sequence[int], form: str, padding: str
) -> TensorShape:
    if min(ksize) <= 0:
        raise ValueError("Sliding window ksize field must have positive values")
    inner = [nw.spatial(v, form) for v in (x, ksize, strides)]
    out = nw.window(inner[0], inner[1], inner[2], padding).out
    channel = [nw.channels(v, form) for v in (x, ksize, strides)]
    depth = nw.axis(channel[0], channel[1], channel[2], 1, padding).out
    return TensorShape(nw.arranged(x[0], out, depth if channel[1] != 1 else channel[0], form))


def _library_arguments(op: OpView) -> tuple[Any, ...]:
    return (
        op.attr("ksize"),
        op.attr("strides"),
        op.attr("padding"),
        op.attr("data_format"),
    )


def _lower_max(b: Builder, op: OpView, x: Value) -> Any:
    from ...jit import library

    made = library.max_pool(b, views.widened(b, x), *_library_arguments(op))
    if made is NotImplemented or made.dtype == x.dtype:
        return made
    # What a window of nothing begins with has to be a number of the narrow dtype.
    least = float(lowest(np.dtype(as_dtype(x.dtype).as_numpy_dtype)))
    return b.cast(b.map(lambda value: k.maximum(value, least), made), x.dtype)


def _lower_max_grad(b: Builder, op: OpView, x: Value, y: Value, dy: Value) -> Any:
    from ...jit import library

    if not b.same_shape(y, dy):
        return NotImplemented
    wide = (views.widened(b, value) for value in (x, y, dy))
    made = library.max_pool_gradient(b, *wide, *_library_arguments(op))
    return made if made is NotImplemented else b.cast(made, dy.dtype)


def _lower_avg(b: Builder, op: OpView, x: Value) -> Any:
    from ...jit import library

    made = library.avg_pool(b, views.widened(b, x), *_library_arguments(op))
    return made if made is NotImplemented else b.cast(made, x.dtype)


def _lower_avg_grad(b: Builder, op: OpView, sizes: Value, dy: Value) -> Any:
    from ...jit import library

    shape = b.known(sizes)
    if shape is None:
        return NotImplemented
    wide = views.widened(b, dy)
    made = library.avg_pool_gradient(b, tuple(shape.tolist()), wide, *_library_arguments(op))
    return made if made is NotImplemented else b.cast(made, dy.dtype)


def _zeros_of(x: Tensor) -> Tensor:
    return tf.zeros(shape=tf.shape(x), dtype=x.dtype)


def _max_gradient(target: str) -> Callable[..., Any]:
    return lambda op, grad: getattr(raw, target)(
        op.inputs[0], op.outputs[0], grad, **_attrs_of(op, *_NAMES)
    )


def _max_grad_gradient(target: str) -> Callable[..., Any]:
    def gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
        # The choice of the maxima is piecewise constant: nothing flows through input and output.
        zeros = [_zeros_of(x) for x in op.inputs[:2]]
        function = getattr(raw, target)
        return *zeros, function(op.inputs[0], op.inputs[1], grad, **_attrs_of(op, *_NAMES))

    return gradient


def _avg_gradient(target: str) -> Callable[..., Any]:
    return lambda op, grad: getattr(raw, target)(
        tf.shape(op.inputs[0]), grad, **_attrs_of(op, *_NAMES)
    )


# For the sizes 1.15 returns the sizes themselves, stopped, and not None.
def _avg_grad_gradient(target: str) -> Callable[..., Any]:
    return lambda op, grad: (
        tf.stop_gradient(op.inputs[0]),
        getattr(raw, target)(grad, **_attrs_of(op, *_NAMES)),
    )


def _value(rank: int) -> Rank:
    text = f"tensor_in_shape must have {rank - 2} spatial dimensions. {{rank}} 0"
    return Rank(0, (rank,), text)


def _gradient_ranks(rank: int) -> list[Rank]:
    names = ("tensor_in", "tensor_out", "out_backprop")
    return [Rank(i, (rank,), f"{n} must be {rank}-dimensional") for i, n in enumerate(names)]


_SHAPES = {4: [[[2, 5, 5, 3]]], 5: [[[1, 4, 4, 4, 2]]]}
_SAMPLES = {
    4: [
        {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
        {"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "padding": "SAME"},
        {"ksize": [1, 1, 2, 2], "strides": [1, 1, 1, 1], "padding": "SAME", "data_format": "NCHW"},
    ],
    5: [{"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}],
}


def _window_maxima(*shape: int) -> np.ndarray:
    """The maxima of a sample in windows of two along each axis of space."""
    sizes = [n for size in shape[1:-1] for n in (size // 2, 2)]
    split = _ramp(*shape).reshape(shape[0], *sizes, shape[-1])
    return np.asarray(split.max(axis=tuple(range(2, split.ndim - 1, 2))))


def _backward_sample(rank: int) -> list[Any]:
    """Input, output, shape of the input and gradient of the first sample."""
    shape = [2, 4, 4, 3] if rank == 4 else [1, 4, 4, 4, 2]
    half = [shape[0], *(n // 2 for n in shape[1:-1]), shape[-1]]
    return [_ramp(*shape), _window_maxima(*shape), np.array(shape, np.int32), _ramp(*half)]


def _second_sample(rank: int) -> list[np.ndarray]:
    x, y, _, _ = _backward_sample(rank)
    return [x, y, x]


def _define_avg(rank: int, avg_pool: str, avg_grad: str) -> None:
    attrs = f"{_WINDOW.format(n=rank)}; {_FORM[rank]}"
    plane = rank == 4
    define(
        avg_pool,
        "value: T -> output: T" if plane else "input: T -> output: T",
        f"{attrs}; {_FLOATS}",
        shape=_pool_shape(rank),
        kernel=ranked(_avg_pool, _value(rank)),
        lower=_lower_avg if plane else views.lower_avg,
        gradient=_avg_gradient(avg_grad),
        doc="The mean of every window.",
        test=lambda: {"shapes": _SHAPES[rank], "attrs": _SAMPLES[rank], "gradient": True},
    )
    define(
        avg_grad,
        "orig_input_shape: int32, grad: T -> output: T",
        f"{attrs}; {_FLOATS}",
        shape=lambda c: c.value_as_shape(0).with_rank(rank),
        kernel=ranked(
            _avg_pool_grad,
            vector(0, f"out_backprop must be 1-dimensional and {rank} elements"),
            Rank(1, (rank,), f"out_backprop must be {rank}-dimensional"),
        ),
        lower=_lower_avg_grad if plane else views.lower_avg_grad,
        gradient=_avg_grad_gradient(avg_pool),
        doc=f"The gradient of {avg_pool}.",
        test=lambda: {"values": [_backward_sample(rank)[2:]], "attrs": _SAMPLES[rank][:1]},
    )


def _define_max(rank: int, max_pool: str, max_grad: str, max_grad_grad: str) -> None:
    attrs = f"{_WINDOW.format(n=rank)}; {_FORM[rank]}"
    plane = rank == 4
    default = " = float32"
    kinds = "T: realnumbertype" if plane else "T: {half, bfloat16, float32, float64}"
    define(
        max_pool,
        "input: T -> output: T",
        f"T: realnumbertype, qint8{default}; {attrs}" if plane else f"{attrs}; {kinds}",
        shape=_pool_shape(rank),
        kernel=ranked(_max_pool, _value(rank)),
        lower=_lower_max if plane else views.lower_max,
        gradient=_max_gradient(max_grad),
        doc="The largest element of every window.",
        test=lambda: {"shapes": _SHAPES[rank], "attrs": _SAMPLES[rank], "gradient": True},
    )
    define(
        max_grad,
        "orig_input: T, orig_output: T, grad: T -> output: T"
        if plane
        else "orig_input: TInput, orig_output: TInput, grad: T -> output: T",
        f"{attrs}; {kinds}{default}"
        + ("" if plane else "; TInput: {half, bfloat16, float32, float64} = float32"),
        shape=lambda c: c.inputs[0],
        kernel=ranked(_max_pool_grad, *_gradient_ranks(rank)),
        lower=_lower_max_grad if plane else views.lower_max_grad,
        gradient=_max_grad_gradient(max_grad_grad),
        doc=f"The gradient of {max_pool}: goes to the first maximum of every window.",
        test=lambda: {
            "values": [_backward_sample(rank)[:2] + _backward_sample(rank)[3:]],
            "attrs": _SAMPLES[rank][:1],
        },
    )
    define(
        max_grad_grad,
        "orig_input: T, orig_output: T, grad: T -> output: T",
        f"{attrs}; T: realnumbertype",
        shape=lambda c: c.inputs[1],
        kernel=_max_pool_grad_grad,
        lower=views.lower_max_grad_grad,
        gradient=_max_grad_gradient(max_grad),
        doc=f"The gradient of {max_grad}.",
        test=lambda: {
            "values": [_second_sample(rank)],
            "attrs": _SAMPLES[rank][:1],
            "gradient": False,
        },
    )


_define_avg(4, "AvgPool", "AvgPoolGrad")
_define_max(4, "MaxPool", "MaxPoolGrad", "MaxPoolGradGrad")
_define_avg(5, "AvgPool3D", "AvgPool3DGrad")
_define_max(5, "MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad")

# A window of two by two that moves by as much.


def _two() -> list[Any]:
    return [np.array([1, 2, 2, 1], np.int32)] * 2


_V2 = "padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'"


def _v2_gradient(op: Operation, grad: Tensor) -> tuple[Any, None, None]:
    attrs = _attrs_of(op, "padding", "data_format")
    x, ksize, strides = op.inputs
    return raw.MaxPoolGradV2(x, op.outputs[0], grad, ksize, strides, **attrs), None, None


def _v2_grad_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    x, y, _, ksize, strides = op.inputs
    attrs = _attrs_of(op, "padding", "data_format")
    second = raw.MaxPoolGradGradV2(x, y, grad, ksize, strides, **attrs)
    return _zeros_of(x), _zeros_of(y), second, None, None


def _given(b: Builder, ksize: Value, strides: Value) -> tuple[list[int], list[int]] | None:
    """A window and its steps, where they are known."""
    window, steps = b.known(ksize), b.known(strides)
    if window is None or steps is None or object in (window.dtype, steps.dtype):
        return None
    return window.tolist(), steps.tolist()


def _lower_max_v2(b: Builder, op: OpView, x: Value, ksize: Value, strides: Value) -> Any:
    from ...jit import library

    given = _given(b, ksize, strides)
    if given is None:
        return NotImplemented
    return library.max_pool(b, x, given[0], given[1], op.attr("padding"), op.attr("data_format"))


def _lower_max_grad_v2(
    b: Builder, op: OpView, x: Value, y: Value, dy: Value, ksize: Value, strides: Value
) -> Any:
    from ...jit import library

    given = _given(b, ksize, strides)
    if given is None or not b.same_shape(y, dy):
        return NotImplemented
    form = op.attr("data_format")
    return library.max_pool_gradient(b, x, y, dy, given[0], given[1], op.attr("padding"), form)


define(
    "MaxPoolV2",
    "input: T, ksize: int32, strides: int32 -> output: T",
    f"T: realnumbertype, qint8 = float32; {_V2}",
    shape=_pool_shape(4),
    kernel=_max_pool,
    lower=_lower_max_v2,
    gradient=_v2_gradient,
    doc="MaxPool with the window given by tensors.",
    test=lambda: {"values": [[_ramp(2, 4, 4, 3), *_two()]], "attrs": [{"padding": "VALID"}]},
)
define(
    "MaxPoolGradV2",
    "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T",
    f"{_V2}; T: realnumbertype = float32",
    shape=lambda c: c.inputs[0],
    kernel=_max_pool_grad,
    lower=_lower_max_grad_v2,
    gradient=_v2_grad_gradient,
    doc="The gradient of MaxPoolV2.",
    test=lambda: {
        "values": [[_ramp(2, 4, 4, 3), _window_maxima(2, 4, 4, 3), _ramp(2, 2, 2, 3), *_two()]],
        "attrs": [{"padding": "VALID"}],
    },
)
define(
    "MaxPoolGradGradV2",
    "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T",
    f"{_V2}; T: realnumbertype",
    shape=lambda c: c.inputs[1],
    kernel=_max_pool_grad_grad,
    lower=views.lower_max_grad_grad,
    gradient=NoGradient("not defined by TensorFlow"),
    doc="The gradient of MaxPoolGradV2.",
    test=lambda: {
        "values": [[_ramp(2, 4, 4, 3), _window_maxima(2, 4, 4, 3), _ramp(2, 4, 4, 3), *_two()]],
        "attrs": [{"padding": "VALID"}],
    },
)
