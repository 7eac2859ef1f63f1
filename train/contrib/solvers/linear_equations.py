# SPDX-License-Identifier: Apache-2.0
"""Conjugate gradients: systems of equations, and those of least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ....engine.api import export
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.public import tf
from . import util

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


class _State(NamedTuple):
    """The number of steps, the solution, what is left, the direction and a square of a length."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


def _squeezed(state: _State) -> Any:
    rest = {name: tf.squeeze(getattr(state, name)) for name in ("x", "r", "p")}
    return type(state)(i=state.i, gamma=state.gamma, **rest)


class CGState(_State):
    """The state of `conjugate_gradient`."""


class CGLSState(_State):
    """The state of `cgls`."""


@export("contrib.solvers.linear_equations.conjugate_gradient")
def conjugate_gradient(
    operator: util.LinearOperator,
    rhs: Tensor,
    preconditioner: Any = None,
    x: TensorLike | None = None,
    tol: float = 1e-4,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """The solution of A x = rhs for a positive definite A.

    Args:
        operator: A, as by `util.create_operator`.
        rhs: a vector.
        preconditioner: an operator near the inverse of A; none if None.
        x: a first guess; zeros if None.
        tol: the length of what may be left, as a share of what there is at first.
        max_iter: the most steps.
        name: of the scope.

    Returns:
        A named tuple: i, the number of steps; x, the solution; r, what is left; p, the last
        direction; gamma, r^T M r.
    """

    def towards(r: Tensor) -> Tensor:
        return r if preconditioner is None else preconditioner.apply(r)

    def is_far(i: Tensor, state: CGState) -> Tensor:
        return tf.logical_and(i < max_iter, tf.norm(state.r) > tolerance)

    def step(i: Tensor, state: CGState) -> tuple[Tensor, CGState]:
        z = operator.apply(state.p)
        alpha = state.gamma / util.dot(state.p, z)
        x = state.x + alpha * state.p
        r = state.r - alpha * z
        q = towards(r)
        gamma = util.dot(r, q)
        p = q + gamma / state.gamma * state.p
        return i + 1, CGState(i + 1, x, r, p, gamma)

    with name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        if x is None:
            zeros = tf.zeros(operator.shape[1:], dtype=rhs.dtype.base_dtype)
            start, left = tf.expand_dims(zeros, -1), rhs
        else:
            start = tf.expand_dims(x, -1)
            left = rhs - operator.apply(start)
        direction = towards(left)
        tolerance = tol * tf.norm(left)
        i = tf.constant(0, dtype=dtypes.int32)
        state = CGState(i=i, x=start, r=left, p=direction, gamma=util.dot(left, direction))
        _, state = tf.while_loop(is_far, step, [i, state])
        return _squeezed(state)


@export("contrib.solvers.least_squares.cgls")
def cgls(
    operator: util.LinearOperator,
    rhs: Tensor,
    tol: float = 1e-6,
    max_iter: int = 20,
    name: str = "cgls",
) -> CGLSState:
    """The x for which |A x - rhs| is least.

    Args:
        operator: A, as by `util.create_operator`.
        rhs: a vector.
        tol: the length of A^T r, as a share of what it is at first.
        max_iter: the most steps.
        name: of the scope.

    Returns:
        A named tuple: i, the number of steps; x, the solution; r, what is left; p, the last
        direction; gamma, |A^T r|^2.
    """

    def is_far(i: Tensor, state: CGLSState) -> Tensor:
        return tf.logical_and(i < max_iter, state.gamma > tolerance)

    def step(i: Tensor, state: CGLSState) -> tuple[Tensor, CGLSState]:
        q = operator.apply(state.p)
        alpha = state.gamma / util.l2norm_squared(q)
        x = state.x + alpha * state.p
        r = state.r - alpha * q
        s = operator.apply_adjoint(r)
        gamma = util.l2norm_squared(s)
        p = s + gamma / state.gamma * state.p
        return i + 1, CGLSState(i + 1, x, r, p, gamma)

    with name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        first = operator.apply_adjoint(rhs)
        gamma = util.l2norm_squared(first)
        tolerance = tol * tol * gamma
        zeros = tf.zeros(operator.shape[1:], dtype=rhs.dtype.base_dtype)
        i = tf.constant(0, dtype=dtypes.int32)
        state = CGLSState(i=i, x=tf.expand_dims(zeros, -1), r=rhs, p=first, gamma=gamma)
        _, state = tf.while_loop(is_far, step, [i, state])
        return _squeezed(state)
