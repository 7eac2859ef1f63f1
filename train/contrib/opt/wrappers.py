# SPDX-License-Identifier: Apache-2.0
"""Optimizers around others: that drop stale gradients, clip variables, skip gradients of zero."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....engine.interface import log
from ....engine.types import dtypes
from ....ops.math.clip import clip_by_global_norm, clip_by_norm, global_norm
from ....ops.public import raw, tf
from ....ops.summaries import api as summary
from ...optimizers.optimizer import GradientsAndVariables, Optimizer
from ...variables.global_step import get_global_step

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....ops.state.variables import Variable


class _Wrapper(Optimizer):
    """An optimizer whose slots and gradients are those of another one."""

    def __init__(self, opt: Optimizer, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._opt = opt

    def compute_gradients(self, *args: Any, **kwargs: Any) -> GradientsAndVariables:
        """The gradients, of the other optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the other optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """The names of the other optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)


@export("contrib.opt.DropStaleGradientOptimizer")
class DropStaleGradientOptimizer(_Wrapper):
    """Drops gradients of too old variables (tf.contrib.opt.DropStaleGradientOptimizer).

    A gradient's age is the number of steps that others took while it was computed.

    Args:
        opt: the optimizer that steps.
        staleness: the greatest age.
        use_locking: is kept.
        name: is kept.

    Example:
        >>> x, step = tf.Variable(4.0), tf.train.get_or_create_global_step()
        >>> sgd = tf.train.GradientDescentOptimizer(0.25)
        >>> optimizer = tf.contrib.opt.DropStaleGradientOptimizer(sgd, 0)
        >>> train = optimizer.minimize(tf.square(x), step)
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> print(sess.run(train), "gradients dropped")
        0.0 gradients dropped
    """

    def __init__(
        self,
        opt: Optimizer,
        staleness: int,
        use_locking: bool = False,
        name: str = "DropStaleGradient",
    ) -> None:
        super().__init__(opt, use_locking, name)
        self._staleness = staleness

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> GradientsAndVariables:
        """The gradients, and the step at which they begin."""
        with tf.colocate_with(loss):
            self._local_step = get_global_step() + 0
        with tf.control_dependencies([self._local_step]):
            return self._opt.compute_gradients(raw.Identity(loss), *args, **kwargs)

    def apply_gradients(  # type: ignore[override]
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Any = None,
        name: str | None = None,
    ) -> Tensor:
        """Steps unless the gradients are too old; gives how many have been dropped."""
        pairs = list(grads_and_vars)
        with tf.colocate_with(global_step):
            dropped = tf.get_variable(
                "stale_counter", [], initializer=tf.zeros_initializer(), trainable=False
            )

        def accept() -> Tensor:
            step = self._opt.apply_gradients(pairs, global_step=global_step, name=name)
            with tf.control_dependencies([step]):
                return raw.Identity(0.0)

        gradients = [g if isinstance(g, Tensor) else g.op for g, _ in pairs if g is not None]
        with tf.control_dependencies(gradients), tf.colocate_with(global_step):
            age = raw.Reshape(global_step - self._local_step, shape=())
        in_time = raw.LessEqual(age, self._staleness)
        count = dropped.assign_add(tf.cond(in_time, accept, lambda: raw.Identity(1.0)))
        share = dropped / tf.cast(global_step + 1, dtypes.float32)
        summary.scalar("Gradient staleness percentage", share)
        result: Tensor = count
        return result


@export("contrib.opt.VariableClippingOptimizer")
class VariableClippingOptimizer(_Wrapper):
    """Clips variables' norms after each step (tf.contrib.opt.VariableClippingOptimizer).

    Args:
        opt: the optimizer that steps.
        vars_to_clip_dims: the axes of norms, by variable; a list without any is all of them. Of
            an embedding, [1] clips row by row, and only those that have a gradient.
        max_norm: the greatest norm.
        use_locking: whether clipping a variable excludes others.
        colocate_clip_ops_with_vars: whether the operations are put beside the variables.
        name: the scope of the operations.

    Example:
        >>> x = tf.Variable([3.0, 4.0])
        >>> sgd = tf.train.GradientDescentOptimizer(0.0)
        >>> optimizer = tf.contrib.opt.VariableClippingOptimizer(sgd, {x: [0]}, 1.0)
        >>> step = optimizer.minimize(tf.reduce_sum(x))
        >>> sess = tf.Session()
        >>> sess.run(x.initializer)
        >>> sess.run(step)
        >>> print(sess.run(x).round(3))
        [0.6 0.8]
    """

    def __init__(
        self,
        opt: Optimizer,
        vars_to_clip_dims: Mapping[Any, Sequence[int]],
        max_norm: Any,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(opt, use_locking, name)
        # The caller may change its lists later.
        self._vars_to_clip_dims = {var: dims[:] for var, dims in vars_to_clip_dims.items()}
        self._max_norm = max_norm
        self._colocate_clip_ops_with_vars = colocate_clip_ops_with_vars

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Operation:
        """Builds the operation that steps and clips."""
        pairs = list(grads_and_vars)
        with tf.name_scope(name, self._name) as scope:
            update = self._opt.apply_gradients(pairs, global_step=global_step)
            clipped = []
            with tf.control_dependencies([update]):
                for grad, var in pairs:
                    if grad is None or var not in self._vars_to_clip_dims:
                        continue
                    with tf.name_scope("clip_" + var.op.name):
                        dense = isinstance(grad, Tensor)
                        clipped.append(
                            self._clip_dense(var) if dense else self._clip_sparse(grad, var)
                        )
            return tf.group(update, *clipped, name=scope)

    def _clip_dense(self, var: Variable) -> Any:
        with self._beside(var):
            value = var.read_value()
            excess = value - clip_by_norm(value, self._max_norm, self._vars_to_clip_dims[var])
        with tf.colocate_with(var):
            return var.assign_sub(excess, use_locking=self._use_locking)

    def _clip_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        dims = self._vars_to_clip_dims[var]
        if 0 in dims:
            log.warning(
                "Clipping norm across dims %s for %s is inefficient when including sparse "
                "dimension 0.",
                dims,
                var.op.name,
            )
            return self._clip_dense(var)
        with tf.colocate_with(var):
            rows = tf.gather(var, grad.indices)
        with self._beside(var):
            excess = rows - clip_by_norm(rows, self._max_norm, dims)
            delta = IndexedSlices(excess, grad.indices, grad.dense_shape)
        with tf.colocate_with(var):
            return var.scatter_sub(delta, use_locking=self._use_locking)

    @contextmanager
    def _beside(self, var: Variable) -> Iterator[None]:
        if not self._colocate_clip_ops_with_vars:
            yield
            return
        with tf.colocate_with(var):
            yield


def _is_all_zeros(grad: Any) -> Any:
    return tf.equal(tf.count_nonzero(grad), 0)


def _unless_zero(update: Callable[..., Any], opt: Optimizer) -> types.MethodType:
    """The method of `opt` that builds an update which a gradient of zeros skips."""

    def method(self: Optimizer, grad: Any, *args: Any, **kwargs: Any) -> Any:
        del self
        zero = _is_all_zeros(grad)

        def apply() -> Operation:
            with tf.control_dependencies([update(grad, *args, **kwargs)]):
                return tf.no_op()

        return tf.cond(zero, tf.no_op, apply)

    return types.MethodType(method, opt)


@export("contrib.opt.MultitaskOptimizerWrapper")
class MultitaskOptimizerWrapper:
    """Leaves alone what a task does not use (tf.contrib.opt.MultitaskOptimizerWrapper).

    A gradient of nothing but zeros is taken for that of another task: neither the variable nor what
    the optimizer knows of it changes.

    Args:
        opt: an optimizer, which is changed; other attributes are its own.

    Raises:
        TypeError: `opt` is no optimizer.

    Example:
        >>> x = tf.Variable(4.0)
        >>> momentum = tf.train.MomentumOptimizer(0.25, 0.9)
        >>> optimizer = tf.contrib.opt.MultitaskOptimizerWrapper(momentum)
        >>> step = optimizer.apply_gradients([(tf.constant(0.0), x)])
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> print(sess.run(x))
        4.0
    """

    def __init__(self, opt: Optimizer) -> None:
        if not isinstance(opt, Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt = opt
        kinds = ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse")
        for name in kinds:
            setattr(opt, name, _unless_zero(getattr(opt, name), opt))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


@export("contrib.opt.clip_gradients_by_global_norm")
def clip_gradients_by_global_norm(
    gradients_variables: Iterable[tuple[Any, Any]], clip_norm: Any = 20.0
) -> tuple[list[tuple[Any, Any]], Any]:
    """Clips gradients by their norm, without those of zeros (clip_gradients_by_global_norm).

    Args:
        gradients_variables: pairs of a gradient, or None, and a variable.
        clip_norm: the greatest norm of all together.

    Returns:
        The pairs with clipped gradients, and the norm before.

    Example:
        >>> pairs = [(tf.constant([3.0, 4.0]), "x"), (tf.constant([0.0]), "y")]
        >>> clipped, norm = tf.contrib.opt.clip_gradients_by_global_norm(pairs, 1.0)
        >>> print(tf.Session().run(norm))
        5.0
    """
    gradients, variables = zip(*gradients_variables)

    def present(grad: Any) -> Any:
        if grad is None:
            return None
        zero = _is_all_zeros(grad)
        return tf.cond(zero, lambda: tf.zeros([], dtype=dtypes.as_dtype(grad.dtype)), lambda: grad)

    norm = global_norm([present(grad) for grad in gradients])
    clipped, _ = clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables)), norm
