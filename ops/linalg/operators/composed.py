# SPDX-License-Identifier: Apache-2.0
"""Operators made of others: products, blocks, Kronecker products."""

from __future__ import annotations

import functools
import operator as operators_of_python
from collections.abc import Callable, Sequence
from typing import Any

from ....engine import errors
from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from ....engine.signatures import without_private_bases
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape, broadcast_static
from ...public import tf
from ..solve import adjoint as _adjoint
from . import broadcasting as util
from .operator import Hint, Hints, LinearOperator

_Parts = Sequence[LinearOperator]
_Three = tuple[Hint, Hint, Hint]


class _Composed(LinearOperator):
    """An operator of several."""

    _operators: list[LinearOperator]

    def _set(
        self, operators: _Parts, hints: Hints, name: str | None, joint: str, expected: str
    ) -> None:
        tf.assert_proper_iterable(operators)
        parts = list(operators)
        if not parts:
            raise ValueError(f"Expected a {expected} operators. Found: {parts}")
        self._operators = parts
        if any(part.dtype != parts[0].dtype for part in parts):
            found = "   ".join(str((part.name, part.dtype)) for part in parts)
            raise TypeError(f"Expected all operators to have the same dtype.  Found {found}")
        parents = [parent for part in parts for parent in part.graph_parents]
        name = name or joint.join(part.name for part in parts)
        with name_scope(name, values=parents):
            LinearOperator.__init__(self, parts[0].dtype, parents, *hints, name)

    @property
    def operators(self) -> list[LinearOperator]:
        """The operators that this one is made of."""
        return self._operators

    def _batch_of_parts(self) -> TensorShape:
        shapes = [part.batch_shape for part in self.operators]
        return functools.reduce(broadcast_static, shapes)

    def _batch_of_parts_tensor(self) -> Tensor:
        shapes = [part.batch_shape_tensor() for part in self.operators]
        return functools.reduce(tf.broadcast_dynamic_shape, shapes)

    def _known_shape_tensor(self) -> Tensor:
        return convert_to_tensor(self.shape.as_list(), dtype=dtypes.int32, name="shape")

    def _over_parts(self, of_part: Callable[[Any], Any], join: Callable[..., Any]) -> Any:
        return functools.reduce(join, [of_part(part) for part in self.operators])

    def _product_of(self, of_part: Callable[[Any], Any]) -> Any:
        return self._over_parts(of_part, operators_of_python.mul)

    def _sum_of(self, of_part: Callable[[Any], Any]) -> Any:
        return self._over_parts(of_part, operators_of_python.add)


def _implied(parts: Any, hint: str, given: Hint, text: str) -> Hint:
    """What all parts have in common, the whole has too; ValueError if it is said not to."""
    if not all(getattr(part, hint) for part in parts):
        return given
    if given is False:
        raise ValueError(text)
    return True


@export("linalg.LinearOperatorComposition")
@without_private_bases
class LinearOperatorComposition(_Composed):
    """The product of several operators, applied from the last to the first.

    Args:
        operators: the factors.
        is_non_singular: whether it has an inverse.
        is_self_adjoint: whether it equals its conjugate transpose.
        is_positive_definite: whether x^H A x has a positive real part for every x but zero.
        is_square: whether it has as many rows as columns.
        name: of the scope of its operations; made of the operators' names if None.

    Raises:
        TypeError: the operators have different dtypes.
        ValueError: there is none, or a hint cannot be true.

    Example:
        >>> one = tf.linalg.LinearOperatorDiag([2.0, 3.0])
        >>> tf.Session().run(tf.linalg.LinearOperatorComposition([one, one]).determinant())
        np.float32(36.0)
    """

    def __init__(
        self,
        operators: _Parts,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ) -> None:
        tf.assert_proper_iterable(operators)
        operators = list(operators)
        text = "The composition of non-singular operators is always non-singular."
        if operators:
            is_non_singular = _implied(operators, "is_non_singular", is_non_singular, text)
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._set(operators, hints, name, "_o_", "non-empty list of")

    def _shape(self) -> TensorShape:
        columns = self.operators[0].domain_dimension
        for part in self.operators[1:]:
            columns.assert_is_compatible_with(part.range_dimension)
            columns = part.domain_dimension
        matrix = TensorShape([self.operators[0].range_dimension, columns])
        return self._batch_of_parts().concatenate(matrix)

    def _shape_tensor(self) -> Tensor:
        if self.shape.is_fully_defined():
            return self._known_shape_tensor()
        rows = self.operators[0].range_dimension_tensor()
        columns = self.operators[-1].domain_dimension_tensor()
        return tf.concat((self._batch_of_parts_tensor(), tf.stack([rows, columns])), 0)

    def _in_turn(self, what: str, parts: _Parts, x: Tensor, adjoint: bool, flip: bool) -> Tensor:
        first, *others = parts
        x = getattr(first, what)(x, adjoint=adjoint, adjoint_arg=flip)
        for part in others:
            x = getattr(part, what)(x, adjoint=adjoint)
        return x

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        # Of the adjoint the factors are the adjoints in the opposite order.
        parts = self.operators if adjoint else self.operators[::-1]
        return self._in_turn("matmul", parts, x, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        parts = self.operators[::-1] if adjoint else self.operators
        return self._in_turn("solve", parts, rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return self._product_of(lambda part: part.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._sum_of(lambda part: part.log_abs_determinant())


@export("linalg.LinearOperatorBlockDiag")
@without_private_bases
class LinearOperatorBlockDiag(_Composed):
    """Operators along a diagonal, zeros elsewhere.

    Args:
        operators: the blocks, which are square.
        is_non_singular: whether all blocks have inverses.
        is_self_adjoint: whether all equal their conjugate transposes.
        is_positive_definite: whether all are positive definite.
        is_square: True.
        name: of the scope of its operations; made of the operators' names if None.

    Raises:
        TypeError: the operators have different dtypes.
        ValueError: there is none, one is not square, or a hint cannot be true.

    Example:
        >>> one = tf.linalg.LinearOperatorDiag([2.0, 3.0])
        >>> tf.Session().run(tf.linalg.LinearOperatorBlockDiag([one, one]).diag_part())
        array([2., 3., 2., 3.], dtype=float32)
    """

    def __init__(
        self,
        operators: _Parts,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = True,
        name: str | None = None,
    ) -> None:
        tf.assert_proper_iterable(operators)
        operators = list(operators)
        hints = (is_non_singular, is_self_adjoint, is_positive_definite)
        if operators:
            hints = _hints_of_parts(operators, hints, "direct sum")
            if not (is_square and all(part.is_square for part in operators)):
                raise ValueError("Can only represent a block diagonal of square matrices.")
        self._set(operators, (*hints, True), name, "_ds_", "non-empty list of")

    def _shape(self) -> TensorShape:
        columns = self._sum_of(lambda part: part.domain_dimension)
        rows = self._sum_of(lambda part: part.range_dimension)
        return self._batch_of_parts().concatenate(TensorShape([columns, rows]))

    def _shape_tensor(self) -> Tensor:
        if self.shape.is_fully_defined():
            return self._known_shape_tensor()
        columns = self._sum_of(lambda part: part.domain_dimension_tensor())
        rows = self._sum_of(lambda part: part.range_dimension_tensor())
        return tf.concat((self._batch_of_parts_tensor(), tf.stack([columns, rows])), 0)

    def _by_block(self, what: str, x: Tensor, adjoint: bool, flip: bool) -> Tensor:
        sizes: list[Any] = [part.domain_dimension.value for part in self.operators]
        if not self.shape.is_fully_defined():
            sizes = [part.domain_dimension_tensor() for part in self.operators]
        pieces = tf.split(x, sizes, axis=-1 if flip else -2)
        found = [
            getattr(part, what)(piece, adjoint=adjoint, adjoint_arg=flip)
            for part, piece in zip(self.operators, pieces)
        ]
        return tf.concat(util.broadcast_matrix_batch_dims(found), axis=-2)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._by_block("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._by_block("solve", rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return self._product_of(lambda part: part.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._sum_of(lambda part: part.log_abs_determinant())

    def _trace(self) -> Tensor:
        return self._sum_of(lambda part: part.trace())

    def _diag_part(self) -> Tensor:
        parts = [part.diag_part()[..., None] for part in self.operators]
        whole = tf.concat(util.broadcast_matrix_batch_dims(parts), axis=-2)
        return tf.squeeze(whole, axis=-1)

    def _to_dense(self) -> Tensor:
        blocks = util.broadcast_matrix_batch_dims([part.to_dense() for part in self.operators])
        rows: list[Tensor] = []
        before: Any = 0
        for block in blocks:
            shape = tf.shape(block)
            left = tf.zeros(tf.concat([shape[:-1], [before]], axis=-1), dtype=block.dtype)
            before += shape[-1]
            rest = self.domain_dimension_tensor() - before
            right = tf.zeros(tf.concat([shape[:-1], [rest]], axis=-1), dtype=block.dtype)
            rows.append(tf.concat([left, block, right], axis=-1))
        matrix = tf.concat(rows, axis=-2)
        matrix.set_shape(self.shape)
        return matrix

    def _assert_non_singular(self) -> Operation:
        return tf.group([part.assert_non_singular() for part in self.operators])

    def _assert_self_adjoint(self) -> Operation:
        return tf.group([part.assert_self_adjoint() for part in self.operators])

    def _assert_positive_definite(self) -> Operation:
        return tf.group([part.assert_positive_definite() for part in self.operators])


_PROPERTIES = {
    "direct sum": ("non-singular", "self-adjoint", "positive definite"),
    "Kronecker product": ("non-singular", "self-adjoint", "positive-definite"),
}


def _hints_of_parts(parts: _Parts, hints: _Three, what: str) -> _Three:
    names = ("is_non_singular", "is_self_adjoint", "is_positive_definite")
    texts = [f"The {what} of {word} operators is always {word}." for word in _PROPERTIES[what]]
    first, second, third = (
        _implied(parts, name, hint, text) for name, hint, text in zip(names, hints, texts)
    )
    return first, second, third


def _vector(x: Tensor) -> Tensor:
    """The columns of matrices one after the other."""
    shape = tf.concat([tf.shape(x)[:-2], [-1]], axis=0)
    return tf.reshape(tf.matrix_transpose(x), shape)


def _columns(y: Tensor, count: Tensor) -> Tensor:
    """The opposite of `_vector`."""
    shape = tf.concat([tf.shape(y)[:-1], [count, -1]], axis=0)
    return tf.matrix_transpose(tf.reshape(y, shape))


def _rotated(x: Tensor, right: bool = False) -> Tensor:
    """The first axis moved to the end, or the last to the front."""
    rank = tf.rank(x)
    if right:
        return tf.transpose(x, tf.concat([[rank - 1], tf.range(0, rank - 1)], axis=0))
    return tf.transpose(x, tf.concat([tf.range(1, rank), [0]], axis=0))


@export("linalg.LinearOperatorKronecker")
@without_private_bases
class LinearOperatorKronecker(_Composed):
    """The Kronecker product of several operators.

    Args:
        operators: the factors.
        is_non_singular: whether all have inverses.
        is_self_adjoint: whether all equal their conjugate transposes.
        is_positive_definite: whether all are positive definite.
        is_square: whether it has as many rows as columns.
        name: of the scope of its operations; made of the operators' names if None.

    Raises:
        TypeError: the operators have different dtypes.
        ValueError: there is none, or a hint cannot be true.

    Example:
        >>> one = tf.linalg.LinearOperatorDiag([2.0, 3.0])
        >>> tf.Session().run(tf.linalg.LinearOperatorKronecker([one, one]).diag_part())
        array([4., 6., 6., 9.], dtype=float32)
    """

    def __init__(
        self,
        operators: _Parts,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ) -> None:
        tf.assert_proper_iterable(operators)
        operators = list(operators)
        hints = (is_non_singular, is_self_adjoint, is_positive_definite)
        if operators:
            hints = _hints_of_parts(operators, hints, "Kronecker product")
        self._set(operators, (*hints, is_square), name, "_x_", "list of >=1")

    def _shape(self) -> TensorShape:
        rows = self._product_of(lambda part: part.range_dimension)
        columns = self._product_of(lambda part: part.domain_dimension)
        return self._batch_of_parts().concatenate(TensorShape([rows, columns]))

    def _shape_tensor(self) -> Tensor:
        rows = self._product_of(lambda part: part.range_dimension_tensor())
        columns = self._product_of(lambda part: part.domain_dimension_tensor())
        return tf.concat((self._batch_of_parts_tensor(), [rows, columns]), 0)

    def _through(self, what: str, x: Tensor, adjoint: bool, flip: bool) -> Tensor:
        """(A x B) vec(X) = vec(B X A^T), one factor after the other, for products and solutions."""
        x = _adjoint(x) if flip else x
        ones = tf.concat([tf.ones_like(self.batch_shape_tensor()), [1, 1]], 0)
        x += tf.zeros(ones, dtype=x.dtype.base_dtype)
        result = _rotated(x, right=True)[None, ...]
        for part in self.operators[:-1]:
            # TensorFlow 1.15 takes the sides so for both; they are equal where one solves.
            size = part.range_dimension_tensor() if adjoint else part.domain_dimension_tensor()
            result = tf.matrix_transpose(_columns(result, size))
            result = getattr(part, what)(result, adjoint=adjoint, adjoint_arg=False)
            result = _rotated(_vector(_rotated(tf.matrix_transpose(result))), right=True)
        result = getattr(self.operators[-1], what.replace("matmul", "mat") + "vec")(
            result, adjoint=adjoint
        )
        result = _rotated(_vector(_rotated(result)))
        if x.shape.is_fully_defined():
            rows = self.domain_dimension if adjoint else self.range_dimension
            batch = broadcast_static(x.shape[:-2], self.batch_shape)
            result.set_shape(batch.concatenate(TensorShape([rows, x.shape[-1]])))
        return result

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._through("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._through("solve", rhs, adjoint, adjoint_arg)

    def _others(self, part: LinearOperator) -> Tensor:
        """The size of the product of all other factors."""
        total = self.domain_dimension_tensor()
        return tf.cast(total / part.domain_dimension_tensor(), dtype=part.dtype)

    def _determinant(self) -> Tensor:
        return self._product_of(lambda part: part.determinant() ** self._others(part))

    def _log_abs_determinant(self) -> Tensor:
        return self._sum_of(lambda part: part.log_abs_determinant() * self._others(part))

    def _trace(self) -> Tensor:
        return self._product_of(lambda part: part.trace())

    def _diag_part(self) -> Tensor:
        found = self.operators[0].diag_part()
        for part in self.operators[1:]:
            found = found[..., :, None] * part.diag_part()[..., None, :]
            found = tf.reshape(found, tf.concat([tf.shape(found)[:-2], [-1]], axis=0))
        rows: Any = self.range_dimension
        columns: Any = self.domain_dimension
        found.set_shape(self.batch_shape.concatenate(columns if rows > columns else rows))
        return found

    def _to_dense(self) -> Tensor:
        found = self.operators[0].to_dense()
        for part in self.operators[1:]:
            found = found[..., :, None, :, None] * part.to_dense()[..., None, :, None, :]
            shape = tf.shape(found)
            sides = [shape[-4] * shape[-3], shape[-2] * shape[-1]]
            found = tf.reshape(found, tf.concat([shape[:-4], sides], axis=0))
        found.set_shape(self.shape)
        return found

    def _require_square(self, what: str) -> None:
        if not all(part.is_square for part in self.operators):
            raise errors.invalid(
                f"All Kronecker factors must be square for the product to be {what}."
            )

    def _assert_non_singular(self) -> Operation:
        self._require_square("invertible")
        return tf.group([part.assert_non_singular() for part in self.operators])

    def _assert_self_adjoint(self) -> Operation:
        self._require_square("self adjoint")
        return tf.group([part.assert_self_adjoint() for part in self.operators])
