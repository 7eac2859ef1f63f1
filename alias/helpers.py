# SPDX-License-Identifier: Apache-2.0
"""Small parts of TensorFlow's internals that code copied from it expects (see alias/finder.py)."""

from __future__ import annotations

import collections.abc as collections_abc  # noqa: F401 - a name of util.compat
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


def remove_undocumented(module_name: str, *lists: Any, **options: Any) -> None:
    """Hides names of a module in TensorFlow; here all names stay."""
    del module_name, lists, options


# What `enable` or `disable` said last.
_force_enable: bool | None = None


def enable() -> None:
    """Notes that TensorFlow 2 behaviour is wished for, which programs may ask; nothing follows."""
    global _force_enable
    _force_enable = True


def disable() -> None:
    """Notes that it is not."""
    global _force_enable
    _force_enable = False


def enabled() -> bool:
    """Whether TensorFlow 2 behaviour was wished for, here or in the surroundings (TF2_BEHAVIOR)."""
    if _force_enable is None:
        return os.environ.get("TF2_BEHAVIOR", "0") != "0"
    return _force_enable


# Of TensorFlow 1.15; the last one holds.
_HORIZONS = [(2019, 8, 21)]


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether programs from that day on are to be served: those of TensorFlow 1.15's."""
    return (year, month, day) < _HORIZONS[-1]


@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Within it programs before that day are served."""
    _HORIZONS.append((year, month, day))
    try:
        yield
    finally:
        _HORIZONS.pop()


class LazyLoader(ModuleType):
    """A module that is imported when one of its names is used."""

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str) -> None:
        super().__init__(name)
        self._local_name = local_name
        self._parent_module_globals = parent_module_globals

    def __getattr__(self, item: str) -> Any:
        module = importlib.import_module(self.__name__)
        self._parent_module_globals[self._local_name] = module
        return getattr(module, item)


class _VariableType(type):
    """Makes resource variables, and knows those of all kinds as its own."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        from ..ops.state.variables import Variable as AnyVariable

        return AnyVariable(*args, use_resource=True, **kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        from ..ops.state.variables import Variable as AnyVariable

        return isinstance(instance, AnyVariable)

    def __getattr__(cls, name: str) -> Any:
        from ..ops.state.variables import Variable as AnyVariable

        return getattr(AnyVariable, name)


class Variable(metaclass=_VariableType):
    """What TensorFlow's internal `variables.Variable` is: TensorFlow 2's class, whose variables
    are resources."""
