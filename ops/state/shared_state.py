# SPDX-License-Identifier: Apache-2.0
"""Objects that outlive a run: private to one operation of a session, or shared under a name."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext

_numbers = itertools.count()


def kept(
    c: KernelContext,
    kind: str,
    make: Callable[[str], Any],
    verify: Callable[[Any], None] | None = None,
    shares_node_name: bool = False,
) -> Any:
    """The object that a node stands for, made by `make(name)` when it is not there yet.

    It is shared with all nodes of the same `container` and `shared_name` (and `kind`); without a
    shared name it is the node's own, or shared under the node's name.  `verify` is told of an
    object that another node may have made; it raises when the node asks for something else.
    """

    known = c.known_state()
    if known is not None:
        return known

    def find() -> Any:
        name = c.attr("shared_name") or (c.name if shares_node_name else "")
        if not name:
            return make(f"_{next(_numbers)}_{c.name}")
        key = f"{kind}:{name}"
        found = c.session_state.lookup_or_create(c.attr("container"), key, lambda: make(name))
        if verify is not None:
            verify(found)
        return found

    return c.kernel_state(find)
