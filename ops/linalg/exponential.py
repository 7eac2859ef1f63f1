# SPDX-License-Identifier: Apache-2.0
"""`tf.linalg.expm`: the nodes that TensorFlow 1.15 makes for a matrix exponential.

Scaling and squaring with Pade approximants, after N. J. Higham, "The scaling and squaring method
for the matrix exponential revisited", SIAM J. Matrix Anal. Appl. 26 (2005).
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.types import dtypes
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

# Degrees of the approximants, the norms up to which each but the last serves, and the norm to
# which matrices are scaled for the last (Higham's theta).
_SINGLE = (3, 5, 7), (4.258730016922831e-001, 1.880152677804762e000), 3.925724783138660
_DOUBLE = (
    (3, 5, 7, 9, 13),
    (1.495585217958292e-002, 2.539398330063230e-001, 9.504178996162932e-001, 2.097847961257068e000),
    5.371920351148152,
)


def _coefficients(degree: int) -> list[float]:
    """Those of the numerator of the approximant, without the leading one, which is 1."""
    factorial = math.factorial
    return [
        float(factorial(2 * degree - k) // (factorial(k) * factorial(degree - k)))
        for k in range(degree)
    ]


def _sum(terms: Iterable[Any]) -> Any:
    """The terms added one by one, each made when it is added."""
    return functools.reduce(operator.add, terms)


def _approximant(degree: int, matrix: Tensor) -> tuple[Any, Any]:
    """The odd and the even part of the numerator."""
    b = [tf.constant(value, matrix.dtype) for value in _coefficients(degree)]
    size, batch = tf.shape(matrix)[-2], tf.shape(matrix)[:-2]
    one = tf.eye(size, batch_shape=batch, dtype=matrix.dtype)
    square = tf.matmul(matrix, matrix)
    even = [square]
    for _ in range(2 if degree == 13 else (degree - 3) // 2):
        even.append(tf.matmul(even[-1], square))

    def weighted(powers: Sequence[Any], first: int) -> Iterator[Any]:
        """The powers, from the highest on, with every other coefficient from `first` down."""
        return (b[first - 2 * i] * power for i, power in enumerate(powers))

    if degree == 13:
        fourth, sixth = even[1:]
        inner = _sum(chain([sixth], weighted([fourth, square], 11)))
        first = tf.matmul(sixth, inner)
        upper = _sum(chain([first], weighted([sixth, fourth, square, one], 7)))
        odd = tf.matmul(matrix, upper)
        first = tf.matmul(sixth, _sum(weighted([sixth, fourth, square], 12)))
        return odd, _sum(chain([first], weighted([sixth, fourth, square, one], 6)))
    powers = even[::-1]
    odd = tf.matmul(matrix, _sum(chain(powers[:1], weighted([*powers[1:], one], degree - 2))))
    return odd, _sum(weighted([*powers, one], degree - 1))


def _first_below(norm: Tensor, limits: Sequence[float], cases: Sequence[Any]) -> Tensor:
    """The case of the first limit that the norm lies below; the last case without any."""
    below = tf.less(norm, tf.constant(limits[0], norm.dtype))
    if len(limits) == 1:
        return tf.where(below, cases[0], cases[1])
    return tf.where(below, cases[0], _first_below(norm, limits[1:], cases[1:]))


def _scaled(matrix: Tensor, squarings: Tensor) -> Any:
    powers = tf.pow(tf.constant(2.0, dtype=matrix.dtype), tf.cast(squarings, matrix.dtype))
    return matrix / powers[..., tf.newaxis, tf.newaxis]


def _exponentials(matrix: Tensor) -> Any:
    """The exponentials of a stack of matrices."""
    norm = tf.reduce_max(tf.reduce_sum(tf.abs(matrix), axis=tf.size(tf.shape(matrix)) - 2), axis=-1)
    is_single = matrix.dtype in (dtypes.float16, dtypes.float32, dtypes.complex64)
    degrees, limits, largest = _SINGLE if is_single else _DOUBLE
    most = tf.constant(largest, norm.dtype)
    times = tf.log(norm / most) / tf.log(tf.constant(2.0, norm.dtype))
    squarings = tf.maximum(tf.floor(times), 0)
    parts = [_approximant(degree, matrix) for degree in degrees[:-1]]
    parts.append(_approximant(degrees[-1], _scaled(matrix, squarings)))
    odd, even = (_first_below(norm, limits, [part[i] for part in parts]) for i in (0, 1))
    numerator, denominator = odd + even, -odd + even
    result = tf.matrix_solve(denominator, numerator)
    last = tf.reduce_max(squarings)

    def square(i: Tensor, r: Tensor) -> tuple[Any, Any]:
        return i + 1, tf.where(tf.less(i, squarings), tf.matmul(r, r), r)

    first = tf.constant(0.0, norm.dtype)
    return tf.while_loop(lambda i, r: tf.less(i, last), square, [first, result])[1]


@export("linalg.expm")
def matrix_exponential(input: TensorLike, name: str | None = None) -> Tensor:
    """The exponentials of square matrices, as `tf.linalg.expm` of TensorFlow 1.15.

    input: [..., M, M], float16, float32, float64, complex64 or complex128 (else a ValueError).
    """
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        if matrix.shape[-2:] == [0, 0]:
            return matrix
        batch: Any = matrix.shape[:-2]
        if not batch.is_fully_defined():
            batch = tf.shape(matrix)[:-2]
        stack = tf.reshape(matrix, tf.concat(([-1], tf.shape(matrix)[-2:]), axis=0))
        if not (stack.dtype.is_floating or stack.dtype.is_complex):
            raise ValueError(f"tf.linalg.expm does not support matrices of type {stack.dtype}")
        result = _exponentials(stack)
        if stack.shape.is_fully_defined():
            return tf.reshape(result, batch.concatenate(result.shape[-2:]))
        return tf.reshape(result, tf.concat((batch, tf.shape(result)[-2:]), axis=0))
