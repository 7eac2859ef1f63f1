# SPDX-License-Identifier: Apache-2.0
"""The op of `tf.contrib.libsvm`: lines "label index:value index:value" become labels and features.

1 3:0.5 7:2      label 1; feature 3 is 0.5, feature 7 is 2, all others are 0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ..strings.numbers import parse_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_KINDS = "{float32, float64, int32, int64}"


def _shown(text: bytes) -> str:
    return text.decode(errors="replace")


def _numbers(texts: list[bytes], kind: Any, problem: Callable[[int], str]) -> np.ndarray:
    """The numbers that texts are; InvalidArgumentError with what is said of the first that is not
    one."""
    try:
        return parse_numbers(texts, kind)
    except ValueError:
        for i, text in enumerate(texts):
            try:
                parse_numbers([text], kind)
            except ValueError:
                raise errors.invalid(problem(i)) from None
        raise


def _label_texts(lines: list[list[bytes]], given: list[bytes]) -> list[bytes]:
    for i, line in enumerate(lines):
        if not line:
            raise errors.invalid(f'No label found for input[{i}]: "{_shown(given[i])}"')
    return [line[0] for line in lines]


def _decoded(c: KernelContext, texts: np.ndarray) -> Any:
    given = texts.reshape(-1).tolist()
    lines = [line.split() for line in given]
    heads = _label_texts(lines, given)
    kind, label_kind = c.op._attrs["dtype"], c.op._attrs["label_dtype"]
    labels = _numbers(heads, label_kind, lambda i: f"Label format incorrect: {_shown(heads[i])}")
    pieces = [piece for line in lines for piece in line[1:]]
    for piece in pieces:
        if b":" not in piece:
            raise errors.invalid(f'Invalid feature "{_shown(piece)}"')

    def problem(i: int) -> str:
        return f"Feature format incorrect: {_shown(pieces[i])}"

    halves = [piece.partition(b":") for piece in pieces]
    columns = _numbers([half[0] for half in halves], dtypes.int64, problem)
    values = _numbers([half[2] for half in halves], kind, problem)
    if columns.min(initial=0) < 0:
        raise errors.invalid(f"Feature index should be >= 0, got {columns[columns < 0][0]}")
    owners = np.repeat(np.arange(len(lines)), [len(line) - 1 for line in lines])
    places = np.unravel_index(owners, texts.shape) if texts.ndim else ()
    indices = np.stack([*places, columns], axis=1).astype(np.int64)
    shape = np.array([*texts.shape, c.attr("num_features")], np.int64)
    return labels.reshape(texts.shape), indices, values, shape


def _shape(c: ShapeContext) -> list[TensorShape]:
    rank = None if c.inputs[0].ndims is None else c.inputs[0].ndims + 1
    return [c.inputs[0], TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]


define(
    "DecodeLibsvm",
    "input: string -> label: label_dtype, feature_indices: int64, feature_values: dtype, "
    "feature_shape: int64",
    f"dtype: {_KINDS} = float32; label_dtype: {_KINDS} = int64; num_features: int >= 1",
    shape=_shape,
    kernel=_decoded,
    gradient=NoGradient("its input is text"),
    dynamic_shape=True,
    doc="The labels and features of lines in LibSVM's format.",
    test=lambda: {
        "values": [[np.array([b"1 1:3.5 2:0.5", b"-2", b" 3\t5:-inf 0:2 "], object)]],
        "attrs": [{"num_features": 6}, {"num_features": 6, "label_dtype": dtypes.float64}],
    },
)
