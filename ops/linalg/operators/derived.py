# SPDX-License-Identifier: Apache-2.0
"""Operators that follow from another one: its adjoint, its inverse."""

from __future__ import annotations

from ....engine.api import export
from ....engine.graph.graph import name_scope
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from ....engine.signatures import without_private_bases
from ....engine.types.shape import TensorShape
from ...public import tf
from ..solve import adjoint as _adjoint
from . import broadcasting as util
from .operator import Hint, Hints, LinearOperator


class _OfOne(LinearOperator):
    """An operator that follows from another one and shares its properties."""

    _operator: LinearOperator

    def _set(
        self, operator: LinearOperator, hints: Hints, name: str | None, what: str, end: str
    ) -> None:
        self._operator = operator
        combined: list[Hint] = []
        properties = ("non-singular", "self-adjoint", "positive-definite", "square")
        for hint, word in zip(hints, properties):
            text = f"An operator is {word} if and only if its {what} is {word}."
            attribute = "is_" + word.replace("-", "_")
            combined.append(
                util.use_operator_or_provided_hint_unless_contradicting(
                    operator, attribute, hint, text
                )
            )
        name = name or operator.name + end
        with name_scope(name, values=operator.graph_parents):
            parents = operator.graph_parents
            first, second, third, fourth = combined
            LinearOperator.__init__(
                self, operator.dtype, parents, first, second, third, fourth, name
            )

    @property
    def operator(self) -> LinearOperator:
        """The operator that this one follows from."""
        return self._operator

    def _assert_non_singular(self) -> Operation:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Operation:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Operation:
        return self.operator.assert_self_adjoint()


@export("linalg.LinearOperatorAdjoint")
@without_private_bases
class LinearOperatorAdjoint(_OfOne):
    """The conjugate transpose of an operator.

    Args:
        operator: the operator.
        is_non_singular: whether it has an inverse.
        is_self_adjoint: whether it equals its conjugate transpose.
        is_positive_definite: whether x^H A x has a positive real part for every x but zero.
        is_square: whether it has as many rows as columns.
        name: of the scope of its operations; the operator's and "_adjoint" if None.

    Raises:
        ValueError: a hint contradicts the operator's.

    Example:
        >>> one = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
        >>> tf.Session().run(tf.linalg.LinearOperatorAdjoint(one).to_dense())
        array([[1., 3.],
               [2., 4.]], dtype=float32)
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ) -> None:
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._set(operator, hints, name, "adjoint", "_adjoint")

    def _shape(self) -> TensorShape:
        shape = self.operator.shape
        return shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self) -> Tensor:
        shape = self.operator.shape_tensor()
        return tf.concat([shape[:-2], [shape[-1], shape[-2]]], axis=-1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self.operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return self.operator.solvevec(rhs, adjoint=not adjoint)

    def _conjugate(self, x: Tensor) -> Tensor:
        return x if self.is_self_adjoint else tf.conj(x)

    def _determinant(self) -> Tensor:
        return self._conjugate(self.operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self.operator.log_abs_determinant()

    def _trace(self) -> Tensor:
        return self._conjugate(self.operator.trace())

    def _to_dense(self) -> Tensor:
        dense = self.operator.to_dense()
        return dense if self.is_self_adjoint else _adjoint(dense)


@export("linalg.LinearOperatorInversion")
@without_private_bases
class LinearOperatorInversion(_OfOne):
    """The inverse of an operator.

    Args:
        operator: the operator.
        is_non_singular: True or None.
        is_self_adjoint: whether it equals its conjugate transpose.
        is_positive_definite: whether x^H A x has a positive real part for every x but zero.
        is_square: True or None.
        name: of the scope of its operations; the operator's and "_inv" if None.

    Raises:
        ValueError: a hint contradicts the operator's, or there can be no inverse.

    Example:
        >>> one = tf.linalg.LinearOperatorDiag([2.0, 4.0])
        >>> tf.Session().run(tf.linalg.LinearOperatorInversion(one).matvec([1.0, 1.0]))
        array([0.5 , 0.25], dtype=float32)
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ) -> None:
        given = {"is_non_singular": is_non_singular, "is_square": is_square}
        for attribute, hint in given.items():
            known = getattr(operator, attribute)
            if known is False or hint is False:
                raise ValueError(
                    f"operator and supplied hints must have `{attribute}` equal to `True` or "
                    f"`None`.  Found {known}, {hint}"
                )
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._set(operator, hints, name, "inverse", "_inv")

    def _shape(self) -> TensorShape:
        return self.operator.shape

    def _shape_tensor(self) -> Tensor:
        return self.operator.shape_tensor()

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        return -1.0 * self.operator.log_abs_determinant()
