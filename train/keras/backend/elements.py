# SPDX-License-Identifier: Apache-2.0
"""The backend's functions of elements and shapes: arithmetic, sums, comparisons, sizes."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.graph.tensor import SparseTensor
from ....engine.types import dtypes, nest
from ....ops.public import tf
from ...layers.nodes import history_of, int_shape
from ...layers.weights import track
from ...variables.moving_averages import assign_moving_average
from ..identifiers import Identifier
from .published import nn
from .settings import floatx, image_data_format

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike
    from ....engine.graph.tensor import Tensor


def _reducing(public: str, sentence: str, *, cast: Any = None) -> Callable[..., Any]:
    """`f(x, axis=None, keepdims=False)` of a public reduction."""

    def reduce(x: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        if cast is not None and (cast == "bool" or x.dtype.base_dtype == dtypes.bool):
            x = tf.cast(x, dtypes.bool if cast == "bool" else floatx())
        return getattr(tf, public)(x, axis, keepdims)

    reduce.__doc__ = f"The {sentence} along an axis, or of all elements; `keepdims` keeps axes."
    return reduce


def _of_one(public: str, sentence: str) -> Callable[..., Any]:
    def apply(x: Tensor) -> Any:
        return getattr(tf, public)(x)

    apply.__doc__ = f"{sentence} of each element."
    return apply


def _of_two(public: str) -> Callable[..., Any]:
    def apply(x: Tensor, y: Tensor) -> Any:
        return getattr(tf, public)(x, y)

    apply.__doc__ = f"`tf.{public}` of elements of two tensors."
    return apply


sum = _reducing("reduce_sum", "sum")
prod = _reducing("reduce_prod", "product")
max = _reducing("reduce_max", "largest element")
min = _reducing("reduce_min", "smallest element")
mean = _reducing("reduce_mean", "mean", cast="float")
any = _reducing("reduce_any", "disjunction", cast="bool")
all = _reducing("reduce_all", "conjunction", cast="bool")
abs = _of_one("abs", "The amount")
square = _of_one("square", "The square")
exp = _of_one("exp", "The exponential")
log = _of_one("log", "The logarithm")
round = _of_one("round", "The nearest whole number")
sign = _of_one("sign", "The sign")
sin = _of_one("sin", "The sine")
cos = _of_one("cos", "The cosine")
sigmoid = _of_one("sigmoid", "The logistic function")
tanh = _of_one("tanh", "The hyperbolic tangent")
equal, not_equal = _of_two("equal"), _of_two("not_equal")
greater, greater_equal = _of_two("greater"), _of_two("greater_equal")
less, less_equal = _of_two("less"), _of_two("less_equal")
maximum, minimum = _of_two("maximum"), _of_two("minimum")


def var(x: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
    """The variance along an axis, or of all elements."""
    if x.dtype.base_dtype == dtypes.bool:
        x = tf.cast(x, floatx())
    return mean(tf.square(x - tf.reduce_mean(x, axis, True)), axis, keepdims)


def std(x: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
    """The standard deviation along an axis, or of all elements."""
    return tf.sqrt(var(x, axis, keepdims))


def sqrt(x: Tensor) -> Any:
    """The square root of each element; 0 for negative ones."""
    zero = tf.constant(0.0, dtype=x.dtype.base_dtype)
    return tf.sqrt(tf.clip_by_value(x, zero, tf.constant(np.inf, dtype=x.dtype.base_dtype)))


def pow(x: Tensor, a: Any) -> Any:
    """Each element to a power."""
    return tf.pow(x, a)


def clip(x: Tensor, min_value: Any, max_value: Any) -> Any:
    """Each element within two bounds; infinite if None."""
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)):
        max_value = min_value if max_value < min_value else max_value
    low = -np.inf if min_value is None else min_value
    high = np.inf if max_value is None else max_value
    return tf.clip_by_value(x, low, high)


def cumsum(x: Tensor, axis: int = 0) -> Any:
    """Sums of the elements so far along an axis."""
    return tf.cumsum(x, axis=axis)


def cumprod(x: Tensor, axis: int = 0) -> Any:
    """Products of the elements so far along an axis."""
    return tf.cumprod(x, axis=axis)


def argmax(x: Tensor, axis: int = -1) -> Any:
    """The index of the largest element along an axis."""
    return tf.argmax(x, axis)


def argmin(x: Tensor, axis: int = -1) -> Any:
    """The index of the smallest element along an axis."""
    return tf.argmin(x, axis)


# Tensors and what they are


def is_keras_tensor(x: Tensor) -> bool:
    """Whether a layer gave the tensor; ValueError for what is no tensor."""
    if not is_tensor(x):
        raise ValueError(f"Unexpectedly found an instance of type `{type(x)}`.")
    return history_of(x) is not None


def is_tensor(x: Tensor) -> bool:
    """Whether it is a tensor, a sparse one or a variable."""
    return hasattr(x, "dtype") and hasattr(x, "graph")


def is_sparse(tensor: Any) -> bool:
    """Whether it is a SparseTensor."""
    return isinstance(tensor, SparseTensor)


def to_dense(tensor: Any) -> Any:
    """A sparse tensor as a dense one; others as they are."""
    return tf.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def placeholder(
    shape: Any = None,
    ndim: int | None = None,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    name: str | None = None,
    ragged: bool = False,
) -> Any:
    """A placeholder.

    Args:
        shape: sizes, None being any.
        ndim: the rank, where no shape is given.
        dtype: the dtype; that of settings if None.
        sparse: whether it is fed sparse values.
        name: of the operation.
        ragged: whether it is fed ragged values: the first sizes of None behind that of the batch
            are those of rows that differ in length.

    Raises:
        ValueError: ragged and sparse are both asked for.
    """
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True when creating a placeholder.")
    dtype = dtype or floatx()
    if not shape and ndim:
        shape = (None,) * ndim
    rows = list(itertools.takewhile(lambda size: size is None, shape[1:])) if ragged else []
    if rows:
        from ....ops.ragged import constant as ragged_values

        return ragged_values.placeholder(dtype, len(rows), shape[1 + len(rows) :], name=name)
    make = tf.sparse_placeholder if sparse else tf.placeholder
    return make(dtype, shape=shape, name=name)


def is_placeholder(x: Any) -> bool:
    """Whether it is a placeholder."""
    ops = [getattr(part, "op", None) for part in nest.flatten(x, expand_composites=True)]
    return builtins.any(op is not None and op.type == "Placeholder" for op in ops)


def variable(
    value: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    constraint: Identifier = None,
) -> Any:
    """A variable with an initial value; a sparse matrix of SciPy becomes a SparseTensor."""
    dtype = dtype or floatx()
    if hasattr(value, "tocoo"):
        entries = value.tocoo()
        places = np.stack([entries.row, entries.col], 1).astype(np.int64)
        return SparseTensor(places, entries.data, entries.shape)
    made: Any = tf.Variable(
        value, dtype=dtypes.as_dtype(dtype), name=name, constraint=constraint, use_resource=True
    )
    made._keras_shape = np.shape(value) if isinstance(value, np.ndarray) else int_shape(made)
    track(made)
    return made


def constant(
    value: Any, dtype: DTypeLike | None = None, shape: Any = None, name: str | None = None
) -> Any:
    """A constant; of the settings' float type if no dtype is given."""
    return tf.constant(value, dtype=dtype or floatx(), shape=shape, name=name or "Const")


def shape(x: Tensor) -> Any:
    """The shape as a tensor."""
    return tf.shape(x)


def ndim(x: Tensor) -> Any:
    """The rank; None where it is unknown."""
    return x.shape.ndims


def dtype(x: Tensor) -> str:
    """The name of the dtype."""
    return str(x.dtype.base_dtype.name)


def count_params(x: Any) -> int:
    """The number of elements of a variable."""
    return int(np.prod(x.shape.as_list()))


def eval(x: Tensor) -> Any:
    """The value of a tensor or variable."""
    from .sessions import get_value

    return get_value(to_dense(x))


def cast(x: Tensor, dtype: Any) -> Any:
    """The tensor in another dtype."""
    return tf.cast(x, dtype)


def cast_to_floatx(x: Tensor) -> Any:
    """A tensor or an array in the settings' float type."""
    if hasattr(x, "graph"):
        return tf.cast(x, floatx())
    return np.asarray(x, dtype=floatx())


def identity(x: Tensor, name: str | None = None) -> Any:
    """The same values."""
    return tf.identity(x, name=name)


def _filled(value: float, shape: Any, dtype: Any, name: str | None) -> Any:
    make = tf.ones if value else tf.zeros
    made = make(shape=shape, dtype=dtypes.as_dtype(dtype or floatx()), name=name)
    sizes = made.shape.as_list() if made.shape.ndims is not None else [None]
    return made if None in sizes else variable(made, dtype=dtype, name=name)


def zeros(shape: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """A variable of zeros; a tensor where the shape is not known."""
    return _filled(0.0, shape, dtype, name)


def ones(shape: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """A variable of ones; a tensor where the shape is not known."""
    return _filled(1.0, shape, dtype, name)


def eye(size: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """A variable that is the identity matrix."""
    return variable(tf.eye(size, dtype=dtypes.as_dtype(dtype or floatx())), dtype, name)


def zeros_like(x: Tensor, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Zeros in the shape of a tensor."""
    return tf.zeros_like(x, dtype=dtype, name=name)


def ones_like(x: Tensor, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Ones in the shape of a tensor."""
    return tf.ones_like(x, dtype=dtype, name=name)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Any:
    """Numbers from `start` on below `stop`; from 0 on below `start` where there is no `stop`."""
    if stop is None and isinstance(start, int) and start < 0:
        start = 0
    made = tf.range(start, limit=stop, delta=step, name="arange")
    return made if dtype == "int32" else tf.cast(made, dtype)


# Assignments


def update(x: Tensor, new_x: Any) -> Any:
    """The operation that gives a variable a new value."""
    return tf.assign(x, new_x)


def update_add(x: Tensor, increment: Any) -> Any:
    """The operation that adds to a variable."""
    return tf.assign_add(x, increment)


def update_sub(x: Tensor, decrement: Any) -> Any:
    """The operation that subtracts from a variable."""
    return tf.assign_sub(x, decrement)


def moving_average_update(x: Tensor, value: Any, momentum: float) -> Any:
    """The operation that moves an average towards a value, without the bias of its beginning."""
    return assign_moving_average(x, value, momentum, zero_debias=True)


def gradients(loss: Any, variables: Any) -> Any:
    """The gradients of a loss."""
    return tf.gradients(loss, variables, colocate_gradients_with_ops=True)


def stop_gradient(variables: Any) -> Any:
    """The same values, through which no gradient flows; of one tensor or a list."""
    if isinstance(variables, (list, tuple)):
        return [tf.stop_gradient(x) for x in variables]
    return tf.stop_gradient(variables)


def print_tensor(x: Tensor, message: str = "") -> Any:
    """The tensor, which is printed when it is computed."""
    with tf.control_dependencies([tf.print(message, x)]):
        return tf.identity(x)


# Shapes


def reshape(x: Tensor, shape: Any) -> Any:
    """The elements in another shape."""
    return tf.reshape(x, shape)


def permute_dimensions(x: Tensor, pattern: Sequence[int]) -> Any:
    """The tensor with its axes in another order."""
    return tf.transpose(x, perm=pattern)


def transpose(x: Tensor) -> Any:
    """The tensor with its axes in the opposite order."""
    return tf.transpose(x)


def expand_dims(x: Tensor, axis: int = -1) -> Any:
    """The tensor with one more axis of size 1."""
    return tf.expand_dims(x, axis)


def squeeze(x: Tensor, axis: int) -> Any:
    """The tensor without an axis of size 1."""
    return tf.squeeze(x, [axis])


def flatten(x: Tensor) -> Any:
    """All elements as one row."""
    return tf.reshape(x, [-1])


def batch_flatten(x: Tensor) -> Any:
    """All axes but the first as one."""
    return tf.reshape(x, tf.stack([-1, tf.reduce_prod(tf.shape(x)[1:])]))


def repeat(x: Tensor, n: int) -> Any:
    """A matrix, each of whose rows comes n times: [batch, n, size]."""
    return tf.tile(tf.expand_dims(x, 1), tf.stack([1, n, 1]))


def repeat_elements(x: Tensor, rep: int, axis: int) -> Any:
    """The tensor, each of whose slices along an axis comes `rep` times."""
    sizes = x.shape.as_list()
    if sizes[axis] is not None:
        parts = tf.split(value=x, num_or_size_splits=sizes[axis], axis=axis)
        return concatenate([part for part in parts for _ in range(rep)], axis)
    axis %= len(sizes)
    wide = tf.expand_dims(x, axis + 1)
    times = np.ones(len(sizes) + 1, np.int32)
    times[axis + 1] = rep
    whole = np.ones(len(sizes), np.int32)
    whole[axis] = rep
    repeated = tf.reshape(tf.tile(wide, times), tf.shape(x) * whole)
    repeated.set_shape(sizes)
    return repeated


def tile(x: Tensor, n: Any) -> Any:
    """The tensor n times along each axis."""
    return tf.tile(x, [n] if isinstance(n, int) else n)


def concatenate(tensors: Sequence[Any], axis: int = -1) -> Any:
    """Tensors one behind the other along an axis."""
    if axis < 0:
        rank = tensors[0].shape.ndims
        axis = axis % rank if rank else 0
    if builtins.all(is_sparse(x) for x in tensors):
        return tf.sparse_concat(axis, tensors)
    return tf.concat([to_dense(x) for x in tensors], axis)


def stack(x: Tensor, axis: int = 0) -> Any:
    """Tensors of one shape as one tensor with one more axis."""
    return tf.stack(x, axis=axis)


def reverse(x: Tensor, axes: Any) -> Any:
    """The tensor backwards along some axes."""
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


def gather(reference: Any, indices: Any) -> Any:
    """Slices by their indices along the first axis."""
    return tf.gather(reference, indices)


def one_hot(indices: Any, num_classes: int) -> Any:
    """Rows with a one at each index."""
    return tf.one_hot(indices, depth=num_classes, axis=-1)


def temporal_padding(x: Tensor, padding: tuple[int, int] = (1, 1)) -> Any:
    """Zeros before and behind axis 1 of three."""
    return tf.pad(x, [[0, 0], list(padding), [0, 0]])


def _format(data_format: str | None) -> str:
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    return data_format


def _padded(x: Tensor, padding: Any, data_format: str | None) -> Any:
    pairs = [list(pair) for pair in padding]
    if _format(data_format) == "channels_first":
        return tf.pad(x, [[0, 0], [0, 0], *pairs])
    return tf.pad(x, [[0, 0], *pairs, [0, 0]])


def spatial_2d_padding(
    x: Tensor, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None
) -> Any:
    """Zeros around pictures."""
    return _padded(x, padding, data_format)


def spatial_3d_padding(
    x: Tensor, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None
) -> Any:
    """Zeros around volumes."""
    return _padded(x, padding, data_format)


def resize_images(
    x: Tensor,
    height_factor: int,
    width_factor: int,
    data_format: str,
    interpolation: str = "nearest",
) -> Any:
    """Pictures enlarged by whole factors.

    Args:
        x: [batch, height, width, channels], or with channels first.
        interpolation: "nearest" or "bilinear".

    Raises:
        ValueError: an unknown format or interpolation.
    """
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid `data_format` argument: {data_format}")
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError('interpolation should be one of "nearest" or "bilinear".')
    first = data_format == "channels_first"
    rows = 2 if first else 1
    known = [
        None if size is None else size * factor
        for size, factor in zip(x.shape.as_list()[rows:], (height_factor, width_factor))
    ]
    sizes = tf.shape(x)[rows : rows + 2]
    sizes *= tf.constant(np.array([height_factor, width_factor], dtype="int32"))
    if first:
        x = tf.transpose(x, [0, 2, 3, 1])
    from ....ops.image.resize_images import resize_images_v2

    x = resize_images_v2(x, sizes, method=interpolation)
    if first:
        x = tf.transpose(x, [0, 3, 1, 2])
    x.set_shape([None, None, *known] if first else [None, *known, None])
    return x


def resize_volumes(
    x: Tensor, depth_factor: int, height_factor: int, width_factor: int, data_format: str
) -> Any:
    """Volumes enlarged by whole factors; ValueError for an unknown format."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    first = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), first):
        x = repeat_elements(x, factor, axis)
    return x


def map_fn(
    fn: Callable[..., Any], elems: Any, name: str | None = None, dtype: DTypeLike | None = None
) -> Any:
    """A function of each element along the first axis."""
    return tf.map_fn(fn, elems, name=name, dtype=dtype)


def foldl(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Any:
    """A function of what is so far and the next element, from the first on."""
    return tf.foldl(fn, elems, initializer=initializer, name=name)


def foldr(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Any:
    """A function of what is so far and the next element, from the last on."""
    return tf.foldr(fn, elems, initializer=initializer, name=name)


def l2_normalize(x: Tensor, axis: Any = None) -> Any:
    """The tensor over its norm along an axis."""
    return nn.l2_normalize(x, axis=axis)


def backend() -> str:
    """The name of what computes: "tensorflow"."""
    return "tensorflow"
