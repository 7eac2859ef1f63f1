# SPDX-License-Identifier: Apache-2.0
"""What a check of gradients found, as data and as text."""

from __future__ import annotations

import math
from dataclasses import asdict, field
from typing import Any, Literal

from ..record_class import record

Mode = Literal["reverse", "forward"]
_ORDINALS = {1: "first", 2: "second", 3: "third"}


@record(frozen=True, slots=True)
class OpAtFault:
    """An op whose own gradient is wrong, and the line of the program that made it.

    `forward` is the op of the program whose gradient this op is part of; itself if it is its own.
    """

    name: str
    type: str
    forward: str
    forward_type: str
    file: str
    line: int

    def __str__(self) -> str:
        own = f"{self.type} '{self.name}'"
        if self.forward != self.name:
            own += f" in the gradient of {self.forward_type} '{self.forward}'"
        return f"{own}, made at {self.file}:{self.line}"


@record(frozen=True, slots=True)
class Fault:
    """A derivative that is not what the function's values say.

    `element` is the place within the input that was moved; () of a scalar.  `symbolic` is what the
    graph's gradient says of that move, `numeric` what the values say, `error` how wrong that may
    be and `tolerance` how far apart both might have been.
    """

    order: int
    mode: Mode
    input: str
    element: tuple[int, ...]
    at: complex
    direction: complex
    symbolic: float
    numeric: float
    error: float
    tolerance: float
    step: float
    method: str
    what: str = ""
    op: OpAtFault | None = None

    @property
    def place(self) -> str:
        """The input and the place in it, such as `x[2, 1]`."""
        index = ", ".join(map(str, self.element))
        return f"{self.input}[{index}]" if self.element else self.input

    def __str__(self) -> str:
        lines = [
            f"{_ordinal(self.order)} derivative, {self.mode} mode: by {self.place} = "
            f"{_number(self.at)} the graph says {self.symbolic:.9g}, the values say "
            f"{self.numeric:.9g} ± {self.error:.1g} ({self.method}, step {self.step:.1g}"
            + (f", direction {_number(self.direction)}" if self.direction != 1 else "")
            + ")"
        ]
        if self.what:
            lines.append(f"  {self.what}")
        if self.op is not None:
            lines.append(f"  the op at fault: {self.op}")
        return "\n".join(lines)


@record(frozen=True, slots=True)
class Kink:
    """A point without a derivative: those of its two sides differ, or there is none.

    The gradient was checked a little beside it.
    """

    order: int
    input: str
    element: tuple[int, ...]
    left: float
    right: float
    symbolic: float

    def __str__(self) -> str:
        index = ", ".join(map(str, self.element))
        place = f"{self.input}[{index}]" if self.element else self.input
        return (
            f"kink at {place} (order {self.order}): {self.left:.6g} to the left, {self.right:.6g} "
            f"to the right, the graph says {self.symbolic:.6g}; checked beside it"
        )


@record(frozen=True, slots=True)
class Row:
    """One comparison: `worst` is the largest difference in units of its tolerance."""

    order: int
    mode: Mode
    input: str
    directions: int
    method: str
    worst: float


@record(frozen=True, slots=True)
class Report:
    """All that a check found; `str` of it is for people, `as_dict()` for programs."""

    rows: tuple[Row, ...] = ()
    faults: tuple[Fault, ...] = ()
    kinks: tuple[Kink, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether no derivative was found wrong."""
        return not self.faults

    def as_dict(self) -> dict[str, Any]:
        """Plain values, which JSON takes: what is not finite is text, complex numbers are pairs."""
        return {"passed": self.passed, **_plain(asdict(self))}

    def __str__(self) -> str:
        lines = []
        if self.faults:
            count = len(self.faults)
            lines.append(f"{count} wrong derivative{'s' if count > 1 else ''}")
            lines += [str(fault) for fault in self.faults]
        else:
            lines.append("all derivatives agree with the function's values")
        lines += [_row_text(row) for row in self.rows]
        lines += [str(kink) for kink in self.kinks]
        return "\n".join([*lines, *self.notes])


class GradientError(AssertionError):
    """A gradient is wrong; `report` says which and by what op."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report


def _ordinal(order: int) -> str:
    return _ORDINALS.get(order, f"{order}th")


def _number(value: complex) -> str:
    return f"{value:.6g}" if value.imag else f"{value.real:.6g}"


def _row_text(row: Row) -> str:
    return (
        f"  order {row.order}  {row.mode:7}  {row.input}: {row.directions} directions by "
        f"{row.method}, worst difference {row.worst:.2g} of its tolerance"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, complex):
        return _plain(value.real) if value.imag == 0 else [_plain(value.real), _plain(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def explain(symbolic: float, numeric: float) -> str:
    """What a wrong derivative looks like, from its ratio to the right one; empty if nothing."""
    if not math.isfinite(symbolic):
        return f"the gradient is {symbolic} where the function is smooth"
    if symbolic == 0:
        return "no gradient arrives"
    if numeric == 0 or not math.isfinite(numeric):
        return ""
    ratio = symbolic / numeric
    if abs(ratio + 1) < 1e-3:
        return "its sign is wrong"
    for factor in (ratio, 1 / ratio):
        whole = round(factor)
        if abs(whole) > 1 and abs(whole) < 1000 and abs(factor - whole) < 1e-3 * abs(whole):
            how = "too large" if factor is ratio else "too small"
            sign = ", with the wrong sign" if whole < 0 else ""
            return f"it is {abs(whole)} times {how}{sign}"
    return ""
