# SPDX-License-Identifier: Apache-2.0
"""Evaluations of checkpoints, once or whenever there is a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.public import tf
from ....ops.summaries.api import merge_all
from ...checkpoints.checkpoint_utils import checkpoints_iterator, wait_for_new_checkpoint
from ...sessions.basic_session_run_hooks import FinalOpsHook
from ...sessions.evaluation import (
    _evaluate_once,
    _get_or_create_eval_step,
    _StopAfterNEvalsHook,
    run_evaluation,
    with_counter,
)
from ...sessions.monitored_session import ChiefSessionCreator
from ...sessions.session_run_hook import SessionRunHook
from ...summaries.summary_io import FileWriterCache
from ...variables import global_step

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession
    from ...sessions.coordinator import Coordinator
    from ...sessions.scaffold import Scaffold

StopAfterNEvalsHook = export("contrib.training.StopAfterNEvalsHook")(_StopAfterNEvalsHook)
evaluate_once = export("contrib.training.evaluate_once")(_evaluate_once)
get_or_create_eval_step = export("contrib.training.get_or_create_eval_step")(
    _get_or_create_eval_step
)
export("contrib.training.checkpoints_iterator")(checkpoints_iterator)
export("contrib.training.wait_for_new_checkpoint")(wait_for_new_checkpoint)


@export("contrib.training.SummaryAtEndHook")
class SummaryAtEndHook(SessionRunHook):
    """Writes summaries at the end of an evaluation.

    Args:
        log_dir: the folder of the event file, if no writer is given.
        summary_writer: a tf.summary.FileWriter.
        summary_op: what gives the summaries; by default all of the collection SUMMARIES.
        feed_dict: the feeds of that run.

    Raises:
        ValueError: neither a folder nor a writer.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Any = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._summary_op = summary_op
        self._wants_all = summary_op is None
        self._feed_dict = feed_dict
        self._summary_writer = summary_writer
        self._log_dir = log_dir
        self._global_step: Any = None

    def begin(self) -> None:
        if self._wants_all:
            self._summary_op = merge_all()
        self._global_step = global_step.get_or_create_global_step()

    def after_create_session(self, session: BaseSession, coord: Coordinator) -> None:
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = FileWriterCache.get(self._log_dir)

    def end(self, session: BaseSession) -> None:
        if self._summary_op is not None:
            step = global_step.global_step(session, self._global_step)
            summary = session.run(self._summary_op, self._feed_dict)
            if self._summary_writer:
                self._summary_writer.add_summary(summary, step)
        if self._summary_writer:
            self._summary_writer.flush()


@export("contrib.training.evaluate_repeatedly")
def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: list[Any] | None = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluates each new checkpoint of a folder.

    Args:
        checkpoint_dir: the folder.
        master: of the sessions.
        scaffold: initialises and restores.
        eval_ops: what is run until a hook asks for a stop or the input ends; see `evaluate_once`.
        feed_dict: the feeds of these runs.
        final_ops: what is run at the end of each evaluation.
        final_ops_feed_dict: the feeds of that run.
        eval_interval_secs: seconds from the beginning of an evaluation to that of the next, at
            least.
        hooks: SessionRunHooks.
        config: a ConfigProto.
        max_number_of_evaluations: after how many it returns; None goes on.
        timeout: seconds without a new checkpoint after which it returns; None waits for ever.
        timeout_fn: asked after the timeout; if it says False, the wait goes on.

    Returns:
        The values of `final_ops` of the last evaluation.
    """
    hooks = list(hooks or [])
    eval_step = get_or_create_eval_step()
    if eval_ops is not None:
        update = tf.assign_add(eval_step, 1)
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(update)
        eval_ops = with_counter(eval_ops, update)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    found = checkpoints_iterator(
        checkpoint_dir, min_interval_secs=eval_interval_secs, timeout=timeout, timeout_fn=timeout_fn
    )
    for count, path in enumerate(found, 1):
        creator = ChiefSessionCreator(
            scaffold=scaffold,
            checkpoint_filename_with_path=path,
            master=master,
            config=config,
        )
        run_evaluation(creator, [*hooks, final], eval_ops, feed_dict, "%Y-%m-%d-%H:%M:%S")
        if count == max_number_of_evaluations:
            break
    return final.final_ops_values
