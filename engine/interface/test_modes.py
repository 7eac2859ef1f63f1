# SPDX-License-Identifier: Apache-2.0
"""Decorators of tests that TensorFlow runs in graphs and eagerly: here they run in graphs."""

from __future__ import annotations

import functools
import unittest
from collections.abc import Callable
from typing import Any


def run_in_graph_and_eager_modes(
    func: Callable[..., Any] | None = None,
    config: object = None,
    use_gpu: bool = True,
    reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Any:
    """Runs a test method within a session of its test case.

    Args:
        func: the method; without it the answer is a decorator.
        config: of the session.
        use_gpu: taken and not needed.
        reset_test: of the eager run, which there is none of.
        assert_no_eager_garbage: of the eager run.

    Returns:
        The decorated method, or a decorator.

    Raises:
        ValueError: it was put on a class.

    Example:
        >>> run_in_graph_and_eager_modes(int)
        Traceback (most recent call last):
        ValueError: `run_in_graph_and_eager_modes` only supports test methods.
    """
    del reset_test, assert_no_eager_garbage

    def decorator(f: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(f, type):
            raise ValueError("`run_in_graph_and_eager_modes` only supports test methods.")

        @functools.wraps(f)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
            with self.test_session(use_gpu=use_gpu, config=config):
                f(self, *args, **kwargs)

        return decorated

    return decorator if func is None else decorator(func)


def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """Has every test of a class run within a session.

    Args:
        cls: the test case.

    Returns:
        The class.

    Example:
        >>> class Case:
        ...     def test_it(self):
        ...         pass
        >>> run_all_in_graph_and_eager_modes(Case) is Case
        True
    """
    prefix = unittest.TestLoader.testMethodPrefix
    for name in dir(cls):
        value = getattr(cls, name)
        if name.startswith(prefix) and name != "test_session" and callable(value):
            setattr(cls, name, run_in_graph_and_eager_modes(value))
    return cls
