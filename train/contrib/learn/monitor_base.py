# SPDX-License-Identifier: Apache-2.0
"""What monitors are: they ask for tensors before steps, and look at them afterwards."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.public import tf
from ...sessions.session_run_hook import SessionRunArgs, SessionRunHook
from ...variables.global_step import get_global_step

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession
    from ...sessions.session_run_hook import SessionRunContext, SessionRunValues


@export("contrib.learn.monitors.BaseMonitor")
class BaseMonitor:
    """Watches training; subclasses say what they do before and after steps."""

    def __init__(self) -> None:
        self._begun = False
        self._current_epoch: int | None = None
        self._current_step: int | None = None
        self._max_steps: int | None = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether all workers have it, not the chief alone."""
        return False

    def set_estimator(self, estimator: object) -> None:
        """Says which estimator trains; ValueError without one."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Before the first step; ValueError if it was called before."""
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps = max_steps
        self._begun = True

    def end(self, session: BaseSession | None = None) -> None:
        """After the last step; ValueError without `begin`."""
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps = None
        self._begun = False

    def epoch_begin(self, epoch: int) -> None:
        """Before an epoch; ValueError if another has not ended, or it is negative."""
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError(f"Invalid epoch {epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """After an epoch; ValueError if it is another."""
        if self._current_epoch != epoch:
            raise ValueError(f"epoch_end expected {self._current_epoch} but got {epoch}.")
        self._current_epoch = None

    def step_begin(self, step: int) -> list[Any]:
        """Before a step.

        Args:
            step: its number.

        Returns:
            Tensors, or their names, whose values are wanted.

        Raises:
            ValueError: the number is out of range.
        """
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: dict[Any, Any]) -> Any:
        """After a step.

        Args:
            step: its number.
            output: values by what was asked for.

        Returns:
            True to stop.

        Raises:
            ValueError: it is another step.
        """
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: BaseSession | None) -> None:
        """After a step, and after all monitors have seen its values."""


def value_of(outputs: dict[Any, Any], request: Any) -> Any:
    """The value of what was asked for, by itself or by its name."""
    return outputs[request] if request in outputs else outputs[request.name]


@export("contrib.learn.monitors.EveryN")
class EveryN(BaseMonitor):
    """Does something every so many steps.

    Args:
        every_n_steps: how many.
        first_n_steps: so many first steps are all looked at.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        self._every_n_steps, self._first_n_steps = every_n_steps, first_n_steps
        self._last_successful_step: int | None = None
        self._last_active_step = 0
        self._is_active = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Before such a step; gives tensors whose values are wanted."""
        return []

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> Any:
        """After such a step; gives True to stop."""
        return False

    def every_n_post_step(self, step: object, session: BaseSession | None) -> None:
        """After such a step, and after all monitors have seen its values."""

    def step_begin(self, step: int) -> list[Any]:
        """Asks, if it is such a step."""
        super().step_begin(step)
        self._is_active = (
            step <= self._first_n_steps
            or step >= self._every_n_steps + self._last_active_step
            or step == self._max_steps
        )
        return self.every_n_step_begin(step) if self._is_active else []

    def step_end(self, step: int, output: dict[Any, Any]) -> Any:
        """Looks, if it is such a step."""
        super().step_end(step, output)
        return self.every_n_step_end(step, output) if self._is_active else False

    def post_step(self, step: int, session: BaseSession | None) -> None:
        """Notes the step."""
        super().post_step(step, session)
        if self._is_active:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: BaseSession | None = None) -> None:
        """Looks once more."""
        super().end(session=session)
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


@export("contrib.learn.monitors.RunHookAdapterForMonitors")
class RunHookAdapterForMonitors(SessionRunHook):
    """Monitors as one SessionRunHook.

    Args:
        monitors: monitors.
    """

    def __init__(self, monitors: Sequence[BaseMonitor]) -> None:
        self._monitors = monitors

    def begin(self) -> None:
        """Begins all."""
        self._last_step: int | None = None
        self._global_step_tensor: Any = get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the step and for what monitors want; ValueError if that is no list."""
        step = self._global_step_tensor
        if self._last_step is None:
            self._last_step = run_context.session.run(step) + 1
        wanted: list[Any] = []
        for monitor in self._monitors:
            asked = monitor.step_begin(self._last_step)
            if asked and not isinstance(asked, list):
                raise ValueError("Monitor.step_begin should return a list.")
            wanted += asked or []
        monitors = {one: _element(one) for one in wanted}
        return SessionRunArgs({"step": step, "monitors": monitors} if wanted else {"step": step})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Shows values to all."""
        found = run_values.results.get("monitors", {})
        step: Any = self._last_step
        for monitor in self._monitors:
            if monitor.step_end(step, found):
                run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(step, run_context.session)
        self._last_step = run_values.results["step"] + 1

    def end(self, session: BaseSession) -> None:
        """Ends all."""
        self._last_step = None
        for monitor in self._monitors:
            takes_session = "session" in inspect.getfullargspec(monitor.end).args
            monitor.end(**({"session": session} if takes_session else {}))


def _element(thing: object) -> Any:
    """The tensor or op that a monitor asks for, by itself or by name."""
    graph = tf.get_default_graph()
    if not isinstance(thing, str):
        if getattr(thing, "graph", None) is not graph:
            raise ValueError(
                f"Passed {thing} should have graph attribute that is equal to current graph "
                f"{graph}."
            )
        return thing
    if ":" in thing:
        return graph.as_graph_element(thing)
    op = graph.as_graph_element(f"{thing}:0").op
    if len(op.outputs) > 1:
        raise ValueError(
            f"Name {thing} is ambiguous, as this `Operation` has multiple outputs (at least 2)."
        )
    return op.outputs[0]


@export("contrib.learn.monitors.replace_monitors_with_hooks")
def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[Any]:
    """Hooks, with monitors as one of them.

    Args:
        monitors_or_hooks: both, or None.
        estimator: the estimator that trains.

    Returns:
        A list of SessionRunHooks.
    """
    given = list(monitors_or_hooks or ())
    hooks = [one for one in given if isinstance(one, SessionRunHook)]
    monitors = [one for one in given if not isinstance(one, SessionRunHook)]
    if not estimator.config.is_chief:
        monitors = [one for one in monitors if one.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks
