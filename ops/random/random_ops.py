# SPDX-License-Identifier: Apache-2.0
"""Random numbers: the same as TensorFlow's for the same seeds, run after run of a session.

Each stateful op owns a Philox stream, from which every run takes the next part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor, shape_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.graph.seed import get_seed
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ..public import raw, tf
from . import philox

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

RANDOM = NoGradient("random numbers do not depend on their shape")
_SEEDS = "seed: int = 0; seed2: int = 0"
_FLOATS = "{half, bfloat16, float32, float64}"
Fill = Callable[[philox.Philox, tuple[int, ...], np.dtype], np.ndarray]


def stream(c: KernelContext) -> philox.Stream:
    """The op's own stream of this session."""
    return c.kernel_state(lambda: philox.Stream(c.attr("seed"), c.attr("seed2")))


def shape_of(c: ShapeContext) -> TensorShape:
    """Shape function: the value of the first input."""
    if c.inputs[0].ndims not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {c.inputs[0].ndims}")
    return c.value_as_shape(0)


def _integer_shape(c: ShapeContext) -> TensorShape:
    """Shape function: also holds the limits to be scalars."""
    for limit in c.inputs[1:]:
        if limit.ndims not in (None, 0):
            raise ValueError(f"Shape must be rank 0 but is rank {limit.ndims}")
    return shape_of(c)


def _dims(shape: np.ndarray) -> tuple[int, ...]:
    if shape.ndim != 1:
        raise errors.invalid(
            f"shape must be a vector of {{int32,int64}}, got shape {shape_text(shape.shape)}"
        )
    dims = tuple(int(size) for size in shape)
    for size in dims:
        if size < 0:
            raise errors.invalid(f"Dimension {size} must be >= 0")
    return dims


def _lower_with(function: str) -> Callable[..., Any]:
    def lower(b: Builder, op: OpView, shape: Value) -> Any:
        from ...jit import library

        dims, dtype = b.known(shape), op.dtype(0)
        if dims is None or dtype not in ("float32", "float64"):
            return NotImplemented
        return getattr(library, function)(b, op, tuple(dims), stream, dtype)

    return lower


def _define_float(name: str, fill: Fill, lower: str, doc: str) -> None:
    def kernel(c: KernelContext, shape: np.ndarray) -> np.ndarray:
        dims = _dims(shape)
        at = stream(c).reserve_outputs(int(np.prod(dims, dtype=np.int64)))
        return fill(at, dims, c.out_dtype())

    define(
        name,
        "shape: T -> output: dtype",
        f"{_SEEDS}; dtype: {_FLOATS}; T: index",
        shape=shape_of,
        kernel=kernel,
        lower=_lower_with(lower),
        gradient=RANDOM.silently,
        stateful=True,
        doc=doc,
        test=lambda: {
            "values": [[np.array([3, 5], np.int32)]],
            "attrs": [{"seed": 1, "dtype": dtypes.float32}],
        },
    )


_define_float("RandomUniform", philox.uniform, "philox_uniform", "Uniform in [0, 1).")
_define_float("RandomStandardNormal", philox.normal, "philox_normal", "Standard normal.")
_define_float(
    "TruncatedNormal",
    philox.truncated_normal,
    "philox_truncated_normal",
    "Standard normal, redrawn when more than two deviations from the mean.",
)


def _require_scalar(name: str, value: np.ndarray) -> int:
    if value.ndim:
        raise errors.invalid(f"{name} must be 0-D, got shape {shape_text(value.shape)}")
    return int(value)


def _integers(
    c: KernelContext, at: Callable[[int], Any], shape: Any, low: Any, high: Any
) -> np.ndarray:
    low, high, dims = _require_scalar("minval", low), _require_scalar("maxval", high), _dims(shape)
    size = int(np.prod(dims, dtype=np.int64))
    if size and low >= high:
        raise errors.invalid(f"Need minval < maxval, got {low} >= {high}")
    if not size:
        return np.empty(dims, c.out_dtype())
    return philox.integers(at(size), dims, c.out_dtype(), low, high)


def _lower_integers(b: Builder, op: OpView, shape: Value, low: Value, high: Value) -> Any:
    from ...jit import library

    sizes, least, most = b.known(shape), b.known(low), b.known(high)
    if sizes is None or least is None or most is None or object in (least.dtype, most.dtype):
        return NotImplemented
    limits = int(least), int(most)
    return library.philox_integers(b, op, tuple(sizes), stream, op.dtype(0), *limits)


define(
    "RandomUniformInt",
    "shape: T, minval: Tout, maxval: Tout -> output: Tout",
    f"{_SEEDS}; Tout: index; T: index",
    shape=_integer_shape,
    kernel=lambda c, *inputs: _integers(c, stream(c).reserve_outputs, *inputs),
    lower=_lower_integers,
    gradient=RANDOM,
    stateful=True,
    doc="Uniform integers in [minval, maxval).",
    test=lambda: {
        "values": [[np.array([4], np.int32), np.int32(0), np.int32(9)]],
        "attrs": [{"seed": 1}],
    },
)


def _shuffle(c: KernelContext, value: np.ndarray) -> np.ndarray:
    if value.size <= 1 or value.shape[0] <= 1:
        return value
    size = value.shape[0]
    at = stream(c).reserve((size - 1 + 3) // 4)
    draws = at.blocks((size - 1 + 3) // 4).reshape(-1)[: size - 1].astype(np.int64)
    # Fisher and Yates, with TensorFlow's remainder, which is not quite uniform.
    at_once = np.arange(size - 1)
    order = list(range(size))
    for i, j in enumerate((at_once + draws % (size - at_once)).tolist()):
        order[i], order[j] = order[j], order[i]
    return value[order]


class _Blocks(NamedTuple):
    """A stream whose outputs are what a shuffle draws: a block for four rows."""

    stream: philox.Stream

    def reserve_outputs(self, rows: int) -> philox.Philox:
        """The part for a shuffle of so many rows."""
        return self.stream.reserve((max(rows, 1) - 1 + 3) // 4)

    def go_back(self, counter: int, key: int) -> None:
        """See Stream.go_back."""
        self.stream.go_back(counter, key)


def _blocks(c: KernelContext) -> _Blocks:
    """The op's stream, for plans, which are kept with the names of functions only."""
    return _Blocks(stream(c))


def _lower_shuffle(b: Builder, op: OpView, value: Value) -> Value:
    from ...jit import library

    if not value.ndim or any(b.equal(size, 0) for size in value.shape):
        return b.identity(value)
    if b.equal(value.shape[0], 1):
        return b.identity(value)
    order = library.shuffled(b, op, value.shape[0], _blocks)
    return b.pick(value, order)


define(
    "RandomShuffle",
    "value: T -> output: T",
    f"{_SEEDS}; T: type",
    shape=lambda c: c.inputs[0],
    kernel=_shuffle,
    lower=_lower_shuffle,
    gradient=NoGradient("not defined by TensorFlow"),
    stateful=True,
    doc="The rows of a tensor in random order.",
    test={"shapes": [[[5, 2]]], "attrs": [{"seed": 3}]},
)


def _sample_rows(
    at: philox.Philox, logits: np.ndarray, samples: int, dtype: np.dtype[Any]
) -> np.ndarray:
    """Class numbers drawn by inverting each row's cumulative distribution."""
    rows = len(logits)
    count = rows * samples
    bits = at.blocks((count * 2 + 3) // 4).reshape(-1)[: count * 2]
    draws = philox.to_double(bits[0::2], bits[1::2]).reshape(rows, samples)
    result = np.empty((rows, samples), dtype)
    for row in range(rows):
        finite = np.isfinite(logits[row])
        # Logits that are not finite have no share, be they plus infinity.
        top = logits[row][finite].max(initial=_lowest(logits.dtype))
        weights = np.exp(logits[row].astype(np.float64) - float(top))
        cumulative = np.cumsum(np.where(finite, weights, 0.0))
        found = np.searchsorted(cumulative, draws[row] * cumulative[-1], side="right")
        result[row] = found
    return result


def _lowest(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else dtypes.as_dtype(dtype).min


def _multinomial(
    c: KernelContext, reserve: Callable[[int], Any], logits: np.ndarray, samples: np.ndarray
) -> np.ndarray:
    if logits.ndim != 2:
        raise errors.invalid(f"logits should be a matrix, got shape {shape_text(logits.shape)}")
    if samples.ndim:
        raise errors.invalid(
            f"num_samples should be a scalar, got shape {shape_text(samples.shape)}"
        )
    count = int(samples)
    if count < 0:
        raise errors.invalid(f"num_samples should be nonnegative, got {count}")
    if logits.shape[1] <= 0:
        raise errors.invalid(f"num_classes should be positive, got {logits.shape[1]}")
    # Two 32-bit numbers for each sample, and samples rounded up to four, as TensorFlow reserves
    # them.
    at = reserve(logits.shape[0] * ((count + 3) // 4 * 4 * 2))
    return _sample_rows(at, logits, count, c.out_dtype())


def lower_multinomial(b: Builder, op: OpView, logits: Value, samples: Value, source: Any) -> Any:
    """The lowering of draws of classes; source: as that of library.philox_uniform."""
    from ...jit import library

    known = b.known(samples)
    if known is None or known.ndim or logits.ndim != 2 or logits.dtype == "bfloat16":
        return NotImplemented
    count, (rows, classes) = known.item(), logits.shape
    if not k.compiles(logits.dtype) or not logits.dtype.startswith("float"):
        return NotImplemented
    b.require(count >= 0)
    if any(b.equal(size, 0) for size in (rows, classes, count)):
        return NotImplemented
    reserved = rows * ((count + 3) // 4 * 4 * 2)
    draws = library.philox_uniform(b, op, (rows, count), source, "float64", reserved)
    lowest = b.constant(_lowest(np.dtype(logits.dtype)), logits.dtype)

    def share(value: Any, top: Any) -> Any:
        weight = k.exp(k.sub(k.cast(value, "float64"), k.cast(top, "float64")))
        return k.select(k.isfinite(value), weight, k.const_like(0, weight))

    finite = b.map(lambda v, low: k.select(k.isfinite(v), v, low), logits, lowest)
    weights = b.map(share, logits, b.reduce("max", finite, [1], keepdims=True))
    cumulative = library.running(b, "add", weights, 1)
    last = b.slice(cumulative, [0, classes - 1], [rows, 1])
    wanted = b.map(k.mul, draws, last)
    return library.search_sorted(b, cumulative, wanted, True, op.dtype(0))


def _lower_multinomial(b: Builder, op: OpView, logits: Value, samples: Value) -> Any:
    return lower_multinomial(b, op, logits, samples, stream)


def _multinomial_shape(c: ShapeContext) -> TensorShape:
    logits, count = c.inputs[0].with_rank(2), c.value(1)
    return TensorShape([logits[0], None if count is None else int(count)])


define(
    "Multinomial",
    "logits: T, num_samples: int32 -> output: output_dtype",
    f"{_SEEDS}; T: realnumbertype; output_dtype: index = int64",
    shape=_multinomial_shape,
    kernel=lambda c, logits, n: _multinomial(c, stream(c).reserve_outputs, logits, n),
    lower=_lower_multinomial,
    gradient=RANDOM.silently,
    stateful=True,
    doc="Class numbers drawn with probabilities softmax(logits).",
    test=lambda: {
        "values": [[np.array([[1, 2, 3]], np.float32), np.int32(4)]],
        "attrs": [{"seed": 1}],
    },
)


def _scaled(
    op_type: str, scope: str, arguments: tuple[Any, ...], dtype: DType, seed: int | None, name: Any
) -> Tensor:
    shape, mean, stddev = arguments
    with name_scope(name, scope, [shape, mean, stddev]) as name:
        dims = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        seed1, seed2 = get_seed(seed)
        draws = getattr(raw, op_type)(dims, dtype=dtype, seed=seed1, seed2=seed2)
        return tf.add(draws * stddev, mean, name=name)


@export("random.normal", "random_normal")
def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normally distributed numbers, others in every run.

    Args:
        shape: a list of sizes or an int32 or int64 vector.
        mean, stddev: tensors that broadcast against the shape.
        dtype: float16, bfloat16, float32 or float64.
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which numbers.
        name: of the operation.

    Returns:
        A Tensor of that shape and dtype.

    Raises:
        TypeError: `dtype` is none of these.

    Example:
        >>> x = tf.Session().run(tf.random_normal([10000], mean=3.0, seed=1))
        >>> print(x.shape, round(float(x.mean()), 1), round(float(x.std()), 1))
        (10000,) 3.0 1.0
    """
    return _scaled(
        "RandomStandardNormal", "random_normal", (shape, mean, stddev), dtype, seed, name
    )


@export("random.truncated_normal", "truncated_normal")
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normally distributed numbers, redrawn when more than two deviations from the mean.

    Args:
        shape: a list of sizes or an int32 or int64 vector.
        mean, stddev: tensors that broadcast against the shape: of the distribution before.
        dtype: float16, bfloat16, float32 or float64.
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which numbers.
        name: of the operation.

    Returns:
        A Tensor of that shape and dtype.

    Raises:
        TypeError: `dtype` is none of these.

    Example:
        >>> x = tf.Session().run(tf.truncated_normal([10000], stddev=0.1, seed=1))
        >>> bool(abs(x).max() <= 0.2)
        True
    """
    return _scaled("TruncatedNormal", "truncated_normal", (shape, mean, stddev), dtype, seed, name)


_UNIFORM_TYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64")


def uniform_limits(dtype: DTypeLike, maxval: float | None) -> tuple[Any, Any]:
    """The checked dtype and upper limit of a uniform distribution."""
    dtype = dtypes.as_dtype(dtype)
    if dtype.name not in _UNIFORM_TYPES:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    return dtype, maxval


@export("random.uniform", "random_uniform")
def random_uniform(
    shape: TensorLike | None,
    minval: TensorLike = 0,
    maxval: float | None = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Uniformly distributed numbers, others in every run.

    Args:
        shape: a list of sizes or an int32 or int64 vector.
        minval: the lower limit, which may be drawn; a scalar for integers.
        maxval: the upper limit, which is not drawn; 1 by default, but integers need one.
        dtype: float16, bfloat16, float32, float64, int32 or int64.
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which numbers.
        name: of the operation.

    Returns:
        A Tensor of that shape and dtype.

    Raises:
        ValueError: `dtype` is none of these, or that of integers without `maxval`.
        InvalidArgumentError: the limits of integers are not in order.

    Example:
        >>> x = tf.Session().run(tf.random_uniform([1000], 1, 7, dtype=tf.int32, seed=1))
        >>> sorted(set(x.tolist()))
        [1, 2, 3, 4, 5, 6]
    """
    dtype, maxval = uniform_limits(dtype, maxval)
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as name:
        dims = shape_tensor(shape)
        low = convert_to_tensor(minval, dtype=dtype, name="min")
        high = convert_to_tensor(maxval, dtype=dtype, name="max")
        seed1, seed2 = get_seed(seed)
        if dtype.is_integer:
            return raw.RandomUniformInt(dims, low, high, seed=seed1, seed2=seed2, name=name)
        draws = raw.RandomUniform(dims, dtype=dtype, seed=seed1, seed2=seed2)
        return tf.add(draws * (high - low), low, name=name)


@export("random.shuffle", "random_shuffle")
def random_shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows of a tensor in random order, another one in every run.

    Args:
        value: a tensor of any dtype; rows are along its first dimension.
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which order.
        name: of the operation.

    Returns:
        A Tensor of that shape and dtype.

    Raises:
        ValueError: `value` cannot be made a tensor.

    Example:
        >>> sorted(tf.Session().run(tf.random_shuffle([1, 2, 3])).tolist())
        [1, 2, 3]
    """
    seed1, seed2 = get_seed(seed)
    return raw.RandomShuffle(value, seed=seed1, seed2=seed2, name=name)


@export("image.random_crop", "random_crop")
def random_crop(
    value: TensorLike, size: TensorLike, seed: int | None = None, name: str | None = None
) -> Tensor:
    """A part of `value`, of the given size, at a random place."""
    from ..control import with_dependencies

    with name_scope(name, "random_crop", [value, size]) as name:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtype=dtypes.int32, name="size")
        shape = tf.shape(value)
        fits = tf.reduce_all(shape >= size)
        check = tf.Assert(fits, ["Need value.shape >= size, got ", shape, size], summarize=1000)
        shape = with_dependencies([check], shape)
        limit = shape - size + 1
        draws = random_uniform(tf.shape(shape), dtype=size.dtype, maxval=size.dtype.max, seed=seed)
        # The draws are made before the limits are known to be constant: their remainder is the
        # corner.
        return tf.slice(value, draws % limit, size, name=name)


def _draw_classes(
    logits: TensorLike, samples: TensorLike, dtype: DType | None, seed: int | None
) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    seed1, seed2 = get_seed(seed)
    chosen: dict[str, Any] = {} if dtype is None else {"output_dtype": dtype}
    return raw.Multinomial(logits, samples, seed=seed1, seed2=seed2, **chosen)


@export("random.multinomial", "multinomial")
def multinomial(
    logits: Any,
    num_samples: Any,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> Tensor:
    """Class numbers, drawn with the probabilities softmax(logits).

    Args:
        logits: real numbers [batch, classes]: logarithms of probabilities, up to a constant in
            each row.
        num_samples: how many are drawn per row, an int32 scalar.
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which numbers.
        name: the scope of the operation.
        output_dtype: tf.int64, the default, or tf.int32.

    Returns:
        A Tensor [batch, num_samples].

    Raises:
        TypeError: `output_dtype` is neither.
        ValueError: `logits` is no matrix.

    Example:
        >>> tf.Session().run(tf.multinomial([[0.0, -np.inf], [-np.inf, 0.0]], 3))
        array([[0, 0, 0],
               [1, 1, 1]])
    """
    with name_scope(name, "multinomial", [logits]):
        return _draw_classes(logits, num_samples, output_dtype, seed)


@export("random.categorical")
def categorical(
    logits: Any,
    num_samples: Any,
    dtype: DType | None = None,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Class numbers drawn with probabilities softmax(logits)."""
    with name_scope(name, "categorical", [logits]):
        return _draw_classes(logits, num_samples, dtype, seed)


def random_poisson_v2(
    shape: TensorLike,
    lam: TensorLike,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.random.poisson`, given the shape first, as in TensorFlow 2."""
    return tf.random_poisson(lam, shape, dtype, seed, name)
