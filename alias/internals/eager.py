# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.eager`: questions are answered for graphs; eager mode itself is not here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...engine.compat import executing_eagerly as executing_eagerly
from ...ops.flow.concrete_functions import ConcreteFunction as ConcreteFunction
from ...ops.flow.function_spec import FunctionSpec as FunctionSpec
from ...ops.flow.gradient_tape import GradientTape as GradientTape
from ...ops.flow.graph_functions import Function as Function
from ...ops.flow.graph_functions import function as function
from ...ops.runtime_settings import VirtualDeviceConfiguration as VirtualDeviceConfiguration
from ...train.contrib.eager import defun as defun
from ...train.contrib.eager import defun_with_attributes as defun_with_attributes
from ...train.contrib.eager_gradients import gradients_function as gradients_function
from ...train.contrib.eager_gradients import implicit_grad as implicit_grad
from ...train.contrib.eager_gradients import implicit_val_and_grad as implicit_val_and_grad
from ...train.contrib.eager_gradients import make_vjp as make_vjp
from ...train.contrib.eager_gradients import val_and_grad_function as val_and_grad_function
from .absent import absent

GRAPH_MODE, EAGER_MODE = 0, 1
SYNC, ASYNC = 0, 1
_INSTEAD = ": it builds graphs, which tf.Session runs"

eager_mode = absent("tensorflow.python.eager.context.eager_mode", _INSTEAD)
Tape = absent("tensorflow.python.eager.tape.Tape", _INSTEAD)
Context = absent("tensorflow.python.eager.context.Context", _INSTEAD)


class EagerTensor:
    """The class of eager tensors, of which there is none."""


class _Context:
    """What programs ask of the context."""

    execution_mode = SYNC
    device_name = ""
    scope_name = ""
    device_policy = None

    def executing_eagerly(self) -> bool:
        """Whether ops run as they are made: never."""
        return False

    in_eager_mode = executing_eagerly

    def num_gpus(self) -> int:
        """How many GPUs there are: none that is used."""
        return 0

    def devices(self) -> list[str]:
        """The names of the devices."""
        return ["/job:localhost/replica:0/task:0/device:CPU:0"]

    list_physical_devices = devices

    def ensure_initialized(self) -> None:
        """Nothing is to be done."""


_CONTEXT = _Context()


def context() -> Any:
    """The one context."""
    return _CONTEXT


def in_graph_mode() -> bool:
    """Whether graphs are built: always."""
    return True


def in_eager_mode() -> bool:
    """Whether ops run as they are made: never."""
    return False


def num_gpus() -> int:
    """How many GPUs there are: none that is used."""
    return 0


def list_devices() -> list[str]:
    """The names of the devices."""
    return _CONTEXT.devices()


def is_async() -> bool:
    """Whether eager ops run behind the program's back: there is none."""
    return False


def shared_name(name: str | None = None) -> str | None:
    """The name under which sessions share a resource."""
    return name


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """Builds graphs within it, as everywhere."""
    yield


@contextlib.contextmanager
def stop_recording() -> Iterator[None]:
    """Nothing is recorded within it."""
    yield


def record_gradient(*args: Any, **kwargs: Any) -> None:
    """Nothing: gradients are those of the graph."""


def should_record(tensors: Any) -> bool:
    """Whether a tape watches tensors: none does."""
    return False


def global_seed() -> None:
    """The seed of eager ops: graphs have their own."""
    return None
