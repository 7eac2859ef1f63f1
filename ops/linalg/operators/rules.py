# SPDX-License-Identifier: Apache-2.0
"""What operators give as operators: adjoints, inverses, factors, products."""

from __future__ import annotations

import functools
from typing import Any

from ...public import tf
from ..solve import cholesky
from .algebra import (
    RegisterAdjoint,
    RegisterCholesky,
    RegisterInverse,
    RegisterMatmul,
    RegisterSolve,
)
from .circulant import LinearOperatorCirculant as Circulant
from .composed import LinearOperatorBlockDiag as BlockDiag
from .composed import LinearOperatorComposition as Composition
from .composed import LinearOperatorKronecker as Kronecker
from .derived import LinearOperatorAdjoint as Adjoint
from .derived import LinearOperatorInversion as Inversion
from .diagonal import LinearOperatorDiag as Diag
from .diagonal import LinearOperatorLowerTriangular as LowerTriangular
from .identity import LinearOperatorIdentity as Identity
from .identity import LinearOperatorScaledIdentity as ScaledIdentity
from .identity import LinearOperatorZeros as Zeros
from .low_rank import LinearOperatorHouseholder as Householder
from .operator import Hint, LinearOperator

# Hints


def _same_hints(operator: LinearOperator, **changed: Hint) -> dict[str, Any]:
    names = ("is_non_singular", "is_self_adjoint", "is_positive_definite")
    return {**{name: getattr(operator, name) for name in names}, "is_square": True, **changed}


def combined_non_singular_hint(operator_a: LinearOperator, operator_b: LinearOperator) -> Hint:
    """Whether a product has an inverse."""
    hints = (operator_a.is_non_singular, operator_b.is_non_singular)
    return False if False in hints else hints[0] and hints[1]


def combined_commuting_self_adjoint_hint(
    operator_a: LinearOperator, operator_b: LinearOperator
) -> Hint:
    """Whether a product of operators that commute is self-adjoint."""
    hints = (operator_a.is_self_adjoint, operator_b.is_self_adjoint)
    if hints[0] and hints[1]:
        return True
    return False if set(hints) == {True, False} else None


def combined_commuting_positive_definite_hint(
    operator_a: LinearOperator, operator_b: LinearOperator
) -> Hint:
    """Whether a product of operators that commute is positive definite."""
    both = (operator_a, operator_b)
    return all(x.is_positive_definite and x.is_self_adjoint for x in both) or None


def is_square(operator_a: LinearOperator, operator_b: LinearOperator) -> Hint:
    """Whether a product is square."""
    a, b = operator_a.is_square, operator_b.is_square
    if a and b:
        return True
    if a is False and b is False:
        rows, columns = operator_a.range_dimension, operator_b.domain_dimension
        if rows is not None and columns is not None:
            return rows == columns
    return False if a != b and a is not None else None


def _commuting_hints(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    return {
        "is_non_singular": combined_non_singular_hint(a, b),
        "is_self_adjoint": combined_commuting_self_adjoint_hint(a, b),
        "is_positive_definite": combined_commuting_positive_definite_hint(a, b),
        "is_square": True,
    }


def _triangular_hints(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    return {**_commuting_hints(a, b), "is_positive_definite": None}


_FACTOR: dict[str, Any] = {"is_non_singular": True, "is_self_adjoint": True, "is_square": True}
_LOWER_FACTOR: dict[str, Any] = {**_FACTOR, "is_self_adjoint": False}
_DIAGONAL_FACTOR: dict[str, Any] = {**_FACTOR, "is_positive_definite": True}


def _conjugate(x: Any) -> Any:
    return tf.conj(x) if x.dtype.is_complex else x


def _itself(operator: LinearOperator) -> LinearOperator:
    return operator


def _inner(operator: Any) -> LinearOperator:
    return operator.operator


def _composed(first: LinearOperator, a: LinearOperator, b: LinearOperator) -> LinearOperator:
    """The product of `first`, which has the properties of `a`, and `b`."""
    square = is_square(a, b)
    hints: dict[str, Any] = {"is_square": square}
    if square:
        hints["is_non_singular"] = combined_non_singular_hint(a, b)
    elif square is False:
        hints.update(_NOT_SQUARE)
    return Composition([first, b], **hints)


_NOT_SQUARE: dict[str, Any] = dict.fromkeys(
    ("is_non_singular", "is_self_adjoint", "is_positive_definite"), False
)


def _zeros(zeros: LinearOperator, other: LinearOperator) -> LinearOperator:
    if not zeros.is_square or not other.is_square:
        raise ValueError(
            "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not "
            "supported at this time."
        )
    return zeros


def _adjoints() -> None:
    """Conjugate transposes."""
    RegisterAdjoint(LinearOperator)(
        lambda x: Adjoint(x, **_same_hints(x, is_square=x.is_square)),
    )
    RegisterAdjoint(Adjoint)(_inner)
    RegisterAdjoint(Identity)(_itself)
    RegisterAdjoint(Householder)(_itself)
    RegisterAdjoint(ScaledIdentity)(
        lambda x: ScaledIdentity(
            num_rows=x._num_rows, multiplier=_conjugate(x.multiplier), **_same_hints(x)
        )
    )
    RegisterAdjoint(Diag)(lambda x: Diag(_conjugate(x.diag), **_same_hints(x)))
    RegisterAdjoint(Circulant)(lambda x: Circulant(_conjugate(x.spectrum), **_same_hints(x)))
    RegisterAdjoint(BlockDiag)(
        lambda x: BlockDiag([part.adjoint() for part in x.operators], **_same_hints(x))
    )
    RegisterAdjoint(Kronecker)(
        lambda x: Kronecker([part.adjoint() for part in x.operators], **_same_hints(x))
    )


def _inverses() -> None:
    """Inverses."""
    RegisterInverse(LinearOperator)(
        lambda x: Inversion(x, **_same_hints(x, is_square=x.is_square)),
    )
    RegisterInverse(Inversion)(_inner)
    RegisterInverse(Identity)(_itself)
    RegisterInverse(Householder)(_itself)
    RegisterInverse(ScaledIdentity)(
        lambda x: ScaledIdentity(
            num_rows=x._num_rows,
            multiplier=1.0 / x.multiplier,
            **_same_hints(x, is_self_adjoint=True),
        )
    )
    RegisterInverse(Diag)(lambda x: Diag(1.0 / x.diag, **_same_hints(x)))
    RegisterInverse(Circulant)(lambda x: Circulant(1.0 / x.spectrum, **_same_hints(x)))
    RegisterInverse(BlockDiag)(
        lambda x: BlockDiag([part.inverse() for part in x.operators], **_same_hints(x))
    )
    RegisterInverse(Kronecker)(
        lambda x: Kronecker([part.inverse() for part in x.operators], **_same_hints(x))
    )


def _factors() -> None:
    """Cholesky factors."""
    RegisterCholesky(LinearOperator)(
        lambda x: LowerTriangular(cholesky(x.to_dense()), **_LOWER_FACTOR),
    )
    RegisterCholesky(Diag)(lambda x: Diag(tf.sqrt(x.diag), **_DIAGONAL_FACTOR))
    RegisterCholesky(Identity)(
        lambda x: Identity(
            num_rows=x._num_rows, batch_shape=x.batch_shape, dtype=x.dtype, **_DIAGONAL_FACTOR
        )
    )
    RegisterCholesky(ScaledIdentity)(
        lambda x: ScaledIdentity(
            num_rows=x._num_rows, multiplier=tf.sqrt(x.multiplier), **_DIAGONAL_FACTOR
        )
    )
    RegisterCholesky(BlockDiag)(
        lambda x: BlockDiag([part.cholesky() for part in x.operators], **_LOWER_FACTOR)
    )
    RegisterCholesky(Kronecker)(
        lambda x: Kronecker([part.cholesky() for part in x.operators], **_LOWER_FACTOR)
    )


def _products() -> None:
    """Products."""
    RegisterMatmul(LinearOperator, LinearOperator)(lambda a, b: _composed(a, a, b))
    RegisterMatmul(Identity, LinearOperator)(lambda a, b: b)
    RegisterMatmul(LinearOperator, Identity)(lambda a, b: a)
    RegisterMatmul(LinearOperator, Zeros)(lambda a, b: _zeros(b, a))
    RegisterMatmul(Zeros, LinearOperator)(_zeros)
    RegisterMatmul(Diag, Diag)(lambda a, b: Diag(a.diag * b.diag, **_commuting_hints(a, b)))
    RegisterMatmul(Diag, ScaledIdentity)(
        lambda a, b: Diag(a.diag * b.multiplier, **_commuting_hints(a, b))
    )
    RegisterMatmul(ScaledIdentity, Diag)(
        lambda a, b: Diag(b.diag * a.multiplier, **_commuting_hints(b, a))
    )
    RegisterMatmul(Diag, LowerTriangular)(
        lambda a, b: LowerTriangular(a.diag[..., None] * b.to_dense(), **_triangular_hints(a, b))
    )
    RegisterMatmul(LowerTriangular, Diag)(
        lambda a, b: LowerTriangular(a.to_dense() * b.diag, **_triangular_hints(b, a))
    )
    RegisterMatmul(Circulant, Circulant)(
        lambda a, b: Circulant(a.spectrum * b.spectrum, **_commuting_hints(a, b))
    )


def _solutions() -> None:
    """Products with inverses."""
    RegisterSolve(LinearOperator, LinearOperator)(lambda a, b: _composed(Inversion(a), a, b))
    RegisterSolve(Inversion, LinearOperator)(lambda a, b: a.operator.matmul(b))
    RegisterSolve(Identity, LinearOperator)(lambda a, b: b)
    RegisterSolve(Diag, Diag)(lambda a, b: Diag(b.diag / a.diag, **_commuting_hints(a, b)))
    RegisterSolve(Diag, ScaledIdentity)(
        lambda a, b: Diag(b.multiplier / a.diag, **_commuting_hints(a, b))
    )
    RegisterSolve(ScaledIdentity, Diag)(
        lambda a, b: Diag(b.diag / a.multiplier, **_commuting_hints(b, a))
    )
    RegisterSolve(Diag, LowerTriangular)(
        lambda a, b: LowerTriangular(b.to_dense() / a.diag[..., None], **_triangular_hints(a, b))
    )
    RegisterSolve(Circulant, Circulant)(
        lambda a, b: Circulant(b.spectrum / a.spectrum, **_commuting_hints(a, b))
    )


@functools.cache
def register() -> None:
    """Fills the tables, when they are first asked."""
    for fill in (_adjoints, _inverses, _factors, _products, _solutions):
        fill()
