# SPDX-License-Identifier: Apache-2.0
"""Names of layers that got none: the class's, numbered per graph."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any
from weakref import WeakKeyDictionary

from ...ops.public import tf

# Graph -> (namespace, name) -> the number given last.
_counts: WeakKeyDictionary[Any, defaultdict[tuple[str, str], int]] = WeakKeyDictionary()


def snake_case(name: str) -> str:
    """The name of a class as that of a scope: "Conv2D" is "conv2d"."""
    parts = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    found = re.sub("([a-z])([A-Z])", r"\1_\2", parts).lower()
    # A scope cannot begin with an underscore.
    return f"private{found}" if found[0] == "_" else found


def unique(
    name: str,
    uids: Any = None,
    avoid: Any = None,
    namespace: str = "",
    zero_based: bool = False,
) -> str:
    """`name` with the next number of this graph; from zero on (no number), or from one."""
    if uids is None:
        uids = _counts.setdefault(tf.get_default_graph(), defaultdict(int))
    key = (namespace, name)
    while True:
        number = uids[key] if zero_based else uids[key] + 1
        uids[key] += 1
        proposed = name if zero_based and not number else f"{name}_{number}"
        if proposed not in (avoid or ()):
            return proposed


def forget() -> None:
    """Begins all numbers anew."""
    _counts.clear()
