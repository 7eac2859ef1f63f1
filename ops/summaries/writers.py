# SPDX-License-Identifier: Apache-2.0
"""Writers of event files that graphs own: sessions share one per folder, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.compat import as_str_any
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient, Touch, writes
from ...engine.types.shape import TensorShape
from ..state.shared_state import kept

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext

_STATE = NoGradient("writes files")
# What definitions of operations that write have in common.
WAYS: dict[str, Any] = {"gradient": _STATE, "stateful": True, "test": {"needs": "a folder"}}
OPENED = (Touch("files", writes=True),)


class Writer:
    """A place for a writer, empty before it is made and after it is closed."""

    def __init__(self) -> None:
        self.events: Any = None

    def opened(self) -> Any:
        """The writer; NotFoundError when there is none."""
        if self.events is None:
            raise errors.not_found("The summary writer was not made or is closed")
        return self.events


def _create(
    c: KernelContext,
    writer: Writer,
    logdir: np.ndarray,
    max_queue: np.ndarray,
    flush_millis: np.ndarray,
    suffix: np.ndarray,
) -> None:
    from ...io.events import DirectEventWriter

    for name, value in (("max_queue", max_queue), ("flush_millis", flush_millis)):
        if value.ndim:
            raise errors.invalid(f"{name} must be a scalar")
    if writer.events is None:
        seconds = flush_millis.item() / 1000
        folder, end = (as_str_any(text.item()) for text in (logdir, suffix))
        writer.events = DirectEventWriter(folder, max_queue.item(), seconds, end)


def _import(c: KernelContext, writer: Writer, event: np.ndarray) -> None:
    from google.protobuf.message import DecodeError

    from ...io.protos import Event

    try:
        message = Event.FromString(event.item())
    except DecodeError:
        raise errors.data_loss("Bad tf.Event binary proto tensor string") from None
    writer.opened().add_event(message)


def _flush(c: KernelContext, writer: Writer) -> None:
    writer.opened().flush()


def _close(c: KernelContext, writer: Writer) -> None:
    writer.opened().close()
    writer.events = None


define(
    "SummaryWriter",
    "-> writer: resource",
    "shared_name: string = ''; container: string = ''",
    shape=lambda c: TensorShape([]),
    kernel=lambda c: kept(c, "summary writer", lambda name: Writer()),
    touches=(),
    doc="A handle to a writer of summaries.",
    **WAYS,
)
define(
    "CreateSummaryFileWriter",
    "writer: resource, logdir: string, max_queue: int32, flush_millis: int32, "
    "filename_suffix: string ->",
    kernel=_create,
    touches=writes("logdir"),
    doc="Has the writer write to a file in a folder; does nothing if it writes already.",
    **WAYS,
)
define(
    "ImportEvent",
    "writer: resource, event: string ->",
    kernel=_import,
    touches=OPENED,
    doc="Writes a serialized Event.",
    **WAYS,
)
define(
    "FlushSummaryWriter",
    "writer: resource ->",
    kernel=_flush,
    touches=OPENED,
    doc="Waits until everything is written.",
    **WAYS,
)
define(
    "CloseSummaryWriter",
    "writer: resource ->",
    kernel=_close,
    touches=OPENED,
    doc="Writes what is left and closes the file.",
    **WAYS,
)
