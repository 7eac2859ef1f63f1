# SPDX-License-Identifier: Apache-2.0
"""Weighted alternating least squares as an estimator of tf.contrib.learn.

A sweep solves for all rows, batch by batch, the next one for all columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....engine.graph.scope_functions import colocate_with
from ....engine.interface.log import info
from ....ops.public import tf
from ....ops.summaries.api import scalar
from ...sessions.session_run_hook import SessionRunArgs, SessionRunHook
from ...variables.global_step import get_global_step
from ..learn.estimators.estimator import Estimator
from ..learn.estimators.model_fn import ModeKeys, ModelFnOps
from .factorization_ops import WALSModel

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor
    from ....ops.state.variables import Variable
    from ...sessions.session_run_hook import SessionRunContext, SessionRunValues


class _Axis(NamedTuple):
    """The operations of sweeps over rows, or over columns."""

    reset: Operation  # forgets what was processed
    train: Operation
    prepare: list[Operation]


class _SweepHook(SessionRunHook):
    """Runs what comes before sweeps, and asks for the step of the sweep at hand."""

    def __init__(
        self,
        is_row_sweep_var: Any,
        is_sweep_done_var: Any,
        init_op: Operation,
        row_prep_ops: list[Operation],
        col_prep_ops: list[Operation],
        row_train_op: Operation,
        col_train_op: Operation,
        switch_op: Operation,
    ) -> None:
        self._is_row_sweep, self._is_done = is_row_sweep_var, is_sweep_done_var
        self._init, self._switch = init_op, switch_op
        self._rows, self._cols = (row_prep_ops, row_train_op), (col_prep_ops, col_train_op)
        self._is_initialized = False

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Runs what a new sweep needs."""
        session = run_context.session
        is_done = session.run(self._is_done)
        if not self._is_initialized:
            info("SweepHook running init op.")
            session.run(self._init)
        if is_done:
            info("SweepHook starting the next sweep.")
            session.run(self._switch)
        is_row_sweep = session.run(self._is_row_sweep)
        prepare, train = self._rows if is_row_sweep else self._cols
        if is_done or not self._is_initialized:
            info("SweepHook running prep ops for the %s sweep.", "row" if is_row_sweep else "col")
            for operation in prepare:
                session.run(operation)
        self._is_initialized = True
        info("Next fit step starting.")
        return SessionRunArgs(fetches=[train])


class _IncrementGlobalStepHook(SessionRunHook):
    """Counts steps."""

    def __init__(self) -> None:
        step = get_global_step()
        self._increment = None
        if step is not None:
            self._increment = tf.assign_add(step, 1, name="global_step_incr").op

    def before_run(self, run_context: SessionRunContext) -> None:
        """Adds one."""
        if self._increment is not None:
            run_context.session.run(self._increment)


class _StopAtSweepHook(SessionRunHook):
    """Stops after some sweeps."""

    def __init__(self, last_sweep: int) -> None:
        self._last_sweep = last_sweep

    def begin(self) -> None:
        """Finds the counter; RuntimeError where there is none."""
        name = WALSMatrixFactorization.COMPLETED_SWEEPS
        try:
            self._counter = tf.get_default_graph().get_tensor_by_name(f"{name}:0")
        except KeyError:
            raise RuntimeError(
                f"{name} counter should be created to use StopAtSweepHook."
            ) from None

    def before_run(self, run_context: object) -> SessionRunArgs:
        """Asks for the counter."""
        del run_context
        return SessionRunArgs(self._counter)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Asks to stop."""
        if run_values.results >= self._last_sweep:
            run_context.request_stop()


class _Training:
    """The variables that sweeps are told by, and their operations."""

    def __init__(self) -> None:
        self.is_row_sweep = _counter(True, "is_row_sweep")
        self.is_done = _counter(False, "is_sweep_done")
        self.completed = _counter(0, WALSMatrixFactorization.COMPLETED_SWEEPS)
        self.loss = _counter(0.0, WALSMatrixFactorization.LOSS)
        self.error = _counter(0.0, WALSMatrixFactorization.RWSE)
        scalar("loss", self.loss)
        scalar("root_weighted_squared_error", self.error)
        scalar("completed_sweeps", self.completed)

    def axis(
        self, name: str, given: Any, size: int, update: Callable[[Any], Any], prepare: list[Any]
    ) -> _Axis:
        """The operations of one axis."""
        none = tf.fill(dims=[size], value=False)
        with colocate_with(none):
            processed = _counter(none, f"processed_{name}")
        _, store, loss, costs, weights = update(given)
        indices = given.indices[:, 0]
        found = [
            store,
            tf.assign(self.loss, loss + costs),
            tf.assign(self.error, tf.sqrt(loss / weights)),
        ]
        with tf.control_dependencies(found):
            with colocate_with(processed):
                noted = tf.scatter_update(
                    processed,
                    indices,
                    tf.ones_like(indices, dtype=tf.bool),
                    name=f"update_processed_{name}_indices",
                )
            with tf.control_dependencies([noted]):
                is_done = tf.reduce_all(processed)
                train = tf.group(
                    tf.assign(self.is_done, is_done),
                    tf.assign_add(self.completed, tf.cast(is_done, tf.int32)),
                    name=f"{name}_sweep_train_op",
                )
        return _Axis(processed.initializer, train, prepare)


def _counter(initial: Any, name: str) -> Variable:
    return tf.Variable(
        initial, trainable=False, name=name, collections=[GraphKeys.GLOBAL_VARIABLES]
    )


def _trained(model: WALSModel, rows: Any, cols: Any, params: dict[str, Any]) -> ModelFnOps:
    training = _Training()
    row_axis = training.axis(
        *("rows", rows, params["num_rows"]),
        lambda given: model.update_row_factors(sp_input=given, transpose_input=False),
        [model.row_update_prep_gramian_op, model.initialize_row_update_op],
    )
    col_axis = training.axis(
        *("cols", cols, params["num_cols"]),
        lambda given: model.update_col_factors(sp_input=given, transpose_input=True),
        [model.col_update_prep_gramian_op, model.initialize_col_update_op],
    )
    switch = tf.group(
        tf.assign(training.is_row_sweep, tf.logical_not(training.is_row_sweep)),
        *(row_axis.reset, col_axis.reset),
        name="sweep_switch_op",
    )
    sweeps = _SweepHook(
        *(training.is_row_sweep, training.is_done, model.worker_init),
        row_prep_ops=row_axis.prepare,
        col_prep_ops=col_axis.prepare,
        row_train_op=row_axis.train,
        col_train_op=col_axis.train,
        switch_op=switch,
    )
    hooks: list[SessionRunHook] = [sweeps, _IncrementGlobalStepHook()]
    if params["max_sweeps"] is not None:
        hooks.append(_StopAtSweepHook(params["max_sweeps"]))
    return _result(ModeKeys.TRAIN, loss=training.loss, hooks=hooks)


def _result(mode: str, loss: Any = None, predictions: Any = None, hooks: Any = None) -> ModelFnOps:
    return ModelFnOps(
        mode=mode,
        predictions=predictions or {},
        loss=loss,
        eval_metric_ops={},
        train_op=tf.no_op(),
        training_hooks=hooks or [],
    )


def _projection(model: WALSModel, features: dict[str, Any], rows: Any, cols: Any) -> Tensor:
    weights = features.get(WALSMatrixFactorization.PROJECTION_WEIGHTS)
    return tf.cond(
        features[WALSMatrixFactorization.PROJECT_ROW],
        lambda: model.project_row_factors(
            sp_input=rows, projection_weights=weights, transpose_input=False
        ),
        lambda: model.project_col_factors(
            sp_input=cols, projection_weights=weights, transpose_input=True
        ),
    )


def _loss(model: WALSModel, features: dict[str, Any], rows: Any, cols: Any) -> Tensor:
    def of_rows() -> Tensor:
        _, _, loss, costs, _ = model.update_row_factors(sp_input=rows, transpose_input=False)
        return loss + costs

    def of_cols() -> Tensor:
        _, _, loss, costs, _ = model.update_col_factors(sp_input=cols, transpose_input=True)
        return loss + costs

    return tf.cond(features[WALSMatrixFactorization.PROJECT_ROW], of_rows, of_cols)


def _wals_factorization_model_function(
    features: dict[str, Any], labels: Any, mode: str, params: dict[str, Any]
) -> ModelFnOps:
    """The graph of a mode; ValueError for one that there is not."""
    if labels is not None:
        raise AssertionError("a factorization has no labels")
    is_training = mode == ModeKeys.TRAIN
    model = WALSModel(
        *(params["num_rows"], params["num_cols"], params["embedding_dimension"]),
        unobserved_weight=params["unobserved_weight"],
        regularization=params["regularization_coeff"],
        row_init=params["row_init"],
        col_init=params["col_init"],
        num_row_shards=params["num_row_shards"],
        num_col_shards=params["num_col_shards"],
        row_weights=params["row_weights"],
        col_weights=params["col_weights"],
        use_factors_weights_cache=is_training and params["use_factors_weights_cache_for_training"],
        use_gramian_cache=is_training and params["use_gramian_cache_for_training"],
    )
    rows = features[WALSMatrixFactorization.INPUT_ROWS]
    cols = features[WALSMatrixFactorization.INPUT_COLS]
    if is_training:
        return _trained(model, rows, cols, params)
    if mode == ModeKeys.INFER:
        found = _projection(model, features, rows, cols)
        return _result(mode, predictions={WALSMatrixFactorization.PROJECTION_RESULT: found})
    if mode == ModeKeys.EVAL:
        return _result(mode, loss=_loss(model, features, rows, cols))
    raise ValueError(f"mode={mode} is not recognized.")


@export("contrib.factorization.WALSMatrixFactorization")
class WALSMatrixFactorization(Estimator):
    """Factors of a matrix of which few elements are known.

    The features are INPUT_ROWS and INPUT_COLS, sparse batches of the matrix and of its transpose
    with the numbers of rows in the whole, and for predictions PROJECT_ROW, whether rows are
    projected, and PROJECTION_WEIGHTS.

    Args:
        num_rows, num_cols: the shape of the matrix.
        embedding_dimension: the width of the factors.
        unobserved_weight: how much elements count that are not known.
        regularization_coeff: what the squares of the factors cost; None for nothing.
        row_init, col_init, num_row_shards, num_col_shards, row_weights, col_weights: as of
            WALSModel.
        use_factors_weights_cache_for_training, use_gramian_cache_for_training: whether workers keep
            copies while they train.
        max_sweeps: after how many sweeps training ends.
        model_dir, config: as of Estimator.

    Raises:
        ValueError: there are several workers.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows: int,
        num_cols: int,
        embedding_dimension: int,
        unobserved_weight: float = 0.1,
        regularization_coeff: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache_for_training: bool = True,
        use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None,
        model_dir: str | None = None,
        config: Any = None,
    ) -> None:
        params = {
            "num_rows": num_rows,
            "num_cols": num_cols,
            "embedding_dimension": embedding_dimension,
            "unobserved_weight": unobserved_weight,
            "regularization_coeff": regularization_coeff,
            "row_init": row_init,
            "col_init": col_init,
            "num_row_shards": num_row_shards,
            "num_col_shards": num_col_shards,
            "row_weights": row_weights,
            "col_weights": col_weights,
            "max_sweeps": max_sweeps,
            "use_factors_weights_cache_for_training": use_factors_weights_cache_for_training,
            "use_gramian_cache_for_training": use_gramian_cache_for_training,
        }
        self._row_factors_names = [f"row_factors_shard_{i}" for i in range(num_row_shards)]
        self._col_factors_names = [f"col_factors_shard_{i}" for i in range(num_col_shards)]
        super().__init__(_wals_factorization_model_function, model_dir, config, params)
        if self._config is not None and self._config.num_worker_replicas > 1:
            raise ValueError("WALSMatrixFactorization must be run on a single worker replica.")

    def get_row_factors(self) -> list[Any]:
        """The factors of rows, an array for each shard."""
        return [self.get_variable_value(name) for name in self._row_factors_names]

    def get_col_factors(self) -> list[Any]:
        """The factors of columns, an array for each shard."""
        return [self.get_variable_value(name) for name in self._col_factors_names]

    def get_projections(self, input_fn: Callable[[], Any]) -> Iterator[Any]:
        """The factors of each row or column of an input, which need not be known to the model."""
        found = self.predict(input_fn=input_fn)
        return (one[WALSMatrixFactorization.PROJECTION_RESULT] for one in found)
