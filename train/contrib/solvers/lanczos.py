# SPDX-License-Identifier: Apache-2.0
"""Lanczos's bidiagonalization: A V = U B, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ....engine.api import export
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.public import tf
from . import util

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike
    from ....ops.flow.tensor_array import TensorArray


class LanczosBidiagState(NamedTuple):
    """Left and right vectors, the diagonal of B and what is below it."""

    u: Any
    v: Any
    alpha: Any
    beta: Any


def _array(size: int, dtype: DTypeLike, name: str) -> TensorArray:
    return tf.TensorArray(dtype=dtype, size=size, tensor_array_name=name, clear_after_read=False)


def _column(array: Any, i: Any) -> Tensor:
    return tf.expand_dims(array.read(i), -1)


def _orthogonalized(i: object, basis: object, v: Tensor) -> tuple[Tensor, Tensor]:
    """A vector without what lies along the first i of a basis, of length one; and its length."""

    def step(j: Tensor, basis: object, v: Tensor) -> Any:
        shape, one = v.shape, _column(basis, j)
        v -= tf.matmul(one, v, adjoint_a=True) * one
        v.set_shape(shape)
        return j + 1, basis, v

    def once() -> tuple[Tensor, Tensor]:
        first = tf.constant(0, dtype=dtypes.int32)
        _, _, rest = tf.while_loop(lambda j, basis, v: j < i, step, [first, basis, v])
        return util.l2normalize(rest)

    before = util.l2norm(v)
    found, length = once()
    # Twice is enough where much of it was taken away.
    return tf.cond(length < 0.7071 * before, once, lambda: (found, length))


@export("contrib.solvers.lanczos.lanczos_bidiag")
def lanczos_bidiag(
    operator: util.LinearOperator,
    k: int,
    orthogonalize: bool = True,
    starting_vector: Tensor | None = None,
    name: str = "lanczos_bidiag",
) -> LanczosBidiagState:
    """k steps of Lanczos's bidiagonalization.

    Args:
        operator: A, as by `util.create_operator`.
        k: the number of steps.
        orthogonalize: whether vectors are kept orthogonal to all before.
        starting_vector: the first left vector; random if None.
        name: of the scope.

    Returns:
        A named tuple: u and v, the vectors as columns; alpha and beta, the entries of B.
    """

    def step(i: Tensor, state: LanczosBidiagState) -> tuple[Tensor, LanczosBidiagState]:
        u = _column(state.u, i)
        r = operator.apply_adjoint(u)
        shape = r.shape
        before = r
        r = tf.cond(
            i > 0,
            lambda: before - state.beta.read(i - 1) * _column(state.v, i - 1),
            lambda: before,
        )
        r.set_shape(shape)
        v, alpha = _orthogonalized(i - 1, state.v, r) if orthogonalize else util.l2normalize(r)
        p = operator.apply(v) - alpha * u
        u, beta = _orthogonalized(i, state.u, p) if orthogonalize else util.l2normalize(p)
        following = LanczosBidiagState(
            state.u.write(i + 1, tf.squeeze(u)),
            state.v.write(i, tf.squeeze(v)),
            state.alpha.write(i, alpha),
            state.beta.write(i, beta),
        )
        return i + 1, following

    with name_scope(name):
        dtype = operator.dtype
        if starting_vector is None:
            starting_vector = tf.random_uniform(operator.shape[:1], -1, 1, dtype=dtype)
        first, _ = util.l2normalize(starting_vector)
        state = LanczosBidiagState(
            u=_array(k + 1, dtype, "u").write(0, tf.squeeze(tf.expand_dims(first, -1))),
            v=_array(k, dtype, "v"),
            alpha=_array(k, dtype, "alpha"),
            beta=_array(k, dtype, "beta"),
        )
        i = tf.constant(0, dtype=dtypes.int32)
        _, state = tf.while_loop(lambda i, _: i < k, step, [i, state])
        return LanczosBidiagState(
            tf.matrix_transpose(state.u.stack()),
            tf.matrix_transpose(state.v.stack()),
            state.alpha.stack(),
            state.beta.stack(),
        )


@export("contrib.solvers.lanczos.bidiag_matmul")
def bidiag_matmul(
    matrix: Tensor,
    alpha: Tensor,
    beta: Tensor,
    adjoint_b: bool = False,
    name: str = "bidiag_matmul",
) -> Tensor:
    """The product of a matrix and a lower bidiagonal one.

    Args:
        matrix: of k + 1 columns; of k with `adjoint_b`.
        alpha: the k entries of the diagonal.
        beta: the k entries below it.
        adjoint_b: whether the bidiagonal matrix is transposed.
        name: of the scope.

    Returns:
        A Tensor of k columns, of k + 1 with `adjoint_b`.
    """
    with name_scope(name):
        alpha = tf.expand_dims(alpha, 0)
        if not adjoint_b:
            return matrix[:, :-1] * alpha + matrix[:, 1:] * tf.expand_dims(beta, 0)
        below = tf.expand_dims(beta[:-1], 0)
        zeros = tf.expand_dims(tf.zeros(tf.shape(matrix)[:1], dtype=matrix.dtype), 1)
        return matrix * alpha + tf.concat([zeros, matrix[:, :-1] * below], 1)
