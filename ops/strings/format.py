# SPDX-License-Identifier: Apache-2.0
"""Numbers as text, in the notation of C's printf."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types import dtypes
from ...engine.types.dtypes import runtime_name
from ..public import raw
from . import at_once, packing
from .files import text_array

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor


def _format(c: KernelContext) -> str:
    """The printf format that the attributes ask for."""
    dtype = c.op._attrs["T"]
    scientific, shortest, fill = c.attr("scientific"), c.attr("shortest"), c.attr("fill")
    if not (dtype.is_floating or dtype.is_complex):
        if scientific or shortest:
            text = "scientific and shortest format not supported for datatype"
            raise errors.invalid(f"{text} {runtime_name(dtype)}")
        if c.attr("precision") >= 0:
            raise errors.invalid(f"precision not supported for datatype {runtime_name(dtype)}")
    if len(fill) > 1:
        raise errors.invalid("Fill string must be one or fewer characters")
    if scientific and shortest:
        raise errors.invalid("Cannot select both scientific and shortest notation")
    if fill and fill not in " +-0#":
        raise errors.invalid(f'Fill argument not supported: "{fill}"')
    width, precision = c.attr("width"), c.attr("precision")
    result = f"%{fill}" + (str(width) if width > -1 else "")
    result += f".{precision}" if precision > -1 else ""
    if dtype.is_integer:
        return result + "d"
    return result + ("g" if shortest else "e" if scientific else "f")


def _as_string(c: KernelContext, values: np.ndarray) -> np.ndarray:
    form, dtype = _format(c), c.op._attrs["T"]
    flat = np.ascontiguousarray(values).reshape(-1)
    if dtype == dtypes.bool:
        return text_array([b"true" if value else b"false" for value in flat]).reshape(values.shape)
    if form == "%d" and packing.is_many(values):
        return at_once.written(values)
    if dtype.is_complex:
        form, flat = f"({form},{form})", flat.view(flat.real.dtype)
    # Python's % follows C's printf; a float32 becomes a double first, as in a C call.  All at once,
    # as lines of one text, which takes a third of the time.
    whole = f"{form}\n" * values.size % tuple(flat.tolist())
    return text_array(whole.encode().split(b"\n")[:-1]).reshape(values.shape)


define(
    "AsString",
    "input: T -> output: string",
    "T: {int8, int16, int32, int64, complex64, complex128, float32, float64, bool}; "
    "precision: int = -1; scientific: bool = false; shortest: bool = false; width: int = -1; "
    "fill: string = ''",
    shape=lambda c: c.inputs[0],
    kernel=_as_string,
    elementwise=True,
    gradient=NoGradient("text has no gradient", silent=True),
    doc="Numbers as text.",
)


@export("strings.as_string", "dtypes.as_string", "as_string")
@dispatched
def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers as text, in the shape of `input`.

    precision: digits behind the point.  scientific, shortest: C's %e or %g in place of %f.  width:
    at least so many characters, filled up with `fill` (a blank, +, -, 0 or #).
    """
    return raw.AsString(
        *(input, precision, scientific, shortest, width, fill),
        name=name,
    )
