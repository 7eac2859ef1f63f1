# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.framework.auto_control_deps`: effects in the order of their statements."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ...engine.types import nest
from ...ops.flow.effects import Effects, ordered
from ...ops.public import tf


class AutomaticControlDependencies:
    """What is built within has its effects in order, as in a `tf.function`.

    What `mark_as_return` gave waits, from the end on, for all that was changed within.

    Example:
        >>> v = tf.get_variable("v", initializer=1.0, use_resource=True)
        >>> with AutomaticControlDependencies() as control:
        ...     v.assign(v + 1.0)
        ...     v.assign(2.0 * v)
        ...     value = control.mark_as_return(v.read_value())
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._effects: Effects | None = None
        self._returned: list[Operation] = []

    def __enter__(self) -> AutomaticControlDependencies:
        self._effects = self._stack.enter_context(ordered())
        return self

    def __exit__(self, kind: object, *unused: object) -> None:
        assert self._effects is not None
        effects = self._effects.settle() if kind is None else []
        self._stack.close()
        for op in self._returned:
            op._add_control_inputs([effect for effect in effects if effect is not op])

    def mark_as_return(self, tensor: Any) -> Any:
        """A copy of a tensor, slices, sparse tensor or TensorArray, there once all effects are."""
        return nest.map_structure(self._marked, tensor, expand_composites=True)

    def _marked(self, value: Any) -> Any:
        copy = value.identity() if hasattr(value, "identity") else tf.identity(value)
        flow: Tensor = getattr(copy, "flow", copy)
        self._returned.append(flow.op)
        return copy


def automatic_control_dependencies(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function, whose results wait for its effects, which are in order."""

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with AutomaticControlDependencies() as control:
            return nest.map_structure(control.mark_as_return, f(*args, **kwargs))

    return wrapper
