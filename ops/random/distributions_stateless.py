# SPDX-License-Identifier: Apache-2.0
"""Random numbers of other distributions, and those that take their seeds as a tensor.

The rejection methods give every output a part of the stream of its own, as TensorFlow does: the
numbers do not depend on how many there are before them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor, shape_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.registry import NoGradient
from ...engine.graph.seed import get_seed
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import raw, tf
from . import philox
from .random_ops import (
    RANDOM,
    _dims,
    _integers,
    _multinomial,
    lower_multinomial,
    shape_of,
    stream,
    uniform_limits,
)
from .rejection import Lanes, gamma, poisson

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_SEEDS = "seed: int = 0; seed2: int = 0"
_REALS = "{half, float32, float64}"
# Outputs computed at a time.
_CHUNK = 1 << 16


def _per_parameter(
    c: KernelContext,
    shape: np.ndarray,
    values: np.ndarray,
    method: Callable[[Lanes, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Samples of shape `shape` for every value; all samples of a value stand together."""
    dims = _dims(shape)
    count = math.prod(dims)
    size = count * values.size
    result = np.empty(size, np.float64)
    if size:
        at = stream(c).reserve_outputs(size)
        every = np.repeat(values.astype(np.float64).reshape(-1), count)
        for start in range(0, size, _CHUNK):
            part = every[start : start + _CHUNK]
            result[start : start + _CHUNK] = method(Lanes(at, start, len(part)), part)
    return result.reshape(values.size, count).T.reshape(*dims, *values.shape).astype(c.out_dtype())


def _lower_per_parameter(method: str) -> Callable[..., Any]:
    def lower(b: Builder, op: OpView, shape: Value, values: Value) -> Any:
        from ...jit import library

        dims = b.known(shape)
        if dims is None or dims.ndim != 1:
            return NotImplemented
        b.require(all(size >= 0 for size in dims.tolist()))
        return library.rejected(b, op, method, dims.tolist(), values, stream, op.dtype(0))

    return lower


def _parameter_shape(c: ShapeContext) -> TensorShape:
    return c.value_as_shape(0).concatenate(c.inputs[1])


def add_leading_unit_dimensions(x: TensorLike, num_dimensions: TensorLike) -> Tensor:
    """The tensor with so many axes of size one before its own."""
    ones = tf.ones([num_dimensions], dtype=dtypes.int32)
    return tf.reshape(x, tf.concat([ones, tf.shape(x)], axis=0))


def _gamma_gradient(op: Operation, grad: Tensor) -> tuple[None, Any]:
    shape, alpha = op.inputs
    sample = op.outputs[0]
    with control_dependencies([grad]):
        count = tf.shape(shape)[0]
        partial = raw.RandomGammaGrad(add_leading_unit_dimensions(alpha, count), sample)
        return None, tf.reduce_sum(grad * partial, axis=tf.range(count))


define(
    "RandomGamma",
    "shape: S, alpha: T -> output: T",
    f"{_SEEDS}; S: index; T: {_REALS}",
    shape=_parameter_shape,
    kernel=lambda c, shape, alpha: _per_parameter(c, shape, alpha, gamma),
    lower=_lower_per_parameter("gamma"),
    gradient=_gamma_gradient,
    stateful=True,
    doc="Gamma-distributed numbers with scale one.",
    test=lambda: {
        "values": [[np.array([3], np.int32), np.array([0.5, 2.0], np.float32)]],
        "attrs": [{"seed": 1}],
    },
)


@np.errstate(all="ignore")
def _gamma_derivative(c: KernelContext, alpha: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """-(dF/dalpha) / (dF/dx) of the distribution function F, by central differences of F."""
    a, x = np.broadcast_arrays(alpha.astype(np.float64), sample.astype(np.float64))
    step = 1e-5 * np.maximum(a, 1e-3)
    from scipy import special

    # By implicit differentiation of F(x, alpha) = u for a fixed u.
    slope = (special.gammainc(a + step, x) - special.gammainc(a - step, x)) / (2 * step)
    with np.errstate(all="ignore"):
        density = np.exp((a - 1) * np.log(x) - x - special.gammaln(a))
        return (-slope / density).astype(c.out_dtype())


def _lower_gamma_derivative(b: Builder, op: OpView, alpha: Value, sample: Value) -> Any:
    from ...jit import library

    return library.special_function(b, "gamma_slope", [alpha, sample])


define(
    "RandomGammaGrad",
    "alpha: T, sample: T -> output: T",
    "T: {float32, float64}",
    shape=lambda c: _broadcast(c),
    kernel=_gamma_derivative,
    lower=_lower_gamma_derivative,
    gradient=NoGradient("not defined by TensorFlow"),
    doc="The derivative of a gamma sample with respect to alpha.",
    test={"ranges": [(0.5, 3.0)], "shapes": [[[3], [3]]]},
)


def _broadcast(c: ShapeContext) -> TensorShape:
    from ..elementwise import static_broadcast

    return static_broadcast(c.inputs[0], c.inputs[1])


def _poisson(c: KernelContext, shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    return _per_parameter(c, shape, rate, poisson)


define(
    "RandomPoisson",
    "shape: S, rate: dtype -> output: dtype",
    f"{_SEEDS}; S: index; dtype: {_REALS}",
    shape=_parameter_shape,
    kernel=_poisson,
    lower=_lower_per_parameter("poisson"),
    gradient=RANDOM,
    stateful=True,
    doc="Poisson-distributed numbers.",
    test=lambda: {
        "values": [[np.array([3], np.int32), np.array([0.5, 20.0], np.float32)]],
        "attrs": [{"seed": 1}],
    },
)
define(
    "RandomPoissonV2",
    "shape: S, rate: R -> output: dtype",
    f"{_SEEDS}; S: index; R: {{half, float32, float64, int32, int64}} = float64; "
    "dtype: {half, float32, float64, int32, int64} = int64",
    shape=_parameter_shape,
    kernel=_poisson,
    lower=_lower_per_parameter("poisson"),
    gradient=RANDOM,
    stateful=True,
    doc="Poisson-distributed numbers.",
    test=lambda: {
        "values": [[np.array([3], np.int32), np.array([0.5, 20.0], np.float64)]],
        "attrs": [{"seed": 1}],
    },
)


@export("random.gamma", "random_gamma")
def random_gamma(
    shape: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Gamma-distributed numbers: samples of the given shape for every alpha and beta."""
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = convert_to_tensor(1 if beta is None else beta, name="beta", dtype=dtype)
        both = alpha + tf.zeros_like(beta)
        seed1, seed2 = get_seed(seed)
        draws = raw.RandomGamma(shape, both, seed=seed1, seed2=seed2)
        # The least normal number instead of zero, whose logarithm programs take.
        return tf.maximum(np.finfo(alpha.dtype.as_numpy_dtype).tiny, draws / beta)


@export("random.poisson", "random_poisson")
def random_poisson(
    lam: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Poisson-distributed numbers: samples of the given shape for every rate."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        seed1, seed2 = get_seed(seed)
        return raw.RandomPoissonV2(shape, lam, dtype=dtype, seed=seed1, seed2=seed2)


def _require_seed(c: ShapeContext, index: int) -> None:
    (size,) = shape_inference.ranked(c.inputs[index], 1)
    shape_inference.require_dim(size, 2)


def _stateless_shape(c: ShapeContext) -> TensorShape:
    _require_seed(c, 1)
    # The limits of integers.
    for limit in c.inputs[2:]:
        shape_inference.ranked(limit, 0)
    return shape_of(c)


def _classes_shape(c: ShapeContext) -> TensorShape:
    _require_seed(c, 2)
    rows = shape_inference.ranked(c.inputs[0], 2)[0]
    shape_inference.ranked(c.inputs[1], 0)
    return TensorShape([rows, _count(c)])


def _generator(seed: np.ndarray) -> philox.Philox:
    if seed.shape != (2,):
        raise errors.invalid(f"seed must have shape [2], not {shape_text(seed.shape)}")
    return philox.scrambled(seed)


def _lower_stateless(function: str) -> Callable[..., Any]:
    def lower(b: Builder, op: OpView, shape: Value, seed: Value) -> Any:
        from ...jit import library

        dims, dtype = b.known(shape), op.dtype(0)
        if dims is None or dims.ndim != 1 or dtype not in ("float32", "float64"):
            return NotImplemented
        b.require_shape(seed, [2])
        given = b.cast(seed, "int64")
        return getattr(library, function)(b, op, tuple(dims), given, dtype)

    return lower


def _lower_integers(
    b: Builder, op: OpView, shape: Value, seed: Value, low: Value, high: Value
) -> Any:
    from ...jit import library

    dims, least, most = b.known(shape), b.known(low), b.known(high)
    if dims is None or least is None or most is None or object in (least.dtype, most.dtype):
        return NotImplemented
    b.require_shape(seed, [2])
    given, limits = b.cast(seed, "int64"), (int(least), int(most))
    return library.philox_integers(b, op, tuple(dims), given, op.dtype(0), *limits)


def _lower_classes(b: Builder, op: OpView, logits: Value, count: Value, seed: Value) -> Any:
    b.require_shape(seed, [2])
    return lower_multinomial(b, op, logits, count, b.cast(seed, "int64"))


def _define_stateless(name: str, fill: Callable[..., np.ndarray], function: str, doc: str) -> None:
    define(
        name,
        "shape: T, seed: Tseed -> output: dtype",
        "dtype: {half, bfloat16, float32, float64} = float32; T: index = int32; "
        "Tseed: index = int64",
        shape=_stateless_shape,
        kernel=lambda c, shape, seed: fill(_generator(seed), _dims(shape), c.out_dtype()),
        lower=_lower_stateless(function),
        gradient=RANDOM.silently,
        doc=doc,
        test=lambda: {"values": [[np.array([3], np.int32), np.array([1, 2], np.int64)]]},
    )


_define_stateless("StatelessRandomUniform", philox.uniform, "philox_uniform", "Uniform in [0, 1).")
_define_stateless("StatelessRandomNormal", philox.normal, "philox_normal", "Standard normal.")
_define_stateless(
    "StatelessTruncatedNormal",
    philox.truncated_normal,
    "philox_truncated_normal",
    "Within two deviations.",
)
define(
    "StatelessRandomUniformInt",
    "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype",
    "dtype: index; T: index; Tseed: index = int64",
    shape=_stateless_shape,
    kernel=lambda c, shape, seed, low, high: _integers(
        c, lambda size: _generator(seed), shape, low, high
    ),
    lower=_lower_integers,
    gradient=RANDOM.silently,
    doc="Uniform integers in [minval, maxval).",
    test=lambda: {
        "values": [[np.array([3], np.int32), np.array([1, 2], np.int64), np.int32(0), np.int32(9)]]
    },
)
define(
    "StatelessMultinomial",
    "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype",
    "T: realnumbertype; Tseed: index = int64; output_dtype: index = int64",
    shape=_classes_shape,
    kernel=lambda c, logits, n, seed: _multinomial(c, lambda size: _generator(seed), logits, n),
    lower=_lower_classes,
    gradient=RANDOM.silently,
    doc="Class numbers drawn with probabilities softmax(logits).",
    test=lambda: {
        "values": [[np.array([[1, 2, 3]], np.float32), np.int32(4), np.array([1, 2], np.int64)]]
    },
)


def _count(c: ShapeContext) -> int | None:
    value = c.value(1)
    return None if value is None else int(value)


@export("random.stateless_uniform")
def stateless_random_uniform(
    shape: TensorLike,
    seed: TensorLike,
    minval: TensorLike = 0,
    maxval: int | None = None,
    dtype: DType = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Uniformly distributed numbers in [minval, maxval), a function of shape and seed."""
    dtype, maxval = uniform_limits(dtype, maxval)
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as name:
        shape = shape_tensor(shape)
        low = convert_to_tensor(minval, dtype=dtype, name="min")
        high = convert_to_tensor(maxval, dtype=dtype, name="max")
        if dtype.is_integer:
            return raw.StatelessRandomUniformInt(shape, seed, low, high, name=name)
        draws = raw.StatelessRandomUniform(shape, seed, dtype=dtype)
        return tf.add(draws * (high - low), low, name=name)


def _stateless_scaled(
    op_type: str,
    scope: str,
    shape: TensorLike,
    seed: TensorLike,
    mean: TensorLike,
    stddev: TensorLike,
    dtype: DTypeLike,
    name: str | None,
) -> Tensor:
    with name_scope(name, scope, [shape, seed, mean, stddev]) as name:
        shape = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        draws = getattr(raw, op_type)(shape, seed, dtype=dtype)
        return tf.add(draws * stddev, mean, name=name)


@export("random.stateless_normal")
def stateless_random_normal(
    shape: Any,
    seed: int,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Normally distributed numbers, a function of shape and seed."""
    given = (shape, seed, mean, stddev, dtype, name)
    return _stateless_scaled("StatelessRandomNormal", "stateless_random_normal", *given)


@export("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape: Any,
    seed: int,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Normally distributed numbers within two deviations, a function of shape and seed."""
    given = (shape, seed, mean, stddev, dtype, name)
    return _stateless_scaled("StatelessTruncatedNormal", "stateless_truncated_normal", *given)


def _stateless_classes(
    scope: str, logits: TensorLike, count: int, seed: Sequence[int], kind: DType, name: str
) -> Tensor:
    with name_scope(name, scope, [logits, seed]):
        logits = convert_to_tensor(logits, name="logits")
        return raw.StatelessMultinomial(logits, count, seed, output_dtype=kind)


@export("random.stateless_multinomial")
def stateless_multinomial(
    logits: Any,
    num_samples: Any,
    seed: Any,
    output_dtype: Any = dtypes.int64,
    name: Any = None,
) -> Tensor:
    """Class numbers drawn with probabilities softmax(logits), a function of them and the seed."""
    return _stateless_classes(
        "stateless_multinomial", logits, num_samples, seed, output_dtype, name
    )


@export("random.stateless_categorical")
def stateless_categorical(
    logits: Any,
    num_samples: Any,
    seed: Any,
    dtype: DType = dtypes.int64,
    name: Any = None,
) -> Tensor:
    """Class numbers drawn with probabilities softmax(logits), a function of them and the seed."""
    return _stateless_classes("stateless_categorical", logits, num_samples, seed, dtype, name)
