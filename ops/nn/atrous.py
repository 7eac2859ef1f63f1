# SPDX-License-Identifier: Apache-2.0
"""Dilated windows by way of space_to_batch, and `tf.nn.convolution` and `tf.nn.pool` on top."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.types import dtypes
from ...engine.types.shape import as_shape, dimension_at_index
from ..public import raw, tf
from ..shape_inference import known_sizes
from .conv_public import conv1d, conv2d, conv3d_op, per_axis

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor
    from ...engine.types.shape import TensorShape
    from ..state.variables import Variable

# op(input, filter), for a given number of spatial axes and padding.
Builder = Callable[[int, str], Callable[[Any, Any], Any]]


@export("nn.with_space_to_batch")
def with_space_to_batch(
    input: TensorLike,
    dilation_rate: TensorLike,
    padding: str,
    op: Callable[..., Any],
    filter_shape: TensorLike | None = None,
    spatial_dims: object = None,
    data_format: str | None = None,
) -> Any:
    """op(input, number of spatial axes, padding), as if its window were dilated."""
    input = convert_to_tensor(input, name="input")

    def build(count: int, padding: str) -> Callable[[Any, Any], Any]:
        return lambda converted, _: op(converted, count, padding)

    run = dilated(
        input.get_shape(), dilation_rate, padding, build, filter_shape, spatial_dims, data_format
    )
    return run(input, None)


def _spatial_dims(given: Any, count: int, channels_first: bool) -> list[int]:
    if given is None:
        first = 2 if channels_first else 1
        given = range(first, first + count)
    found = sorted({int(x) for x in given})
    if found != list(given) or any(x < 1 for x in found):
        raise ValueError(
            "spatial_dims must be a montonically increasing sequence of positive integers"
        )
    return found


def dilated(
    input_shape: Any,
    dilation_rate: TensorLike,
    padding: str,
    build: Builder,
    filter_shape: Any = None,
    spatial_dims: object = None,
    data_format: str | None = None,
) -> Callable[[Any, Any], Any]:
    """A function of input and filter: the built op with a dilated window."""
    rate = convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
    try:
        rate_shape = rate.get_shape().with_rank(1)
    except ValueError:
        raise ValueError("rate must be rank 1") from None
    if not rate_shape.is_fully_defined():
        raise ValueError("rate must have known shape")
    (count,) = known_sizes(rate_shape)
    first = data_format is not None and data_format.startswith("NC")
    axes = _spatial_dims(spatial_dims, count, first)
    least = axes[-1] + (0 if first else 1)
    try:
        input_shape.with_rank_at_least(least)
    except ValueError:
        raise ValueError(f"input tensor must have rank {least} at least") from None
    known = constant_value(rate)
    if known is not None:
        if np.any(known < 1):
            raise ValueError("dilation_rate must be positive")
        if np.all(known == 1):
            return build(count, padding)
    paddings = _paddings_of(filter_shape, count, rate if known is None else known, padding)
    run = build(count, "VALID")

    def call(inp: Any, filter: Any) -> Tensor:
        return _through_batches(inp, filter, run, input_shape, axes, rate, paddings, first)

    return call


def _paddings_of(
    filter_shape: TensorLike, count: int, rate: Any, padding: str
) -> Callable[[Any], Any]:
    """A function from the filter to what must be padded for the op with VALID padding."""
    if padding == "VALID":
        return lambda filter: np.zeros([count, 2], np.int32)
    if padding != "SAME":
        raise ValueError(f"Invalid padding method {padding!r}")
    if filter_shape is None:
        raise ValueError("filter_shape must be specified for SAME padding")
    known = constant_value(convert_to_tensor(filter_shape, name="filter_shape"))
    if known is None:
        return lambda filter: _base_paddings(tf.shape(filter), count, rate)
    paddings = _base_paddings(known, count, rate)
    return lambda filter: paddings


def _base_paddings(filter_shape: np.ndarray | Tensor, count: int, rate: np.ndarray) -> Tensor:
    sizes = filter_shape[:count]
    # SAME for a stride of one: the size of the dilated filter less one, the odd one at the end.
    extra = sizes + (sizes - 1) * (rate - 1) - 1
    start = extra // 2
    end = extra - start
    return tf.stack([[start[i], end[i]] for i in range(count)])


def _through_batches(
    inp: TensorLike,
    filter: Any,
    run: Callable[[Any, Any], Any],
    input_shape: TensorShape,
    axes: list[int],
    rate: Tensor,
    paddings_of: Callable[[Any], Any],
    channels_first: bool,
) -> Tensor:
    sizes: Any = None
    if input_shape.ndims is not None:
        dims = input_shape.as_list()
        sizes = [dims[i] for i in axes]
    if sizes is None or None in sizes:
        shape = tf.shape(inp)
        sizes = tf.stack([shape[i] for i in axes])
    # A dilated window reads positions that are equal modulo the rate.  As batches of their own
    # these lie side by side, and an ordinary window over them does the same.
    paddings, crops = tf.required_space_to_batch_paddings(
        input_shape=sizes, base_paddings=paddings_of(filter), block_shape=rate
    )
    block = _filled(rate, 1, axes)
    paddings, crops = _filled(paddings, 0, axes), _filled(crops, 0, axes)
    converted = tf.space_to_batch_nd(input=inp, block_shape=block, paddings=paddings)
    result = run(converted, filter)
    result = tf.batch_to_space_nd(input=result, block_shape=block, crops=crops)
    if channels_first and filter is not None and not result.shape.as_list()[1]:
        dims = result.shape.as_list()
        dims[1] = filter.shape.as_list()[-1]
        result.set_shape(dims)
    return result


def _filled(values: Tensor, fill: int, axes: list[int]) -> Any:
    """Per-axis values with `fill` for the axes before and between the given ones."""
    trailing = values.get_shape().as_list()[1:]
    known = constant_value(values)
    source = values if known is None else known
    parts: list[Any] = []
    previous = i = 0
    while i < len(axes):
        start = i
        if axes[i] > 1:
            shape = [axes[i] - 1 - previous, *trailing]
            parts.append(np.full(shape, fill, dtype=values.dtype.as_numpy_dtype))
        while i + 1 < len(axes) and axes[i + 1] == axes[i] + 1:
            i += 1
        parts.append(source[start : i + 1])
        previous = axes[i]
        i += 1
    return tf.concat(parts, 0) if known is None else np.concatenate(parts)


def strides_and_rates(count: int, strides: Any, rate: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both as checked arrays; at most one of them may exceed one."""
    for name, values in (("dilation_rate", rate), ("strides", strides)):
        if values is not None and len(values) != count:
            raise ValueError(f"len({name})={len(values)} but should be {count}")
    rate = np.array([1] * count if rate is None else rate, dtype=np.int32)
    strides = np.array([1] * count if strides is None else strides, dtype=np.int32)
    if np.any(rate < 1):
        raise ValueError("all values of dilation_rate must be positive")
    if np.any(strides < 1):
        raise ValueError("all values of strides must be positive")
    # A stride over the batches of remainders would not be one over the input.
    if np.any(strides > 1) and np.any(rate > 1):
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    return strides, rate


def _undilated(
    rank: int, padding: str, data_format: str | None, strides: Any, name: str | None
) -> Callable[[Any, Any], Any]:
    strides = list(strides)
    first = data_format is not None and data_format.startswith("NC")
    whole = [1, 1, *strides] if first else [1, *strides, 1]
    if rank == 3:
        return lambda x, w: conv1d(
            x, w, strides[0], padding, data_format=data_format or "NWC", name=name
        )
    if rank == 4:
        form = data_format or "NHWC"
        return lambda x, w: conv2d(x, w, whole, padding, data_format=form, name=name)
    form = data_format or "NDHWC"
    return lambda x, w: conv3d_op(x, w, whole, padding, data_format=form, name=name)


@export("nn.convolution")
def convolution(
    input: Any,
    filter: Any,
    padding: Any,
    strides: Any = None,
    dilation_rate: TensorLike | None = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Any:
    """The convolution over one to three spatial axes, possibly dilated."""
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    rate = deprecated_argument_lookup("dilations", dilations, "dilation_rate", dilation_rate)
    input_shape, filter_shape = as_shape(input.shape), as_shape(filter.shape)
    rank = input_shape.ndims if input_shape.ndims is not None else filter_shape.ndims
    if rank is None:
        raise ValueError("rank of input or filter must be known")
    count = rank - 2
    if not 1 <= count <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")
    first = data_format is not None and data_format.startswith("NC")
    channel = 1 if first else count + 1
    strides = per_axis(strides, count, channel, "strides")
    rate = per_axis(rate, count, channel, "dilations")
    with name_scope(name, "convolution", [input, filter]) as name:
        if all(i == 1 for i in rate):
            return _direct(count, input, filter, strides, padding, data_format, rate, name)
        inner = slice(2, None) if channel == 1 else slice(1, -1)
        run = convolution_of_shapes(
            input_shape, filter_shape, padding, strides[inner], rate[inner], data_format, name
        )
        return run(input, filter)


def convolution_of_shapes(
    input_shape: Any,
    filter_shape: Any,
    padding: Any,
    strides: Any = None,
    dilation_rate: Any = None,
    data_format: str | None = None,
    name: str | None = None,
) -> Callable[[Any, Any], Any]:
    """A function of input and filter: the convolution for inputs of a shape; rates get a node."""
    rank = filter_shape.ndims
    count = rank - 2
    first = data_format is not None and data_format.startswith("NC")
    strides, rate = strides_and_rates(count, strides, dilation_rate)
    _require_ranks(input_shape, filter_shape, count, first)
    axes = range(2, count + 2) if first else range(1, count + 1)

    def build(_: int, padding: str) -> Callable[[Any, Any], Any]:
        return _undilated(rank, padding, data_format, strides, name)

    return dilated(input_shape, rate, padding, build, filter_shape, axes, data_format)


def _direct(
    count: int,
    x: Tensor,
    w: Variable,
    strides: Sequence[int],
    padding: str,
    form: Any,
    rate: Sequence[int],
    name: str,
) -> Tensor:
    if count == 1:
        return conv1d(x, w, strides, padding, data_format=form, dilations=rate, name=name)
    function = raw.Conv2D if count == 2 else raw.Conv3D
    form = form or ("NHWC" if count == 2 else "NDHWC")
    return function(
        x, w, strides=strides, padding=padding, data_format=form, dilations=rate, name=name
    )


def _require_ranks(
    input_shape: TensorShape, filter_shape: TensorShape, count: int, first: bool
) -> None:
    for what, shape in (("input", input_shape), ("filter", filter_shape)):
        try:
            shape.with_rank(count + 2)
        except ValueError:
            raise ValueError(f"{what} tensor must have rank {count + 2}") from None
    deep = dimension_at_index(input_shape, 1 if first else count + 1)
    wanted = dimension_at_index(filter_shape, count)
    if not deep.is_compatible_with(wanted):
        raise ValueError(
            "number of input channels does not match corresponding dimension of filter, "
            f"{deep} != {wanted}"
        )


@export("nn.atrous_conv2d")
def atrous_conv2d(
    value: TensorLike, filters: TensorLike, rate: int, padding: str, name: str | None = None
) -> Any:
    """A convolution whose filter has rate - 1 zeros between its values."""
    rates = np.broadcast_to(rate, (2,))
    return convolution(input=value, filter=filters, padding=padding, dilation_rate=rates, name=name)


_POOLS = {
    ("MAX", 1): "nn.max_pool",
    ("MAX", 2): "nn.max_pool",
    ("MAX", 3): "nn.max_pool3d",
    ("AVG", 1): "nn.avg_pool",
    ("AVG", 2): "nn.avg_pool",
    ("AVG", 3): "nn.avg_pool3d",
}


@export("nn.pool")
def pool(
    input: TensorLike,
    window_shape: Sequence[int],
    pooling_type: str,
    padding: str,
    dilation_rate: Sequence[int] | None = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sequence[int] | None = None,
) -> Any:
    """Pooling over one to three spatial axes, possibly dilated."""
    rate = deprecated_argument_lookup("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        count = len(window_shape)
        if count < 1 or count > 3:
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        input.get_shape().with_rank(count + 2)
        strides, rate = strides_and_rates(count, strides, rate)
        if padding == "SAME" and np.any(rate > 1):
            raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
        if np.any(strides > window_shape):
            raise ValueError(
                "strides > window_shape not supported due to inconsistency between CPU and GPU "
                "implementations"
            )
        if (pooling_type, count) not in _POOLS:
            raise ValueError(f"{count}-D {pooling_type} pooling is not supported.")
        op, axes = _pool_op(pooling_type, window_shape, strides, data_format, scope)
        return with_space_to_batch(
            input=input,
            dilation_rate=rate,
            padding=padding,
            op=op,
            spatial_dims=axes,
            filter_shape=window_shape,
        )


def _pool_op(
    kind: str, window: Sequence[int], strides: np.ndarray, form: str | None, scope: str
) -> tuple[Callable[..., Any], range]:
    from ...engine import api

    count = len(window)
    first = form is not None and form.startswith("NC")
    edges = ([1, 1], []) if first else ([1], [1])
    ksize, steps = (edges[0] + list(values) + edges[1] for values in (window, strides))
    axes = range(2, count + 2) if first else range(1, count + 1)
    if count == 1:
        if form not in (None, "NWC", "NCW"):
            raise ValueError('data_format must be either "NWC" or "NCW".')
        form = "NCHW" if form == "NCW" else "NHWC"
        ksize, steps = [1, *ksize], [1, *steps]
    function = api.NAMES[_POOLS[kind, count]]

    def op(converted: Tensor, _: int, padding: str) -> Any:
        if count == 1:
            converted = tf.expand_dims(converted, axes[0])
        result = function(converted, ksize, steps, padding, name=scope, data_format=form)
        return tf.squeeze(result, [axes[0]]) if count == 1 else result

    return op, axes
