# SPDX-License-Identifier: Apache-2.0
"""What functions of matrices do with linear operators (engine/dispatch.py asks)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.dispatch import register_handler
from ...public import tf
from ..solve import adjoint as adjoint_of

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor
    from .operator import LinearOperator


def _inverse(
    input: LinearOperator, adjoint: bool = False, name: str | None = None
) -> LinearOperator:
    found = input.inverse(name or "inverse")
    return found.adjoint() if adjoint else found


def _diag_part(
    input: LinearOperator, name: str = "diag_part", k: int = 0, padding_value: object = 0
) -> Tensor:
    del k, padding_value  # Accepted; there is one diagonal.
    return input.diag_part(name)


def _logdet(matrix: LinearOperator, name: str | None = None) -> Tensor:
    if matrix.is_positive_definite and matrix.is_self_adjoint:
        return matrix.log_abs_determinant(name or "log_abs_det")
    raise ValueError("Expected matrix to be self-adjoint positive definite.")


def _matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    name = name or "matmul"
    if is_operator(a):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, name=name)
    # A tensor times an operator: the adjoint of the adjoints' product in the other order.
    turned = b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, name=name)
    return adjoint_of(turned)


def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    if not is_operator(matrix):
        raise ValueError(
            "Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported."
        )
    return matrix.solve(rhs, adjoint=adjoint, name=name or "solve")


def _method(name: str) -> Callable[..., Any]:
    """A method under its own scope's name, unless another is given."""

    def call(operator: LinearOperator, name_: str | None) -> Any:
        method = getattr(operator, name)
        return method(name_) if name_ else method()

    return call


# Where a function's operator stands, by its argument, and what gives the result.
_METHODS: dict[str, tuple[str, Callable[..., Any]]] = {
    "linalg.adjoint": ("matrix", _method("adjoint")),
    "linalg.cholesky": ("input", _method("cholesky")),
    "linalg.det": ("input", _method("determinant")),
    "linalg.trace": ("x", _method("trace")),
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "linalg.diag_part": _diag_part,
    "linalg.inv": _inverse,
    "linalg.logdet": _logdet,
    "linalg.matmul": _matmul,
    "linalg.solve": _solve,
}


def is_operator(value: object) -> bool:
    """Whether a value is a linear operator."""
    from .operator import LinearOperator

    return isinstance(value, LinearOperator)


def _handle(function: Callable[..., Any], args: Any, keywords: dict[str, Any]) -> Any:
    """The result of a function of linear operators; NotImplemented where it takes none."""
    if not any(map(is_operator, (*args, *keywords.values()))):
        return NotImplemented
    for name, call in _FUNCTIONS.items():
        if function is getattr(tf, name):
            return call(*args, **keywords)
    for name, (argument, method) in _METHODS.items():
        if function is getattr(tf, name):
            given = dict(zip((argument, "name"), args)) | keywords
            return method(given.pop(argument), given.pop("name", None))
    return NotImplemented


def define_dispatch() -> None:
    """Has functions of matrices take operators; whoever has an operator has called this."""
    register_handler(_handle)
