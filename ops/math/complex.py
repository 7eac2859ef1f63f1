# SPDX-License-Identifier: Apache-2.0
"""Complex numbers and their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...jit.kernel import scalar as k
from ..array.constant import constant
from ..elementwise import elementwise
from ..public import tf
from .gradient import shapes_and_axes, sum_to

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.operation import Operation

_PART = "input: T -> output: Tout"
_PART_ATTRS = "T: {complex64, complex128} = complex64; Tout: {float32, float64} = float32"
_COMPLEX_INPUT = {"dtypes": ["complex64", "complex128"], "gradient": False}


def _complex_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    shape_x, shape_y, axes_x, axes_y = shapes_and_axes(*op.inputs)
    grad_x = sum_to(tf.real(grad), axes_x, shape_x)
    return grad_x, sum_to(tf.imag(grad), axes_y, shape_y)


raw_complex = elementwise(
    "Complex",
    "real: T, imag: T -> out: Tout",
    "T: {float32, float64} = float32; Tout: {complex64, complex128} = complex64",
    body=k.complex,
    gradient=_complex_gradient,
    test={"attrs": [{"T": "float32", "Tout": "complex64"}], "gradient": False},
    doc="Complex numbers from their real and imaginary parts.",
)


@export("dtypes.complex", "complex")
@dispatched
def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Any:
    """The complex numbers with these real and imaginary parts."""
    real = convert_to_tensor(real, name="real")
    imag = convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as name:
        types = (real.dtype, imag.dtype)
        if types == (dtypes.float64, dtypes.float64):
            target = dtypes.complex128
        elif types == (dtypes.float32, dtypes.float32):
            target = dtypes.complex64
        else:
            raise TypeError(
                f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}"
            )
        return raw_complex(real, imag, Tout=target, name=name)


# A gradient of a complex number holds the slope by the real part as its real part and that by the
# imaginary part as its imaginary part.
def _real_gradient(op: Operation, grad: Tensor) -> Any:
    zero = constant(0, dtype=grad.dtype)
    return complex(grad, zero)


def _imag_gradient(op: Operation, grad: Tensor) -> Any:
    zero = constant(0, dtype=grad.dtype)
    return complex(zero, grad)


def _angle_gradient(op: Operation, grad: Tensor) -> Any:
    x = op.inputs[0]
    with control_dependencies([grad]):
        re, im = real(x), imag(x)
        z = tf.reciprocal(complex(im, re))
        zero = constant(0, dtype=grad.dtype)
        return -complex(grad, zero) * z


def _part(
    name: str, body: Callable[..., Any], gradient: Callable[..., Any], doc: str
) -> OpFunction:
    facts: dict[str, Any] = {"test": _COMPLEX_INPUT, "doc": doc}
    return elementwise(name, _PART, _PART_ATTRS, body=body, gradient=gradient, **facts)


raw_real = _part("Real", k.real, _real_gradient, doc="The real parts.")
raw_imag = _part("Imag", k.imag, _imag_gradient, doc="The imaginary parts.")
raw_angle = _part(
    "Angle", k.angle, _angle_gradient, doc="The arguments of complex numbers, in radians."
)


@export("math.real", "real")
@dispatched
def real(input: TensorLike, name: str | None = None) -> Any:
    """The real part; a real tensor is returned as it is."""
    with name_scope(name, "Real", [input]) as name:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return input
        return raw_real(input, Tout=input.dtype.real_dtype, name=name)


@export("math.imag", "imag")
@dispatched
def imag(input: TensorLike, name: str | None = None) -> Any:
    """The imaginary part; zeros for a real tensor."""
    with name_scope(name, "Imag", [input]) as name:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return tf.zeros_like(input)
        return raw_imag(input, Tout=input.dtype.real_dtype, name=name)


@export("math.angle", "angle")
@dispatched
def angle(input: TensorLike, name: str | None = None) -> Any:
    """The argument of complex numbers; zeros for a real tensor."""
    with name_scope(name, "Angle", [input]) as name:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return tf.zeros_like(input)
        return raw_angle(input, Tout=input.dtype.real_dtype, name=name)


def _conj_gradient(op: Operation, grad: Tensor) -> Any:
    return conj(grad)


raw_conj = elementwise(
    "Conj",
    "input: T -> output: T",
    "T: {complex64, complex128, variant} = complex64",
    body=k.conj,
    gradient=_conj_gradient,
    test=lambda: _COMPLEX_INPUT,
    doc="The complex conjugates.",
)


@export("math.conj", "conj")
@dispatched
def conj(x: TensorLike, name: str | None = None) -> Any:
    """The complex conjugate; real tensors are returned as they are."""
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with name_scope(name, "Conj", [x]) as name:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex or x.dtype == dtypes.variant:
            return raw_conj(x, name=name)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")


# d|x| points along x / |x|; DivNoNan makes it zero at the origin, where there is no direction.
def _complex_abs_gradient(op: Operation, grad: Tensor) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    numerator = complex(grad, tf.zeros_like(grad)) * x
    return tf.div_no_nan(numerator, complex(y, tf.zeros_like(y)))


complex_abs = elementwise(
    "ComplexAbs",
    "x: T -> y: Tout",
    _PART_ATTRS,
    body=k.modulus,
    gradient=_complex_abs_gradient,
    test=lambda: _COMPLEX_INPUT,
    doc="The moduli of complex numbers.",
)
