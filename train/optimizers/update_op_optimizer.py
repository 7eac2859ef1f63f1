# SPDX-License-Identifier: Apache-2.0
"""Optimizers whose update of one variable is one op: the four forms from one statement.

TensorFlow has four ops per rule: dense or sparse gradient, reference or resource variable.  They
take the same arguments in the same order, but the gradient may be (values, indices).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.types import dtypes
from ...ops.public import raw, tf
from .optimizer import Optimizer

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...ops.state.variables import Variable

# Where the gradient goes among the arguments of an update op.
GRADIENT = object()

Number = Callable[[Any], Any]
Made = TypeVar("Made", bound=Optimizer)


class UpdateOps(NamedTuple):
    """The types of the ops of one rule; "" where an optimizer has no use for one."""

    dense: str
    resource_dense: str
    sparse: str = ""
    resource_sparse: str = ""


class Update(NamedTuple):
    """One update op: which, in its four forms, its arguments after `var`, its attributes."""

    ops: UpdateOps
    arguments: tuple[Any, ...]
    attributes: dict[str, Any] = {}


class Rule:
    """Applies one op per variable, which the optimizer states in `_update`.

    No base of optimizers: programs look for `tf.train.Optimizer` as theirs (see `by_rule`).
    """

    _use_locking: bool

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        """The update of `var`.

        Args:
            var: the variable.
            slot: gives the slot of the variable of that name.
            number: casts a hyperparameter to the type of the variable.
        """
        raise NotImplementedError

    def get_slot(self, var: TensorLike, name: str) -> Any:
        """The optimizer's own."""
        raise NotImplementedError

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        return Rule._call(self, "dense", var, var.dtype.base_dtype, (grad,)).op

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        gradient = (grad.values, grad.indices)
        return Rule._call(self, "sparse", var, var.dtype.base_dtype, gradient).op

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Any:
        return Rule._call(self, "resource_dense", handle, grad.dtype.base_dtype, (grad,))

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        dtype = grad.dtype.base_dtype
        return Rule._call(self, "resource_sparse", handle, dtype, (grad, indices))

    def _call(
        self, form: str, var: Variable, dtype: dtypes.DType, gradient: tuple[Tensor, ...]
    ) -> Any:
        def argument(variable: Variable) -> Any:
            return variable.handle if form.startswith("resource") else variable

        update = self._update(
            var,
            lambda name: argument(self.get_slot(var, name)),
            lambda value: tf.cast(value, dtype),
        )
        arguments: list[Any] = [argument(var)]
        for item in update.arguments:
            arguments.extend(gradient if item is GRADIENT else (item,))
        function = getattr(raw, getattr(update.ops, form))
        return function(*arguments, use_locking=self._use_locking, **update.attributes)


def by_rule(optimizer: type[Made]) -> type[Made]:
    """Gives an optimizer the four forms of its update, which are then its own methods."""
    # Own methods rather than inherited ones: Optimizer stays the only base, as in TensorFlow.
    for name, method in vars(Rule).items():
        if name.startswith(("_apply", "_resource_apply")) and name not in vars(optimizer):
            setattr(optimizer, name, method)
    return optimizer


def tensor_of(optimizer: Optimizer, value: object, name: str) -> Tensor:
    """A hyperparameter (a number, a tensor or a function of either) as a tensor."""
    return tf.convert_to_tensor(optimizer._call_if_callable(value), name=name)
