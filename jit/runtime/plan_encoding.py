# SPDX-License-Identifier: Apache-2.0
"""A finished plan as bytes that another process makes the plan of, without tracing anything.

Kept are the tables that runs are made of (jit/schedule/bind.py), the keys of kernels, and how the
values look that Python reads.  What is outside of a plan stands there by number (`Outside` in
jit/runtime/plan_key.py).  There are no nodes: what reports and errors need is traced when it is
wanted.  The bytes are a line of JSON and the contents of arrays: reading them runs nothing.
jit/runtime/plan_writing.py makes the tables, jit/runtime/plan_reading.py a plan of them.
Imports the keys of plans.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ...engine.record_class import record
from ..kernel.reference import numpy_dtype
from .plan_key import NotStored

_OPS = __name__.removesuffix("jit.runtime.plan_encoding") + "ops."


@record
class Stored:
    """What the bytes of a plan say, as plain data.

    tables: of the plan, by name; arrays: what they mean by number.
    """

    tables: dict[str, Any]
    arrays: Sequence[np.ndarray]

    @property
    def kernels(self) -> list[tuple[str, str]]:
        """Names and contents' hashes of all kernels."""
        return [(name, content) for name, content in self.tables["kernels"]]


def to_bytes(stored: Stored) -> bytes:
    """Plain data as bytes; NotStored where something is none, as a size that a run tells."""
    kinds = [(_spelt(array.dtype), array.shape) for array in stored.arrays]
    text = json.dumps([stored.tables, kinds], separators=(",", ":"), default=_refuse)
    head = text.encode()
    return b"\n".join([head, b"".join([array.tobytes() for array in stored.arrays])])


def _refuse(thing: object) -> None:
    raise NotStored(f"it has a {type(thing).__name__}, which is no plain data")


def from_bytes(content: bytes) -> Stored:
    """The data in bytes; ValueError where they are none."""
    head, _, rest = content.partition(b"\n")
    tables, kinds = json.loads(head)
    arrays, place = [], 0
    for dtype, shape in kinds:
        kind, count = numpy_dtype(dtype), 1
        for size in shape:
            count *= size
        if kind.hasobject:
            raise ValueError("it has an array of objects")
        arrays.append(np.frombuffer(rest, kind, count, place).reshape(shape))
        place += count * kind.itemsize
    if place != len(rest):
        raise ValueError("its arrays are of another length")
    return Stored(tables, arrays)


def _spelt(dtype: np.dtype[Any]) -> str:
    """What `numpy_dtype` makes the dtype of; bfloat16's `str` is that of any two bytes."""
    return dtype.name if dtype.name == "bfloat16" else dtype.str


def name_of(function: Any) -> list[str] | None:
    """The module and the name of a function of the package's ops; None for any other."""
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    if not module.startswith(_OPS) or "." in name:
        return None
    named = [module.removeprefix(_OPS), name]
    return named if function_of(*named) is function else None


def function_of(module: str, name: str) -> Any:
    """The function of that name."""
    return getattr(import_module(_OPS + module), name, None)
