# SPDX-License-Identifier: Apache-2.0
"""Printing tensors while a graph runs."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import is_tensor
from ...engine.graph.registry import NoGradient, Touch, writes
from ...engine.graph.tensor import SparseTensor
from ...engine.types import nest
from ...engine.types.dtypes import boxed
from ...engine.types.shape import TensorShape
from ..public import raw
from .asserts import _summary

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_LOCK = threading.Lock()
# The dtypes whose elements TensorFlow writes out.
_PRINTED = {"float16", "float32", "float64", "bool", "object"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


class _Counter:
    """How often an op printed."""

    def __init__(self) -> None:
        self.calls = 0


def _print(c: KernelContext, x: np.ndarray, data: list[np.ndarray]) -> np.ndarray:
    first = c.attr("first_n")
    counter = c.kernel_state(_Counter)
    with _LOCK:
        counter.calls += 1
        quiet = 0 <= first < counter.calls
    if not quiet:
        parts = (f"[{_summary(np.asarray(value), c.attr('summarize'))}]" for value in data)
        sys.stderr.write(c.attr("message") + "".join(parts) + "\n")
        sys.stderr.flush()
    return x


define(
    "Print",
    "input: T, data: U -> output: T",
    "T: type; U: list(type) >= 0; message: string = ''; first_n: int = -1; summarize: int = 3",
    shape=lambda c: c.inputs[0],
    kernel=_print,
    gradient=lambda op, grad: [grad] + [None] * (len(op.inputs) - 1),
    stateful=True,
    touches=(Touch("output"),),
    doc="Passes its input on and prints the data.",
)


@export("Print")
def Print(  # noqa: N802
    input_: TensorLike,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """A tensor, and whenever it is computed, a line on standard error.  Deprecated for tf.print.

    Args:
        input_: a tensor of any dtype and shape.
        data: a list of tensors to be printed.
        message: a text in front of them.
        first_n: how often it is printed; always by default.
        summarize: how many elements of each tensor are; 3 by default.
        name: of the operation.

    Returns:
        A Tensor like `input_`.

    Raises:
        ValueError: `input_` cannot be made a tensor.

    Example:
        >>> x = tf.Print([1, 2], [tf.constant(3)], message="x: ")
        >>> tf.Session().run(x)  # and on standard error: x: [3]
        array([1, 2], dtype=int32)
    """
    given = {"message": message, "first_n": first_n, "summarize": summarize}
    chosen: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    return raw.Print(input_, data, name=name, **chosen)


def _number(value: np.ndarray | np.generic) -> str:
    """A scalar as TensorFlow's text conversion writes it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, np.floating) or (
        getattr(value, "dtype", None) is not None and value.dtype.kind in "fV"
    ):
        # FLT_DIG and DBL_DIG digits, if they say the number; else as many as always do
        # (core/lib/strings/numbers.cc, FloatToBuffer).
        short, digits = (6, 9) if value.dtype.itemsize <= 4 else (15, 17)
        text = f"{float(value):.{short}g}"
        return text if value.dtype.type(float(text)) == value else f"{float(value):.{digits}g}"
    return str(value)


def _nested(value: np.ndarray | np.generic, entries: int, depth: int = 0) -> str:
    """A tensor in brackets, with the middle of long axes left out."""
    if not isinstance(value, np.ndarray):
        return _number(value)
    if value.ndim == 0:
        item = value.item() if value.dtype == object or value.dtype.kind in "bc" else value[()]
        return _number(item)
    size = len(value)
    gap = " " if value.ndim == 1 else "\n" * (value.ndim - 1) + " " * (depth + 1)
    shown: list[Any] = list(range(size))
    if size > 2 * entries:
        shown = [*range(entries), None, *range(size - entries, size)]
    parts = ["..." if i is None else _nested(value[i], entries, depth + 1) for i in shown]
    return "[" + ("" if entries else gap * bool(size)) + gap.join(parts) + "]"


def _format(c: KernelContext, inputs: list[np.ndarray]) -> np.ndarray:
    pieces = c.attr("template").split(c.attr("placeholder"))
    if len(pieces) != len(inputs) + 1:
        raise errors.invalid(
            f"num placeholders in template and num inputs must match: {len(pieces) - 1} vs. "
            f"{len(inputs)}"
        )
    texts = [_quoted(np.asarray(x), c.attr("summarize")) for x in inputs]
    whole = pieces[0] + "".join(t + p for t, p in zip(texts, pieces[1:], strict=True))
    return boxed(whole.encode())


def _quoted(value: np.ndarray, entries: int) -> str:
    """A tensor as a text; strings are quoted, and what has no text there is a question mark."""
    entries = value.size if entries < 0 else min(entries, value.size)
    if value.dtype.name not in _PRINTED:
        return f"[{' '.join('?' * entries)}{'...' * (entries < value.size)}]"
    if value.dtype == object:
        quote = np.frompyfunc(lambda s: b'"' + s + b'"', 1, 1)
        value = np.asarray(quote(value), object)
    elif value.dtype == np.float16:
        value = value.astype(np.float32)
    return _nested(value, entries)


define(
    "StringFormat",
    "inputs: T -> output: string",
    "T: list(type) >= 0; template: string = '%s'; placeholder: string = '%s'; summarize: int = 3",
    shape=lambda c: TensorShape([]),
    kernel=_format,
    gradient=NoGradient("a text"),
    test={"attrs": [{"template": "a %s b %s"}, {"template": "{}{}", "placeholder": "{}"}]},
    doc="A template with tensors in place of its placeholders.",
)


@export("strings.format")
def string_format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """A template with tensors in place of its placeholders."""
    if is_tensor(inputs):
        inputs = [inputs]
    if template.count(placeholder) != len(inputs):
        raise ValueError(
            f"{template.count(placeholder)} placeholder(s) in template does not match "
            f"{len(inputs)} tensor(s) provided as input"
        )
    return raw.StringFormat(
        list(inputs), template=template, placeholder=placeholder, summarize=summarize, name=name
    )


def _emit(c: KernelContext, value: np.ndarray) -> None:
    text = value.item()
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    text += c.attr("end")
    stream = c.attr("output_stream")
    if stream.startswith("file://"):
        with _LOCK, open(stream[len("file://") :], "a", encoding="utf-8") as file:
            file.write(text)
    elif stream in ("stdout", "stderr"):
        target = getattr(sys, stream)
        with _LOCK:
            target.write(text)
            target.flush()
    elif stream in _LOGS:
        _log(stream, text)
    else:
        raise errors.invalid(
            f"Unknown output stream: {stream}, Valid streams are: {' '.join(_STREAMS)}"
        )


# The logs in order of how much they matter.
_LOGS = ("log(info)", "log(warning)", "log(error)")
_STREAMS = ("stdout", "stderr", *_LOGS)


def _log(stream: str, text: str) -> None:
    """Writes a line as TensorFlow's kernels log, which Python's levels do not touch.

    The line's end comes behind the text's own.
    """
    if _LOGS.index(stream) < int(os.environ.get("TF_CPP_MIN_LOG_LEVEL") or 0):
        return
    letter = stream.removeprefix("log(")[0].upper()
    now = time.time()
    when = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(now))}.{int(now % 1 * 1e6):06}"
    with _LOCK:
        sys.stderr.write(f"{when}: {letter} tf.print] {text}\n")
        sys.stderr.flush()


def _text_shape(c: ShapeContext) -> list[Any]:
    if c.inputs[0].ndims not in (0, None):
        raise ValueError(f"input must be a scalar, but has rank: {c.inputs[0].ndims}")
    return []


define(
    "PrintV2",
    "input: string ->",
    "output_stream: string = 'stderr'; end: string = '\\n'",
    shape=_text_shape,
    kernel=_emit,
    gradient=NoGradient("prints a text"),
    stateful=True,
    touches=(Touch("output"), *writes("output_stream", scheme="file://")),
    doc="Prints a text.",
    test=lambda: {"values": [[np.array(b"a", object)]]},
)

define(
    "Timestamp",
    "-> ts: float64",
    shape=lambda c: TensorShape([]),
    kernel=lambda c: np.float64(time.time()),
    gradient=NoGradient("a clock", silent=True),
    stateful=True,
    doc="Seconds since 1970.",
    test={"needs": "a clock"},
)


@export("timestamp")
def timestamp(name: str | None = None) -> Tensor:
    """Seconds since 1970, when the operation runs."""
    return raw.Timestamp(name=name)


_LEVELS = {
    "info": "log(info)",
    "warn": "log(warning)",
    "warning": "log(warning)",
    "error": "log(error)",
}
_NUMBERS = {logging.INFO: "log(info)", logging.WARNING: "log(warning)", logging.ERROR: "log(error)"}


def _stream_name(stream: object) -> str:
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    if stream is sys.stdout:
        return "stdout"
    if stream is sys.stderr:
        return "stderr"
    name = getattr(stream, "__name__", None)
    found = _NUMBERS.get(stream) if isinstance(stream, int) else _LEVELS.get(name or "")
    if found is None:
        raise ValueError(
            f"Unsupported output stream, logging level, or file.{stream}. Supported streams are "
            "sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. "
            "File needs to be in the form of 'file://<filepath>'."
        )
    return found


def _placeholder_for(text: str) -> str:
    """A placeholder that does not occur in a text."""
    import random

    # Always the same digits, so that the graph is the same; the seed is TensorFlow's.
    placeholder, digits = "{}", random.Random(5)
    while placeholder in text:
        placeholder += str(digits.randint(0, 9))
    return placeholder


def _template_of(inputs: Sequence[Any], sep: str) -> tuple[str, str, list[Any]]:
    """Template, placeholder and tensors of what is to be printed."""
    import pprint

    bare = nest.map_structure(lambda x: "" if is_tensor(x) else x, list(inputs))
    placeholder = _placeholder_for(" ".join(pprint.pformat(x) for x in bare))
    tensors: list[Any] = []
    templates = []
    for thing in inputs:
        marks: list[Any] = []
        for x in nest.flatten(thing):
            if isinstance(x, SparseTensor):
                tensors.extend([x.indices, x.values, x.dense_shape])
                p = placeholder
                marks.append(f"SparseTensor(indices={p}, values={p}, shape={p})")
            elif is_tensor(x):
                tensors.append(x)
                marks.append(placeholder)
            else:
                marks.append(x)
        if isinstance(thing, str):
            templates.append(thing)
        else:
            templates.append(pprint.pformat(nest.pack_sequence_as(thing, marks)))
    # pprint has put quotes around the placeholders, as they are texts to it.
    template = sep.join(templates).replace(f"'{placeholder}'", placeholder)
    return template, placeholder, tensors


@export("print")
def print_v2(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that prints its arguments when it runs."""
    stream = _stream_name(kwargs.pop("output_stream", sys.stderr))
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep, end = kwargs.pop("sep", " "), kwargs.pop("end", os.linesep)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    only = inputs[0] if len(inputs) == 1 else None
    is_text = is_tensor(only) and not isinstance(only, SparseTensor)
    if only is not None and is_text and only.shape.ndims == 0 and only.dtype == "string":
        text = only
    else:
        template, placeholder, tensors = _template_of(inputs, sep)
        text = raw.StringFormat(
            tensors,
            template=template,
            placeholder=placeholder,
            summarize=summarize,
            name=f"{name}_format" if name else None,
        )
    return raw.PrintV2(text, output_stream=stream, end=end, name=name)
