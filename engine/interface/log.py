# SPDX-License-Identifier: Apache-2.0
"""`tf.logging`: the logger called "tensorflow", with TensorFlow's format and default level."""

from __future__ import annotations

import logging
import sys
import threading
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..graph.annotations import TensorLike

__all__ = ["DEBUG", "ERROR", "FATAL", "INFO", "WARN", "get_logger"]

_logger: logging.Logger | None = None
_lock = threading.Lock()
_counts: dict[tuple[str, int], int] = {}
# Frames between the caller and the record.
_DEPTH = 2


def get_logger() -> logging.Logger:
    """The logger."""
    global _logger
    if _logger is None:
        with _lock:
            if _logger is None:
                _logger = _make()
    return _logger


def _make() -> logging.Logger:
    logger = logging.getLogger("tensorflow")
    if not logging.getLogger().handlers:
        interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive)
        if interactive:
            logger.setLevel(INFO)
        handler = logging.StreamHandler(sys.stdout if interactive else sys.stderr)
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT, None))
        logger.addHandler(handler)
    return logger


def _emit(level: int, msg: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    options.setdefault("stacklevel", 1)
    options["stacklevel"] += _DEPTH
    get_logger().log(level, msg, *args, **options)


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at a level."""
    _emit(level, msg, args, kwargs)


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at DEBUG."""
    _emit(DEBUG, msg, args, kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at INFO."""
    _emit(INFO, msg, args, kwargs)


def warn(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at WARN."""
    _emit(WARN, msg, args, kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at WARN."""
    _emit(WARN, msg, args, kwargs)


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at ERROR."""
    _emit(ERROR, msg, args, kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at FATAL."""
    _emit(FATAL, msg, args, kwargs)


def vlog(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs at a level."""
    _emit(level, msg, args, kwargs)


def TaskLevelStatusMessage(msg: str) -> None:  # noqa: N802 - TensorFlow's name
    """Logs at ERROR."""
    _emit(ERROR, msg, (), {})


def flush() -> None:
    """Not available, as in TensorFlow."""
    raise NotImplementedError("tf.logging.flush is not implemented in TensorFlow either")


def _count() -> int:
    """How often the caller's line has logged before."""
    frame = sys._getframe(2)
    key = frame.f_code.co_filename, frame.f_lineno
    _counts[key] = _counts.get(key, -1) + 1
    return _counts[key]


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs the 1st, (n+1)st, (2n+1)st … call from a line."""
    if _count() % n == 0:
        _emit(level, msg, args, {})


def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs the first n calls from a line."""
    if _count() < n:
        _emit(level, msg, args, {})


def log_if(level: int, msg: str, condition: TensorLike, *args: Any) -> None:
    """Logs if the condition holds."""
    if condition:
        _emit(level, msg, args, {})


def get_verbosity() -> int:
    """The level from which messages appear."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: int) -> None:
    """Sets the level from which messages appear."""
    get_logger().setLevel(v)
