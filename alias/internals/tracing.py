# SPDX-License-Identifier: Apache-2.0
"""Traces of eager execution (`tf.compat.v2.summary.trace_on`), which graphs answer by a warning."""

from __future__ import annotations

from ...engine.interface.log import get_logger
from .framework import inside_function


def trace_on(graph: bool = True, profiler: bool = False) -> None:
    """Warns that there is no trace, as TensorFlow does in graphs."""
    del graph, profiler
    _warn("enable trace", "Must enable trace in eager mode.")


def trace_export(name: str, step: object = None, profiler_outdir: str | None = None) -> None:
    """Warns that there is no trace to write."""
    del name, step, profiler_outdir
    _warn("export trace", "Can only export trace while executing eagerly.")


def trace_off() -> None:
    """Ends a trace, of which there is none."""


def _warn(what: str, otherwise: str) -> None:
    words = f"Cannot {what} inside a tf.function." if inside_function() else otherwise
    get_logger().warning(words)
