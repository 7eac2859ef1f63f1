# SPDX-License-Identifier: Apache-2.0
"""Monitors: what estimators had before there were hooks."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....engine.interface import log
from ....io import protos
from ....ops.public import tf
from ...checkpoints import checkpoint_management
from ...estimator.estimator import Estimator as CoreEstimator
from ...summaries.summary_io import FileWriter, FileWriterCache
from .monitor_base import (
    BaseMonitor,
    EveryN,
    RunHookAdapterForMonitors,
    replace_monitors_with_hooks,
    value_of,
)

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession

__all__ = ["BaseMonitor", "EveryN", "RunHookAdapterForMonitors", "replace_monitors_with_hooks"]

_SPACE = "contrib.learn.monitors"


@export(f"{_SPACE}.StopAtStep")
class StopAtStep(BaseMonitor):
    """Stops after so many steps, or at a step.

    Args:
        num_steps: how many.
        last_step: which one.

    Raises:
        ValueError: both or neither are given.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    @property
    def run_on_all_workers(self) -> bool:
        """True."""
        return True

    def step_begin(self, step: int) -> list[Any]:
        """Counts from the first step on."""
        super().step_begin(step)
        if self._last_step is None:
            self._last_step = step + (self._num_steps or 0) - 1
        return []

    def step_end(self, step: int, output: dict[Any, Any]) -> bool:
        """Whether that was the last one."""
        super().step_end(step, output)
        return self._last_step is not None and step >= self._last_step


def _told(names: dict[str, Any], outputs: dict[Any, Any]) -> str:
    found = [(tag, name) for tag, name in names.items() if name in outputs]
    return ", ".join(f"{tag} = {value_of(outputs, name)}" for tag, name in found)


@export(f"{_SPACE}.PrintTensor")
class PrintTensor(EveryN):
    """Logs values of tensors.

    Args:
        tensor_names: their names, or names by tag.
        every_n, first_n: at which steps.
    """

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        if not isinstance(tensor_names, dict):
            tensor_names = {name: name for name in tensor_names}
        self._tensor_names = tensor_names

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Asks for the tensors."""
        return list(self._tensor_names.values())

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> None:
        """Logs them."""
        log.info("Step %d: %s", step, _told(self._tensor_names, outputs))


@export(f"{_SPACE}.LoggingTrainable")
class LoggingTrainable(EveryN):
    """Logs values of variables that are trained.

    Args:
        scope: of their names; all if None.
        every_n, first_n: at which steps.
    """

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._scope = scope
        self._names: dict[str, str] = {}

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Asks for the variables."""
        variables = tf.get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)
        self._names = {variable.name: variable.value().name for variable in variables}
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> None:
        """Logs them."""
        log.info("Logging Trainable: Step %d: %s", step, _told(self._names, outputs))


@export(f"{_SPACE}.SummarySaver")
class SummarySaver(EveryN):
    """Writes summaries.

    Args:
        summary_op: gives them; that of the scaffold if None.
        save_steps: how many steps lie between.
        output_dir: the folder; the estimator's if None.
        summary_writer: a FileWriter, instead of a folder.
        scaffold: a Scaffold.
    """

    def __init__(
        self,
        summary_op: Any,
        save_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: Any = None,
        scaffold: Any = None,
    ) -> None:
        super().__init__(every_n_steps=save_steps)
        self._summary_op, self._scaffold = summary_op, scaffold
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriter(output_dir)

    def set_estimator(self, estimator: Any) -> None:
        """Says which estimator trains."""
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriter(estimator.model_dir)

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Asks for the summaries."""
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        """Writes them."""
        if self._summary_op is not None and self._summary_writer:
            self._summary_writer.add_summary(value_of(outputs, self._summary_op), step)
        return False

    def end(self, session: BaseSession | None = None) -> None:
        """Writes what is left."""
        super().end(session=session)
        if self._summary_writer:
            self._summary_writer.flush()


@export(f"{_SPACE}.ValidationMonitor")
class ValidationMonitor(EveryN):
    """Evaluates new checkpoints while training goes on, and stops when they get no better.

    Args:
        x, y, batch_size: arrays to evaluate with, as `evaluate` takes them; or
        input_fn: a function that gives input.
        eval_steps: how many batches.
        every_n_steps: how many steps lie between.
        metrics, hooks, name: as `evaluate` takes them.
        early_stopping_rounds: after how many steps without a better value to stop; None goes on.
        early_stopping_metric: which metric.
        early_stopping_metric_minimize: whether less is better.
        check_interval_secs: how many seconds lie between looks for checkpoints.

    Raises:
        ValueError: there is no input.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: dict[Any, Any] | None = None,
        hooks: Sequence[Any] | None = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self.x, self.y, self.input_fn, self.batch_size = x, y, input_fn, batch_size
        self.eval_steps, self.metrics, self.hooks, self.name = eval_steps, metrics, hooks, name
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_metric = early_stopping_metric
        self.early_stopping_metric_minimize = early_stopping_metric_minimize
        self._best: tuple[Any, Any, Any] = (None, None, None)
        self._early_stopped = False
        self._latest: tuple[str | None, int | None] = (None, None)
        self._last_check: float | None = None
        self._check_interval_secs = check_interval_secs

    @property
    def early_stopped(self) -> bool:
        """Whether it stopped training."""
        return self._early_stopped

    @property
    def best_step(self) -> Any:
        """The step of the best value; None before the first."""
        return self._best[0]

    @property
    def best_value(self) -> Any:
        """The best value."""
        return self._best[1]

    @property
    def best_metrics(self) -> Any:
        """All metrics at that step."""
        return self._best[2]

    def _evaluate_estimator(self) -> Any:
        given: dict[str, Any] = dict(
            input_fn=self.input_fn, steps=self.eval_steps, hooks=self.hooks, name=self.name
        )
        old: dict[str, Any] = dict(
            x=self.x, y=self.y, batch_size=self.batch_size, metrics=self.metrics
        )
        if not isinstance(self._estimator, CoreEstimator):
            return self._estimator.evaluate(**given, **old)
        if any(value is not None for value in old.values()):
            raise ValueError(
                "tf.estimator.Estimator does not support following arguments: x, y, batch_size, "
                "metrics. Should set as `None` in ValidationMonitor"
            )
        return self._estimator.evaluate(**given)

    def _has_new_checkpoint(self, step: int) -> bool:
        now = time.time()
        interval = self._check_interval_secs
        if interval is not None and self._last_check is not None:
            if now - self._last_check <= interval:
                log.debug(
                    "Skipping evaluation since less than %d seconds have passed since last check "
                    "for a new checkpoint.",
                    interval,
                )
                return False
        self._last_check = now
        path = checkpoint_management.latest_checkpoint(self._estimator.model_dir)
        if path is None:
            log.debug("Skipping evaluation since model has not been saved yet at step %d.", step)
            return False
        if path == self._latest[0]:
            log.debug(
                "Skipping evaluation due to same checkpoint %s for step %d as for step %d.",
                *(path, step, self._latest[1]),
            )
            return False
        self._latest = path, step
        return True

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        """Evaluates; gives True to stop.

        Raises:
            ValueError: there is no estimator, or it has no such metric.
        """
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        if not self._has_new_checkpoint(step):
            return False
        found = self._evaluate_estimator()
        told = ", ".join(f"{name} = {value}" for name, value in found.items())
        log.info("Validation (step %d): %s", step, told)
        if self.early_stopping_rounds is None:
            return False
        if self.early_stopping_metric not in found:
            raise ValueError(
                f"Metric {self.early_stopping_metric} missing from outputs {set(found)}."
            )
        value = found[self.early_stopping_metric]
        best_step, best, _ = self._best
        less = self.early_stopping_metric_minimize
        if best is None or (value < best if less else value > best):
            best_step = step
            self._best = step, value, copy.deepcopy(found)
        if step - best_step < self.early_stopping_rounds:
            return False
        log.info(
            "Stopping. Best step: %s with %s = %s.",
            *(best_step, self.early_stopping_metric, self.best_value),
        )
        self._early_stopped = True
        return True


@export(f"{_SPACE}.CaptureVariable")
class CaptureVariable(EveryN):
    """Keeps values of a variable.

    Args:
        var_name: its tensor's name.
        every_n, first_n: at which steps.
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._var_values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """The values by step."""
        return self._var_values

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Asks for the variable."""
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> None:
        """Keeps its value."""
        self._var_values[step] = value_of(outputs, self._var_name)


@export(f"{_SPACE}.get_default_monitors")
def get_default_monitors(
    loss_op: Any = None,
    summary_op: Any = None,
    save_summary_steps: int = 100,
    output_dir: str | None = None,
    summary_writer: Any = None,
) -> list[BaseMonitor]:
    """Monitors that log a loss and write summaries, as far as these are given."""
    made: list[BaseMonitor] = []
    if loss_op is not None:
        made.append(PrintTensor(tensor_names={"loss": loss_op.name}))
    if summary_op is not None:
        made.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return made


@export(f"{_SPACE}.GraphDump")
class GraphDump(BaseMonitor):
    """Keeps the values of all tensors.

    Args:
        ignore_ops: types of ops whose tensors are left out.
    """

    IGNORE_OPS = "Const Assign Identity Placeholder RandomUniform Cast RestoreSlice".split()

    def __init__(self, ignore_ops: Sequence[str] | None = None) -> None:
        super().__init__()
        self._ignore_ops = ignore_ops or GraphDump.IGNORE_OPS
        self._data: dict[int, Any] = {}
        self._tensors: list[Any] = []

    def begin(self, max_steps: int | None = None) -> None:
        """Finds the tensors."""
        super().begin(max_steps=max_steps)
        ops = [
            op for op in tf.get_default_graph().get_operations() if op.type not in self._ignore_ops
        ]
        self._tensors = [op.outputs[0] for op in ops if op.outputs]

    def step_begin(self, step: int) -> list[Any]:
        """Asks for them."""
        super().step_begin(step)
        return self._tensors

    def step_end(self, step: int, output: dict[Any, Any]) -> None:
        """Keeps them."""
        super().step_end(step, output)
        self._data[step] = output

    @property
    def data(self) -> dict[int, Any]:
        """Values by step and tensor."""
        return self._data

    def compare(
        self, other_dump: GraphDump, step: int, atol: float = 1e-06
    ) -> tuple[list[str], dict[str, Any]]:
        """Compares a step with that of another; of values by name.

        Args:
            other_dump: the other one.
            step: the step.
            atol: how far arrays may differ.

        Returns:
            The names of equal values, and differences by name.

        Raises:
            ValueError: the other one lacks a value.
        """
        matched, others = [], {}
        ours, theirs = self.data.get(step, {}), other_dump.data.get(step, {})
        for key in (key for key in ours if isinstance(key, str)):
            if key not in theirs:
                raise ValueError(f"{key} missing at step {step}.")
            one, other = value_of(ours, key), value_of(theirs, key)
            if isinstance(one, str):
                continue
            is_array = isinstance(one, np.ndarray)
            if np.allclose(one, other, atol=atol) if is_array else one == other:
                matched.append(key)
            else:
                others[key] = one - other if is_array else (one, other)
        return matched, others


@export(f"{_SPACE}.CheckpointSaver")
class CheckpointSaver(BaseMonitor):
    """Saves checkpoints.

    Args:
        checkpoint_dir: the folder.
        save_secs, save_steps: how many seconds, or steps, lie between; one of both.
        saver: a Saver; that of the scaffold if None.
        checkpoint_basename: the files' name.
        scaffold: a Scaffold.

    Raises:
        ValueError: both or neither are given.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
    ) -> None:
        log.info("Create CheckpointSaver.")
        super().__init__()
        if save_steps is None and save_secs is None:
            raise ValueError("Either save_steps or save_secs should be provided")
        if save_steps is not None and save_secs is not None:
            raise ValueError("Can not provide both save_steps and save_secs.")
        self._saver, self._scaffold = saver, scaffold
        self._summary_writer: Any = FileWriterCache.get(checkpoint_dir)
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._save_secs, self._save_steps = save_secs, save_steps
        self._saved: tuple[int, float] | None = None
        self._last_begin_step: int | None = None

    def begin(self, max_steps: int | None = None) -> None:
        """Forgets what was saved before."""
        super().begin(max_steps)
        self._saved, self._last_begin_step = None, None

    def step_begin(self, step: int) -> list[Any]:
        """Notes the step."""
        self._last_begin_step = step
        return super().step_begin(step)

    def post_step(self, step: int, session: BaseSession | None) -> None:
        """Saves if it is time."""
        if self._saved is None:
            self._save(step, session)
            return
        last_step, last_time = self._saved
        steps, seconds = self._save_steps, self._save_secs
        if (steps is not None and step >= last_step + steps) or (
            seconds is not None and time.time() >= last_time + seconds
        ):
            self._save(step, session)

    def end(self, session: BaseSession | None = None) -> None:
        """Saves once more."""
        super().end(session)
        self._save(self._last_begin_step, session)

    def _save(self, step: Any, session: BaseSession | None) -> None:
        if self._saved is not None and step == self._saved[0]:
            return
        log.info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._saved = step, time.time()
        saver = self._scaffold.saver if self._saver is None else self._saver
        saver.save(session, self._save_path, global_step=step)
        kind = protos.SessionLog
        message = kind(status=kind.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(message, step)


@export(f"{_SPACE}.StepCounter")
class StepCounter(EveryN):
    """Writes how many steps are made in a second.

    Args:
        every_n_steps: how many steps lie between.
        output_dir: the folder; the estimator's if None.
        summary_writer: a FileWriter, instead of a folder.
    """

    def __init__(
        self,
        every_n_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: Any = None,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._summary_tag = "global_step/sec"
        self._last: tuple[int, float] | None = None
        self._summary_writer: Any = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriterCache.get(output_dir)

    def set_estimator(self, estimator: Any) -> None:
        """Says which estimator trains."""
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(estimator.model_dir)

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> None:
        """Writes it."""
        now = time.time()
        if self._last is not None and self._summary_writer:
            speed = (step - self._last[0]) / (now - self._last[1])
            kind = protos.Summary
            summary = kind(value=[kind.Value(tag=self._summary_tag, simple_value=speed)])
            self._summary_writer.add_summary(summary, step)
        self._last = step, now


@export("contrib.learn.NanLossDuringTrainingError", f"{_SPACE}.NanLossDuringTrainingError")
class NanLossDuringTrainingError(RuntimeError):
    """The loss is NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


@export(f"{_SPACE}.NanLoss")
class NanLoss(EveryN):
    """Stops when the loss is NaN.

    Args:
        loss_tensor: the loss.
        every_n_steps: how many steps lie between looks.
        fail_on_nan_loss: whether it raises NanLossDuringTrainingError, or stops.
    """

    def __init__(
        self, loss_tensor: Any, every_n_steps: int = 100, fail_on_nan_loss: bool = True
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Asks for the loss."""
        return [self._loss_tensor]

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        """Looks at it."""
        if not np.isnan(value_of(outputs, self._loss_tensor)):
            return False
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            log.error(message)
            raise NanLossDuringTrainingError
        log.warning(message)
        return True
