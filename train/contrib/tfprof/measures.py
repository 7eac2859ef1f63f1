# SPDX-License-Identifier: Apache-2.0
"""What profiles measure of operations: names, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple


def number(count: int) -> str:
    """A count: 999, 1.00k, 1.00m, 1.00b."""
    for limit, unit, letter in ((10**3, 1, ""), (10**6, 10**3, "k"), (10**9, 10**6, "m")):
        if count < limit:
            return f"{count / unit:.2f}{letter}" if letter else str(count)
    return f"{count / 10**9:.2f}b"


def time(micros: int) -> str:
    """Microseconds: 999us, 1.00ms, 1.00sec."""
    if micros < 10**3:
        return f"{micros}us"
    return f"{micros / 10**3:.2f}ms" if micros < 10**6 else f"{micros / 10**6:.2f}sec"


def memory(count: int) -> str:
    """Bytes: 999B, 1.00KB, 1.00MB."""
    if count < 10**3:
        return f"{count}B"
    return f"{count / 10**3:.2f}KB" if count < 10**6 else f"{count / 10**6:.2f}MB"


class Measure(NamedTuple):
    """A number of an operation: what options call it, its field in messages, how it is written."""

    option: str
    field: str
    title: str
    write: Callable[[int], str]
    unit: str = ""

    @property
    def total(self) -> str:
        """The field of the sum over what is below."""
        return f"total_{self.field}"


_PARAMETERS = Measure("params", "parameters", "# parameters", number, " params")
_FLOAT_OPS = Measure("float_ops", "float_ops", "# float_ops", number, " flops")
_MEMORY = (
    Measure("bytes", "requested_bytes", "requested bytes", memory),
    Measure("peak_bytes", "peak_bytes", "peak bytes", memory),
    Measure("residual_bytes", "residual_bytes", "residual bytes", memory),
    Measure("output_bytes", "output_bytes", "output bytes", memory),
)
_TIMES = (
    Measure("micros", "exec_micros", "total execution time", time),
    Measure("accelerator_micros", "accelerator_exec_micros", "accelerator execution time", time),
    Measure("cpu_micros", "cpu_exec_micros", "cpu execution time", time),
)
# In the order of a tree's columns, and of a table's.
IN_TREES = (_PARAMETERS, _FLOAT_OPS, *_MEMORY, *_TIMES)
IN_TABLES = (*_MEMORY, *_TIMES, _PARAMETERS, _FLOAT_OPS)
FIELDS = tuple(measure.field for measure in IN_TREES)
# Other columns, with their titles in trees.
FACTS = {
    "device": "assigned devices",
    "op_types": "op types",
    "occurrence": "op count (run|defined)",
    "input_shapes": "input shapes",
}
COLUMNS = {measure.option for measure in IN_TREES} | {*FACTS}


def selected(measures: Iterable[Measure], select: Iterable[str]) -> list[Measure]:
    """Those that options select; "micros" has all times."""
    names = set(select)
    if "micros" in names:
        names |= {"accelerator_micros", "cpu_micros"}
    return [measure for measure in measures if measure.option in names]
