# SPDX-License-Identifier: Apache-2.0
"""`optimize_loss`: an optimizer's step with decay, noise, clipping and summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import constant, export
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....engine.types import dtypes
from ....ops.control import with_dependencies
from ....ops.public import tf
from ....ops.summaries import api as summary
from ...optimizers import adaptive, gradient_descent, proximal
from ...optimizers.optimizer import Optimizer
from ...variables import global_step as steps
from ...variables.moving_averages import assign_moving_average

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....ops.state.variables import Variable
    from ...optimizers.gradient_descent import MomentumOptimizer

Pairs = Sequence[tuple[Any, Any]]


def _momentum(learning_rate: TensorLike) -> MomentumOptimizer:
    return gradient_descent.MomentumOptimizer(learning_rate, momentum=0.9)


OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Any]] = {
    "Adagrad": adaptive.AdagradOptimizer,
    "Adam": gradient_descent.AdamOptimizer,
    "Ftrl": proximal.FtrlOptimizer,
    "Momentum": _momentum,
    "RMSProp": adaptive.RMSPropOptimizer,
    "SGD": gradient_descent.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]
constant("contrib.layers.OPTIMIZER_CLS_NAMES", OPTIMIZER_CLS_NAMES)
constant("contrib.layers.OPTIMIZER_SUMMARIES", OPTIMIZER_SUMMARIES)


@export("contrib.layers.optimize_loss")
def optimize_loss(
    loss: TensorLike,
    global_step: Any,
    learning_rate: TensorLike | None,
    optimizer: str | type[Optimizer] | Optimizer | Callable[..., Any],
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: float | Callable[[Pairs], Pairs] | None = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Iterable[Any] | None = None,
    variables: Sequence[Any] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """The loss, which makes a step of an optimizer whenever it is computed.

    Args:
        loss: a scalar.
        global_step: the global step; the graph's, if there is one, if None.
        learning_rate: a float or a scalar tensor; None where the optimizer has one.
        optimizer: "Adagrad", "Adam", "Ftrl", "Momentum", "RMSProp" or "SGD"; an optimizer, a
            class of optimizers, or a function that makes one of the learning rate.
        gradient_noise_scale: the deviation of noise that is added to gradients, or None.
        gradient_multipliers: variables, or their names, and what their gradients are multiplied by.
        clip_gradients: the greatest global norm of the gradients; or a function of pairs of
            gradients and variables; or None.
        learning_rate_decay_fn: the learning rate by that given and the global step.
        update_ops: what is to run before; all of `tf.GraphKeys.UPDATE_OPS` if None.
        variables: what is trained; all trainable variables if None.
        name: the variable scope.
        summaries: which there are, out of `OPTIMIZER_SUMMARIES`; None is the loss, the learning
            rate and the global norm of gradients.
        colocate_gradients_with_ops: unused, as in `tf.gradients`.
        increment_global_step: whether the step is counted.

    Returns:
        A scalar.

    Raises:
        ValueError: an argument is not as said, or no variable has a gradient.

    Example:
        >>> x = tf.get_variable("x", [], initializer=tf.constant_initializer(3.0))
        >>> step = tf.train.get_or_create_global_step()
        >>> train = tf.contrib.layers.optimize_loss(x * x, step, 0.1, "SGD")
        >>> with tf.Session() as sess:
        ...     _ = sess.run(tf.global_variables_initializer())
        ...     print(sess.run(train), "->", sess.run(x))
        9.0 -> 2.4
    """
    loss = tf.convert_to_tensor(loss)
    tf.assert_scalar(loss)
    if global_step is None:
        global_step = steps.get_global_step()
    else:
        steps.assert_global_step(global_step)
    with tf.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        before = tf.get_collection(tf.GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
        unique = list(dict.fromkeys(before))
        if unique:
            loss = with_dependencies(unique, loss)
        rate = _learning_rate(learning_rate)
        shown = _checked_summaries(summaries)
        if learning_rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in shown:
                summary.scalar("learning_rate", rate)
        chosen = _optimizer(optimizer, rate)
        pairs = chosen.compute_gradients(
            loss,
            tf.trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        pairs = _shaped(pairs, gradient_noise_scale, gradient_multipliers)
        pairs = _clipped(pairs, clip_gradients, shown, loss)
        update = chosen.apply_gradients(
            pairs, global_step=global_step if increment_global_step else None, name="train"
        )
        return with_dependencies([update], loss)


def _learning_rate(learning_rate: Any) -> Any:
    """A variable of a float; a scalar tensor itself."""
    if learning_rate is None:
        return None
    if isinstance(learning_rate, Tensor) and learning_rate.shape.ndims == 0:
        return learning_rate
    if not isinstance(learning_rate, float):
        raise ValueError(
            f"Learning rate should be 0d Tensor or float. Got {learning_rate} of type "
            f"{type(learning_rate)}"
        )
    if learning_rate < 0.0:
        raise ValueError("Invalid learning_rate %s.", learning_rate)
    initializer = tf.constant_initializer(learning_rate)
    return tf.get_variable("learning_rate", [], trainable=False, initializer=initializer)


def _checked_summaries(summaries: Sequence[str] | None) -> Sequence[str]:
    if summaries is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for one in summaries:
        if one not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided "
                f"{one}."
            )
    return summaries


def _optimizer(optimizer: Any, rate: Any) -> Any:
    """The optimizer of a name, a class or a function; one that is given itself."""
    if isinstance(optimizer, Optimizer):
        return optimizer
    is_class = isinstance(optimizer, type) and issubclass(optimizer, Optimizer)
    if isinstance(optimizer, str) or is_class:
        if rate is None:
            kind = "class" if is_class else "string"
            raise ValueError(
                f"Learning rate is None, but should be specified if optimizer is {kind} "
                f"({optimizer})."
            )
        if not is_class and optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you "
                f"provided {optimizer}."
            )
        return (optimizer if is_class else OPTIMIZER_CLS_NAMES[optimizer])(learning_rate=rate)
    if not callable(optimizer):
        raise ValueError(
            "Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass "
            f"of Optimizer or function with one argument. Got {optimizer}."
        )
    made = optimizer() if rate is None else optimizer(rate)
    if not isinstance(made, Optimizer):
        raise ValueError(
            f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}."
        )
    return made


def _shaped(pairs: Pairs, noise: float | None, multipliers: Mapping[Any, Any] | None) -> list[Any]:
    """Gradients with noise, multiplied."""
    if noise is not None:
        pairs = [(_noisy(gradient, noise), variable) for gradient, variable in pairs]
    if multipliers is not None:
        pairs = [(_multiplied(g, v, multipliers), v) for g, v in pairs]
        if not pairs:
            raise ValueError(
                "Empty list of (gradient, var) pairs encountered. This is most likely to be caused "
                "by an improper value of gradient_multipliers."
            )
    return list(pairs)


def _noisy(gradient: Any, scale: float) -> Any:
    if gradient is None:
        return None
    is_sparse = isinstance(gradient, IndexedSlices)
    shape = gradient.dense_shape if is_sparse else gradient.shape
    return gradient + tf.truncated_normal(shape) * scale


def _multiplied(gradient: Any, variable: Variable, multipliers: Mapping[Any, Any]) -> Any:
    key = variable if variable in multipliers else variable.name
    if gradient is None or key not in multipliers:
        return gradient
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(
            gradient.values * multipliers[key], gradient.indices, gradient.dense_shape
        )
    return gradient * tf.cast(multipliers[key], gradient.dtype)


def _clipped(pairs: Pairs, clip: Any, shown: Sequence[str], loss: Any) -> Pairs:
    """Clipped gradients, with the summaries of gradients and loss."""
    shows_norm = "global_gradient_norm" in shown or "gradient_norm" in shown
    if shows_norm:
        summary.scalar("global_norm/gradient_norm", tf.global_norm([g for g, _ in pairs]))
    if isinstance(clip, float):
        clipped, _ = tf.clip_by_global_norm([g for g, _ in pairs], clip)
        pairs = [(gradient, variable) for gradient, (_, variable) in zip(clipped, pairs)]
    elif callable(clip):
        pairs = clip(pairs)
    elif clip is not None:
        raise ValueError(f"Unknown type {type(clip)} for clip_gradients")
    if "loss" in shown:
        summary.scalar("loss", loss)
    for gradient, variable in pairs:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        if values is None:
            continue
        name = variable.name.replace(":", "_")
        if "gradients" in shown:
            summary.histogram(f"gradients/{name}", values)
        if "gradient_norm" in shown:
            summary.scalar(f"gradient_norm/{name}", tf.global_norm([values]))
    if clip is not None and shows_norm:
        norm = tf.global_norm([g for g, _ in pairs])
        summary.scalar("global_norm/clipped_gradient_norm", norm)
    return pairs


def _adaptive_norm(
    norm: Any, std_factor: float, decay: Any, global_step: Any, epsilon: float, name: str | None
) -> tuple[Any, Any]:
    """The greatest norm that is as usual, and the mean of the logarithms of norms."""
    with tf.variable_scope(name, "AdaptiveMaxNorm", [norm]):
        log_norm = tf.log(norm + epsilon)
        if global_step is not None:
            n = tf.cast(global_step, dtypes.float32)
            decay = tf.minimum(decay, n / (n + 1.0))

        def average(name: str, value: Any) -> Any:
            variable = tf.get_variable(
                name,
                shape=value.shape,
                dtype=value.dtype,
                initializer=tf.zeros_initializer(),
                trainable=False,
            )
            return assign_moving_average(variable, value, decay, zero_debias=False)

        mean = average("mean", log_norm)
        variance = average("sq_mean", tf.square(log_norm)) - tf.square(mean)
        deviation = tf.sqrt(tf.maximum(epsilon, variance))
        return tf.exp(mean + std_factor * deviation), mean


def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: TensorLike = 0.95,
    static_max_norm: float | None = None,
    global_step: TensorLike | None = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> Callable[[Pairs], Pairs]:
    """A function for `clip_gradients`: clips norms that are unusual, by those of earlier steps.

    Args:
        std_factor: how many deviations above the mean of logarithms a norm may be.
        decay: how much of an average a step keeps.
        static_max_norm: the greatest norm in any case, or None.
        global_step: the global step, by which the first steps decay less.
        report_summary: whether there is a summary of the greatest norm.
        epsilon: what keeps logarithms and roots finite.
        name: the variable scope.
    """

    def clip(pairs: Pairs) -> Pairs:
        gradients = [gradient for gradient, _ in pairs]
        norm = tf.global_norm(gradients)
        most, log_mean = _adaptive_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            summary.scalar("global_norm/adaptive_max_gradient_norm", most)
        factor = tf.where(norm < most, tf.ones_like(norm), tf.exp(log_mean) / norm)
        if static_max_norm is not None:
            factor = tf.minimum(static_max_norm / norm, factor)

        def clipped(gradient: Any) -> Any:
            if isinstance(gradient, IndexedSlices):
                values = gradient.values * factor
                return IndexedSlices(values, gradient.indices, gradient.dense_shape)
            return None if gradient is None else gradient * factor

        return [(clipped(gradient), variable) for gradient, variable in pairs]

    return clip
