# SPDX-License-Identifier: Apache-2.0
"""Special functions: error and gamma functions, incomplete gamma and beta, zeta, Bessel.

Those without a compiled form are SciPy's, imported when first computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import OpFunction
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import control_dependencies, name_scope
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ..array.constant import constant
from ..elementwise import elementwise, maps_sparse
from ..public import tf
from ..shape_inference import merge
from .gradient import shapes_and_axes, sum_to

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_UNARY = "x: T -> y: T"
_REAL = "T: {bfloat16, half, float32, float64}"
_TWO = "T: {float32, float64}"
_POSITIVE = {"ranges": [(0.5, 4), (0.5, 4), (0.1, 0.9)]}
_HOST = {**_POSITIVE, "rtol": 1e-3}


def _scipy(name: str) -> Callable[..., np.ndarray]:
    """A function of scipy.special, imported when called, computed in float64."""

    def body(*arrays: np.ndarray) -> np.ndarray:
        import scipy.special

        result = getattr(scipy.special, name)(*(np.asarray(a, np.float64) for a in arrays))
        return np.asarray(result).astype(arrays[0].dtype)

    return body


def _with_limits(body: Callable[..., Any], *limits: tuple[Any, float]) -> Callable[..., Any]:
    """A kernel with other values where SciPy has limits that TensorFlow has not, or the reverse.

    limits: conditions on the arguments and what holds there; the first that does decides.
    """

    def limited(*arrays: np.ndarray) -> np.ndarray:
        result = body(*arrays)
        holds = [np.broadcast_to(condition(*arrays), result.shape) for condition, _ in limits]
        return np.select(holds, [result.dtype.type(v) for _, v in limits], result)

    return limited


def _unary(
    name: str, body: Callable[..., Any], gradient: Callable[..., Any], *public: str, **facts: Any
) -> OpFunction:
    op = elementwise(name, _UNARY, _REAL, body=body, gradient=gradient, **facts)
    return export(*public)(op) if public else op


# Error function


def _erf_gradient(op: Operation, grad: Tensor, sign: int = 1) -> Tensor:
    # erf'(x) = 2 / sqrt(pi) * exp(-x**2), and erfc' = -erf'.
    factor = constant(sign * 2 / np.sqrt(np.pi), dtype=grad.dtype)
    with control_dependencies([grad]):
        x = tf.conj(op.inputs[0])
        return grad * factor * tf.exp(-tf.square(x))


erf = _unary("Erf", k.erf, _erf_gradient, doc="The Gauss error function.")
export("math.erf", "erf")(maps_sparse(erf))
erfc = _unary(
    "Erfc",
    k.erfc,
    lambda op, grad: _erf_gradient(op, grad, sign=-1),
    "math.erfc",
    "erfc",
    doc="""1 - erf(x), exact for large x.

    Example:
        >>> tf.Session().run(tf.erfc([0.0, 1.0]))
        array([1.       , 0.1572992], dtype=float32)
    """,
)


# Gamma


def _lgamma_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return grad * digamma(tf.conj(op.inputs[0]))


def _digamma_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        x = tf.conj(op.inputs[0])
        return grad * polygamma(constant(1, dtype=x.dtype), x)


_GAMMA = {"ranges": [(0.5, 4)], "rtol": 1e-3}
lgamma = _unary(
    "Lgamma",
    k.lgamma,
    _lgamma_gradient,
    "math.lgamma",
    "lgamma",
    test=lambda: _GAMMA,
    doc="""The logarithm of the modulus of the gamma function.

    Example:
        >>> tf.Session().run(tf.lgamma([1.0, 4.0]))
        array([0.       , 1.7917595], dtype=float32)
    """,
)
digamma = _unary(
    "Digamma",
    k.digamma,
    _digamma_gradient,
    "math.digamma",
    "digamma",
    test=lambda: _GAMMA,
    doc="""The derivative of Lgamma.

    Example:
        >>> tf.Session().run(tf.digamma([1.0, 4.0]))
        array([-0.5772157,  1.2561177], dtype=float32)
    """,
)


@export("math.lbeta", "lbeta")
def lbeta(x: TensorLike, name: str | None = None) -> Any:
    """log |Beta(x)|, reduced along the last dimension."""
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        # Beta(x) = prod(gamma(x_i)) / gamma(sum(x_i)).
        log_product = tf.reduce_sum(lgamma(x), axis=[-1])
        log_of_sum = lgamma(tf.reduce_sum(x, axis=[-1]))
        return log_product - log_of_sum


# Bessel


# I0' = I1, and the factor exp(-|x|) adds -sign(x) times the function.
def _bessel_i0e_gradient(op: Operation, grad: Tensor) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        return grad * (bessel_i1e(x) - tf.sign(x) * y)


# I1' = I0 - I1 / x, and the factor exp(-|x|) adds -sign(x) times the function.
def _bessel_i1e_gradient(op: Operation, grad: Tensor) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        # Near zero the formula is 0 / 0; the limit is one half.
        eps = np.finfo(x.dtype.as_numpy_dtype).eps
        zeros = tf.zeros_like(x)
        is_not_tiny = tf.abs(x) > eps
        safe_x = tf.where(is_not_tiny, x, eps + zeros)
        slope = bessel_i0e(safe_x) - y * (tf.sign(safe_x) + tf.reciprocal(safe_x))
        return grad * tf.where(is_not_tiny, slope, 0.5 + zeros)


bessel_i0e = _unary(
    "BesselI0e",
    k.i0e,
    _bessel_i0e_gradient,
    "math.bessel_i0e",
    doc="exp(-|x|) times the modified Bessel function of order 0.",
)
bessel_i1e = _unary(
    "BesselI1e",
    k.i1e,
    _bessel_i1e_gradient,
    "math.bessel_i1e",
    doc="exp(-|x|) times the modified Bessel function of order 1.",
)


@export("math.bessel_i0")
def bessel_i0(x: TensorLike, name: str | None = None) -> Any:
    """The modified Bessel function of order 0."""
    with name_scope(name, "bessel_i0", [x]):
        return tf.exp(tf.abs(x)) * bessel_i0e(x)


@export("math.bessel_i1")
def bessel_i1(x: TensorLike, name: str | None = None) -> Any:
    """The modified Bessel function of order 1."""
    with name_scope(name, "bessel_i1", [x]):
        return tf.exp(tf.abs(x)) * bessel_i1e(x)


# Two and three arguments


def _igamma_gradients(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    a, x = op.inputs
    shape_a, shape_x, axes_a, axes_x = shapes_and_axes(a, x)
    with control_dependencies([grad]):
        partial_a = igamma_grad_a(a, x)
        # dP/dx = x**(a - 1) * exp(-x) / gamma(a); its logarithm is finite where the factors
        # overflow.
        partial_x = tf.exp(-x + (a - 1) * tf.log(x) - lgamma(a))
        grad_a = sum_to(partial_a * grad, axes_a, shape_a)
        return grad_a, sum_to(partial_x * grad, axes_x, shape_x)


def _igammac_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    grad_a, grad_x = _igamma_gradients(op, grad)
    return -grad_a, -grad_x


def _igamma_slope(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """d igamma(a, x) / da, by central differences in extrapolation: SciPy has no closed form."""
    import scipy.special

    wide_a, wide_x = np.asarray(a, np.float64), np.asarray(x, np.float64)
    step = 1e-3 * np.maximum(1e-3, wide_a)

    def slope(h: np.ndarray) -> np.ndarray:
        above, below = (scipy.special.gammainc(wide_a + d, wide_x) for d in (h, -h))
        return (above - below) / (2 * h)

    # Richardson: the combination cancels the error in h**2 of the two central differences.
    return ((4 * slope(step / 2) - slope(step)) / 3).astype(a.dtype)


def _lowering(function: str) -> Callable[..., Any]:
    """The compiled form of a function of several arguments (jit/library/special.py)."""

    def lower(b: Builder, op: OpView, *values: Value) -> Any:
        from ...jit import library

        return library.special_function(b, function, values)

    return lower


def _binary(
    name: str,
    signature: str,
    body: Any,
    gradient: Any,
    public: str = "",
    test: Any = _HOST,
    doc: str = "",
    compiled: str = "",
) -> OpFunction:
    function = compiled or public
    facts = {"lower": _lowering(function), "test": test, "doc": doc}
    op = elementwise(name, signature, _TWO, body=body, gradient=gradient, **facts)
    return export(f"math.{public}", public)(op) if public else op


_IGAMMA = "a: T, x: T -> z: T"


def _has_no_fraction(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Where TensorFlow's series or fraction has an infinity over or less another."""
    with np.errstate(all="ignore"):
        is_beyond = (a > 0) & (x > a) & np.isfinite(x) & np.isinf(x * (x - a + 2))
        return is_beyond | (np.isinf(a) & (x >= 1))


igamma = _binary(
    "Igamma",
    _IGAMMA,
    _with_limits(
        _scipy("gammainc"),
        (lambda a, x: x == 0, 0.0),
        (lambda a, x: (a == 0) | _has_no_fraction(a, x), np.nan),
    ),
    _igamma_gradients,
    "igamma",
    doc="The lower regularized incomplete gamma function P(a, x).",
)
igammac = _binary(
    "Igammac",
    _IGAMMA,
    _with_limits(
        _scipy("gammaincc"),
        (lambda a, x: np.isposinf(a) & np.isposinf(x), 0.0),
        (lambda a, x: (a == 0) | _has_no_fraction(a, x), np.nan),
    ),
    _igammac_gradient,
    "igammac",
    doc="The upper regularized incomplete gamma function Q(a, x).",
)
igamma_grad_a = _binary(
    "IgammaGradA",
    _IGAMMA,
    _igamma_slope,
    NoGradient("TensorFlow registers none"),
    compiled="igamma_slope",
    doc="The derivative of Igamma by its first argument.",
)


def _zeta_gradient(op: Operation, grad: Tensor) -> tuple[None, Any]:
    x, q = op.inputs
    _, shape_q, _, axes_q = shapes_and_axes(x, q)
    with control_dependencies([grad]):
        x, q = tf.conj(x), tf.conj(q)
        # d/dq (q + k)**-x = -x * (q + k)**-(x + 1), term by term.  1.15 has no derivative by x.
        partial_q = -x * zeta(x + 1, q)
        return None, sum_to(partial_q * grad, axes_q, shape_q)


def _polygamma_gradient(op: Operation, grad: Tensor) -> tuple[None, Any]:
    n, x = op.inputs
    _, shape_x, _, axes_x = shapes_and_axes(n, x)
    with control_dependencies([grad]):
        n, x = tf.conj(n), tf.conj(x)
        partial_x = polygamma(n + 1, x)
        return None, sum_to(partial_x * grad, axes_x, shape_x)


def _has_no_series(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Where the terms of TensorFlow's series are zero times infinity: what grows has no bound."""
    with np.errstate(all="ignore"):
        # Twelve terms, as in Cephes: the numerator of the last is x * (x + 1) * … * (x + 22).
        grown = np.prod([x + x.dtype.type(k) for k in range(23)], axis=0)
        is_nothing = np.power(q, -x) < np.finfo(x.dtype).tiny
        return np.isposinf(q) | ((q > 0) & is_nothing & np.isinf(grown))


_zeta = _with_limits(_scipy("zeta"), (lambda x, q: (x > 1) & _has_no_series(x, q), np.nan))


def _polygamma_body(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    import scipy.special

    wide_n, wide_x = np.asarray(n, np.float64), np.asarray(x, np.float64)
    is_order = (wide_n >= 0) & (np.floor(wide_n) == wide_n) & ~_has_no_series(n + 1, x)
    # psi_n(x) = (-1)**(n + 1) * n! * zeta(n + 1, x) for n >= 1; psi_0 is Digamma.
    factor = (-1.0) ** (wide_n + 1) * scipy.special.gamma(wide_n + 1)
    higher = np.where(is_order, factor * _zeta(wide_n + 1, wide_x), np.nan)
    return np.where(wide_n == 0, k.digamma(wide_x), higher).astype(x.dtype)


_ABOVE_ONE = {**_HOST, "ranges": [(1.5, 4), (0.5, 4)]}


def _orders() -> dict[str, Any]:
    return {**_HOST, "values": [[np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.5, 3.0])]]}


zeta = _binary(
    "Zeta",
    "x: T, q: T -> z: T",
    _zeta,
    _zeta_gradient,
    "zeta",
    _ABOVE_ONE,
    doc="The Hurwitz zeta function of x and q.",
)
polygamma = _binary(
    "Polygamma",
    _IGAMMA,
    _polygamma_body,
    _polygamma_gradient,
    "polygamma",
    _orders,
    doc="The derivative of order a of Digamma at x.",
)


def _betainc_shape(c: ShapeContext) -> TensorShape:
    """Scalars go with anything; all that are not have one shape."""
    output = TensorShape(None)
    others = []
    for shape in c.inputs:
        if shape.ndims is None:
            others.append(shape)
        elif shape.ndims:
            output = merge(output, shape)
            others.append(output)
    if not others:
        return c.inputs[0]
    return others[-1] if len(others) == 1 else output


def _betainc_gradient(op: Operation, grad: Tensor) -> tuple[None, None, Any]:
    a, b, x = op.inputs
    # a and b that are no scalars have one shape, so a speaks for both.
    _, shape_x, _, axes_x = shapes_and_axes(a, x)
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    # dI/dx = x**(a - 1) * (1 - x)**(b - 1) / Beta(a, b), in logarithms because the factors may
    # overflow.  1.15 has no derivative by a and b.
    partial_x = tf.exp((b - 1) * tf.log(1 - x) + (a - 1) * tf.log(x) - log_beta)
    return None, None, sum_to(partial_x * grad, axes_x, shape_x)


def _betainc(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    pairs = ((("a", a), ("b", b)), (("a", a), ("x", x)), (("b", b), ("x", x)))
    for (name, one), (other_name, other) in pairs:
        if one.ndim and other.ndim and one.shape != other.shape:
            shapes = f"{shape_text(one.shape)} vs. {shape_text(other.shape)}"
            text = f"Shapes of {name} and {other_name} are inconsistent: {shapes}"
            raise errors.invalid(text)
    return _limited_betainc(a, b, x)


def _lower_betainc(b: Builder, op: OpView, *values: Value) -> Any:
    wide = [value for value in values if value.ndim]
    b.require(all(b.same_shape(value, wide[0]) for value in wide))
    return _lowering("betainc")(b, op, *values)


_limited_betainc = _with_limits(
    _scipy("betainc"),
    (lambda a, b, x: (a <= 0) | (b <= 0), np.nan),
    (lambda a, b, x: x == 0, 0.0),
    (lambda a, b, x: x == 1, 1.0),
    (lambda a, b, x: np.isinf(a) | np.isinf(b), np.nan),
)


betainc = elementwise(
    "Betainc",
    "a: T, b: T, x: T -> z: T",
    _TWO,
    body=_betainc,
    gradient=_betainc_gradient,
    shape=_betainc_shape,
    lower=_lower_betainc,
    test=lambda: {**_HOST, "shapes": [[[3], [3], [3]], [[], [], [2]]]},
    doc="The regularized incomplete beta function of a, b and x.",
)
export("math.betainc", "betainc")(betainc)


def _next_after_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    x1, x2 = op.inputs
    shape_1, shape_2, axes_1, axes_2 = shapes_and_axes(x1, x2)
    with control_dependencies([grad]):
        partial_1 = tf.ones(shape_1, dtype=x1.dtype)
        partial_2 = tf.zeros(shape_2, dtype=x2.dtype)
        grad_1 = sum_to(partial_1 * grad, axes_1, shape_1)
        return grad_1, sum_to(partial_2 * grad, axes_2, shape_2)


next_after = elementwise(
    "NextAfter",
    "x1: T, x2: T -> output: T",
    "T: {float64, float32} = float32",
    body=np.nextafter,
    gradient=_next_after_gradient,
    host=True,
    test={"gradient": False},
    doc="The next number that can be represented from x1 towards x2.",
)
export("math.nextafter")(next_after)


@export("math.polyval")
def polyval(coeffs: Sequence[Any], x: TensorLike, name: str | None = None) -> Tensor:
    """The polynomial with these coefficients (highest power first) at x, by Horner's rule."""
    with name_scope(name, "polyval", [*coeffs, x]) as name:
        x = convert_to_tensor(x, name="x")
        if len(coeffs) < 1:
            return tf.zeros_like(x, name=name)
        tensors = [
            convert_to_tensor(coeff, name=f"coeff_{index}") for index, coeff in enumerate(coeffs)
        ]
        result = tensors[0]
        for coeff in tensors[1:]:
            result = coeff + result * x
        return result
