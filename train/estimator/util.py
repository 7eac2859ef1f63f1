# SPDX-License-Identifier: Apache-2.0
"""What functions take, and what input functions give."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ops.data.dataset import DatasetV2
from ..sessions.session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession


def fn_args(fn: Any) -> tuple[str, ...]:
    """The names of a function's positional arguments that are not bound yet."""
    if isinstance(fn, functools.partial):
        given = fn.keywords or {}
        return tuple(name for name in fn_args(fn.func)[len(fn.args) :] if name not in given)
    if not inspect.isfunction(fn) and not inspect.ismethod(fn) and callable(fn):
        fn = fn.__call__
    names = inspect.getfullargspec(inspect.unwrap(fn)).args
    bound = inspect.ismethod(fn) or (names and names[0] == "self" and hasattr(fn, "__self__"))
    return tuple(names[1:] if bound else names)


def called_with(fn: Callable[..., Any], **offered: Any) -> dict[str, Any]:
    """Those of the arguments offered that a function takes."""
    taken = fn_args(fn)
    return {name: value for name, value in offered.items() if name in taken}


def path_text(path: Any) -> Any:
    """A path as text; None stays None."""
    return os.fsdecode(path) if isinstance(path, (bytes, os.PathLike)) else path


class DatasetInitializerHook(SessionRunHook):
    """Starts a dataset's iterator when a session has been made."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def begin(self) -> None:
        """Makes the op that starts it."""
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: BaseSession, coord: object) -> None:
        """Starts it."""
        session.run(self._initializer)


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[Any]]:
    """Features, labels and hooks of what an input function gave: a dataset or tensors."""
    hooks = []
    if isinstance(result, DatasetV2):
        dataset: Any = result
        iterator = dataset._make_initializable_iterator(None)
        hooks.append(DatasetInitializerHook(iterator))
        result = iterator.get_next()
    return (*parse_iterator_result(result), hooks)


def parse_iterator_result(result: Any) -> tuple[Any, Any]:
    """Features and labels; labels are None where there are none."""
    if isinstance(result, (list, tuple)):
        if len(result) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
        return result[0], result[1]
    return result, None
