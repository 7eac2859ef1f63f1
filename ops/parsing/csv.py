# SPDX-License-Identifier: Apache-2.0
"""Lines of comma-separated values as one tensor per column."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph import rowwise
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...engine.types.texts import PackedTexts, unpacked
from .. import shape_inference
from ..public import raw
from ..strings import at_once, packing
from ..strings.files import text_array
from ..strings.numbers import few_plain_numbers, parse_number, parse_numbers

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType


_QUOTE, _LINE_ENDS = b'"', (b"\n"[0], b"\r"[0])


class _Format:
    """How the fields of a record are told apart, and which are wanted."""

    def __init__(self, c: KernelContext) -> None:
        delimiter: str = c.attr("field_delim")
        if len(delimiter.encode()) != 1:
            raise errors.invalid("field_delim should be only 1 char")
        self.delimiter = delimiter.encode()
        self.has_quotes: bool = c.attr("use_quote_delim")
        self.selected: list[int] = c.attr("select_cols")
        self.missing: bytes = c.attr("na_value").encode()
        # What a record of plain numbers is made of.  (Whole numbers have no `+`.)
        kinds = list(c.op._attrs["OUT_TYPE"])
        has_whole = any(kind.is_integer for kind in kinds)
        self._digits = (b"0123456789-.eE" if has_whole else b"0123456789-+.eE") + self.delimiter
        # Which columns have which type, unless there are texts among them.
        places = {kind: [i for i, k in enumerate(kinds) if k == kind] for kind in kinds}
        self._places = [] if dtypes.string in kinds or self.selected else list(places.items())

    def single(
        self, record: bytes, kinds: Sequence[DType], shape: tuple[int, ...]
    ) -> list[np.ndarray] | None:
        """The columns of one record that is nothing but plain numbers; None if it is not."""
        if not self._places or record.translate(None, self._digits):
            return None
        fields = record.split(self.delimiter)
        if len(fields) != len(kinds) or b"" in fields or self.missing in fields:
            return None
        results: list[Any] = [None] * len(fields)
        try:
            for kind, places in self._places:
                values = few_plain_numbers([fields[i] for i in places], kind)
                if values is None:
                    return None
                for row, i in enumerate(places):
                    value = values[row : row + 1]
                    results[i] = value if shape == (1,) else value.reshape(shape)
        except ValueError:
            return None
        return results

    def fields(self, record: bytes) -> list[bytes]:
        """The wanted fields of a record, without the quotes around them."""
        found: list[bytes] = []
        number, at = 0, 0
        while at < len(record):
            if record[at] in _LINE_ENDS:
                at += 1
                continue
            is_wanted = self._is_wanted(found, number)
            if self.has_quotes and record[at] == _QUOTE[0]:
                field, at = self._quoted(record, at + 1)
            else:
                field, at = self._unquoted(record, at)
            number += 1
            if is_wanted:
                found.append(field)
                if len(found) == len(self.selected):
                    return found
        # A delimiter at the end has an empty field behind it, which the loop does not reach.
        if record.endswith(self.delimiter) and self._is_wanted(found, number):
            found.append(b"")
        return found

    def plain_columns(self, records: list[bytes], count: int) -> list[Sequence[bytes]] | None:
        """The wanted fields of all records by column; None if not all are as simple as that."""
        whole = b"".join(records)
        if b"\n" in whole or b"\r" in whole or (self.has_quotes and _QUOTE in whole):
            return None
        delimiters = set(map(methodcaller("count", self.delimiter), records))
        if not all(records) or len(delimiters) != 1:
            return None
        width = delimiters.pop() + 1
        wanted = self.selected or range(width)
        if width <= max(wanted) or len(wanted) != count:
            return None
        # As many fields in all: those of a column are as far apart.
        fields = self.delimiter.join(records).split(self.delimiter)
        return [fields[i::width] for i in wanted]

    def packed_fields(self, records: PackedTexts, count: int) -> np.ndarray | None:
        """Where the fields of many records lie, [wanted columns, records, 2]; some may be missing.

        None if not all are as simple as in `plain_columns`.
        """
        data = records.data
        if b"\n" in data or b"\r" in data or (self.has_quotes and _QUOTE in data):
            return None
        found = at_once.split(records, self.delimiter, False)
        if found is None:
            return None
        fields, _, width = found
        wanted = self.selected or range(width)
        # (None has more fields than the one with the most.)
        if len(fields) != width * len(records) or width <= max(wanted) or len(wanted) != count:
            return None
        places = fields.places.reshape(len(records), width, 2)
        places = places[:, self.selected] if self.selected else places
        return np.ascontiguousarray(places.transpose(1, 0, 2))

    def are_missing(self, data: bytes, places: np.ndarray) -> np.ndarray:
        """Which fields are to be what stands for a missing one, in the order of their places."""
        sizes = places[..., 1] - places[..., 0]
        absent = sizes == 0
        for i, j in np.argwhere(sizes == len(self.missing)).tolist() if self.missing else ():
            start, stop = places[i, j].tolist()
            absent[i, j] = data[start:stop] == self.missing
        return absent

    def _is_wanted(self, found: list[bytes], number: int) -> bool:
        return not self.selected or self.selected[len(found)] == number

    def _unquoted(self, record: bytes, start: int) -> tuple[bytes, int]:
        end = record.find(self.delimiter, start)
        end = len(record) if end < 0 else end
        field = record[start:end]
        if (self.has_quotes and _QUOTE in field) or b"\n" in field or b"\r" in field:
            raise errors.invalid("Unquoted fields cannot have quotes/CRLFs inside")
        return field, end + 1

    def _quoted(self, record: bytes, at: int) -> tuple[bytes, int]:
        """A field that began with a quote: it goes on to a quote in front of a delimiter."""
        parts, last = [], len(record) - 1
        while at < last:
            quote = record.find(_QUOTE, at)
            if not 0 <= quote < last:
                parts.append(record[at:last])
                at = last
                break
            parts.append(record[at:quote])
            at = quote
            following = record[quote + 1 : quote + 2]
            if following == self.delimiter:
                break
            if following != _QUOTE:
                raise errors.invalid("Quote inside a string has to be escaped by another quote")
            parts.append(_QUOTE)
            at += 2
        is_over = record[at + 1 : at + 2] in (b"", self.delimiter)
        if record[at : at + 1] != _QUOTE or not is_over:
            raise errors.invalid("Quoted field has to end with quote followed by delim or end")
        return b"".join(parts), at + 2


def _kernel(
    c: KernelContext, records: np.ndarray | PackedTexts, defaults: Sequence[np.ndarray]
) -> list[np.ndarray]:
    for i, default in enumerate(defaults):
        if default.ndim > 1:
            raise errors.invalid("Each record default should be at most rank 1")
        if default.size > 1:
            raise errors.invalid(
                f"There should only be 1 default per field but field {i} has {default.size}"
            )
    kinds = c.op._attrs["OUT_TYPE"]
    form: _Format = c.kernel_state(lambda: _Format(c))
    if records.size == 1:
        single = form.single(unpacked(records).item(), kinds, records.shape)
        if single is not None:
            return single
    if packing.is_many(records, len(kinds)):
        whole = _at_once(form, records, defaults, kinds, c.packs)
        if whole is not None:
            return whole
    return _one_by_one(form, unpacked(records), defaults, kinds)


def _one_by_one(
    form: _Format, records: np.ndarray, defaults: Sequence[np.ndarray], kinds: Sequence[DType]
) -> list[np.ndarray]:
    """The columns of records as Python reads them, with the errors that come of it."""
    missing = form.missing
    columns = form.plain_columns(records.reshape(-1).tolist(), len(kinds))
    # All records in one go where none needs a default or has an error; else one by one, in the
    # order in which errors come.
    if columns is not None and not any(b"" in found or missing in found for found in columns):
        with contextlib.suppress(ValueError):
            return [
                _column(found, kind).reshape(records.shape) for found, kind in zip(columns, kinds)
            ]
    results = [np.empty(records.shape, kind.np_dtype) for kind in kinds]
    for i, record in enumerate(records.flat):
        fields = form.fields(record)
        if len(fields) != len(kinds):
            raise errors.invalid(f"Expect {len(kinds)} fields but have {len(fields)} in record {i}")
        for j, field in enumerate(fields):
            if not field or field == missing:
                if not defaults[j].size:
                    raise errors.invalid(f"Field {j} is required but missing in record {i}!")
                value = defaults[j].item()
            else:
                value = _value(field, kinds[j], i, j)
            with np.errstate(over="ignore"):
                results[j].reshape(-1)[i] = value
    return results


def _at_once(
    form: _Format,
    records: np.ndarray | PackedTexts,
    defaults: Sequence[np.ndarray],
    kinds: Sequence[DType],
    packs: Container[int],
) -> list[Any] | None:
    """The columns of many records by kernels, those of a type together; None for a closer look.

    packs: the columns whose texts may be packed.
    """
    known = packing.packed(records)
    places = None if known is None else form.packed_fields(known, len(kinds))
    if known is None or places is None:
        return None
    absent = form.are_missing(known.data, places)
    if any(not default.size and absent[i].any() for i, default in enumerate(defaults)):
        return None
    results: list[Any] = [None] * len(kinds)
    for kind in dict.fromkeys(kinds):
        those = [i for i, each in enumerate(kinds) if each == kind]
        values = [defaults[i].item() if defaults[i].size else None for i in those]
        if kind == dtypes.string:
            texts = _with_defaults(known.data, places[those], absent[those], values)
            packed = [records.ndim == 1 and i in packs for i in those]
            columns = _texts(texts, packed, len(those))
        else:
            found = _numbers(known.data, places[those], absent[those], values, kind)
            if found is None:
                return None
            columns = list(map(np.array, found))
        for i, column in zip(those, columns):
            is_packed = isinstance(column, PackedTexts)
            results[i] = column if is_packed else column.reshape(records.shape)
    return results


def _with_defaults(
    data: bytes, places: np.ndarray, absent: np.ndarray, defaults: Sequence[bytes | None]
) -> PackedTexts:
    """The fields of columns one behind the other, with defaults for those that are missing."""
    if absent.any():
        data, at = b"".join([data, *(text or b"" for text in defaults)]), len(data)
        for column, gone, text in zip(places, absent, defaults):
            size = len(text or b"")
            column[gone] = at, at + size
            at += size
    return PackedTexts(data, places.reshape(-1, 2))


def _texts(texts: PackedTexts, packed: Sequence[bool], count: int) -> list[Any]:
    """So many columns of texts that lie one behind the other, packed or as objects."""
    parts = texts.places.reshape(count, -1, 2)
    if all(packed):
        return [PackedTexts(texts.data, part) for part in parts]
    objects = packing.objects_of(texts).reshape(count, -1)
    return [
        PackedTexts(texts.data, part) if is_packed else column.copy()
        for part, column, is_packed in zip(parts, objects, packed)
    ]


def _numbers(
    data: bytes,
    places: np.ndarray,
    absent: np.ndarray,
    defaults: Sequence[float | None],
    kind: DType,
) -> np.ndarray | None:
    """The fields of columns as numbers; None where one is no plain number."""
    dtype = kind.np_dtype
    is_whole = not absent.any()
    there = PackedTexts(data, places.reshape(-1, 2) if is_whole else places[~absent])
    try:
        found = parse_numbers(there, kind) if len(there) else np.empty(0, dtype)
    except ValueError:
        return None
    if is_whole:
        return found.reshape(absent.shape)
    values = np.empty(absent.shape, dtype)
    values[...] = np.array([number or 0 for number in defaults], dtype)[:, None]
    values[~absent] = found
    return values


def _column(fields: Sequence[bytes], kind: DType) -> np.ndarray:
    return text_array(fields) if kind == dtypes.string else parse_numbers(fields, kind)


def _value(field: bytes, kind: DType, i: int, j: int) -> Any:
    if kind == dtypes.string:
        return field
    try:
        return parse_number(field, kind)
    except ValueError:
        name = dtypes.runtime_name(kind)
        text = f"Field {j} in record {i} is not a valid {name}: "
        raise errors.invalid(text + field.decode(errors="replace")) from None


def _shape(c: ShapeContext) -> list[TensorShape]:
    for default in c.inputs[1:]:
        known = shape_inference.ranked_at_most(default, 1)
        if known and known[0] is not None and known[0] > 1:
            raise ValueError(
                "Shape of a default must be a length-0 or length-1 vector, or a scalar."
            )
    return [c.inputs[0]] * len(c.op.outputs)


define(
    "DecodeCSV",
    "records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE",
    "OUT_TYPE: list({float32, float64, int32, int64, string}) >= 1; field_delim: string = ','; "
    "use_quote_delim: bool = true; na_value: string = ''; select_cols: list(int) = []",
    shape=_shape,
    kernel=_kernel,
    rows=rowwise.of_first,
    takes_packed=("records",),
    gives_packed=True,
    gradient=NoGradient("texts have no derivative"),
    doc="The columns of lines of comma-separated values.",
    test=lambda: {
        "values": [
            [np.array([b"1,2", b"3,"], object), [np.array([], np.int32), np.array([0], np.int32)]],
            [np.array(b'x,"y, z"', object), [np.array(b"", object), np.array([b"-"], object)]],
        ],
        "attrs": [{}, {"use_quote_delim": True}],
    },
)


@export("io.decode_csv", "decode_csv")
def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """The columns of lines of comma-separated values, a tensor of the shape of `records` each.

    record_defaults: one per column, of its type: a value for empty fields (and those that equal
    `na_value`), or an empty list where there must be one.  select_cols: the columns, ascending, if
    not all.  InvalidArgumentError in the run for lines of other columns (tf.io.decode_csv).
    """
    if select_cols is not None:
        pairs = zip(select_cols, select_cols[1:])
        if any(first >= second for first, second in pairs):
            raise ValueError("select_cols is not strictly increasing.")
        if select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    return raw.DecodeCSV(
        records=records,
        record_defaults=record_defaults,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=[] if select_cols is None else select_cols,
        name=name,
    )
