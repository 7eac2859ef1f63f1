# SPDX-License-Identifier: Apache-2.0
"""Processes of `multiprocessing` are forked, as they were before Python 3.14 on Linux."""

from __future__ import annotations

import sys


def forked() -> None:
    """From here on a process that is started has what the program has, unless it says otherwise."""
    from multiprocessing import context

    if sys.platform != "linux" or "fork" not in context._concrete_contexts:
        return
    # (That a program sets the method itself, once, stays possible.)
    context._default_context._default_context = context._concrete_contexts["fork"]
