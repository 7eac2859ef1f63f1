# SPDX-License-Identifier: Apache-2.0
"""How large a call becomes with all that it calls, known before anything of it is built.

A library of a few functions that call each other can stand for more operations than there is
memory for: forty of them, each calling the next one twice, for a million million.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import errors

if TYPE_CHECKING:
    from ..graph.operation import Operation

# The most operations that may stand in place of one call.
LIMIT = 1 << 18


class CallSizes:
    """The sizes of a library's functions, each found once."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self._functions = functions
        self._sizes: dict[str, int] = {}

    def require(self, op: Operation, name: str) -> None:
        """Raises ResourceExhaustedError if a node calls a function that becomes too large."""
        size = self.size(name)
        if size > LIMIT:
            raise too_large(op, f"Function {name}", f"would become {size} operations", LIMIT)

    def size(self, name: str) -> int:
        """The operations of a function and of all that it calls, as often as it does.

        A function that is not there counts one, and so does one that is under way: that calls
        itself, which is reported when it is expanded.
        """
        sizes, under_way, stack = self._sizes, set(), [name]
        while stack:
            current = stack[-1]
            function = self._functions.get(current)
            if current in sizes or function is None:
                sizes.setdefault(current, 1)
                stack.pop()
                continue
            under_way.add(current)
            called = [names for names in function.calls if names]
            # Each function is looked at once, so that this takes time as the library has calls, and
            # not as what they stand for.
            new = {n for names in called for n in names if n not in sizes and n not in under_way}
            stack += new
            if not new:
                plain = len(function.calls) - len(called)
                inner = sum(max(sizes.get(n, 1), 1) for names in called for n in names)
                sizes[current] = plain + inner
                under_way.discard(current)
                stack.pop()
        return sizes[name]


def too_large(op: Operation, subject: str, text: str, most: int) -> errors.ResourceExhaustedError:
    """The error for a call that becomes too large."""
    return errors.ResourceExhaustedError(
        None,
        op,
        f"{subject}, called by node '{op.name}', {text} with all that it calls; at most {most} "
        "can stand in place of one call.  Have it call fewer functions, or the same ones less "
        "often, for example in a loop.",
    )
