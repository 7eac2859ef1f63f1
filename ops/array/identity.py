# SPDX-License-Identifier: Apache-2.0
"""Ops that pass a tensor on: identity, barriers for gradients, checks and bit casts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from .. import shape_inference
from ..run_checks import error_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _same(c: ShapeContext) -> TensorShape:
    return c.inputs[0]


def _pass(c: KernelContext, x: TensorLike) -> Any:
    return x


def _lower_pass(b: Builder, op: OpView, x: Value) -> Value:
    return b.identity(x)


_identity = define(
    "Identity",
    "input: T -> output: T",
    shape=_same,
    kernel=_pass,
    lower=_lower_pass,
    gradient=lambda op, grad: grad,
    sizes=True,
    elementwise=True,
    passes_ref=True,
    transfer="value",
    doc="The input.",
    test={"gradient": True},
)
define(
    "RefIdentity",
    "input: Ref(T) -> output: Ref(T)",
    shape=_same,
    kernel=_pass,
    gradient=lambda op, grad: grad,
    passes_ref=True,
    doc="The variable itself.",
)
define(
    "DebugGradientRefIdentity",
    "input: Ref(T) -> output: Ref(T)",
    shape=_same,
    kernel=_pass,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    passes_ref=True,
    doc="The variable itself; marks a gradient for debuggers.",
)
_identity_n = define(
    "IdentityN",
    "input: T -> output: T",
    "T: list(type) >= 1",
    shape=lambda c: list(c.inputs),
    kernel=lambda c, xs: tuple(xs),
    lower=lambda b, op, xs: tuple(b.identity(x) for x in xs),
    gradient=lambda op, *grads: list(grads),
    doc="The inputs; what one of them waits for, all wait for.",
    test={"shapes": [[[2], [3]]], "gradient": True},
)
_stop_gradient = define(
    "StopGradient",
    "input: T -> output: T",
    shape=_same,
    kernel=_pass,
    lower=_lower_pass,
    gradient=NoGradient("gradients stop here", silent=True),
    sizes=True,
    doc="The input, counted as a constant by gradients.",
)


def _prevented(op: Operation, grad: Tensor) -> Any:
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.attr('message')}")


define(
    "PreventGradient",
    "input: T -> output: T",
    "T: type; message: string = ''",
    shape=_same,
    kernel=_pass,
    lower=_lower_pass,
    gradient=_prevented,
    doc="The input; asking for its gradient is an error.",
    test={"attrs": [{"message": b"reason"}], "gradient": False},
)
debug_gradient_identity: OpFunction = define(
    "DebugGradientIdentity",
    "input: T -> output: T",
    shape=_same,
    kernel=_pass,
    lower=_lower_pass,
    gradient=lambda op, grad: debug_gradient_identity(grad),
    doc="The input; marks a gradient for debuggers.",
    test={"gradient": True},
)


def _promised(c: KernelContext, x: np.ndarray) -> np.ndarray:
    if c.op.inputs[0].dtype.base_dtype == dtypes.resource:
        raise errors.invalid("Input tensor cannot be a resource variable handle.")
    return x


_guarantee_const = define(
    "GuaranteeConst",
    "input: T -> output: T",
    shape=_same,
    kernel=_promised,
    lower=_lower_pass,
    gradient=NoGradient("a promised constant depends on nothing"),
    stateful=True,
    doc="The input, which is promised never to change.",
)
_snapshot = define(
    "Snapshot",
    "input: T -> output: T",
    shape=_same,
    kernel=lambda c, x: x.copy(),
    lower=_lower_pass,
    gradient=NoGradient("TensorFlow makes it of identities when a graph runs"),
    doc="A copy of the input.",
)


@export("identity")
@dispatched
def identity(input: TensorLike, name: str | None = None) -> Tensor:
    """A tensor with the contents of another: a new node, for a name or for control dependencies.

    Args:
        input: a tensor of any dtype and shape, or what makes one.
        name: of the operation.

    Returns:
        A Tensor of that dtype and shape.

    Raises:
        ValueError: `input` cannot be made a tensor.

    Example:
        >>> runs = tf.Variable(0)
        >>> with tf.control_dependencies([runs.assign_add(1)]):
        ...     answer = tf.identity(42, name="answer")
        >>> sess = tf.Session()
        >>> sess.run(runs.initializer)
        >>> sess.run("answer:0"), sess.run(runs)
        (np.int32(42), np.int32(1))
    """
    return _identity(input, name=name)


@export("identity_n")
def identity_n(input: Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """Tensors with the shapes and contents of `input`, a list."""
    return _identity_n(input, name=name)


@export("stop_gradient")
def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """A tensor that counts as a constant when gradients are taken.

    Args:
        input: a tensor of any dtype and shape, or what makes one.
        name: of the operation.

    Returns:
        A Tensor with its contents.

    Raises:
        ValueError: `input` cannot be made a tensor.

    Example:
        >>> x = tf.constant(3.0)
        >>> tf.Session().run(tf.gradients(x * tf.stop_gradient(x), x))
        [np.float32(3.0)]
    """
    return _stop_gradient(input, name=name)


@export("guarantee_const")
def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """`input`, promised never to change."""
    return _guarantee_const(input, name=name)


# CheckNumerics


def _checked(c: KernelContext, x: np.ndarray) -> np.ndarray:
    _require_numbers(x, c.attr("message"))
    return x


def _require_numbers(x: np.ndarray, message: object) -> None:
    values = x.astype(np.float32) if x.dtype.kind not in "f" else x
    has_nan, has_inf = bool(np.isnan(values).any()), bool(np.isinf(values).any())
    if has_nan or has_inf:
        found = " and ".join(n for n, has in (("Inf", has_inf), ("NaN", has_nan)) if has)
        raise errors.invalid(f"{message} : Tensor had {found} values")


def _lower_check_numerics(b: Builder, op: OpView, x: Value) -> Value:
    wrong = b.map(lambda v: k.logical_not(k.isfinite(v)), x)
    message = op.attr("message")
    error = error_of(lambda values: _require_numbers(values, message))
    b.require_not(b.reduce("any", wrong, None), error, x)
    return b.identity(x)


def _check_numerics_gradient(op: Operation, grad: Tensor) -> Tensor:
    message = (
        f"Not a number (NaN) or infinity (Inf) values detected in gradient. {op.attr('message')}"
    )
    return _check_numerics(grad, message)


_check_numerics = define(
    "CheckNumerics",
    "tensor: T -> output: T",
    "T: {bfloat16, half, float32, float64}; message: string",
    shape=_same,
    kernel=_checked,
    lower=_lower_check_numerics,
    gradient=_check_numerics_gradient,
    stateful=True,
    doc="The input, checked to hold neither NaN nor infinity.",
    test={"attrs": [{"message": b"checked"}], "dtypes": ["float32", "float64"], "gradient": True},
)


@export("debugging.check_numerics", "check_numerics")
@dispatched
def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """`tensor`, with an error when it holds NaN or infinity."""
    return _check_numerics(tensor, message, name=name)


# Bitcast


def _bitcast_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.dims(c.inputs[0])
    before, after = c.dtype(0).size, dtypes.as_dtype(c.attr("type")).size
    if given is None or before == after:
        return c.inputs[0]
    if before > after:
        return TensorShape([*given, before // after])
    if not given or (given[-1] is not None and given[-1] * before != after):
        raise ValueError(
            f"Cannot bitcast due to shape. {given[-1] if given else 0} does not match "
            f"{after // before}"
        )
    return TensorShape(given[:-1])


def _bitcast_kernel(c: KernelContext, x: np.ndarray) -> np.ndarray:
    target = np.dtype(c.out_dtype())
    before, after = x.dtype.itemsize, target.itemsize
    if before == after:
        return np.ascontiguousarray(x).view(target).reshape(x.shape)
    if before > after:
        shape = (*x.shape, before // after)
    else:
        if not x.ndim or x.shape[-1] != after // before:
            raise errors.invalid(
                f"Cannot bitcast from {x.dtype} to {target}: shape {shape_text(x.shape)}"
            )
        shape = x.shape[:-1]
    return np.frombuffer(np.ascontiguousarray(x).tobytes(), dtype=target).reshape(shape).copy()


_bitcast = define(
    "Bitcast",
    "input: T -> output: type",
    "T: {bfloat16, half, float32, float64, int64, int32, uint8, uint16, int8, int16, uint32, "
    "uint64, complex64, complex128, qint8, quint8, qint16, quint16, qint32}; "
    "type: {bfloat16, half, float32, float64, int64, int32, uint8, uint16, uint32, uint64, int8, "
    "int16, complex64, complex128, qint8, quint8, qint16, quint16, qint32}",
    shape=_bitcast_shape,
    kernel=_bitcast_kernel,
    gradient=NoGradient("bits have no derivative"),
    doc="The same bits read as another type.",
    test=lambda: {"attrs": [{"type": dtypes.int32}], "dtypes": ["float32"]},
)


@export("bitcast")
def bitcast(input: TensorLike, type: object, name: str | None = None) -> Tensor:
    """The bits of `input` read as another type."""
    return _bitcast(input, type, name=name)
