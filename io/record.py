# SPDX-License-Identifier: Apache-2.0
"""TFRecord files: byte strings with their lengths and checksums, compressed or not.

A record is its length (8 bytes), the length's checksum (4), the data and the data's checksum (4).
"""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from ..engine import errors, settings
from ..engine.compat import as_str_any
from ..engine.types.texts import PackedTexts
from . import crc
from .files import open_binary, read_at_most

# The format of TensorFlow's core/lib/io/record_writer.h.
_HEADER = struct.Struct("<QI")
_FOOTER = struct.Struct("<I")
# The size of TensorFlow's buffers (core/lib/io/zlib_compression_options.h).
_CHUNK = 256 * 1024
_LARGEST = 1 << 63
# More records than these are found by a kernel, unless they are longer: checksums of longer ones
# are the library's.
_FEW, _SHORT = 64, 4096
# So much of a file is looked at for records that are found together.
_TOGETHER = 1 << 20


def framed(record: bytes) -> tuple[bytes, bytes, bytes]:
    """A record as it stands in a file: what comes before it, the record and what comes behind."""
    length = len(record)
    header = _header(length) if length < _SMALL else _made_header(length)
    return header, record, _FOOTER.pack(crc.masked(record))


def _made_header(length: int) -> bytes:
    packed = struct.pack("<Q", length)
    return packed + _FOOTER.pack(crc.masked(packed))


# Events and examples of a program have few lengths, and a checksum takes longer than a look-up.
_SMALL = 1 << 12
_header = functools.lru_cache(_SMALL)(_made_header)


class TFRecordCompressionType:
    """How a file is compressed (tf.io.TFRecordCompressionType)."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How to compress a file, with the parameters of zlib (tf.io.TFRecordOptions)."""

    compression_type_map = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: object = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        """compression_type: "GZIP", "ZLIB" or ""; ValueError for anything else."""
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The name of a compression given in any form."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, int) and options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')


def _window(compression: str) -> int:
    """The window bits that zlib takes for a kind of compression."""
    # zlib takes 16 more for a gzip header.
    return zlib.MAX_WBITS + (16 if compression == "GZIP" else 0)


class _Compressed:
    """Compresses what is written; a flush mode acts whenever the input buffer is full."""

    def __init__(self, options: TFRecordOptions, compression: str) -> None:
        def chosen(value: int | None, default: int) -> int:
            return default if value is None else value

        self._mode = chosen(options.flush_mode, zlib.Z_NO_FLUSH)
        self._room = chosen(options.input_buffer_size, _CHUNK)
        self._zlib = zlib.compressobj(
            chosen(options.compression_level, zlib.Z_DEFAULT_COMPRESSION),
            chosen(options.compression_method, zlib.DEFLATED),
            chosen(options.window_bits, _window(compression)),
            chosen(options.mem_level, 9),
            chosen(options.compression_strategy, zlib.Z_DEFAULT_STRATEGY),
        )
        self._waiting: list[bytes] = []
        self._size = 0

    def add(self, data: bytes) -> bytes:
        """What is to be written after some more input."""
        result = b""
        if self._size + len(data) > self._room:
            result = self.flush()
            if len(data) > self._room:
                return result + self._zlib.compress(data) + self._zlib.flush(self._mode)
        self._waiting.append(data)
        self._size += len(data)
        return result

    def flush(self, mode: int | None = None) -> bytes:
        """What is to be written after all input so far."""
        data = self._zlib.compress(b"".join(self._waiting))
        self._waiting, self._size = [], 0
        return data + self._zlib.flush(self._mode if mode is None else mode)


class TFRecordWriter:
    """Writes records, strings of bytes, to a new file; a context that closes it.

    Args:
        path: of the file.
        options: how it is compressed: tf.io.TFRecordOptions, or a type of it such as
            tf.io.TFRecordCompressionType.GZIP.

    Example:
        >>> with tf.python_io.TFRecordWriter("./data.tfrecords") as writer:
        ...     writer.write(b"first")
        ...     writer.write(b"second")
        >>> list(tf.python_io.tf_record_iterator("./data.tfrecords"))
        [b'first', b'second']
    """

    def __init__(self, path: str, options: object = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        compression = options.get_compression_type_string(options)
        self._compressed = _Compressed(options, compression) if compression else None
        self._file: IO[bytes] | None = open_binary(as_str_any(path), "wb")

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def _open(self) -> IO[bytes]:
        if self._file is None:
            raise errors.failed_precondition("Writer not initialized or previously closed")
        return self._file

    def write(self, record: bytes) -> None:
        """Appends one record."""
        file = self._open()
        if isinstance(record, str):
            raise TypeError("expected bytes, str found")
        for part in framed(record):
            file.write(part if self._compressed is None else self._compressed.add(part))

    def flush(self) -> None:
        """Hands what was written to the operating system, as far as the compression allows."""
        file = self._open()
        if self._compressed is not None:
            file.write(self._compressed.flush())
        file.flush()

    def close(self) -> None:
        """Writes the rest and closes the file."""
        file, self._file = self._file, None
        if file is None:
            return
        with file:
            if self._compressed is not None:
                file.write(self._compressed.flush(zlib.Z_FINISH))


class Source:
    """The bytes of a file, decompressed.

    No more is in memory than was asked for and is there, whatever a file claims.
    """

    def __init__(self, file: IO[bytes], compression: str) -> None:
        self._file = file
        self._compression = compression
        self.restart()

    def restart(self) -> None:
        """Goes back to the beginning."""
        self._file.seek(0)
        is_plain = not self._compression
        self._inflater = None if is_plain else zlib.decompressobj(_window(self._compression))
        # The last piece that was decompressed, and how much of it has been given out.
        self._ready, self._given = b"", 0
        self._waiting = b""  # what is still to be decompressed

    def read(self, size: int) -> bytes:
        """The next bytes, fewer at the end."""
        start, end = self._given, self._given + size
        if end <= len(self._ready):
            self._given = end
            return self._ready[start:end]
        if self._inflater is None:
            rest = self._ready[start:]
            self._ready, self._given = b"", 0
            more = read_at_most(self._file, size - len(rest))
            return rest + more if rest else more
        return b"".join(self._pieces(size))

    def ahead(self, size: int) -> tuple[bytes, int, int]:
        """Some of the next bytes, which `read` gives again: about `size` of them, or fewer.

        Returns: bytes, and where among them the next ones begin and end.
        """
        left = len(self._ready) - self._given
        if self._inflater is None and left < size:
            self._ready = self._ready[self._given :] + read_at_most(self._file, size - left)
            self._given = 0
        return self._ready, self._given, min(self._given + size, len(self._ready))

    def pass_over(self, size: int) -> None:
        """Goes on behind some of the bytes that `ahead` gave."""
        self._given += size

    def _pieces(self, size: int) -> Iterator[bytes]:
        """The same bit by bit."""
        while size > 0:
            if self._given == len(self._ready):
                self._ready, self._given = self._inflated(), 0
                if not self._ready:
                    return
            piece = self._ready[self._given : self._given + size]
            self._given += len(piece)
            size -= len(piece)
            yield piece

    def _inflated(self) -> bytes:
        """Some more bytes, none at the end: at most a chunk of them, however little they were."""
        inflater = self._inflater
        while inflater is not None and not inflater.eof:
            chunk = self._waiting or self._file.read(_CHUNK)
            try:
                piece = inflater.decompress(chunk, _CHUNK)
            except zlib.error as error:
                text = f"inflate() failed with error {error}"
                raise errors.data_loss(text) from None
            self._waiting = inflater.unconsumed_tail
            if piece or not chunk:
                return piece
        return b""

    def skip_to(self, offset: int) -> None:
        """Goes to a position from the beginning."""
        self.restart()
        if self._inflater is None:
            self._file.seek(offset)
            return
        while offset > 0:
            skipped = self.read(min(offset, _CHUNK))
            if not skipped:
                break
            offset -= len(skipped)


class RecordReader:
    """Reads the records of a file one after the other; `offset` is where the next one begins."""

    def __init__(self, path: str, compression: str = "", offset: int = 0) -> None:
        self._path = as_str_any(path)
        self._file = open_binary(self._path, "rb")
        self._source = Source(self._file, compression)
        self.offset = offset
        # Whether the file's position is not that of the next record.
        self._is_lost = offset > 0
        # The length of the record that was read last by itself.
        self._length = 0

    def __enter__(self) -> RecordReader:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def read(self) -> bytes | None:
        """The next record; None at the end.  DataLossError where the file is damaged.

        After a failure, and at the end, the next call tries again: the file may have grown.
        """
        if self._is_lost:
            self._source.skip_to(self.offset)
        # Until the record was read whole: after an error the next call begins at this one again.
        self._is_lost = True
        header = self._source.read(_HEADER.size)
        if not header:
            return None
        if len(header) < _HEADER.size:
            raise self._damaged("truncated", self.offset)
        length, check = _HEADER.unpack(header)
        if check != crc.masked(header[:8]):
            raise self._damaged("corrupted", self.offset)
        if length >= _LARGEST:
            raise self._lost("record size too large", f"{length} bytes, at {self.offset}")
        record = self._contents(length)
        self.offset += _HEADER.size + length + _FOOTER.size
        self._is_lost, self._length = False, length
        return record

    def read_some(self, count: int) -> Sequence[bytes]:
        """At most `count` records, none at the end: the next one and those that lie right behind.

        Where one of these is damaged, the next call says so.
        """
        is_quick = count > _FEW and self._length <= _SHORT and settings.get("jit") != "never"
        if is_quick and self._length and not self._is_lost:
            packed = self._short_records(count)
            if len(packed):
                return packed
        first = self.read()
        if first is None:
            return []
        if count == 1:
            return [first]
        if is_quick and len(first) <= _SHORT:
            more = self._short_records(count - 1)
            return PackedTexts.joined([PackedTexts.of([first]), more])
        size = min(count * (len(first) + _HEADER.size + _FOOTER.size), _CHUNK)
        return [first, *self._whole_records(*self._source.ahead(size), count - 1)]

    def _short_records(self, count: int) -> PackedTexts:
        """The next records up to a longer one or one that is not whole, found by a kernel."""
        from ..jit.library.records import records
        from ..jit.runtime.calling import call

        around = _HEADER.size + _FOOTER.size
        data, first, last = self._source.ahead(min(count * (self._length + around), _TOGETHER))
        size = last - first
        count = min(count, size // around)
        places, found = np.empty((count, 2), np.int64), np.zeros(2, np.int64)
        arrays = [np.frombuffer(data or b"\0", np.uint8)[first:], crc.tables(), places, found]
        call(records(), arrays, [size, count, _SHORT], 1)
        number, place = found.tolist()
        self._source.pass_over(place)
        self.offset += place
        places = places[:number]
        places += first
        return PackedTexts(data, places)

    def _whole_records(self, data: bytes, first: int, last: int, count: int) -> list[bytes]:
        """The first records of some bytes between two places, as long as they are whole."""
        found: list[bytes] = []
        place, end = first, last - _HEADER.size - _FOOTER.size
        while place <= end and len(found) < count:
            length, check = _HEADER.unpack_from(data, place)
            start = place + _HEADER.size
            stop = start + length
            if length > end - place or check != crc.masked(data[place : place + 8]):
                break
            record = data[start:stop]
            if _FOOTER.unpack_from(data, stop)[0] != crc.masked(record):
                break
            found.append(record)
            place = stop + _FOOTER.size
        self._source.pass_over(place - first)
        self.offset += place - first
        return found

    def _contents(self, length: int) -> bytes:
        """What the record at hand holds."""
        try:
            data = self._source.read(length + _FOOTER.size)
            record = data[:length]
        except MemoryError:
            raise errors.resource_exhausted(
                f"OOM when reading the record of {length} bytes at {self.offset} of {self._path}: "
                "there is not so much memory. Write smaller records."
            ) from None
        if len(data) < length + _FOOTER.size:
            # Where nothing is left at all, the record is to blame; else what it holds.
            raise self._damaged("truncated", self.offset + (_HEADER.size if data else 0))
        if _FOOTER.unpack(data[length:])[0] != crc.masked(record):
            raise self._damaged("corrupted", self.offset + _HEADER.size)
        return record

    def _damaged(self, how: str, offset: int) -> errors.DataLossError:
        return self._lost(f"{how} record at {offset}", f"the record begins at {self.offset}")

    def _lost(self, reason: str, where: str) -> errors.DataLossError:
        return errors.data_loss(
            f"{reason} ({where} of {self._path}): the file was cut or changed, or is compressed in "
            "another way than was said. Write it anew; the records before this one are whole."
        )


def tf_record_iterator(path: str, options: object = None) -> Iterator[bytes]:
    """The records of a file, one after the other (tf.io.tf_record_iterator)."""
    compression = TFRecordOptions.get_compression_type_string(options)
    with RecordReader(path, compression) as reader:
        while (record := reader.read()) is not None:
            yield record
