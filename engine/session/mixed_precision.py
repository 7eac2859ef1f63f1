# SPDX-License-Identifier: Apache-2.0
"""Whether sessions may multiply float32 by way of float16 where that is quicker: on GPUs.

As in TensorFlow a ConfigProto says so, or a call for all sessions of the process whose own config
does not say otherwise.  Imports nothing from the package.
"""

from __future__ import annotations

from typing import Any

_ON, _OFF, _AGGRESSIVE = 1, 2, 3  # RewriterConfig.Toggle
_for_all = False


def enable(is_on: bool) -> None:
    """Says it for all sessions."""
    global _for_all
    _for_all = is_on


def is_on(config: Any) -> bool:
    """May a session of a ConfigProto, or of None, do so?"""
    toggle = 0 if config is None else config.graph_options.rewrite_options.auto_mixed_precision
    return toggle in (_ON, _AGGRESSIVE) or (_for_all and toggle != _OFF)
