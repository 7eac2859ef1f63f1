# SPDX-License-Identifier: Apache-2.0
"""`slim.evaluation`: evaluates one checkpoint, or each new one of a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....engine.api import export
from ....ops.summaries.api import merge_all
from ...checkpoints.checkpoint_utils import checkpoints_iterator, wait_for_new_checkpoint
from ...checkpoints.saver import Saver
from ...sessions.scaffold import Scaffold
from ..training import evaluation

_USE_DEFAULT = 0
_PREFIX = "contrib.slim.evaluation"

export(f"{_PREFIX}.checkpoints_iterator")(checkpoints_iterator)
export(f"{_PREFIX}.wait_for_new_checkpoint")(wait_for_new_checkpoint)


def _hooks(
    logdir: str, num_evals: int, summary_op: Any, feed_dict: Any, more: Sequence[Any] | None
) -> list[Any]:
    """Those that end the evaluation and write its summaries, and `more`."""
    if isinstance(summary_op, int) and summary_op == _USE_DEFAULT:
        summary_op = merge_all()
    hooks: list[Any] = [evaluation.StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        hooks.append(
            evaluation.SummaryAtEndHook(logdir, summary_op=summary_op, feed_dict=feed_dict)
        )
    return [*hooks, *(more or ())]


def _scaffold(initial_op: Any, feed_dict: Any, init_fn: Any, variables: Any) -> Scaffold:
    return Scaffold(
        init_op=initial_op,
        init_feed_dict=feed_dict,
        init_fn=init_fn,
        saver=None if variables is None else Saver(variables),
    )


@export(f"{_PREFIX}.evaluate_once")
def evaluate_once(
    master: str,
    checkpoint_path: str,
    logdir: str,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: dict[Any, Any] | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: dict[Any, Any] | None = None,
    final_op: Any = None,
    final_op_feed_dict: dict[Any, Any] | None = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: dict[Any, Any] | None = None,
    variables_to_restore: Any = None,
    session_config: Any = None,
    hooks: Sequence[Any] | None = None,
) -> Any:
    """Evaluates a checkpoint.

    Args:
        master: of the session.
        checkpoint_path: the checkpoint.
        logdir: the folder of summaries.
        num_evals: how often `eval_op` is run.
        initial_op: run at the beginning.
        initial_op_feed_dict: its feeds.
        eval_op: what is run, mostly updates of metrics.
        eval_op_feed_dict: its feeds.
        final_op: what is run once at the end.
        final_op_feed_dict: its feeds.
        summary_op: by default tf.summary.merge_all(); None writes nothing.
        summary_op_feed_dict: its feeds.
        variables_to_restore: by default all of tf.train.Saver().
        session_config: a ConfigProto.
        hooks: further SessionRunHooks.

    Returns:
        The values of `final_op`; None without.
    """
    return evaluation.evaluate_once(
        checkpoint_path,
        master=master,
        scaffold=_scaffold(initial_op, initial_op_feed_dict, None, variables_to_restore),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=_hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
    )


@export(f"{_PREFIX}.evaluation_loop")
def evaluation_loop(
    master: str,
    checkpoint_dir: str,
    logdir: str,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: dict[Any, Any] | None = None,
    init_fn: Callable[[Any], None] | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: dict[Any, Any] | None = None,
    final_op: Any = None,
    final_op_feed_dict: dict[Any, Any] | None = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: dict[Any, Any] | None = None,
    variables_to_restore: Any = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Any = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Sequence[Any] | None = None,
) -> Any:
    """Evaluates each new checkpoint of a folder.

    Args:
        master: of the sessions.
        checkpoint_dir: the folder of checkpoints.
        logdir: the folder of summaries.
        num_evals: how often `eval_op` is run for a checkpoint.
        initial_op: run at the beginning.
        initial_op_feed_dict: its feeds.
        init_fn: called with the session after `initial_op`.
        eval_op: what is run, mostly updates of metrics.
        eval_op_feed_dict: its feeds.
        final_op: what is run once at the end of each evaluation.
        final_op_feed_dict: its feeds.
        summary_op: by default tf.summary.merge_all(); None writes nothing.
        summary_op_feed_dict: its feeds.
        variables_to_restore: by default all of tf.train.Saver().
        eval_interval_secs: seconds between the beginnings of two evaluations, at least.
        max_number_of_evaluations: after how many it returns; None goes on.
        session_config: a ConfigProto.
        timeout: seconds without a new checkpoint after which it returns; None waits for ever.
        timeout_fn: asked after the timeout; if it says False, the wait goes on.
        hooks: further SessionRunHooks.

    Returns:
        The values of `final_op` of the last evaluation.
    """
    return evaluation.evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=_scaffold(initial_op, initial_op_feed_dict, init_fn, variables_to_restore),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=_hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )
