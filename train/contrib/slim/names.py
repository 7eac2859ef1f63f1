# SPDX-License-Identifier: Apache-2.0
"""What `tf.contrib.slim` shares with `tf.contrib.layers` and `tf.contrib.framework`, by name."""

from __future__ import annotations

import sys
from typing import Any

_PACKAGE = __name__.partition(".train.")[0]
_SHARED = ("contrib.layers", "contrib.framework")


def __getattr__(name: str) -> Any:
    for shared in _SHARED:
        # Namespaces are made when the package is imported.
        found = getattr(sys.modules[f"{_PACKAGE}.{shared}"], name, None)
        if found is not None:
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
