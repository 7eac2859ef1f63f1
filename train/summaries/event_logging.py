# SPDX-License-Identifier: Apache-2.0
"""Log lines that are events, too (tensorflow.python.training.tensorboard_logging)."""

from __future__ import annotations

import time
from typing import Any

from ...engine.interface import log as text_log
from ...io import protos

DEBUG, INFO, WARN, ERROR, FATAL = "DEBUG", "INFO", "WARN", "ERROR", "FATAL"
# Level -> that of Python's `logging`.
_LEVELS = {DEBUG: 10, INFO: 20, WARN: 30, ERROR: 40, FATAL: 50}
_NOT_SET: Any = object()


class _Settings:
    """The least level that becomes an event, and the writer: None for no events."""

    verbosity = WARN
    writer: Any = _NOT_SET


def get_verbosity() -> str:
    """The least level that becomes an event."""
    return _Settings.verbosity


def set_verbosity(verbosity: str) -> None:
    """Sets it; ValueError for what is no level."""
    _check(verbosity)
    _Settings.verbosity = verbosity


def _check(level: str) -> None:
    if level not in _LEVELS:
        raise ValueError(f"Level {level} is not a valid tensorboard_logging level")


def _number(level: str) -> int:
    return protos.LogMessage.Level.Value("DEBUGGING" if level == DEBUG else level)


def set_summary_writer(summary_writer: Any) -> None:
    """Sets the writer of the events; None: there are none."""
    _Settings.writer = summary_writer


def _clear_summary_writer() -> None:
    _Settings.writer = _NOT_SET


def log(level: str, message: str, *args: object) -> None:
    """Logs a message, as an event, too.

    Args:
        level: one of those of this module.
        message: a format.
        args: what it formats.

    Raises:
        RuntimeError: no writer was set.
        ValueError: there is no such level.
    """
    if _Settings.writer is _NOT_SET:
        raise RuntimeError(
            "Must call set_summary_writer before doing any logging from tensorboard_logging"
        )
    _check(level)
    if _number(level) >= _number(_Settings.verbosity) and _Settings.writer:
        line = protos.LogMessage(level=_number(level), message=message % args)
        _Settings.writer.add_event(protos.Event(wall_time=time.time(), log_message=line))
    text_log.log(_LEVELS[level], message, *args)


def debug(message: str, *args: object) -> None:
    """`log` of that level."""
    log(DEBUG, message, *args)


def info(message: str, *args: object) -> None:
    """`log` of that level."""
    log(INFO, message, *args)


def warn(message: str, *args: object) -> None:
    """`log` of that level."""
    log(WARN, message, *args)


def error(message: str, *args: object) -> None:
    """`log` of that level."""
    log(ERROR, message, *args)


def fatal(message: str, *args: object) -> None:
    """`log` of that level."""
    log(FATAL, message, *args)
