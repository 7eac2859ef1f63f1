# SPDX-License-Identifier: Apache-2.0
"""`pywrap_tensorflow.EventsWriter`, with which programs write event files themselves."""

from __future__ import annotations

import os
from typing import Any

from ...io.event_file import EventsWriter as File


class EventsWriter:
    """Writes Event messages to "<prefix>.out.tfevents.<seconds>.<host><suffix>".

    The file is made when it is named, or with the first event.  What was written is in the file
    after the next `Flush` or `Close`; each of them raises an OpError where that is not possible.

    Args:
        file_prefix: the path up to ".out.tfevents", as bytes or text.

    Example:
        >>> writer = EventsWriter(b"/tmp/run/events")
        >>> writer.WriteEvent(tf.Event(step=1))
        >>> writer.Close()
    """

    def __init__(self, file_prefix: bytes | str) -> None:
        self._file = File(os.fsdecode(file_prefix))

    def InitWithSuffix(self, suffix: bytes | str) -> None:  # noqa: N802 - TensorFlow's name
        """Makes the file, whose name ends so."""
        self._file.suffix = os.fsdecode(suffix)
        self._file.open()

    def FileName(self) -> bytes:  # noqa: N802 - TensorFlow's name
        """The path of the file, which is there from then on."""
        self._file.open()
        return os.fsencode(self._file.path)

    def WriteEvent(self, event: Any) -> None:  # noqa: N802 - TensorFlow's name
        """Appends an Event; TypeError for anything else."""
        from ...io import protos

        if not isinstance(event, protos.Event):
            raise TypeError(f"Expected an event_pb2.Event proto, but got {type(event)}")
        self._WriteSerializedEvent(event.SerializeToString())

    def _WriteSerializedEvent(self, event: bytes) -> None:  # noqa: N802 - TensorFlow's name
        self._file.open()
        self._file.append(event)

    def Flush(self) -> None:  # noqa: N802 - TensorFlow's name
        """Hands what was written to the operating system."""
        self._file.flush()

    def Close(self) -> None:  # noqa: N802 - TensorFlow's name
        """Writes what is left and closes the file."""
        self._file.close()
