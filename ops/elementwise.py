# SPDX-License-Identifier: Apache-2.0
"""`elementwise`: an op stated by one scalar body.

From the body come the NumPy reference kernel, the compiled kernel text (both through the vocabulary
of `jit.scalar`) and, by the broadcasting rule, the shape.  The gradient stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..engine import errors
from ..engine.dispatch import dispatched
from ..engine.graph.build import OpFunction, define
from ..engine.graph.shape_rules import merge
from ..engine.graph.tensor import SparseTensor
from ..engine.record_class import record
from ..engine.types.dtypes import boxed
from ..engine.types.shape import TensorShape, shape_text
from ..jit.kernel.sizes import same_shape

if TYPE_CHECKING:
    from ..engine.graph.annotations import DTypeLike, SparseLike, TensorLike
    from ..engine.graph.inference import ShapeContext
    from ..engine.graph.kernel_context import KernelContext
    from ..jit.trace.builder import Builder
    from ..jit.trace.tracer import OpView

Body = Callable[..., Any]


def _kind(value: Any) -> str:
    """NumPy's one-letter kind of the dtype of an array or kernel expression; bfloat16 is "f"."""
    return _kind_of(value.dtype)


@cache
def _kind_of(dtype: DTypeLike) -> str:
    # (Kept, as NumPy puts names together anew each time.)
    name = str(dtype)
    return "f" if name == "bfloat16" else np.dtype(name).kind


def is_integer(value: object) -> bool:
    """Whether an array or kernel expression holds signed or unsigned integers."""
    return _kind(value) in "iu"


def is_complex(value: object) -> bool:
    """Whether an array or kernel expression holds complex numbers."""
    return _kind(value) == "c"


def static_broadcast(x: TensorShape, y: TensorShape) -> TensorShape:
    """The static shape of a broadcast; a ValueError tells which sizes differ."""
    if x.ndims is None or y.ndims is None:
        return TensorShape(None)
    ones: list[int | None] = [1] * abs(x.ndims - y.ndims)
    xs, ys = x.as_list(), y.as_list()
    xs, ys = (ones + xs, ys) if len(xs) < len(ys) else (xs, ones + ys)
    return TensorShape([_broadcast_size(a, b) for a, b in zip(xs, ys, strict=True)])


def _broadcast_size(a: int | None, b: int | None) -> int | None:
    if a == 1:
        return b
    if b == 1 or a == b:
        return a
    if a is None or b is None:
        # A size above one must be the result; the unknown one is equal to it or is one.
        return a if b is None else b
    raise ValueError(f"Dimensions must be equal, but are {a} and {b}")


def broadcast_shape(c: ShapeContext) -> TensorShape:
    """Shape function: all inputs broadcast against each other."""
    result = c.inputs[0]
    for other in c.inputs[1:]:
        result = static_broadcast(result, other)
    return result


def first_shape(c: ShapeContext) -> TensorShape:
    """Shape function: the shape of the first input."""
    return c.inputs[0]


def require_broadcast(inputs: Sequence[np.ndarray]) -> None:
    """Raises TensorFlow's error when run-time shapes do not broadcast."""
    first = inputs[0].shape
    if all(x.shape == first for x in inputs):
        return
    try:
        np.broadcast_shapes(*(x.shape for x in inputs))
    except ValueError:
        texts = " vs. ".join(shape_text(x.shape) for x in inputs)
        raise errors.invalid(f"Incompatible shapes: {texts}") from None


def _require_alike(c: KernelContext, inputs: Sequence[np.ndarray]) -> None:
    """Raises TensorFlow's error when run-time shapes are not one."""
    first = inputs[0].shape
    for i, x in enumerate(inputs):
        if x.shape != first:
            raise errors.invalid(
                f"Inputs to operation {c.name} of type {c.type} must have the same size and shape."
                f"  Input 0: {shape_text(first)} != input {i}: {shape_text(x.shape)}"
            )


def is_lowerable(dtype: str) -> bool:
    """Whether compiled kernels hold this dtype: numbers and booleans."""
    return not str(dtype).startswith(("object", "str", "bytes", "q"))


@record(frozen=True, slots=True)
class Guard:
    """Values that an integer input must not hold: the run raises InvalidArgumentError."""

    index: int
    is_bad: Body
    message: str

    def check(self, inputs: Sequence[np.ndarray]) -> None:
        """Raises if the run-time input holds a bad value and there is anything to compute."""
        x = inputs[self.index]
        if is_integer(x) and all(other.size for other in inputs) and np.any(self.is_bad(x)):
            raise self._error()

    def lower(self, b: Builder, values: Sequence[Any]) -> None:
        """The same check in a compiled plan."""
        x = values[self.index]
        if not is_integer(x) or self._is_known_good(x.known):
            return
        if all(same_shape(other.shape, x.shape) for other in values):
            bad = b.map(self.is_bad, x)
        else:  # Where broadcasting leaves nothing to compute, nothing is wrong.
            bad = b.map(lambda *each: self.is_bad(each[self.index]), *values)
        b.require_not(b.reduce("any", bad, None), self._error)

    def _is_known_good(self, value: np.ndarray | None) -> bool:
        return value is not None and value.dtype != object and not np.any(self.is_bad(value))

    def _error(self) -> errors.InvalidArgumentError:
        return errors.invalid(self.message)


def elementwise(
    name: str,
    signature: str,
    attrs: str = "",
    *,
    body: Body | None = None,
    attr_body: Callable[[Any], Body] | None = None,
    gradient: Any,
    broadcast: bool = True,
    shape: Callable[[Any], TensorShape] | None = None,
    sizes: Body | None = None,
    guard: Guard | None = None,
    alike: bool = False,
    host: bool = False,
    lower: Callable[..., Any] | None = None,
    **facts: Any,
) -> OpFunction:
    """Defines an op by its scalar body.

    body        scalar function over `jit.scalar`; or attr_body(op) -> body, which reads op.attr
    broadcast   False: the output has the shape of the first input
    sizes       the same function over object arrays of symbolic sizes
    guard       what an integer input must not hold
    alike       all inputs have one shape, nothing broadcasts
    host        the body has no compiled form
    lower       another compiled form than the body's, which computes with NumPy alone
    """
    # One of the two is stated.
    only = cast("Body", body)
    body_of = attr_body or (lambda op: only)

    # What has the shape of one input is defined where all inputs have it: TensorFlow 1.15 reads
    # whatever lies behind smaller ones, and TensorFlow 2 refuses them.
    if alike or not broadcast:
        facts["test"] = {"broadcast": False, **facts.get("test", {})}
    if shape is None:
        names = re.findall(r"(\w+):", signature.partition("->")[0])
        facts["doc"] = facts.get("doc", "") + _said_of_shapes(names, broadcast, alike, guard)

    return define(
        name,
        signature,
        attrs,
        shape=shape or (merge if alike else broadcast_shape if broadcast else first_shape),
        kernel=_kernel_of(body_of, sizes, alike, guard, host),
        lower=None if host else lower or _lowering_of(body_of, alike, guard),
        gradient=gradient,
        sizes=sizes is not None,
        elementwise=shape is None,
        **facts,
    )


def _kernel_of(
    body_of: Callable[[Any], Body],
    sizes: Body | None,
    alike: bool,
    guard: Guard | None,
    host: bool,
) -> Callable[..., np.ndarray]:
    """The reference: the body of arrays."""

    def kernel(c: KernelContext, *inputs: np.ndarray) -> np.ndarray:
        # Symbolic sizes, while a plan is made for shapes that are not known yet.
        kinds = {x.dtype.kind for x in inputs}
        if sizes is not None and "O" in kinds:
            return _as_objects(sizes(*inputs))
        if alike:
            _require_alike(c, inputs)
        if guard:
            guard.check(inputs)
        try:
            if not host and kinds <= _WHOLE:
                result = body_of(c)(*inputs)  # (Each function of it is quiet by itself.)
            else:
                # TensorFlow computes infinities and NaN without a word.
                with np.errstate(all="ignore"):
                    result = body_of(c)(*inputs)
        # Shapes are looked at only when NumPy could not do it: the check would cost every run.
        except ValueError:
            require_broadcast(inputs)
            raise
        return np.asarray(result, dtype=c.out_dtype())

    return kernel


def _lowering_of(
    body_of: Callable[[Any], Body], alike: bool, guard: Guard | None
) -> Callable[..., Any]:
    """The compiled form: the body of scalar expressions."""

    def lower(b: Builder, op: OpView, *values: Any) -> Any:
        if not all(is_lowerable(v.dtype) for v in values) or not is_lowerable(op.dtype(0)):
            return NotImplemented
        if alike:
            b.require(all(b.same_shape(value, values[0]) for value in values))
        if guard:
            guard.lower(b, values)
        return b.map(body_of(op), *values, dtype=op.dtype(0))

    return lower


def _said_of_shapes(names: list[str], broadcast: bool, alike: bool, guard: Guard | None) -> str:
    """What all docstrings of the family say: the result's shape, and what is refused."""
    raised = []
    if guard:
        raised.append(f"InvalidArgumentError: integer `{names[guard.index]}`: {guard.message}.")
    shape = f"It has the shape of `{names[0]}`."
    if len(names) > 1 and (alike or broadcast):
        shape = _ALIKE if alike else _BROADCAST
        wrong = "differ" if alike else "do not broadcast"
        raised.append(f"ValueError: shapes known in the graph {wrong}.")
        raised.append(f"InvalidArgumentError: shapes of a run {wrong}.")
    texts = "".join(f"\n    {line}" for line in raised)
    return f"\n\nReturns:\n    {shape}" + (f"\n\nRaises:{texts}" if raised else "")


# Dtypes of whole numbers and truth values.
_WHOLE = frozenset("iub")
_ALIKE = "Its shape is that of every input."
_BROADCAST = "Its shape is the one that the inputs broadcast to."


_ON_SPARSE = """
Args:
    x: may be a SparseTensor, whose values are mapped

Returns:
    It is a SparseTensor if `x` is one.
"""


def maps_sparse(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of one tensor, also for a SparseTensor: it is applied to the values there."""

    def mapped(x: SparseLike | TensorLike, name: str | None = None) -> Any:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, function(x.values, name=name), x.dense_shape)
        return function(x, name=name)

    mapped.__name__ = mapped.__qualname__ = function.__name__
    if isinstance(function, OpFunction):
        mapped.__doc__ = function.documentation(_ON_SPARSE)
    else:
        mapped.__doc__ = function.__doc__
    return dispatched(mapped)


def _as_objects(value: object) -> np.ndarray:
    """An object array, also for a lone item."""
    if isinstance(value, np.ndarray):
        return value.astype(object)
    return boxed(value)
