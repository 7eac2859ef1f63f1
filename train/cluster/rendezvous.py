# SPDX-License-Identifier: Apache-2.0
"""Where the tensors of a step meet those who wait for them, by keys that all tasks make alike.

A key names the device that sends, its incarnation (another one after a restart), the device that
takes, the tensor, and frame and iteration of a loop: "src;0000000000000abc;dst;edge_5_x;0:0".
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.session.futures import Future

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation

_MASK = (1 << 64) - 1
# Frame and iteration of what is in no loop.
OUTSIDE = "0:0"


def key_of(attrs: Any) -> str:
    """The key of a node that sends or takes, from its attributes, in no loop."""
    return make_key(
        attrs["send_device"],
        attrs["send_device_incarnation"],
        attrs["recv_device"],
        attrs["tensor_name"],
    )


def make_key(source: str, incarnation: int, target: str, name: str) -> str:
    """The key of a tensor outside of all loops."""
    return f"{source};{incarnation & _MASK:016x};{target};{name};{OUTSIDE}"


def attributes(op: Operation) -> dict[str, Any]:
    """The attributes of an operation with text in place of bytes."""
    return {
        name: value.decode() if isinstance(value, bytes) else value
        for name, value in op._attrs.items()
    }


def task_of(device: str) -> str:
    """The task of a device: "/job:ps/replica:0/task:0"."""
    return device.partition("/device:")[0]


def of_task(error: errors.OpError, task: str) -> errors.OpError:
    """An error that says on which task it was; it stays with the task where it was first."""
    if error.message.startswith("From ") or error.is_of_run:
        return error
    return errors.make_error(None, error.op, f"From {task}:\n{error.message}", error.error_code)


class Rendezvous:
    """The tensors of one step in one task; safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sent: dict[str, deque[Any]] = {}
        self._waiting: dict[str, deque[Future]] = {}
        self.error: errors.OpError | None = None
        # What must last until the step is over, whoever took it.
        self.kept: list[Any] = []
        # Whether the task runs its part of the step, or has.
        self.has_begun = False

    @property
    def is_idle(self) -> bool:
        """Whether nobody is concerned with it any more, or not yet."""
        with self._lock:
            waiting = (future for queue in self._waiting.values() for future in queue)
            return not self.has_begun and not self._sent and all(f.is_done for f in waiting)

    @property
    def has_sent(self) -> bool:
        """Whether there is a value that nobody has taken yet."""
        with self._lock:
            return any(self._sent.values())

    def send(self, key: str, value: Any) -> None:
        """Gives a value to who waits for it, or will."""
        while True:
            with self._lock:
                if self.error is not None:
                    return
                waiting = self._waiting.get(key)
                if not waiting:
                    self._sent.setdefault(key, deque()).append(value)
                    return
                future = waiting.popleft()
            # Who gave up is passed over.
            if future.settle(value):
                return

    def receive(self, key: str) -> Future:
        """The value under a key, settled when it is there."""
        future = Future()
        with self._lock:
            if self.error is None:
                sent = self._sent.get(key)
                if not sent:
                    self._waiting.setdefault(key, deque()).append(future)
                    return future
                value = sent.popleft()
        future.settle(error=self.error) if self.error is not None else future.settle(value)
        return future

    def abort(self, error: errors.OpError) -> None:
        """Has all who wait, now and later, fail; only the first error counts."""
        with self._lock:
            if self.error is not None:
                return
            self.error = error
            waiting, self._waiting = self._waiting, {}
            self._sent.clear()
        for future in (one for queue in waiting.values() for one in queue):
            future.settle(error=error)


class Steps:
    """The steps of a task that are under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: dict[int, Rendezvous] = {}

    def find(self, step: int) -> Rendezvous:
        """The rendezvous of a step, made by whoever asks first."""
        found = self._steps.get(step)
        if found is None:
            with self._lock:
                found = self._steps.setdefault(step, Rendezvous())
        return found

    def abort(self, step: int, error: errors.OpError) -> None:
        """Has all who wait for tensors of a step fail, if it is under way."""
        found = self._steps.get(step)
        if found is not None:
            found.abort(error)

    def cleanup(self, step: int) -> None:
        """Forgets a step."""
        with self._lock:
            found = self._steps.pop(step, None)
        if found is not None:
            found.abort(errors.aborted(f"Cleanup {step}"))

    def release(self, step: int) -> None:
        """Forgets a step that was only asked for: one that is over, by a task that came late."""
        with self._lock:
            if step in self._steps and self._steps[step].is_idle:
                del self._steps[step]

    def __len__(self) -> int:
        return len(self._steps)
