# SPDX-License-Identifier: Apache-2.0
"""What optimizers of several workers share: variables at a centre beside each local one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....ops.public import tf
from ...sessions.session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession

GLOBAL_VARIABLE_NAME = "global_center_variable"


class CenterGetter:
    """Makes of each trainable variable a local one, one at the centre, and another local one.

    Args:
        worker_device: where local variables are.
        second_name: the scope of the other local variables.
    """

    def __init__(self, worker_device: str, second_name: str) -> None:
        self._worker_device = worker_device
        self._second_name = second_name
        self._global_map: dict[Any, Any] = {}
        self._second_map: dict[Any, Any] = {}

    def trainable(self, getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        """The local variable, which stands for the others."""
        here = [tf.GraphKeys.LOCAL_VARIABLES]
        with tf.device(self._worker_device):
            local = getter(name, *args, trainable=True, collections=here, **kwargs)
        if kwargs["reuse"] is True:
            return local
        center = getter(
            f"{GLOBAL_VARIABLE_NAME}/{name}",
            *args,
            trainable=False,
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
            **kwargs,
        )
        with tf.device(self._worker_device):
            second = getter(
                f"{self._second_name}/{name}", *args, trainable=False, collections=here, **kwargs
            )
        whole = kwargs["partitioner"] is None
        parts = [(local, center, second)] if whole else zip(local, center, second)
        for one, at_center, beside in parts:
            self._global_map[one] = at_center
            self._second_map[one] = beside
        return local


def plain_getter(
    worker_device: str,
    getter: Callable[..., Any],
    name: str,
    trainable: bool,
    collections: list[str],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A variable that is not trained; a local one is the worker's."""
    local = tf.GraphKeys.LOCAL_VARIABLES in collections
    with tf.device(worker_device if local else None):
        return getter(name, *args, trainable=trainable, collections=collections, **kwargs)


def local_step() -> Any:
    """The variable that counts this worker's steps."""
    return tf.get_variable(
        initializer=0,
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        name="local_step",
    )


def every(step: Any, period: int, update: Callable[[], Any]) -> Any:
    """`update` in each step whose number is a multiple of `period`."""
    due = tf.equal(tf.mod(step, period), 0)
    return tf.cond(due, update, tf.no_op)


class InitHook(SessionRunHook):
    """Gives local variables the values at the centre when a session begins.

    Args:
        optimizer: has `get_init_op(task_index)`.
        is_chief: whether this worker initializes global variables.
        task_index: the number of the worker.
    """

    def __init__(self, optimizer: Any, is_chief: bool, task_index: int) -> None:
        self._optimizer = optimizer
        self._is_chief = is_chief
        self._task_index = task_index

    def begin(self) -> None:
        """Makes the operations."""
        self._local_init_op = tf.local_variables_initializer()
        self._global_init_op = tf.global_variables_initializer() if self._is_chief else None
        self._variable_init_op = self._optimizer.get_init_op(self._task_index)

    def after_create_session(self, session: BaseSession, coord: Any) -> None:
        """Runs them."""
        session.run(self._variable_init_op)
