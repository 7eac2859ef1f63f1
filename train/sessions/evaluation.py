# SPDX-License-Identifier: Apache-2.0
"""Runs the evaluation of one checkpoint: its counter, the hooks that end it, the loop."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.graph import control_dependencies
from ...engine.interface import log
from ...engine.types import dtypes
from ...ops.public import tf
from .basic_session_run_hooks import FinalOpsHook, get_or_create_steps_per_run_variable
from .monitored_session import ChiefSessionCreator, MonitoredSession
from .session_run_hook import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from ...engine.session.session import BaseSession
    from .coordinator import Coordinator
    from .scaffold import Scaffold
    from .session_run_hook import SessionRunContext, SessionRunValues

# Longer evaluations than this tell of a tenth of their runs only.
_FEW = 20
_COMPLETED = "evals_completed"


def _get_or_create_eval_step() -> Any:
    """The local variable that counts the runs of an evaluation.

    Raises:
        ValueError: the collection EVAL_STEP holds more than one.
    """
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return tf.get_variable(
        "eval_step",
        shape=[],
        dtype=dtypes.int64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


def _get_latest_eval_step_value(update_ops: Any) -> Tensor:
    """The counter's value after `update_ops`."""
    updates = list(update_ops.values()) if isinstance(update_ops, dict) else update_ops
    with control_dependencies(updates):
        return tf.identity(_get_or_create_eval_step().read_value())


class _CountedHook(SessionRunHook):
    """Asks for a stop when the counter has reached `num_evals`; None waits for the input's end."""

    def __init__(self, num_evals: int | None, log_every: int) -> None:
        self._num_evals = num_evals
        self._log_every = log_every
        self._evals_completed: Any = None

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs({_COMPLETED: self._evals_completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        done = run_values.results[_COMPLETED]
        if self._num_evals is None:
            if self._log_every:
                log.info("Evaluation [%d]", done)
            return
        if self._log_every and (done % self._log_every == 0 or done == self._num_evals):
            log.info("Evaluation [%d/%d]", done, self._num_evals)
        if done >= self._num_evals:
            run_context.request_stop()


class _StopAfterNEvalsHook(_CountedHook):
    """Ends an evaluation after so many runs (tf.contrib.training.StopAfterNEvalsHook).

    Args:
        num_evals: how many; None goes on until the input ends.
        log_progress: whether the log tells of runs; of every tenth part if there are 20 or more.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        every = 1 if num_evals is None or num_evals < _FEW else num_evals // 10
        super().__init__(num_evals, every if log_progress else 0)


class _MultiStepStopAfterNEvalsHook(_CountedHook):
    """The same where one run makes several steps; the last run makes fewer."""

    def __init__(self, num_evals: int | None, steps_per_run: int = 1) -> None:
        super().__init__(num_evals, 1)
        self._steps_per_run = steps_per_run
        self._variable: Any = None

    def begin(self) -> None:
        self._variable = get_or_create_steps_per_run_variable()

    def after_create_session(self, session: BaseSession, coord: Coordinator) -> None:
        self._load(session, 0)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        self._load(run_context.session, run_values.results[_COMPLETED])
        super().after_run(run_context, run_values)

    def _load(self, session: BaseSession, done: int) -> None:
        left = self._steps_per_run if self._num_evals is None else self._num_evals - done
        self._variable.load(min(left, self._steps_per_run), session=session)


def with_counter(eval_ops: Any, update: Tensor) -> Any:
    """What is to be run, and the update of the counter; a dict is changed in place, as ever."""
    if isinstance(eval_ops, dict):
        eval_ops["update_eval_step"] = update
        return eval_ops
    return [*(eval_ops if isinstance(eval_ops, (tuple, list)) else [eval_ops]), update]


def run_evaluation(
    creator: ChiefSessionCreator, hooks: list[Any], eval_ops: Any, feed_dict: Any, stamp: str
) -> None:
    """Runs `eval_ops` in a session of its own until a hook or the input ends it."""
    log.info("Starting evaluation at %s", time.strftime(stamp, time.localtime()))
    with MonitoredSession(session_creator=creator, hooks=hooks) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    log.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))


def _evaluate_once(
    checkpoint_path: str | None,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: Any = None,
) -> Any:
    """Evaluates a checkpoint (tf.contrib.training.evaluate_once).

    Args:
        checkpoint_path: the checkpoint; None initialises the variables instead.
        master: of the session.
        scaffold: initialises and restores.  A local_init_op of its own must initialise the counter.
        eval_ops: a tensor, or a list or dict of tensors: what is run until a hook asks for a stop,
            as StopAfterNEvalsHook does, or the input ends.  None runs nothing.
        feed_dict: the feeds of these runs.
        final_ops: what is run once, at the end.
        final_ops_feed_dict: the feeds of that run.
        hooks: SessionRunHooks.
        config: a ConfigProto.

    Returns:
        The values of `final_ops`; None without.
    """
    eval_step = _get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is not None:
        step: Any = 1
        if any(isinstance(hook, _MultiStepStopAfterNEvalsHook) for hook in hooks):
            step = tf.cast(get_or_create_steps_per_run_variable(), eval_step.dtype)
        update = tf.assign_add(eval_step, step, use_locking=True)
        eval_ops = with_counter(eval_ops, update)
        count = _get_latest_eval_step_value(eval_ops)
        for hook in hooks:
            if isinstance(hook, _CountedHook):
                hook._set_evals_completed_tensor(count)
    creator = ChiefSessionCreator(
        scaffold=scaffold,
        checkpoint_filename_with_path=checkpoint_path,
        master=master,
        config=config,
    )
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    run_evaluation(creator, [*hooks, final], eval_ops, feed_dict, "%Y-%m-%dT%H:%M:%SZ")
    return final.final_ops_values
