# SPDX-License-Identifier: Apache-2.0
"""Functions that call one another however deep, without a stack that ends.

Such a function is a generator.  In place of a call it yields the generator of the other function,
and gets what that returns, or its exception.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

Steps = Generator[Any, Any, Any]


def run(steps: Steps) -> Any:
    """What a generator returns, with all that it calls."""
    stack, value = [steps], None
    error: BaseException | None = None
    while stack:
        try:
            called = stack[-1].send(value) if error is None else stack[-1].throw(error)
        except StopIteration as end:
            stack.pop()
            value, error = end.value, None
        except BaseException as raised:
            stack.pop()
            value, error = None, raised
        else:
            stack.append(called)
            value = error = None
    if error is not None:
        raise error
    return value
