# SPDX-License-Identifier: Apache-2.0
"""The normal distribution's integral and its inverse, as the Cephes library computes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

# Beyond these an asymptotic series and the complement take over.
LOGNDTR_FLOAT64_LOWER, LOGNDTR_FLOAT64_UPPER = np.array(-20, float), np.array(8, float)
LOGNDTR_FLOAT32_LOWER = np.array(-10, np.float32)
LOGNDTR_FLOAT32_UPPER = np.array(5, np.float32)
_LOWER = {"float32": LOGNDTR_FLOAT32_LOWER, "float64": LOGNDTR_FLOAT64_LOWER}
_UPPER = {"float32": LOGNDTR_FLOAT32_UPPER, "float64": LOGNDTR_FLOAT64_UPPER}

# Cephes' rational approximations of the inverse, numerators and denominators from the highest
# power: for the middle, for the tails, and for the far tails.
_MIDDLE = (
    (
        *(-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1),
        *(1.39312609387279679503e1, -1.23916583867381258016e0),
    ),
    (
        *(1.0, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1),
        *(-2.25462687854119370527e2, 2.00260212380060660359e2, -8.20372256168333339912e1),
        *(1.59056225126211695515e1, -1.18331621121330003142e0),
    ),
)
_TAILS = (
    (
        *(4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1),
        *(4.40805073893200834700e1, 1.46849561928858024014e1, 2.18663306850790267539e0),
        *(-1.40256079171354495875e-1, -3.50424626827848203418e-2, -8.57456785154685413611e-4),
    ),
    (
        *(1.0, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1),
        *(1.50425385692907503408e1, 2.50464946208309415979e0, -1.42182922854787788574e-1),
        *(-3.80806407691578277194e-2, -9.33259480895457427372e-4),
    ),
)
_FAR_TAILS = (
    (
        *(3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0),
        *(1.33303460815807542389e0, 2.01485389549179081538e-1, 1.23716634817820021358e-2),
        *(3.01581553508235416007e-4, 2.65806974686737550832e-6, 6.23974539184983293730e-9),
    ),
    (
        *(1.0, 6.02427039364742014255e0, 3.67983563856160859403e0, 1.37702099489081330271e0),
        *(2.16236993594496635890e-1, 1.34204006088543189037e-2, 3.28014464682127739104e-4),
        *(2.89247864745380683936e-6, 6.79019408009981274425e-9),
    ),
)


def _required(x: Tensor, name: str) -> Tensor:
    x = convert_to_tensor(x, name=name)
    if x.dtype.name not in _LOWER:
        raise TypeError(
            f"{name}.dtype={x.dtype} is not handled, see docstring for supported types."
        )
    return x


def _ndtr(x: Tensor) -> Tensor:
    # erf near zero and erfc in the tails: 1 + erf loses all digits where it is near 0.
    half_sqrt_2 = tf.constant(0.5 * np.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    w = x * half_sqrt_2
    z = tf.abs(w)
    is_near, near = tf.less(z, half_sqrt_2), 1.0 + tf.erf(w)
    outer = tf.where_v2(tf.greater(w, 0.0), 2.0 - tf.erfc(z), tf.erfc(z))
    return 0.5 * tf.where_v2(is_near, near, outer)


def ndtr(x: Any, name: str = "ndtr") -> Tensor:
    """The standard normal distribution's integral up to x; float32 and float64."""
    with name_scope(name, values=[x]):
        return _ndtr(_required(x, "x"))


def _polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    dtype = x.dtype.as_numpy_dtype
    result = tf.zeros_like(x)
    for coefficient in coefficients:
        result = dtype(coefficient) + result * x
    return result


def _ratio(x: Tensor, both: tuple[Sequence[float], Sequence[float]]) -> Tensor:
    return _polynomial(x, both[0]) / _polynomial(x, both[1])


def ndtri(p: Any, name: str = "ndtri") -> Tensor:
    """Where the standard normal distribution's integral is p; infinite for 0 and 1."""
    with name_scope(name, values=[p]):
        p = _required(p, "p")
        # By symmetry the lower side does; what is no probability is replaced at the end.
        side = tf.where_v2(p > -np.expm1(-2.0), 1.0 - p, p)
        safe = tf.where_v2(side <= 0.0, tf.fill(tf.shape(p), np.array(0.5, p.dtype.np_dtype)), side)
        w = safe - 0.5
        square = w * w
        middle = (w + w * square * _ratio(square, _MIDDLE)) * -np.sqrt(2.0 * np.pi)
        z = tf.sqrt(-2.0 * tf.log(safe))
        first = z - tf.log(z) / z
        far = first - _ratio(1.0 / z, _FAR_TAILS) / z
        near = first - _ratio(1.0 / z, _TAILS) / z
        x = tf.where_v2(safe > np.exp(-2.0), middle, tf.where_v2(z >= 8.0, far, near))
        x = tf.where_v2(p > 1.0 - np.exp(-2.0), x, -x)
        infinity = tf.fill(tf.shape(p), tf.constant(np.inf, dtype=p.dtype))
        return tf.where_v2(p <= 0.0, -infinity, tf.where_v2(p >= 1.0, infinity, x))


def log_ndtr(x: Any, series_order: int = 3, name: str = "log_ndtr") -> Tensor:
    """The logarithm of `ndtr`, accurate far below zero too.

    series_order: terms of the asymptotic series used there, 0 to 30.
    """
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if series_order < 0:
        raise ValueError("series_order must be non-negative.")
    if series_order > 30:
        raise ValueError("series_order must be <= 30.")
    with name_scope(name, values=[x]):
        x = _required(x, "x")
        lower, upper = _LOWER[x.dtype.name], _UPPER[x.dtype.name]
        # log(1 - q) = -q for a q so small; each part is computed at an argument within its own
        # range, so that the gradients of those not chosen are no NaN.
        is_above, above = tf.greater(x, upper), -_ndtr(-x)
        is_middle, middle = tf.greater(x, lower), tf.log(_ndtr(tf.maximum(x, lower)))
        below = _log_ndtr_lower(tf.minimum(x, lower), series_order)
        return tf.where_v2(is_above, above, tf.where_v2(is_middle, middle, below))


def _log_ndtr_lower(x: Tensor, order: int) -> Tensor:
    dtype = x.dtype.as_numpy_dtype
    scale = -0.5 * tf.square(x) - tf.log(-x) - 0.5 * np.log(2.0 * np.pi)
    if not order:
        return scale + tf.log(np.array(1, dtype))
    square = tf.square(x)
    even, odd, power = tf.zeros_like(x), tf.zeros_like(x), square
    for n in range(1, order + 1):
        # The asymptotic series 1 - 1 / x^2 + 3 / x^4 - 15 / x^6 ..., signs apart.
        term = dtype(np.prod(np.arange(2 * n - 1, 1, -2, dtype=np.float64))) / power
        even, odd = (even, odd + term) if n % 2 else (even + term, odd)
        power *= square
    return scale + tf.log(1.0 + even - odd)


def erfinv(x: Any, name: str = "erfinv") -> Tensor:
    """Where the error function is x."""
    with name_scope(name, values=[x]):
        return ndtri((_required(x, "x") + 1.0) / 2.0) / np.sqrt(2)


def log_cdf_laplace(x: TensorLike, name: str = "log_cdf_laplace") -> Tensor:
    """The logarithm of the integral of exp(-|x|) / 2 up to x."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        lower, upper = -np.log(2.0) + x, tf.log1p(-0.5 * tf.exp(-tf.abs(x)))
        return tf.where_v2(x < 0.0, lower, upper)
