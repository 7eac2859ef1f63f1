# SPDX-License-Identifier: Apache-2.0
"""Gradients multiplied, axis by axis, by roots of the sums of their products: Shampoo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ....engine.api import export
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....engine.interface import log
from ....engine.types import dtypes
from ....ops.array.scatter import scatter_nd
from ....ops.linalg.decompose import svd
from ....ops.linalg.norm import eye
from ....ops.public import tf
from ...optimizers.optimizer import Optimizer
from . import matrix_functions

if TYPE_CHECKING:
    from ....ops.state.variables import Variable

# A number, or a function of the step that gives one.
Setting = Any


def _at(setting: Setting, step: object) -> Any:
    return setting(step) if callable(setting) else setting


class _Step(NamedTuple):
    """The settings of one step that concern the matrices."""

    number: Any
    decay: Any
    weight: Any
    exponent: Any
    svd_interval: Any
    update_interval: Any


@export("contrib.opt.ShampooOptimizer")
class ShampooOptimizer(Optimizer):
    """Preconditions each axis of a gradient apart (tf.contrib.opt.ShampooOptimizer).

    The gradient of a variable of k axes is multiplied along each by the power -alpha / k of the sum
    of the gradient's products with itself over all other axes: https://arxiv.org/abs/1802.09568.
    All settings but the sizes and intervals may be functions of the step.

    Args:
        global_step: the variable that counts steps, or a number.
        max_matrix_size: longer axes have a vector of squares instead of a matrix.
        gbar_decay, gbar_weight: of the average of gradients: gbar = decay * gbar + weight * grad.
        mat_gbar_decay, mat_gbar_weight: likewise of the matrices.
        learning_rate: the rate.
        svd_interval: in how many steps roots are taken once.
        precond_update_interval: in how many steps matrices are updated once.
        epsilon: is added to the diagonals.
        alpha: the exponent above.
        use_iterative_root: whether roots are found by iteration instead of a decomposition.
        use_locking: whether an update of a variable excludes others.
        name: the scope of the updates, and part of the names of what it keeps.

    Example:
        >>> x = tf.Variable([3.0, 4.0])
        >>> step = tf.contrib.opt.ShampooOptimizer().minimize(tf.reduce_sum(tf.square(x)))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> print(sess.run(x).round(3))
        [2.151 2.869]
    """

    def __init__(
        self,
        global_step: object = 0,
        max_matrix_size: int = 768,
        gbar_decay: Setting = 0.0,
        gbar_weight: Setting = 1.0,
        mat_gbar_decay: Setting = 1.0,
        mat_gbar_weight: Setting = 1.0,
        learning_rate: Setting = 1.0,
        svd_interval: Setting = 1,
        precond_update_interval: Setting = 1,
        epsilon: float = 1e-4,
        alpha: Setting = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ) -> None:
        super().__init__(use_locking, name)
        self._global_step = tf.cast(global_step, dtypes.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar_decay = gbar_decay
        self._gbar_weight = gbar_weight
        self._mat_gbar_decay = mat_gbar_decay
        self._mat_gbar_weight = mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval = svd_interval
        self._precond_update_interval = precond_update_interval
        self._epsilon = epsilon
        self._alpha = alpha
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            with tf.colocate_with(v):
                self._zeros_slot(v, "gbar", self._name)
                for i, size in enumerate(v.get_shape().as_list()):
                    length = tf.convert_to_tensor(size, name="shape_as_tensor")
                    if size > self._max_matrix_size:
                        start = tf.zeros([length])
                    else:
                        start = tf.zeros_like(eye(length))
                        if callable(self._svd_interval) or self._svd_interval > 1:
                            self._get_or_make_slot(v, eye(length), f"H_{i}", self._name)
                    self._get_or_make_slot(v, start, f"Gbar_{i}", self._name)

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        return self._apply_gradient(grad, var)

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Any:
        return self._apply_gradient(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        return self._apply_rows(grad.values, grad.indices, var)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        return self._apply_rows(grad, indices, handle)

    def _apply_rows(self, values: Tensor, indices: Tensor, var: Variable) -> Any:
        # A matrix of the first axis, or an average, needs all rows.
        if var.get_shape()[0] > self._max_matrix_size and self._gbar_decay == 0.0:
            return self._apply_gradient(values, var, indices)
        places = tf.expand_dims(indices, axis=1)
        dense = scatter_nd(places, values, tf.shape(var, out_type=indices.dtype))
        return self._apply_gradient(dense, var)

    def _weighted_average(self, var: Variable, decay: Setting, decay_now: Any, added: Any) -> Any:
        """var = decay * var + added."""
        if decay == 0.0:
            return added  # nobody will read the variable
        if decay == 1.0:
            return tf.assign_add(var, added)
        return var.assign_add((decay_now - 1) * var + added)

    def _power(self, var: Variable, matrix: Any, size: int, step: _Step, slot: str | None) -> Any:
        with tf.name_scope("matrix_iterative_power"):
            if self._use_iterative_root:
                root = matrix_functions.matrix_square_root(matrix, size, 100, self._epsilon)
                power = matrix_functions.matrix_inverse_pth_root(
                    root, size, 2 * step.exponent, 100, 1e-6, ridge_epsilon=0.0
                )
            elif size == 1:
                power = tf.pow(matrix + self._epsilon, step.exponent)
            else:
                damping = self._epsilon * eye(tf.cast(size, dtypes.int32))
                s, u, v = svd(matrix + damping, full_matrices=True)
                scaled = v * tf.pow(tf.maximum(s, self._epsilon), step.exponent)
                power = tf.matmul(scaled, tf.transpose(u))
            return power if slot is None else tf.assign(self.get_slot(var, slot), power)

    def _factor(self, var: Variable, grad: Any, axis: int, step: _Step) -> Any:
        """The matrix that an axis is multiplied by."""
        matrix = self.get_slot(var, f"Gbar_{axis}")
        size, others = var.get_shape().as_list()[axis], _others(var, axis)

        def updated() -> Any:
            name = f"grad_outer_{axis}"
            outer = tf.tensordot(grad, grad, axes=(others, others), name=name)
            weight = step.weight * step.update_interval
            return self._weighted_average(matrix, self._mat_gbar_decay, step.decay, weight * outer)

        due = tf.mod(step.number, step.update_interval) < 1
        mean = tf.cond(due, updated, lambda: matrix) / float(size)
        if self._svd_interval == 1:
            return self._power(var, mean, size, step, None)
        slot = f"H_{axis}"
        return tf.cond(
            tf.mod(step.number, step.svd_interval) < 1,
            lambda: self._power(var, mean, size, step, slot),
            lambda: self.get_slot(var, slot),
        )

    def _scale(self, var: Variable, grad: Any, axis: int, step: _Step, indices: Any) -> Tensor:
        """The vector that a long axis is multiplied by."""
        squares = self.get_slot(var, f"Gbar_{axis}")
        others = _others(var, axis)
        if others:
            length = 1.0 if indices is not None else float(var.get_shape().as_list()[axis])
            added = tf.reduce_sum(grad * grad, axis=others) / length
        else:
            added = grad * grad
        if axis == 0 and indices is not None:
            assert self._mat_gbar_decay == 1.0, "rows that have no gradient do not decay"
            kept = tf.scatter_add(squares, indices, step.weight * added)
            kept = tf.gather(kept, indices)
        else:
            weighted = step.weight * added
            kept = self._weighted_average(squares, self._mat_gbar_decay, step.decay, weighted)
        return tf.where(tf.greater(kept, 0), tf.pow(kept, step.exponent), tf.zeros_like(kept))

    def _apply_gradient(self, grad: Any, var: Variable, indices: Any = None) -> Any:
        number = self._global_step + 1
        decay, weight = _at(self._gbar_decay, number), _at(self._gbar_weight, number)
        if indices is not None:
            if self._gbar_decay != 0.0:
                log.warning("Not applying momentum for variable: %s", var.name)
            result = grad
        else:
            average = self.get_slot(var, "gbar")
            result = self._weighted_average(average, self._gbar_decay, decay, weight * grad)
        shape = var.get_shape().as_list()
        step = _Step(
            number,
            _at(self._mat_gbar_decay, number),
            _at(self._mat_gbar_weight, number),
            -_at(self._alpha, number) / len(shape),
            _at(self._svd_interval, number),
            _at(self._precond_update_interval, number),
        )
        for axis, size in enumerate(shape):
            # The first axis goes to the end each time, so that all are where they were at last.
            if size <= self._max_matrix_size:
                factor = self._factor(var, grad, axis, step)
                name = f"precond_{axis}"
                result = tf.tensordot(result, factor, axes=([0], [0]), name=name)
            else:
                scale = self._scale(var, grad, axis, step, indices)
                result = tf.transpose(result, perm=[*range(1, len(shape)), 0]) * scale
        rate = _at(self._learning_rate, number)
        if indices is not None:
            return tf.scatter_add(var, indices, -rate * result)
        return tf.assign_sub(var, rate * result)


def _others(var: Variable, axis: int) -> list[int]:
    return [i for i in range(len(var.get_shape())) if i != axis]
