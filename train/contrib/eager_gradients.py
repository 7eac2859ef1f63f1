# SPDX-License-Identifier: Apache-2.0
"""Functions of `tf.contrib.eager` that give a function's gradients; in graphs they build nodes.

Gradients flow through what the function builds while it is called, as on a tape.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.types import nest
from ...ops.flow.gradient_tape import GradientTape
from ...ops.public import tf

Function = Callable[..., Any]
Parameters = Sequence[str] | Sequence[int] | None


@export("contrib.eager.implicit_value_and_gradients")
def implicit_val_and_grad(f: Function) -> Function:
    """What a function gives, with its gradients by the trainable variables that it reads.

    Args:
        f: gives a tensor, or a structure of them, whose sum is meant.

    Returns:
        A function of the same arguments that gives the value and a list of pairs of gradient (None
        where there is none) and variable, in the order in which these were made.  It raises
        ValueError where `f` gives None or reads no variable.

    Example:
        >>> v = tf.Variable(3.0, use_resource=True)
        >>> value, pairs = tf.contrib.eager.implicit_value_and_gradients(lambda x: v * v * x)(2.0)
        >>> with tf.Session() as session:
        ...     session.run(v.initializer)
        ...     print(*session.run([value, pairs[0][0]]))
        18.0 12.0
    """

    @functools.wraps(f)
    def with_gradients(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        with GradientTape() as tape:
            value = f(*args, **kwargs)
        if value is None:
            raise ValueError(
                "Cannot differentiate a function that returns None; did you forget to return a "
                f"value from {getattr(f, '__name__', f)}?"
            )
        variables = tape.watched_variables()
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being computed."
            )
        found = tape.gradient(nest.flatten(value), list(variables))
        return value, list(zip(found, variables))

    return with_gradients


@export("contrib.eager.implicit_gradients")
def implicit_grad(f: Function) -> Function:
    """A function's gradients by the trainable variables that it reads.

    Args:
        f: gives a tensor, or a structure of them, whose sum is meant.

    Returns:
        A function of the same arguments that gives the pairs of gradient and variable.
    """
    return lambda *args, **kwargs: implicit_val_and_grad(f)(*args, **kwargs)[1]


def _positions(f: Function, params: Parameters, count: int) -> list[int]:
    """Which arguments of a call are meant."""
    if params is None:
        return list(range(count))
    if all(isinstance(name, str) for name in params):
        names = list(inspect.signature(f).parameters)
        return [names.index(str(name)) for name in params]
    if all(isinstance(position, int) for position in params):
        return [int(position) for position in params]
    raise ValueError(f"params must be all strings or all integers; got {params}.")


def make_vjp(f: Function, params: Parameters = None, persistent: bool = True) -> Function:
    """What a function gives, with a function of output gradients that gives input gradients."""

    def called(*args: Any, **kwargs: Any) -> tuple[Any, Function]:
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        positions = _positions(f, params, len(args))
        given = list(args)
        for position in positions:
            # (A tensor that is given twice is two arguments.)
            given[position] = tf.identity(convert_to_tensor(args[position]))
        sources = [given[position] for position in positions]
        tape = GradientTape(persistent=persistent)
        with tape:
            tape.watch(sources)
            value = f(*given)
        if value is None:
            raise ValueError(
                "Cannot differentiate a function that returns None; did you forget to return a "
                f"value from {getattr(f, '__name__', f)}?"
            )

        def vjp(dy: Any = None) -> list[Any]:
            gradients = None if dy is None else [convert_to_tensor(x) for x in nest.flatten(dy)]
            return list(tape.gradient(nest.flatten(value), sources, output_gradients=gradients))

        return value, vjp

    return called


@export("contrib.eager.value_and_gradients_function")
def val_and_grad_function(f: Function, params: Parameters = None) -> Function:
    """What a function gives, with its gradients by arguments.

    Args:
        f: gives a tensor, or a structure of them, whose sum is meant.
        params: names or numbers of the arguments, None for all.

    Returns:
        A function of the same arguments, and of `dy` for gradients of the results, that gives the
        value and a list of gradients.  It raises ValueError for keywords, for parameters of both
        kinds, and where `f` gives None.

    Example:
        >>> both = tf.contrib.eager.value_and_gradients_function(lambda x, y: x * x * y)
        >>> with tf.Session() as session:
        ...     value, slopes = session.run(both(3.0, 2.0))
        ...     print(value, *slopes)
        18.0 12.0 9.0
    """

    def called(*args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        dy = kwargs.pop("dy", None)
        value, vjp = make_vjp(f, params)(*args, **kwargs)
        return value, vjp(dy)

    return called


@export("contrib.eager.gradients_function")
def gradients_function(f: Function, params: Parameters = None) -> Function:
    """A function's gradients by arguments.

    Args:
        f: gives a tensor, or a structure of them, whose sum is meant.
        params: names or numbers of the arguments, None for all.

    Returns:
        A function of the same arguments, and of `dy`, that gives a list of gradients.
    """
    return lambda *args, **kwargs: val_and_grad_function(f, params)(*args, **kwargs)[1]
