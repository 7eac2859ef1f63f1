# SPDX-License-Identifier: Apache-2.0
"""Running reductions along one axis: Cumsum, Cumprod, CumulativeLogsumexp."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import OpFunction, define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.types.shape import shape_text
from ..elementwise import first_shape
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_ATTRS = "exclusive: bool = False; reverse: bool = False; "


def _scan(
    c: KernelContext, x: np.ndarray, axis: np.ndarray, accumulate: Callable[..., Any], start: float
) -> np.ndarray:
    """accumulate(x) along axis; from the end if reversed, without the element if exclusive."""
    if axis.ndim:
        text = f"ScanOp: axis must be a scalar, not {shape_text(axis.shape)}"
        raise errors.invalid(text)
    if not -x.ndim <= axis < x.ndim:
        text = f"ScanOp: Expected scan axis in the range [{-x.ndim}, {x.ndim}), but got {axis}"
        raise errors.invalid(text)
    if not x.size:
        return x
    lanes = np.moveaxis(x, int(axis), 0)
    lanes = lanes[::-1] if c.attr("reverse") else lanes
    with np.errstate(all="ignore"):
        if c.attr("exclusive"):
            first = np.full_like(lanes[:1], start)
            lanes = np.concatenate([first, accumulate(lanes)[:-1]])
        else:
            lanes = accumulate(lanes)
    lanes = lanes[::-1] if c.attr("reverse") else lanes
    return np.ascontiguousarray(np.moveaxis(lanes, 0, int(axis))).astype(x.dtype, copy=False)


def _lower_scan(fn: str) -> Callable[..., Any]:
    def lower(b: Builder, op: OpView, x: Value, axis: Value) -> Any:
        from ...jit import library

        known = b.known(axis)
        if known is None or known.ndim:
            return NotImplemented
        place = b.axis(known.item(), x.ndim)
        return library.running(b, fn, x, place, op.attr("exclusive"), op.attr("reverse"))

    return lower


def _scanner(
    name: str,
    ufunc: np.ufunc,
    start: float,
    gradient: Callable[..., Any],
    types: str,
    doc: str,
    lower: Callable[..., Any] | None = None,
) -> OpFunction:
    def kernel(c: KernelContext, x: np.ndarray, axis: np.ndarray) -> np.ndarray:
        return _scan(c, x, axis, lambda v: ufunc.accumulate(v, axis=0, dtype=v.dtype), start)

    flags = [{"exclusive": e, "reverse": r} for e in (False, True) for r in (False, True)]
    return define(
        name,
        "x: T, axis: Tidx -> out: T",
        f"{_ATTRS}T: {types}; Tidx: {{int32, int64}} = int32",
        shape=first_shape,
        kernel=kernel,
        lower=lower,
        gradient=gradient,
        doc=doc,
        test=lambda: {
            "values": [[np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.int32(1)]],
            "attrs": flags,
            # log(0) = -inf leads the exclusive sums: no finite difference there.
            "gradient": name != "CumulativeLogsumexp",
        },
    )


# x_i is in the sums from i on, so its gradient sums theirs: the same scan from the other end.
def _cumsum_gradient(op: Operation, grad: Tensor) -> list[Any]:
    axis, exclusive = op.inputs[1], op.get_attr("exclusive")
    reverse = not op.get_attr("reverse")
    return [cumsum(grad, axis, exclusive=exclusive, reverse=reverse), None]


# x_i is a factor of the products from i on: d(prod_j)/d(x_i) = prod_j / x_i.  As in 1.15 that is
# not a number where x_i is zero.
def _cumprod_gradient(op: Operation, grad: Tensor) -> list[Any]:
    x, axis = op.inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    product = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    out = cumsum(product * grad, axis, exclusive=exclusive, reverse=not reverse)
    return [out / x, None]


# d(out_j)/d(x_i) = exp(x_i - out_j), summed over j as logarithms.  The logarithm of a gradient
# needs a sign, so its positive and its negative part go separately.
def _logsumexp_gradient(op: Operation, grad: Tensor) -> list[Any]:
    x, axis = op.inputs
    total = op.outputs[0]
    flags = {"exclusive": op.get_attr("exclusive"), "reverse": not op.get_attr("reverse")}
    lowest = grad.dtype.min
    log_positive = raw.SelectV2(tf.greater(grad, 0), tf.log(grad), lowest)
    log_negative = raw.SelectV2(tf.less(grad, 0), tf.log(-grad), lowest)
    positive = tf.exp(cumulative_logsumexp(log_positive - total, axis=axis, **flags) + x)
    negative = tf.exp(cumulative_logsumexp(log_negative - total, axis=axis, **flags) + x)
    return [positive - negative, None]


raw_cumsum = _scanner(
    "Cumsum",
    np.add,
    0,
    _cumsum_gradient,
    "numbertype",
    doc="Sums of all elements so far along an axis.",
    lower=_lower_scan("add"),
)
raw_cumprod = _scanner(
    "Cumprod",
    np.multiply,
    1,
    _cumprod_gradient,
    "numbertype",
    doc="Products of all elements so far along an axis.",
    lower=_lower_scan("mul"),
)
raw_cumulative_logsumexp = _scanner(
    "CumulativeLogsumexp",
    np.logaddexp,
    -np.inf,
    _logsumexp_gradient,
    "{float16, float32, float64}",
    doc="Logarithms of the sums of exponentials of all elements so far along an axis.",
    lower=_lower_scan("logaddexp"),
)


_SCAN = """Running {what} along an axis.

    Args:
        x: a Tensor of {dtypes}.
        axis: which one, an integer in [-rank, rank).
        exclusive: whether an element is left out of its own result, which begins with {first}.
        reverse: whether to go from the end of the axis to its start.
        name: of the operation.

    Returns:
        A tensor of the dtype and the shape of `x`.

    Raises:
        TypeError: the dtype is none of these.
        InvalidArgumentError: the axis is outside of [-rank, rank).

    Example:
        >>> tf.Session().run(tf.{name}({x}))
        {result}
    """


def _public(op: OpFunction, scope: str, *names: str, **doc: str) -> Callable[..., Any]:
    def scan(
        x: TensorLike,
        axis: TensorLike = 0,
        exclusive: bool = False,
        reverse: bool = False,
        name: str | None = None,
    ) -> Any:
        with name_scope(name, scope, [x]) as name:
            x = convert_to_tensor(x, name="x")
            return op(x, axis, exclusive=exclusive, reverse=reverse, name=name)

    scan.__name__ = scan.__qualname__ = names[-1].rpartition(".")[2]
    scan.__doc__ = _SCAN.format(name=names[-1], **doc)
    return export(*names)(scan)


cumsum = _public(
    raw_cumsum,
    "Cumsum",
    "math.cumsum",
    "cumsum",
    what="sums",
    dtypes="numbers",
    first="0",
    x="[1, 2, 3]",
    result="array([1, 3, 6], dtype=int32)",
)
cumprod = _public(
    raw_cumprod,
    "Cumprod",
    "math.cumprod",
    "cumprod",
    what="products",
    dtypes="numbers",
    first="1",
    x="[2, 3, 4], reverse=True",
    result="array([24, 12,  4], dtype=int32)",
)
cumulative_logsumexp = _public(
    raw_cumulative_logsumexp,
    "CumulativeLogsumexp",
    "math.cumulative_logsumexp",
    what="log(sum(exp(x)))",
    dtypes="float16, float32 or float64",
    first="the lowest number",
    x="[0.0, 0.0, 0.0]",
    result="array([0.       , 0.6931472, 1.0986123], dtype=float32)",
)
