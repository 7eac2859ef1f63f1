# SPDX-License-Identifier: Apache-2.0
"""Datasets that keep their elements in a folder for later runs: TensorFlow 1.15's snapshots.

A pipeline's elements lie below `path/<hash of its graph>`: a folder for each run that wrote them,
with numbered files of records, and `snapshot.metadata`, which says whose elements count and whether
all are there.  A record is the length in eight bytes and a message.  Threads that TensorFlow has
for reading and writing are files here, written in turns and read in order.
"""

from __future__ import annotations

import os
import secrets
import struct
import time
import zlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from ....engine import errors
from ....engine.record_class import record
from .dataset import Dataset, Element, State, Stream
from .ordering import UnaryDataset

if TYPE_CHECKING:
    from .context import Context

_METADATA = "snapshot.metadata"
_LENGTH = struct.Struct("<Q")
# zlib's number for a stream with a header of gzip.
_GZIP_WINDOW = 31


@record(frozen=True)
class Settings:
    """How a snapshot is written and read."""

    path: str
    compression: str = ""
    reader_prefix: str = ""
    writer_prefix: str = ""
    # A file is followed by another one when its tensors have more bytes.
    shard_bytes: int = 10 << 30
    # So long another run that has not written all may still be at it.
    expiry_seconds: int = 86400
    writers: int = 1


class SnapshotDataset(UnaryDataset):
    """The elements of another dataset, from files if these have them; else they are written."""

    kind = "Snapshot"

    def __init__(self, source: Dataset, graph_hash: str, settings: Settings) -> None:
        super().__init__(source)
        self.graph_hash, self.settings = graph_hash, settings
        self.folder = f"{settings.path}/{graph_hash}"

    def stream(self, context: Context, path: str) -> Stream:
        return _Snapshot(self, context, path)

    def opened(self, context: Context, path: str) -> Stream:
        """What is to be done now: read, write, or neither, as another one writes."""
        found = _metadata(self.folder)
        if found is not None and found.finalized:
            return _Reading(self, found.run_id)
        source = self.source_stream(context, path)
        oldest = _now() - self.settings.expiry_seconds * 10**6
        if found is not None and found.creation_timestamp >= oldest:
            return source
        return _Writing(self, source)


class _Snapshot(Stream):
    """What is to be done is found out when the first element is asked for."""

    def __init__(self, dataset: SnapshotDataset, context: Context, path: str) -> None:
        self._place = dataset, context, path
        self._stream: Stream | None = None
        self._given = 0

    def next(self) -> Element | None:
        if self._stream is None:
            dataset, context, path = self._place
            self._stream = dataset.opened(context, path)
        element = self._stream.next()
        self._given += element is not None
        return element

    def save(self) -> State:
        return {"given": self._given}

    def restore(self, state: State) -> None:
        # (Another run may have completed the files: the elements are the same ones.)
        self.close()
        self._given = 0
        self.skip(state["given"])

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


class _Reading(Stream):
    def __init__(self, dataset: SnapshotDataset, run: str) -> None:
        from ....io.files import get_matching_files

        settings = dataset.settings
        folder = f"{settings.reader_prefix}{dataset.folder}/{run}"
        names = sorted(get_matching_files(f"{folder}/*"))
        if not names:
            raise errors.invalid(f"Could not find any files in dir: {folder}")
        self._dataset = dataset
        self._records = (
            record for name in names for record in _records(name, settings.compression)
        )

    def next(self) -> Element | None:
        record = next(self._records, None)
        return None if record is None else _element(record, self._dataset)

    def close(self) -> None:
        self._records.close()


class _Writing(Stream):
    """Reads one element ahead, so that the files are whole when the last one is given."""

    def __init__(self, dataset: SnapshotDataset, source: Stream) -> None:
        from ....io.files import recursive_create_dir

        self._dataset, self._source = dataset, source
        self._run = f"{secrets.randbits(64):04x}"
        settings = dataset.settings
        self._folder = f"{settings.writer_prefix}{dataset.folder}/{self._run}"
        recursive_create_dir(self._folder)
        _write_metadata(dataset, self._run, is_whole=False)
        self._files = 0
        self._outputs = [_Output(self._next_name(), settings) for _ in range(settings.writers)]
        self._turn = 0
        self._ahead: Element | None = None
        self._has_begun = self._is_over = False

    def _next_name(self) -> str:
        self._files += 1
        return f"{self._folder}/{self._files - 1:08d}.snapshot"

    def next(self) -> Element | None:
        if not self._has_begun:
            self._has_begun = True
            self._ahead = self._read()
        element = self._ahead
        if element is not None:
            self._ahead = self._read()
        return element

    def _read(self) -> Element | None:
        """The next element, which was written; at the end the snapshot is made whole."""
        element = self._source.next()
        if element is not None:
            self._write(element)
        elif not self._is_over:
            self._is_over = True
            self._close_outputs()
            found = _metadata(self._dataset.folder)
            # (If another run began meanwhile, its elements are those that will count.)
            if found is not None and found.run_id == self._run:
                _write_metadata(self._dataset, self._run, is_whole=True)
        return element

    def _write(self, element: Element) -> None:
        place = self._turn % len(self._outputs)
        self._turn += 1
        output = self._outputs[place]
        size = sum(part.nbytes for part in element)
        if output.size + size > self._dataset.settings.shard_bytes:
            output.close()
            output = _Output(self._next_name(), self._dataset.settings)
            self._outputs[place] = output
            size = 0
        output.write(_record(element, self._dataset), size)

    def _close_outputs(self) -> None:
        outputs, self._outputs = self._outputs, []
        for output in outputs:
            output.close()

    def close(self) -> None:
        self._close_outputs()
        self._source.close()


class _Output:
    """A file of records, with the bytes of the tensors in it."""

    def __init__(self, name: str, settings: Settings) -> None:
        from ....io.files import open_binary

        self._file: IO[bytes] = open_binary(name, "wb")
        is_plain = not settings.compression
        self._deflater = None if is_plain else zlib.compressobj(wbits=_GZIP_WINDOW)
        self.size = 0

    def write(self, record: bytes, size: int) -> None:
        data = _LENGTH.pack(len(record)) + record
        self._file.write(data if self._deflater is None else self._deflater.compress(data))
        self.size += size

    def close(self) -> None:
        if self._deflater is not None:
            self._file.write(self._deflater.flush())
        self._file.close()


def _records(name: str, compression: str) -> Iterator[bytes]:
    """The records of a file; DataLossError for one that ends too early."""
    from ....io.files import open_binary
    from ....io.record import Source

    with open_binary(name, "rb") as file:
        source = Source(file, compression)
        while head := source.read(_LENGTH.size):
            size = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else -1
            record = source.read(size) if size >= 0 else b""
            if len(record) != size:
                raise errors.data_loss(f"A snapshot ends within a record: {name}")
            yield record


def _record(element: Element, dataset: SnapshotDataset) -> bytes:
    from ....io import protos
    from ....io.raw_tensors import runtime_tensor_proto

    message = _messages(protos).SnapshotRecord()
    for part, kind in zip(element, dataset.types):
        message.tensor.append(runtime_tensor_proto(part, kind, raw=True))
    return bytes(message.SerializeToString())


def _element(record: bytes, dataset: SnapshotDataset) -> Element:
    from google.protobuf.message import DecodeError

    from ....io import protos
    from ....io.raw_tensors import runtime_array

    try:
        message = _messages(protos).SnapshotRecord.FromString(record)
        parts = tuple(map(runtime_array, message.tensor))
    except (DecodeError, ValueError, TypeError):
        raise errors.data_loss("Unable to parse tensor from proto.") from None
    kinds = [kind.np_dtype for kind in dataset.types]
    if [part.dtype for part in parts] != kinds:
        raise errors.data_loss("A snapshot has elements of other types than its dataset.")
    return parts


def _messages(protos: Any) -> Any:
    return protos.module("tensorflow/core/protobuf/data/experimental/snapshot.proto")


def _metadata(folder: str) -> Any:
    """What is known of the snapshot in a folder; None where there is none."""
    from google.protobuf.message import DecodeError

    from ....io import protos
    from ....io.files import file_exists

    name = os.path.join(folder, _METADATA)
    if not file_exists(name):
        return None
    record = next(_records(name, ""), None)
    try:
        return _messages(protos).SnapshotMetadataRecord.FromString(record or b"")
    except DecodeError:
        raise errors.data_loss(f"No metadata of a snapshot: {name}") from None


def _write_metadata(dataset: SnapshotDataset, run: str, is_whole: bool) -> None:
    from ....io import protos
    from ....io.files import recursive_create_dir
    from ....io.graph_def import write_atomically

    found = None if not is_whole else _metadata(dataset.folder)
    began = _now() if found is None else found.creation_timestamp
    record = _messages(protos).SnapshotMetadataRecord(
        graph_hash=dataset.graph_hash, run_id=run, creation_timestamp=began, finalized=is_whole
    )
    content = record.SerializeToString()
    recursive_create_dir(dataset.folder)
    name = os.path.join(dataset.folder, _METADATA)
    write_atomically(name, _LENGTH.pack(len(content)) + content)


def _now() -> int:
    """In microseconds."""
    return time.time_ns() // 1000
