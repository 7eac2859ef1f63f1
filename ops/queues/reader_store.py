# SPDX-License-Identifier: Apache-2.0
"""What is behind a reader: it takes names of files from a queue and gives records, one by one."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.session.futures import AsyncTask, FairLock, Future
from ...engine.types import dtypes
from ...engine.types.dtypes import boxed
from .store import Queue

Record = tuple[bytes, bytes]
# So many records are read at once at most.
_MOST_AHEAD = 128
# What a record of a TFRecord file has around it, in bytes.
_FRAME = 16


class Reader:
    """Reads the units of work that a queue gives: one read at a time, from any thread."""

    kind = ""
    # Whether a unit of work is one record.
    is_whole = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.produced = self.started = self.finished = 0
        self.work = b""
        # A read may wait for its queue, and other reads must then wait behind it, in order.
        self._turns = FairLock()

    # What kinds differ in.

    def _open(self) -> None:
        """Begins with `work`."""

    def _next(self) -> Record | None:
        """The next record; None at the end of the work."""
        raise NotImplementedError

    def _close(self) -> None:
        """Ends with `work`."""

    # What callers use.

    def read(self, queue: Queue) -> Any:
        """Key and value of the next record, or what gives them."""
        if not self._turns.take_at_once():
            return AsyncTask(self._in_turn(self._read_one(queue)))
        # As a rule no other read is under way, and a file has records left.
        record: Record | None = None
        try:
            if self.finished < self.started:
                record, _ = self._step()
        except BaseException:
            self._turns.give()
            raise
        if record is None:
            return AsyncTask(self._then_give(self._read_one(queue)))
        self._turns.give()
        return [boxed(part) for part in record]

    def read_up_to(self, queue: Queue, count: int) -> Future:
        """Keys and values of at most `count` records, of one unit of work if there are some."""
        return AsyncTask(self._in_turn(self._read_some(queue, count)))

    def reset(self) -> None:
        """Forgets everything."""
        self._close()
        self.produced = self.started = self.finished = 0
        self.work = b""

    def state(self) -> bytes:
        """All that the reader knows, for `restore`."""
        from ...io.protos import ReaderBaseState

        self._require_states("SerializeState")
        return ReaderBaseState(
            work_started=self.started,
            work_finished=self.finished,
            num_records_produced=self.produced,
            current_work=self.work,
        ).SerializeToString()

    def restore(self, state: bytes) -> None:
        """Makes the reader what it was; InvalidArgumentError for what is no state."""
        from google.protobuf.message import DecodeError

        from ...io.protos import ReaderBaseState

        self._require_states("RestoreState")
        where = f"{self.kind} '{self.name}'"
        try:
            found = ReaderBaseState.FromString(state)
        except DecodeError:
            self.reset()
            raise errors.invalid(f"Could not parse state for {where}: {state!r}") from None
        counts = found.work_started, found.work_finished, found.num_records_produced
        if min(counts) < 0:
            self.reset()
            raise errors.invalid(f"Unexpected negative value when restoring in {where}: {found}")
        # Never true of a state that was saved between units: what remains of a unit is in no state.
        if found.work_started > found.work_finished:
            self.reset()
            raise errors.invalid(
                f"Inconsistent work started vs. finished when restoring in {where}: {found}"
            )
        self.started, self.finished, self.produced = counts
        self.work = found.current_work

    def _require_states(self, what: str) -> None:
        # Only between two units is a reader's state its counts alone, and readers of parts are
        # nearly always within one; TensorFlow does not save theirs either.
        if not self.is_whole:
            raise errors.unimplemented(f"Reader {what}")

    # Reading.

    def _in_turn(self, steps: Any) -> Generator[Future, Any, Any]:
        yield self._turns.take()
        return (yield from self._then_give(steps))

    def _then_give(self, steps: Any) -> Generator[Future, Any, Any]:
        try:
            return (yield from steps)
        finally:
            self._turns.give()

    def _begun(self, queue: Queue) -> Generator[Future, Any, None]:
        """Takes a unit of work from the queue, unless there is one."""
        if self.finished < self.started:
            return
        self.work = _name_of((yield queue.dequeue()), queue)
        self._open()
        # Not before: a unit that cannot be opened counts as not begun, and the next read takes
        # another one.
        self.started += 1

    def _step(self) -> tuple[Record | None, bool]:
        """The next record, and whether the unit of work is over."""
        record = self._next()
        is_over = record is None or self.is_whole
        if is_over:
            self._close()
            self.finished = self.started
        if record is not None:
            self.produced += 1
        return record, is_over

    def _read_one(self, queue: Queue) -> Generator[Future, Any, list[np.ndarray]]:
        # A unit may have no records at all.
        while True:
            yield from self._begun(queue)
            record, _ = self._step()
            if record is not None:
                return [boxed(part) for part in record]

    def _read_some(self, queue: Queue, count: int) -> Generator[Future, Any, list[np.ndarray]]:
        records: list[Record] = []
        while len(records) < count:
            yield from self._begun(queue)
            record, is_over = self._step()
            if record is not None:
                records.append(record)
            # The next unit may not be there yet, and what was read must not wait for it.
            if is_over and records:
                break
        return [_texts([record[part] for record in records]) for part in (0, 1)]

    def _path(self) -> str:
        return os.fsdecode(self.work)


def _name_of(element: Sequence[np.ndarray], queue: Queue) -> bytes:
    if len(element) != 1:
        raise errors.invalid("Expected single component queue")
    if queue.dtypes[0] != dtypes.string:
        raise errors.invalid("Expected queue with single string component")
    if element[0].size != 1:
        raise errors.invalid("Expected to dequeue a one-element string tensor")
    return element[0].item()


def _texts(values: list[bytes]) -> np.ndarray:
    result = np.empty(len(values), object)
    result[:] = values
    return result


class IdentityReader(Reader):
    """Gives the units of work themselves."""

    kind = "IdentityReader"
    is_whole = True

    def _next(self) -> Record:
        return self.work, self.work


class WholeFileReader(Reader):
    """Gives the contents of files."""

    kind = "WholeFileReader"
    is_whole = True

    def _next(self) -> Record:
        from ...io.files import read_file_to_string

        return self.work, read_file_to_string(self._path(), binary_mode=True)


class TextLineReader(Reader):
    """Gives the lines of files, without the first few."""

    kind = "TextLineReader"

    def __init__(self, name: str, skipped: int) -> None:
        super().__init__(name)
        if skipped < 0:
            raise errors.invalid(f"skip_header_lines must be >= 0 not {skipped}")
        self._skipped = skipped
        self._file: Any = None
        self._number = 0

    def _open(self) -> None:
        from ...io.files import open_binary

        self._file = open_binary(self._path(), "rb")
        for _ in range(self._skipped):
            self._file.readline()
        self._number = self._skipped

    def _next(self) -> Record | None:
        line = self._file.readline()
        if not line:
            return None
        self._number += 1
        # One carriage return may belong to the end of the line, as in TensorFlow; others are text.
        return b"%s:%d" % (self.work, self._number), line.removesuffix(b"\n").removesuffix(b"\r")

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()


class LmdbReader(Reader):
    """Gives the keys and values of LMDB databases."""

    kind = "LMDBReader"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._entries: Any = None

    def _open(self) -> None:
        from ...io.lmdb_file import Entries

        self._entries = Entries(self._path())

    def _next(self) -> Record | None:
        return self._entries.next()  # type: ignore[no-any-return]

    def _close(self) -> None:
        if self._entries is not None:
            self._entries.close()


class RecordFileReader(Reader):
    """Gives the records of TFRecord files."""

    kind = "TFRecordReader"

    def __init__(self, name: str, compression: str) -> None:
        super().__init__(name)
        self._compression = compression
        self._file: Any = None
        # Records that were read together with one before them, and where each begins.
        self._ahead: deque[tuple[int, bytes]] = deque()
        self._most = 1

    def _open(self) -> None:
        from ...io.record import RecordReader

        self._file = RecordReader(self._path(), self._compression)
        self._ahead.clear()
        self._most = 1

    def _next(self) -> Record | None:
        if not self._ahead:
            self._read_ahead()
        if not self._ahead:
            return None
        # The offset of the record's start names it, as in TensorFlow's keys.
        offset, record = self._ahead.popleft()
        return b"%s:%d" % (self.work, offset), record

    def _read_ahead(self) -> None:
        """Reads twice as many records as before, up to some."""
        offset = self._file.offset
        for record in self._file.read_some(self._most):
            self._ahead.append((offset, record))
            offset += len(record) + _FRAME
        self._most = min(2 * self._most, _MOST_AHEAD)

    def _close(self) -> None:
        self._ahead.clear()
        if self._file is not None:
            self._file.close()


class FixedLengthReader(Reader):
    """Gives records of one length, between a header and a footer, `hop` bytes apart."""

    kind = "FixedLengthRecordReader"

    def __init__(
        self, name: str, header: int, record: int, footer: int, hop: int, encoding: str
    ) -> None:
        super().__init__(name)
        sizes = {"header": header, "record": record, "footer": footer, "hop": hop}
        for what, size in sizes.items():
            if size < 0:
                raise errors.invalid(f"{what}_bytes must be >= 0 not {size}")
        self._header, self._record, self._footer = header, record, footer
        # A hop of 0 means records without gaps or overlaps.
        self._hop = hop or record
        self._encoding = encoding if encoding in ("ZLIB", "GZIP") else ""
        self._file: Any = None
        self._source: Any = None
        self._number = 0
        # What was read of the next records already.
        self._ahead = b""

    def _open(self) -> None:
        from ...io.files import open_binary
        from ...io.record import Source

        self._file = open_binary(self._path(), "rb")
        self._source = Source(self._file, self._encoding)
        self._number, self._ahead = 0, b""
        if len(self._source.read(self._header)) < self._header:
            raise errors.out_of_range("reached end of file")

    def _next(self) -> Record | None:
        if self._number:
            # With a hop shorter than a record, records overlap: the rest is kept, as a compressed
            # stream cannot go back. A longer hop skips bytes of the file as well.
            dropped, self._ahead = self._ahead[: self._hop], self._ahead[self._hop :]
            missing = self._hop - len(dropped)
            if len(self._source.read(missing)) < missing:
                return None
        missing = self._record + self._footer - len(self._ahead)
        data = self._source.read(missing)
        if len(data) < missing:
            return None
        self._ahead += data
        key = b"%s:%d" % (self.work, self._number)
        self._number += 1
        return key, self._ahead[: self._record]

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
