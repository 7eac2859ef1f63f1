# SPDX-License-Identifier: Apache-2.0
"""`tf.TextLineReader` and its relatives: records out of files whose names come from a queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import ControlFlowRole, NoGradient, Touch
from ...engine.types import dtypes
from ...engine.types.dtypes import boxed
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import raw
from ..state.shared_state import kept
from . import reader_store as store
from .queues import QueueBase
from .reader_store import Reader

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.session.futures import Future

_FILES = NoGradient("what files hold does not depend on the graph")
_SHARING = "container: string = ''; shared_name: string = ''"
# Their names come out of a queue.
_ANY_FILES = (Touch("files"),)


def _fixed(c: KernelContext, name: str) -> Reader:
    encoding = c.attr("encoding") if c.type.endswith("V2") else ""
    header, record, footer, hop = (
        c.attr(f"{part}_bytes") for part in ("header", "record", "footer", "hop")
    )
    return store.FixedLengthReader(name, header, record, footer, hop, encoding)


_FIXED = (
    "header_bytes: int = 0; record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0; "
    + _SHARING
)
# The ops of references and of resources -> what makes a reader for a node and a name, attributes
# of each op, documentation.
_KINDS: dict[tuple[str, str], tuple[Callable[[Any, str], Reader], tuple[str, str], str]] = {
    ("WholeFileReader", "WholeFileReaderV2"): (
        lambda c, name: store.WholeFileReader(name),
        (_SHARING, _SHARING),
        "A reader of whole files.",
    ),
    ("TextLineReader", "TextLineReaderV2"): (
        lambda c, name: store.TextLineReader(name, c.attr("skip_header_lines")),
        (f"skip_header_lines: int = 0; {_SHARING}",) * 2,
        "A reader of lines.",
    ),
    ("FixedLengthRecordReader", "FixedLengthRecordReaderV2"): (
        _fixed,
        (_FIXED, f"{_FIXED}; encoding: string = ''"),
        "A reader of records of one length.",
    ),
    ("TFRecordReader", "TFRecordReaderV2"): (
        lambda c, name: store.RecordFileReader(name, c.attr("compression_type")),
        (f"{_SHARING}; compression_type: string = ''",) * 2,
        "A reader of TFRecord files.",
    ),
    ("IdentityReader", "IdentityReaderV2"): (
        lambda c, name: store.IdentityReader(name),
        (_SHARING, _SHARING),
        "A reader that gives what the queue gives.",
    ),
}


def _maker(make: Callable[[Any, str], Reader]) -> Callable[[Any], Reader]:
    return lambda c: kept(c, "reader", lambda name: make(c, c.name))


def _up_to(c: KernelContext, reader: Reader, queue: Any, count: np.ndarray) -> Future:
    return reader.read_up_to(queue, int(count))


def _restore(c: KernelContext, reader: Reader, state: np.ndarray) -> None:
    if state.ndim:
        raise errors.invalid(
            f"Reader state must be scalar, but had shape: {shape_text(state.shape)}"
        )
    reader.restore(state.item())


def _scalars(c: ShapeContext) -> list[TensorShape]:
    return [TensorShape([]) for _ in c.op.outputs]


def _vectors(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[2], 0)
    return [TensorShape([None]), TensorShape([None])]


def _state_shape(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[1], 0)
    return []


for _names, (_make, _attrs, _doc) in _KINDS.items():
    for _name, _handle, _shape, _own in (
        (_names[0], "Ref(string)", [2], _attrs[0]),
        (_names[1], "resource", [], _attrs[1]),
    ):
        define(
            _name,
            f"-> reader_handle: {_handle}",
            _own,
            shape=lambda c, shape=_shape: TensorShape(shape),
            kernel=_maker(_make),
            gradient=_FILES if _handle == "resource" else _FILES.silently,
            touches=() if "IdentityReader" in _names else _ANY_FILES,
            stateful=True,
            doc=_doc,
        )
define(
    "LMDBReader",
    "-> reader_handle: Ref(string)",
    _SHARING,
    shape=lambda c: TensorShape([2]),
    kernel=_maker(lambda c, name: store.LmdbReader(name)),
    gradient=_FILES.silently,
    touches=_ANY_FILES,
    stateful=True,
    doc="A reader of LMDB databases: keys and values.",
)
for _is_resource, _handle in ((False, "Ref(string)"), (True, "resource")):
    for _names, _more, _outputs, _rule, _kernel, _role, _doc in (
        (
            ("ReaderRead", "ReaderReadV2"),
            f", queue_handle: {_handle}",
            "key: string, value: string",
            *(_scalars, lambda c, reader, queue: reader.read(queue), "wait"),
            "The next record.",
        ),
        (
            ("ReaderReadUpTo", "ReaderReadUpToV2"),
            f", queue_handle: {_handle}, num_records: int64",
            *("keys: string, values: string", _vectors, _up_to, "wait"),
            "At most num_records next records.",
        ),
        (
            ("ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2"),
            "",
            "records_produced: int64",
            _scalars,
            *(lambda c, reader: np.asarray(reader.produced, np.int64), ""),
            "How many records were read.",
        ),
        (
            ("ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2"),
            "",
            "units_completed: int64",
            _scalars,
            *(lambda c, reader: np.asarray(reader.finished, np.int64), ""),
            "How many files were read to the end.",
        ),
        (
            *(("ReaderSerializeState", "ReaderSerializeStateV2"), "", "state: string", _scalars),
            *(lambda c, reader: boxed(reader.state()), ""),
            "All that a reader knows.",
        ),
        (
            ("ReaderRestoreState", "ReaderRestoreStateV2"),
            ", state: string",
            "",
            _state_shape,
            _restore,
            "",
            "Makes a reader what it was.",
        ),
        (
            ("ReaderReset", "ReaderResetV2"),
            "",
            "",
            _scalars,
            lambda c, reader: reader.reset(),
            "",
            "Makes a reader new.",
        ),
    ):
        define(
            _names[_is_resource],
            f"reader_handle: {_handle}{_more} -> {_outputs}",
            shape=_rule,
            kernel=_kernel,
            gradient=_FILES if _is_resource else _FILES.silently,
            touches=_ANY_FILES if _role else (),
            control_flow_role=cast("ControlFlowRole", _role),
            doc=_doc,
        )


@export("ReaderBase")
class ReaderBase:
    """What all readers share: records out of the files whose names a queue gives."""

    def __init__(self, reader_ref: Any, supports_serialize: bool = False) -> None:
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Any:
        """The handle."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether the state can be saved."""
        return self._supports_serialize

    def _raw(self, on_reference: str, on_resource: str) -> Callable[..., Any]:
        is_resource = self._reader_ref.dtype == dtypes.resource
        return getattr(raw, on_resource if is_resource else on_reference)

    def _queue(self, queue: Any) -> Any:
        handle = queue if not isinstance(queue, QueueBase) else queue.queue_ref
        if self._reader_ref.dtype == dtypes.resource or handle.dtype != dtypes.resource:
            return handle
        # Both handles must be of one kind.
        return raw.FakeQueue(handle)

    def read(self, queue: object, name: str | None = None) -> Any:
        """Key and value, two scalar strings, of the next record; waits for the queue."""
        return self._raw("ReaderRead", "ReaderReadV2")(
            self._reader_ref, self._queue(queue), name=name
        )

    def read_up_to(self, queue: object, num_records: int, name: str | None = None) -> Any:
        """Keys and values, two vectors of strings, of at most `num_records` next records."""
        return self._raw("ReaderReadUpTo", "ReaderReadUpToV2")(
            self._reader_ref, self._queue(queue), num_records, name=name
        )

    def num_records_produced(self, name: str | None = None) -> Any:
        """How many records were read, an int64 scalar."""
        return self._raw("ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2")(
            self._reader_ref, name=name
        )

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """How many files were read to the end, an int64 scalar."""
        return self._raw("ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2")(
            self._reader_ref, name=name
        )

    def serialize_state(self, name: str | None = None) -> Any:
        """The state, a scalar string; UnimplementedError for most readers."""
        return self._raw("ReaderSerializeState", "ReaderSerializeStateV2")(
            self._reader_ref, name=name
        )

    def restore_state(self, state: str, name: str | None = None) -> Any:
        """An operation that restores a state."""
        return self._raw("ReaderRestoreState", "ReaderRestoreStateV2")(
            self._reader_ref, state, name=name
        )

    def reset(self, name: str | None = None) -> Any:
        """An operation that makes the reader new."""
        return self._raw("ReaderReset", "ReaderResetV2")(self._reader_ref, name=name)


@export("WholeFileReader")
class WholeFileReader(ReaderBase):
    """Gives the names and contents of files."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(raw.WholeFileReaderV2(name=name), supports_serialize=True)


@export("TextLineReader")
class TextLineReader(ReaderBase):
    """Gives the lines of files, without the first `skip_header_lines`."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(raw.TextLineReaderV2(skip_header_lines=skip_header_lines, name=name))


@export("FixedLengthRecordReader")
class FixedLengthRecordReader(ReaderBase):
    """Gives pieces of `record_bytes` bytes between header and footer, `hop_bytes` apart."""

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        handle = raw.FixedLengthRecordReaderV2(
            record_bytes=record_bytes,
            header_bytes=header_bytes,
            footer_bytes=footer_bytes,
            hop_bytes=hop_bytes,
            encoding=encoding,
            name=name,
        )
        super().__init__(handle)


@export("TFRecordReader")
class TFRecordReader(ReaderBase):
    """Gives the records of TFRecord files; `options` say how they are compressed."""

    def __init__(self, name: str | None = None, options: object = None) -> None:
        from ...io.record import TFRecordOptions

        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(raw.TFRecordReaderV2(name=name, compression_type=compression))


@export("LMDBReader")
class LMDBReader(ReaderBase):
    """Gives the keys and values of LMDB databases."""

    def __init__(self, name: str | None = None, options: object = None) -> None:
        del options
        super().__init__(raw.LMDBReader(name=name))


@export("IdentityReader")
class IdentityReader(ReaderBase):
    """Gives what the queue gives, as key and value."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(raw.IdentityReaderV2(name=name), supports_serialize=True)
