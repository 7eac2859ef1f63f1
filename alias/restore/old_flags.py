# SPDX-License-Identifier: Apache-2.0
"""What `tf.flags` had before it was absl's."""

from __future__ import annotations

import sys
from typing import Any


def parse_flags(values: Any, args: list[str] | None = None) -> list[str]:
    """Reads flags from the command line, if that has not been done; what is left of it.

    Args:
        values: absl's FlagValues.
        args: the words behind the program's name; those of the process if None.
    """
    if values.is_parsed() and args is None:
        return []
    return list(values([sys.argv[0], *(sys.argv[1:] if args is None else args)])[1:])
