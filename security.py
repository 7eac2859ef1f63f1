# SPDX-License-Identifier: Apache-2.0
"""Graphs from strangers: imported within `untrusted_graph`, they compute, and do nothing else.

    from numbaflow import security

    with security.untrusted_graph():
        tf.import_graph_def(graph_def)

docs/security.md says what this promises and what it does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from .engine.graph import trust

__all__ = ["trusted_graph", "untrusted_graph"]


def untrusted_graph(
    allow: Iterable[str] = ("output",), read: Iterable[Any] = ()
) -> AbstractContextManager[None]:
    """A context (or decorator) in which imported graphs are from outside.

    Their nodes may be run, now and later, but a run that needs one that touches what it is not
    allowed raises `tf.errors.PermissionDeniedError` before anything runs.  A SavedModel may read
    its own folder; savers of imported meta graphs may use the checkpoints that they are told.

    Args:
      allow: What the graphs may touch after all: "files", "python" (functions of this process),
        "output" (its streams and log), "session" (kept tensors, by their handles) and "anything"
        (ops of other packages that do not say what they touch).
      read: Folders whose files the graphs may read.
    """
    return trust.importing(trust.permissions(allow, read))


def trusted_graph() -> AbstractContextManager[None]:
    """A context (or decorator) in which imported graphs are the program's own.

    For graphs that are trusted although NUMBAFLOW_TRUST=graph is set.
    """
    return trust.importing(None)
