# SPDX-License-Identifier: Apache-2.0
"""Hooks and host calls of TPUEstimator."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ....engine.interface import log
from ....io import protos
from ....ops.public import raw, tf
from ...estimator.util import fn_args
from ...sessions.hooks_writing import StepCounterHook
from ...sessions.session_run_hook import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession
    from ...sessions.session_run_hook import SessionRunContext

# Where writers of tf.contrib.summary put the ops that make them.
_WRITERS = "_SUMMARY_WRITER_V2"


def check_host_calls(**calls: Any) -> None:
    """Raises an error for what is no pair of a function and its tensors."""
    for name, call in calls.items():
        if call is None:
            continue
        if not isinstance(call, (tuple, list)):
            raise ValueError(f"{name} should be tuple or list")
        if len(call) != 2:
            raise ValueError(f"{name} should have two elements.")
        if not callable(call[0]):
            raise TypeError(f"{name}[0] should be callable.")
        if not isinstance(call[1], (tuple, list, dict)):
            raise ValueError(f"{name}[1] should be tuple or list, or dict.")
        if isinstance(call[1], dict) or inspect.getfullargspec(call[0]).varargs is not None:
            continue
        takes = len(fn_args(call[0]))
        if len(call[1]) != takes:
            raise RuntimeError(
                f"In TPUEstimatorSpec.{name}, length of tensors {len(call[1])} does not match "
                f"method args of the function, which takes {takes}."
            )


def call_on_host(name: str, call: Any) -> Any:
    """What a function of tensors gives; None where there is no call."""
    if call is None:
        return None
    function, tensors = call
    if not isinstance(tensors, dict):
        return function(*tensors)
    try:
        return function(**tensors)
    except TypeError as error:
        log.warning(
            "Exception while calling %s: %s. It is likely the tensors (%s[1]) do not match the "
            "function's arguments",
            *(name, error, name),
        )
        raise


class HostCallHook(SessionRunHook):
    """Runs what a host call gave with each step, and keeps its writers of summaries."""

    def __init__(self, tensors: object) -> None:
        self._tensors = tensors

    def begin(self) -> None:
        """Finds the writers."""
        self._start = tf.get_collection(_WRITERS)
        self._end = [raw.FlushSummaryWriter(writer=op.inputs[0]) for op in self._start]

    def after_create_session(self, session: BaseSession, coord: object) -> None:
        """Opens them."""
        session.run(self._start)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the tensors."""
        return SessionRunArgs(self._tensors)

    def end(self, session: BaseSession) -> None:
        """Writes what is left."""
        session.run(self._end)


class ExamplesPerSecondHook(StepCounterHook):
    """Tells and writes how many steps and examples are made in a second."""

    def __init__(
        self,
        batch_size: int | None,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: object = None,
    ) -> None:
        self._batch_size = batch_size
        super().__init__(every_n_steps, every_n_secs, output_dir, summary_writer)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        speeds = {"global_step/sec": elapsed_steps / elapsed_time}
        if self._batch_size is not None:
            speeds["examples/sec"] = self._batch_size * speeds["global_step/sec"]
        for tag, speed in speeds.items():
            if self._summary_writer is not None:
                kind = protos.Summary
                summary = kind(value=[kind.Value(tag=tag, simple_value=speed)])
                self._summary_writer.add_summary(summary, global_step)
        for tag, speed in speeds.items():
            log.info("%s: %g", tag, speed)
