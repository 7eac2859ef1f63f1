# SPDX-License-Identifier: Apache-2.0
"""Training or testing: the learning phase of a graph, and what depends on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ....ops.flow.cond import smart_cond
from ....ops.public import tf

if TYPE_CHECKING:
    from .sessions import Function

# Graph -> prefix -> the number given last.
_uids: WeakKeyDictionary[Any, defaultdict[str, int]] = WeakKeyDictionary()


def learning_phase() -> Any:
    """Whether the default graph trains: what was set, or a bool tensor, fed by models."""
    graph = tf.get_default_graph()
    if _noted(graph) is None:
        with tf.init_scope(), tf.name_scope(""):
            outer = tf.get_default_graph()
            if _noted(outer) is None:
                made = tf.placeholder_with_default(False, shape=(), name="keras_learning_phase")
                _note(outer, made)
        _note(graph, _noted(outer))
    return _noted(graph)


def _noted(graph: Any) -> Any:
    """A placeholder that is False by default, or what a program set: 0 or 1; None for neither."""
    return getattr(graph, "_keras_phase", None)


def _note(graph: Any, value: Any) -> None:
    graph._keras_phase = value


def symbolic_learning_phase() -> Any:
    """The tensor of the phase, made if there is none yet; None where the phase is set."""
    phase = learning_phase()
    return phase if hasattr(phase, "op") else None


def phase_value(function: Function, values: Sequence[Any]) -> list[bool]:
    """True for the phase that a training function takes last, unless the phase is set; or nothing.

    (Where targets are missing, too, nothing is to be taken for one of them.)
    """
    inputs = function.inputs
    takes_phase = len(inputs) == len(values) + 1 and inputs[-1].dtype.base_dtype == tf.bool
    return [True] if takes_phase else []


def set_learning_phase(value: int | bool) -> None:
    """Sets the phase of the default graph.

    Args:
        value: 1 for training, 0 for testing.

    Raises:
        ValueError: it is neither.
    """
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    _note(tf.get_default_graph(), value)


@contextmanager
def learning_phase_scope(value: int | bool) -> Iterator[None]:
    """A context with the phase set; ValueError for what is neither 0 nor 1."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    graph = tf.get_default_graph()
    before = _noted(graph)
    _note(graph, value)
    try:
        yield
    finally:
        _note(graph, before)


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` when training and `alt` otherwise; both are tensors, or functions that make one.

    Args:
        training: a bool, a number or a tensor; the learning phase if None.
    """
    if training is None:
        training = learning_phase()
    if isinstance(training, (bool, int)):
        chosen = x if training else alt
        return chosen() if callable(chosen) else chosen
    return switch(training, x, alt)


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` when testing and `alt` otherwise, as `in_train_phase`."""
    return in_train_phase(alt, x, training=training)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two tensors, or of two functions that make one, by a condition.

    Args:
        condition: a tensor; a scalar chooses between the whole, others between elements.
        then_expression, else_expression: of one shape, whose rank is not below the condition's.

    Raises:
        ValueError: the condition's rank is greater than that of the expressions.
    """
    if condition.dtype != tf.bool:
        condition = tf.cast(condition, tf.bool)
    if not condition.shape.ndims:
        return tf.cond(condition, _function(then_expression), _function(else_expression))
    chosen = [e() if callable(e) else e for e in (then_expression, else_expression)]
    rank, of_condition = chosen[0].shape.ndims, condition.shape.ndims
    if of_condition > rank:
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and "
            f"`else_expression`. ndim(condition)={of_condition}, ndim(then_expression)={rank}"
        )
    if of_condition > 1:
        missing = rank - of_condition
        sizes = tf.concat([tf.shape(condition), [1] * missing], axis=0)
        condition = tf.reshape(condition, sizes)
        whole = tf.shape(chosen[0])
        condition = tf.tile(condition, tf.where(whole - sizes > 0, whole, tf.ones_like(whole)))
    return tf.where(condition, *chosen)


def _function(expression: Any) -> Callable[[], Any]:
    return expression if callable(expression) else lambda: expression


def known_or_cond(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """One of two functions' results: at once if the condition is known, else by `tf.cond`."""
    if isinstance(condition, int):
        condition = bool(condition)
    if hasattr(condition, "initializer"):
        return tf.cond(condition, then, otherwise)
    return smart_cond(condition, then, otherwise)


def get_uid(prefix: str = "") -> int:
    """The next number of a prefix in the default graph, from 1 on."""
    numbers = _uids.setdefault(tf.get_default_graph(), defaultdict(int))
    numbers[prefix] += 1
    return numbers[prefix]


def reset_uids() -> None:
    """Begins all numbers anew."""
    _uids.clear()
