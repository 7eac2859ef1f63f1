# SPDX-License-Identifier: Apache-2.0
"""Checks of settings of TPUs, which hold without one, too."""

from __future__ import annotations

import collections
import re

IterationsPerLoopCounter = collections.namedtuple("IterationsPerLoopCounter", ["value", "unit"])
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def check_positive_integer(value: object, name: str) -> None:
    """Raises TypeError or ValueError unless a setting is a positive integer."""
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


def parse_iterations_per_loop(iterations_per_loop: object) -> IterationsPerLoopCounter:
    """What a number of iterations means, or a time such as "30s", "5m" or "1h".

    Raises:
        ValueError: it is neither.
    """
    found = re.match(r"^([1-9]\d*)([smh|]?)$", str(iterations_per_loop))
    if found is None:
        raise ValueError(
            "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value "
            "or time-based value `<N><s|m|h>` where <N> is anypositive integer and `s`, `m`, `h` "
            "are unit of time in seconds, minutes, hours respectively. Examples of valid values: "
            "`3600s`, `60m`, `1h`."
        )
    value, suffix = int(found[1]), found[2]
    if suffix not in _SECONDS:
        return IterationsPerLoopCounter(value, "count")
    return IterationsPerLoopCounter(value * _SECONDS[suffix], "seconds")
