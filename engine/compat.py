# SPDX-License-Identifier: Apache-2.0
"""`tf.compat`: text and bytes, and the switches between TensorFlow's versions."""

from __future__ import annotations

import datetime
import numbers
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from .api import constant, export


@export("compat.as_bytes")
def as_bytes(bytes_or_text: object, encoding: str = "utf-8") -> bytes:
    """Text or bytes as bytes."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_text", "compat.as_str")
def as_text(bytes_or_text: bytes | str, encoding: str = "utf-8") -> str:
    """Text or bytes as text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


@export("compat.as_str_any")
def as_str_any(value: object) -> str:
    """Anything as text; bytes are decoded."""
    return as_text(value) if isinstance(value, bytes) else str(value)


@export("compat.path_to_str")
def path_to_str(path: str) -> str:
    """A path object as text; anything else as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


constant("compat.integral_types", (numbers.Integral, np.integer))
constant("compat.real_types", (numbers.Real, np.integer, np.floating))
constant("compat.complex_types", (numbers.Complex, np.number))
constant("compat.bytes_or_text_types", (bytes, str))


# What TensorFlow 1.15 counts as its date; programs move it to get newer ops in their graphs.
_horizon = datetime.date(2019, 8, 21)


@export("compat.forward_compatible")
def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether graphs may use what was added after a date."""
    return _horizon > datetime.date(year, month, day)


@export("compat.forward_compatibility_horizon")
@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """A context in which another date counts."""
    global _horizon
    before, _horizon = _horizon, datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = before


@export("executing_eagerly")
def executing_eagerly() -> bool:
    """False: everything here is a graph."""
    return False


def _no_op_switch(name: str) -> None:
    def switch() -> None:
        """Switches off what is never on here."""

    _publish(name, switch)


def _refused_switch(name: str, what: str) -> None:
    def switch() -> NoReturn:
        """Not supported."""
        raise NotImplementedError(f"tf.{name}: {what} is not supported by numbaflow")

    _publish(name, switch)


def _publish(name: str, function: Callable[..., Any]) -> None:
    """Publishes a function that was made here under its name."""
    function.__name__ = function.__qualname__ = name
    constant(name, function)


@export("enable_eager_execution")
def enable_eager_execution(
    config: object = None, device_policy: object = None, execution_mode: object = None
) -> NoReturn:
    """Not supported."""
    del config, device_policy, execution_mode
    raise NotImplementedError(
        "tf.enable_eager_execution: eager execution is not supported by numbaflow"
    )


for _name in ("disable_eager_execution", "disable_tensor_equality"):
    _no_op_switch(_name)
_refused_switch("enable_v2_behavior", "TensorFlow 2 behaviour")
_refused_switch("enable_tensor_equality", "element-wise `==` of tensors")
