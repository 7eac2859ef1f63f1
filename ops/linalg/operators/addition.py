# SPDX-License-Identifier: Apache-2.0
"""Sums of operators as operators, by the cheapest kind that holds them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ....engine.graph.graph import name_scope
from ....engine.types.shape import broadcast_static, dimension_value
from ...public import tf
from .diagonal import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
)
from .identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from .operator import Hint, LinearOperator

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

_IDENTITIES = (LinearOperatorIdentity, LinearOperatorScaledIdentity)
_DIAGONALS = (*_IDENTITIES, LinearOperatorDiag)
_KNOWN = (*_DIAGONALS, LinearOperatorLowerTriangular, LinearOperatorFullMatrix)


class _Hints(NamedTuple):
    """What is known of a sum."""

    is_non_singular: Hint = None
    is_positive_definite: Hint = None
    is_self_adjoint: Hint = None


def _sum_hints(op1: LinearOperator, op2: LinearOperator, hints: _Hints | None) -> _Hints:
    """Hints that follow from those of the parts, unless they are given."""
    given = hints or _Hints()
    symmetric, positive = given.is_self_adjoint, given.is_positive_definite
    if symmetric is None:
        symmetric = op1.is_self_adjoint and op2.is_self_adjoint
    if positive is None:
        positive = op1.is_positive_definite and op2.is_positive_definite
    follows = positive and given.is_positive_definite is None
    return _Hints(True if follows else given.is_non_singular, positive, symmetric)


class _Adder:
    """Adds two operators of certain kinds."""

    # The kinds that it adds.
    kinds: tuple[type, ...] = ()

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self).__name__

    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        """Whether it adds these two."""
        return all(isinstance(_known(op), self.kinds) for op in (op1, op2))

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: _Hints) -> LinearOperator:
        raise NotImplementedError

    def add(
        self,
        op1: LinearOperator,
        op2: LinearOperator,
        operator_name: str | None,
        hints: _Hints | None = None,
    ) -> LinearOperator:
        """The sum."""
        updated = _sum_hints(op1, op2, hints)
        operator_name = operator_name or f"Add/{op1.name}__{op2.name}/"
        with name_scope(self.name.removeprefix("_"), values=op1.graph_parents + op2.graph_parents):
            return self._add(op1, op2, operator_name, updated)


def _known(operator: LinearOperator) -> LinearOperator:
    if not isinstance(operator, _KNOWN):
        raise TypeError(f"Operator type unknown: {operator}")
    return operator


def _multiplier(operator: Any) -> Any:
    if isinstance(operator, LinearOperatorScaledIdentity):
        return operator.multiplier
    return tf.ones(operator.batch_shape_tensor(), dtype=operator.dtype)


def _dense_sum(op1: LinearOperator, op2: LinearOperator) -> Tensor:
    """The sum as a tensor; diagonals are added to what is no diagonal."""
    first, second = (op1, op2) if isinstance(op1, _DIAGONALS) else (op2, op1)
    return first.add_to_tensor(second.to_dense())


class _AddAndReturnScaledIdentity(_Adder):
    """Adds multiples of identities."""

    kinds = _IDENTITIES

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: _Hints) -> LinearOperator:
        return LinearOperatorScaledIdentity(
            num_rows=op1.range_dimension_tensor(),
            multiplier=_multiplier(op1) + _multiplier(op2),
            name=operator_name,
            **hints._asdict(),
        )


class _AddAndReturnDiag(_Adder):
    """Adds diagonal operators."""

    kinds = _DIAGONALS

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: _Hints) -> LinearOperator:
        total = op1.diag_part() + op2.diag_part()
        return LinearOperatorDiag(total, name=operator_name, **hints._asdict())


class _AddAndReturnTriL(_Adder):
    """Adds triangular operators."""

    kinds = (*_DIAGONALS, LinearOperatorLowerTriangular)

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: _Hints) -> LinearOperator:
        total = _dense_sum(op1, op2)
        return LinearOperatorLowerTriangular(total, name=operator_name, **hints._asdict())


class _AddAndReturnMatrix(_Adder):
    """Adds any operators."""

    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        return isinstance(op1, LinearOperator) and isinstance(op2, LinearOperator)

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: _Hints) -> LinearOperator:
        total = _dense_sum(op1, op2)
        return LinearOperatorFullMatrix(total, name=operator_name, **hints._asdict())


# The cheapest first.
_DEFAULT_ADDITION_TIERS: list[list[_Adder]] = [
    [_AddAndReturnScaledIdentity()],
    [_AddAndReturnDiag()],
    [_AddAndReturnTriL()],
    [_AddAndReturnMatrix()],
]


def add_operators(
    operators: Sequence[LinearOperator],
    operator_name: str | None = None,
    addition_tiers: Sequence[Sequence[_Adder]] | None = None,
    name: str | None = None,
) -> list[LinearOperator]:
    """Operators with the sum of some operators: as few as the tiers of adders can make.

    ValueError if sizes do not fit, TypeError for what is no operator.
    """
    tf.assert_proper_iterable(operators)
    left = list(reversed(list(operators)))
    if not left:
        raise ValueError(f"Argument 'operators' must contain at least one operator.  Found: {left}")
    if not all(isinstance(operator, LinearOperator) for operator in left):
        raise TypeError(
            f"Argument 'operators' must contain only LinearOperator instances.  Found: {left}"
        )
    for side in ("domain", "range"):
        found = [(x.name, dimension_value(getattr(x, f"{side}_dimension"))) for x in left]
        known = [(name_, size) for name_, size in found if size is not None]
        if len({size for _, size in known}) > 1:
            raise ValueError(f"Operators must have the same {side} dimension. Found: {known}")
    functools.reduce(broadcast_static, [operator.batch_shape for operator in left])
    parents = [parent for operator in left for parent in operator.graph_parents]
    with name_scope(name or "add_operators", values=parents):
        for tier in _DEFAULT_ADDITION_TIERS if addition_tiers is None else addition_tiers:
            left = _add_at_tier(left, tier, operator_name)
        return left


def _add_at_tier(
    waiting: list[LinearOperator], tier: Sequence[_Adder], operator_name: str | None
) -> list[LinearOperator]:
    done = []
    while waiting:
        first = waiting.pop()
        second, adder = _pop_match(first, waiting, tier)
        if second is None or adder is None:
            done.append(first)
        else:
            waiting.append(adder.add(first, second, operator_name))
    return done


def _pop_match(
    first: LinearOperator, waiting: list[LinearOperator], tier: Sequence[_Adder]
) -> tuple[LinearOperator | None, _Adder | None]:
    for i in range(len(waiting) - 1, -1, -1):
        for adder in tier:
            if adder.can_add(first, waiting[i]):
                return waiting.pop(i), adder
    return None, None
