# SPDX-License-Identifier: Apache-2.0
"""The operation that makes a step of training, what is done with its gradients, and the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....engine.interface import log
from ....ops.control import with_dependencies
from ....ops.public import tf
from ....ops.summaries.api import histogram, scalar
from ...optimizers.optimizer import Optimizer
from ...sessions.monitored_session import MonitoredTrainingSession
from ...variables.global_step import get_or_create_global_step

if TYPE_CHECKING:
    from ....ops.state.variables import Variable
    from ...sessions.scaffold import Scaffold

# A gradient (None where there is none) and its variable.
Pair = tuple[Any, Any]
_USE_GLOBAL_STEP = 0


def _with_values(gradient: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The gradient after `change`, which sees the rows of a sparse one."""
    if isinstance(gradient, IndexedSlices):
        rows = change(gradient.values)
        return IndexedSlices(rows, gradient.indices, gradient.dense_shape)
    return change(gradient)


@export("contrib.training.add_gradients_summaries")
def add_gradients_summaries(grads_and_vars: Iterable[Pair]) -> list[Tensor]:
    """Adds a histogram and the norm of each gradient to the summaries.

    Args:
        grads_and_vars: pairs of a gradient and its variable.

    Returns:
        The summaries.
    """
    return gradient_summaries(grads_and_vars, "_")


def gradient_summaries(pairs: Iterable[Pair], separator: str) -> list[Tensor]:
    """The summaries; `separator` stands between a variable's name and what they show."""
    summaries = []
    for gradient, variable in pairs:
        name = variable.op.name
        if gradient is None:
            log.info("Var %s has no gradient", name)
            continue
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        name = f"{name}{separator}gradient"
        summaries.append(histogram(name, values))
        summaries.append(scalar(f"{name}_norm", tf.global_norm([values])))
    return summaries


@export("contrib.training.clip_gradient_norms")
def clip_gradient_norms(gradients_to_variables: Iterable[Pair], max_norm: float) -> list[Pair]:
    """Clips each gradient by its own norm.

    Args:
        gradients_to_variables: pairs of a gradient and its variable.
        max_norm: the largest norm that is left.

    Returns:
        The pairs.
    """
    return [
        (
            None if g is None else _with_values(g, lambda v: tf.clip_by_norm(v, max_norm)),
            variable,
        )
        for g, variable in gradients_to_variables
    ]


@export("contrib.training.clip_gradient_norms_fn")
def clip_gradient_norms_fn(max_norm: float) -> Callable[[Iterable[Pair]], list[Pair]]:
    """`clip_gradient_norms` for `create_train_op(transform_grads_fn=...)`."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


@export("contrib.training.multiply_gradients")
def multiply_gradients(
    grads_and_vars: list[Pair], gradient_multipliers: dict[Any, Any]
) -> list[Pair]:
    """Multiplies the gradients of some variables.

    Args:
        grads_and_vars: a list of pairs of a gradient and its variable.
        gradient_multipliers: variable, or the name of its operation -> factor.

    Returns:
        The pairs.

    Raises:
        ValueError: no list; no dict, or an empty one; a variable with a factor has no gradient.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")

    def multiplied(gradient: Any, variable: Variable) -> Any:
        keys = [key for key in (variable, variable.op.name) if key in gradient_multipliers]
        if not keys:
            return gradient
        if gradient is None:
            raise ValueError("Requested multiple of `None` gradient.")
        factor = gradient_multipliers[keys[0]]
        if not isinstance(factor, Tensor):
            factor = tf.constant(factor, dtype=gradient.dtype)
        return _with_values(gradient, lambda values: values * factor)

    return [(multiplied(gradient, variable), variable) for gradient, variable in grads_and_vars]


def _after_updates(total_loss: Tensor, update_ops: Iterable[Any] | None) -> Tensor:
    """The loss, computed after the updates; all of UPDATE_OPS by default."""
    known = dict.fromkeys(tf.get_collection(GraphKeys.UPDATE_OPS))
    chosen = known if update_ops is None else dict.fromkeys(update_ops)
    if not known.keys() <= chosen.keys():
        log.warning(
            "update_ops in create_train_op does not contain all the update_ops in "
            "GraphKeys.UPDATE_OPS"
        )
    if not chosen:
        return total_loss
    with control_dependencies(list(chosen)):
        barrier = tf.no_op(name="update_barrier")
    return with_dependencies([barrier], total_loss)


@export("contrib.training.create_train_op")
def create_train_op(
    total_loss: Tensor,
    optimizer: Optimizer,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    transform_grads_fn: Callable[[list[Pair]], list[Pair]] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Tensor:
    """A tensor that makes a step of training when it is fetched: the loss before the step.

    Args:
        total_loss: the loss.
        optimizer: gives and applies the gradients.
        global_step: the counter of steps; by default tf.train.get_or_create_global_step(); None
            counts nothing.
        update_ops: what is run before the loss is computed; by default the collection UPDATE_OPS.
        variables_to_train: by default tf.trainable_variables().
        transform_grads_fn: changes the list of pairs of gradient and variable.
        summarize_gradients: whether histograms and norms of gradients become summaries.
        gate_gradients: see tf.train.Optimizer.
        aggregation_method: see tf.AggregationMethod.
        colocate_gradients_with_ops: see tf.train.Optimizer.
        check_numerics: whether a loss of infinity or NaN is an error.

    Returns:
        The tensor; it is in the collection TRAIN_OP.

    Raises:
        AssertionError: there is nothing to train, or something that cannot be trained.
    """
    if global_step is _USE_GLOBAL_STEP:
        global_step = get_or_create_global_step()
    total_loss = _after_updates(total_loss, update_ops)
    trainable = tf.trainable_variables()
    variables = trainable if variables_to_train is None else variables_to_train
    for variable in variables:
        if not (variable.trainable or variable in trainable):
            raise AssertionError(f"{variable.name} is not trainable")
    if not variables:
        raise AssertionError("there are no variables to train")
    pairs = optimizer.compute_gradients(
        total_loss,
        variables,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    updates = optimizer.apply_gradients(pairs, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = with_dependencies([updates], total_loss)
    collection = tf.get_collection_ref(GraphKeys.TRAIN_OP)
    if train_op not in collection:
        collection.append(train_op)
    return train_op


@export("contrib.training.train")
def train(
    train_op: Tensor,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Scaffold | None = None,
    hooks: Sequence[Any] | None = None,
    chief_only_hooks: Sequence[Any] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: object = None,
    max_wait_secs: int = 7200,
    run_metadata: object = None,
) -> Any:
    """Fetches `train_op` in a tf.train.MonitoredTrainingSession until a hook or the input ends it.

    Args:
        train_op: what `create_train_op` gives.
        logdir: the folder of checkpoints and summaries.
        master: of the session.
        is_chief: whether this is the chief of several workers.
        scaffold: initialises and restores.
        hooks: SessionRunHooks.
        chief_only_hooks: those of the chief.
        save_checkpoint_secs: seconds between checkpoints; None saves none.
        save_summaries_steps: steps between summaries; None writes none.
        config: a ConfigProto.
        max_wait_secs: how long a worker waits for its session.
        run_metadata: a RunMetadata, filled by each run.

    Returns:
        The last loss.

    Raises:
        ValueError: there is something to write and no folder.
    """
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    loss = None
    with MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
