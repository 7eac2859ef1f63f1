# SPDX-License-Identifier: Apache-2.0
"""Adam with a whole matrix: steps by the last gradients' own preconditioner (GGT)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.linalg.decompose import svd
from ....ops.linalg.norm import eye
from ....ops.public import tf
from ..optimizer_v2.optimizer_v2 import OptimizerV2

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....ops.state.variables import Variable


@export("contrib.opt.GGTOptimizer")
class GGTOptimizer(OptimizerV2):
    """Preconditions by the last gradients (tf.contrib.opt.GGTOptimizer).

    The step is (G G^T) ** -1/2 times the moving average of gradients, where the columns of G are
    the last `window` averages: https://arxiv.org/abs/1806.02958. All variables are one vector.

    Args:
        learning_rate: a number, a scalar tensor, or a function without arguments that gives one.
        beta1: how much of the average is kept: likewise.
        use_locking: is kept.
        name: the scope of the updates.
        window: how many gradients count.
        eps: the least root of a singular value for which what lies outside of G counts, too.
        svd_eps: is added to the diagonal before the decomposition.
        sigma_eps: is added to the roots of singular values.
    """

    def __init__(
        self,
        learning_rate: object = 0.001,
        beta1: object = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: float = 1e-4,
        svd_eps: float = 1e-6,
        sigma_eps: float = 1e-2,
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("lr", learning_rate)
        self._set_hyper("beta1", beta1)
        self._set_hyper("window", window)
        self._set_hyper("eps", eps)
        self._set_hyper("svd_eps", svd_eps)
        self._set_hyper("sigma_eps", sigma_eps)
        # Where the elements of a variable lie among those of all, by its name, and how many.
        self.index_dict: dict[str, int] = {}
        self.shape_dict: dict[str, int] = {}

    def _create_vars(self, var_list: list[Any], state: Any) -> None:
        sizes = {v.name: math.prod(v.get_shape().as_list()) for v in var_list}
        self.shape_dict = dict(sorted(sizes.items()))
        total = 0
        for name, size in self.shape_dict.items():
            self.index_dict[name] = total
            total += size
        dtype = var_list[0].dtype.base_dtype
        state.create_non_slot(tf.cast(0.0, dtype), "global_step")
        window = state.get_hyper("window")
        state.create_non_slot(tf.zeros([window, total], dtype=dtype), "grad_buffer")
        state.create_non_slot(tf.zeros((total,), dtype=dtype), "moment1")
        state.create_non_slot(tf.zeros((total,), dtype=dtype), "flat_grad")

    def _kept(self, name: str, state: Any) -> Any:
        return (self._get_per_graph_state() if state is None else state).get_non_slot(name)

    def _get_moment1(self, state: object = None) -> Any:
        return self._kept("moment1", state)

    def _get_grad_buffer(self, state: object = None) -> Any:
        return self._kept("grad_buffer", state)

    def _get_flat_grad(self, state: object = None) -> Any:
        return self._kept("flat_grad", state)

    def _prepare(self, state: object = None) -> None:
        self._variables: list[Any] = []

    def _place(self, var: Variable) -> tuple[int, int]:
        start = self.index_dict[var.name]
        return start, start + self.shape_dict[var.name]

    def _apply_dense(self, grad: Tensor, var: Variable, state: object = None) -> Any:
        """Writes the gradient in its place; all variables step at the end."""
        self._variables.append(var)
        flat, (start, end) = tf.reshape(grad, [-1]), self._place(var)
        return tf.scatter_update(self._get_flat_grad(state), tf.range(start, end), flat)

    def _resource_apply_dense(self, grad: Tensor, handle: Variable, state: object = None) -> Any:
        return self._apply_dense(grad, handle, state)

    def _apply_sparse(self, grad: object, var: Variable, state: object = None) -> Any:
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _finish(self, state: Any) -> Operation:  # type: ignore[override]
        dtype = self._variables[0].dtype.base_dtype
        step = tf.assign_add(state.get_non_slot("global_step"), 1.0)
        beta1, moment = state.get_hyper("beta1", dtype), self._get_moment1(state)
        flat = self._get_flat_grad(state)
        average = moment.assign(beta1 * moment + (1.0 - beta1) * flat)
        window = state.get_hyper("window")
        place = tf.mod(tf.cast(step - 1.0, dtypes.int32), window)
        buffer = tf.scatter_update(self._get_grad_buffer(state), place, average)
        count = tf.minimum(tf.convert_to_tensor(step), tf.cast(window, dtype=dtype))
        direction = self._direction(state, buffer, tf.sqrt(count), average, dtype)
        rate, updates = state.get_hyper("lr", dtype), []
        for var in self._variables:
            start, end = self._place(var)
            part = tf.reshape(direction[start:end], var.get_shape())
            updates.append(tf.assign_sub(var, rate * part))
        return tf.group(*updates)

    def _direction(self, state: Any, buffer: Any, root: Any, average: Any, dtype: Any) -> Any:
        """The preconditioned average, as a column."""
        eps, svd_eps, sigma_eps = (
            state.get_hyper(name, dtype) for name in ("eps", "svd_eps", "sigma_eps")
        )
        column = tf.expand_dims(average, -1)
        m = tf.transpose(tf.divide(buffer, root))
        square = tf.matmul(m, m, transpose_a=True)
        damping = tf.cast(eye(state.get_hyper("window")), dtype=dtype) * svd_eps
        sigma, u, _ = svd(square + damping)
        roots = tf.sqrt(sigma)
        least = tf.reduce_min(roots)

        def within(scales: Any) -> Any:
            """m u diag(scales) u^T m^T column."""
            diagonal = tf.diag(scales)
            seen = tf.matmul(u, tf.matmul(m, column, transpose_a=True), transpose_a=True)
            return tf.matmul(m, tf.matmul(u, tf.matmul(diagonal, seen)))

        scales = tf.divide(tf.cast(1.0, dtype), tf.pow(roots + sigma_eps, 3))
        nothing = tf.expand_dims(tf.zeros(average.get_shape(), dtype=dtype), -1)
        head = within(scales)
        outside = column - within(tf.divide(tf.cast(1.0, dtype), sigma))
        outside = tf.divide(outside, least)
        return tf.cond(least > eps, lambda: tf.add(head, outside), lambda: tf.add(nothing, head))
