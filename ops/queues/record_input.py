# SPDX-License-Identifier: Apache-2.0
"""`RecordInput`: batches of records of all files of a pattern, in random order, for ever."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient, reads
from ...engine.types.shape import unknown_shape
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor


class _Records:
    """Records of one node in one session: epoch after epoch, each from a buffer in random order.

    Files are read in turns, as many at a time as there would be threads; nothing depends on time,
    so a seed gives the same records in every run.
    """

    def __init__(self, c: KernelContext) -> None:
        self._patterns = c.attr("file_pattern").split(",")
        self._parallel = max(1, c.attr("file_parallelism"))
        self._room = max(1, c.attr("file_buffer_size"))
        self._shift = c.attr("file_shuffle_shift_ratio")
        self._seed, self._compression = c.attr("file_random_seed"), c.attr("compression_type")
        self._epoch = 0
        self._ready: Iterator[bytes] = iter(())

    def next(self) -> bytes:
        """The next record; begins another epoch where one has ended."""
        for record in self._ready:
            return record
        self._epoch += 1
        self._ready = self._shuffled(self._files())
        for record in self._ready:
            return record
        raise errors.out_of_range(f"the files at {','.join(self._patterns)} hold no records")

    def _files(self) -> list[str]:
        from ...io.files import get_matching_files

        found = [path for pattern in self._patterns for path in get_matching_files(pattern)]
        if not found:
            raise errors.not_found(f"Found no files at {','.join(self._patterns)}")
        order = self._random(1).permutation(len(found))
        first = int(self._shift * len(found)) if 0 <= self._shift < 1 else 0
        return [found[place] for place in np.roll(order, -first)]

    def _random(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self._seed & (1 << 64) - 1, self._epoch, purpose])

    def _read(self, files: list[str]) -> Iterator[bytes]:
        """The records of all files: one of each of some, in turns."""
        from ...io.record import tf_record_iterator

        def shard(paths: list[str]) -> Iterator[bytes]:
            for path in paths:
                yield from tf_record_iterator(path, self._compression)

        shards = [shard(files[first :: self._parallel]) for first in range(self._parallel)]
        while shards:
            # Those that are at their end fall out.
            turn = [(one, next(one, None)) for one in shards]
            shards = [one for one, record in turn if record is not None]
            yield from (record for _, record in turn if record is not None)

    def _shuffled(self, files: list[str]) -> Iterator[bytes]:
        random, records = self._random(2), self._read(files)
        buffer = list(itertools.islice(records, self._room))
        while buffer:
            place = random.integers(len(buffer))
            buffer[place], buffer[-1] = buffer[-1], buffer[place]
            yield buffer.pop()
            buffer.extend(itertools.islice(records, 1))


def _record_input(c: KernelContext) -> np.ndarray:
    records = c.kernel_state(lambda: _Records(c))
    return np.array([records.next() for _ in range(c.attr("batch_size"))], object)


define(
    "RecordInput",
    "-> records: string",
    "file_pattern: string; file_random_seed: int = 301; file_shuffle_shift_ratio: float = 0; "
    "file_buffer_size: int = 10000; file_parallelism: int = 16; batch_size: int = 32; "
    "compression_type: string = ''",
    shape=lambda c: unknown_shape(),
    kernel=_record_input,
    gradient=NoGradient("what files hold does not depend on the graph"),
    stateful=True,
    touches=reads("file_pattern"),
    doc="Records of TFRecord files in random order, for ever.",
    test={"needs": "files"},
)


class RecordInput:
    """Records of all files of a pattern, in random order, for ever.

    Args:
        file_pattern: of the files' paths; several are separated by commas.
        batch_size: how many records a run gives.
        buffer_size: of how many records the next one is drawn.
        parallelism: how many files are read in turns.
        shift_ratio: what part of the files is moved from the beginning to the end in each epoch.
        seed: what the order depends on.
        name: of the operation.
        batches: how many lists of `batch_size` records a run gives; None: one tensor.
        compression_type: of the files, one of tf.python_io.TFRecordCompressionType.
    """

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: Any = None,
    ) -> None:
        self._batch_size = batch_size * (1 if batches is None else batches)
        self._batches, self._name, self._compression_type = batches, name, compression_type
        self._settings: dict[str, Any] = {
            "file_pattern": file_pattern,
            "file_buffer_size": buffer_size,
            "file_parallelism": parallelism,
            "file_shuffle_shift_ratio": shift_ratio,
            "file_random_seed": seed,
        }

    def get_yield_op(self) -> Tensor | list[list[Tensor]]:
        """A string tensor of a batch, or for each of several batches a list of scalars."""
        from ...io.record import TFRecordOptions

        records = raw.RecordInput(
            **self._settings,
            batch_size=self._batch_size,
            compression_type=TFRecordOptions.get_compression_type_string(self._compression_type),
            name=self._name,
        )
        if self._batches is None:
            return records
        with tf.name_scope(self._name):
            parts = tf.split(records, self._batch_size, 0)
            lists: list[list[Tensor]] = [[] for _ in range(self._batches)]
            for place, record in enumerate(parts):
                lists[place % self._batches].append(tf.reshape(record, []))
            return lists
