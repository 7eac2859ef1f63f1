# SPDX-License-Identifier: Apache-2.0
"""Branches and loops of graph functions, as TensorFlow 1.15's internal `functional_ops` has them.

Functions are those of `Defun` (function_library.py); each call is one node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import raw, tf
from .function_library import DefinedFunction, Defun, get_extra_args


def _types(args: Any) -> list[dtypes.DType]:
    return [dtypes.as_dtype(arg.type) for arg in args]


def If(  # noqa: N802
    cond: Any,
    inputs: Sequence[Any],
    then_branch: DefinedFunction,
    else_branch: DefinedFunction,
    name: str | None = None,
) -> Any:
    """The results of one of two functions.

    Args:
        cond: a scalar: true, a number but 0, or a text but the empty one takes `then_branch`.
        inputs: what the function is given.
        then_branch: a graph function.
        else_branch: another one, whose results have the types of the first one's.
        name: of the node.

    Returns:
        The list of the results, or the operation if there are none.
    """
    return raw.If(
        cond,
        list(inputs),
        then_branch=then_branch,
        else_branch=else_branch,
        Tout=_types(then_branch.definition.signature.output_arg),
        name=name,
    )


def Gradient(inputs: Sequence[Any], f: DefinedFunction, name: str | None = None) -> Any:  # noqa: N802
    """The gradient of a function by its parameters.

    Args:
        inputs: its parameters, and a gradient for each of its results.
        f: the graph function.
        name: of the node.

    Returns:
        A list of as many tensors as the function has parameters.
    """
    kinds = _types(f.definition.signature.input_arg)
    return raw.SymbolicGradient(list(inputs), f=f, Tout=kinds, name=name)


def partitioned_call(
    args: Sequence[Any],
    f: DefinedFunction,
    tout: Sequence[Any] | None = None,
    executing_eagerly: bool | None = None,
    config: Any = None,
    executor_type: str | None = None,
) -> Any:
    """The results of a function.

    Args:
        args: what it is given.
        f: the graph function.
        tout: the types of its results; those that it states by default.
        executing_eagerly: not used: graphs are built.
        config: a serialized ConfigProto that the node carries.
        executor_type: the kind of runtime that the node asks for.

    Returns:
        The list of the results, or the operation if there are none.
    """
    del executing_eagerly
    call = raw.StatefulPartitionedCall if f.stateful_ops else raw.PartitionedCall
    given = {"config_proto": config or "", "executor_type": executor_type or ""}
    kinds = _types(f.definition.signature.output_arg) if tout is None else list(tout)
    return call(list(args), Tout=kinds, f=f, **given)


def _as_tuple(result: Any) -> tuple[Any, ...]:
    if isinstance(result, Operation):
        return ()
    return tuple(result) if isinstance(result, (list, tuple)) else (result,)


def _with_captures(body: DefinedFunction) -> DefinedFunction:
    """A function that also hands on what the body takes from outside, for the next iteration."""

    @Defun(*body.declared_input_types, func_name=f"{body.name}_Wrapper")
    def wrapper(*args: Any) -> Any:
        return (*_as_tuple(body(*args)), *get_extra_args())

    return wrapper


def While(  # noqa: N802
    input_: Sequence[Any],
    cond: DefinedFunction,
    body: DefinedFunction,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
) -> Any:
    """The values of variables after `body` has made new ones of them as long as `cond` held.

    Args:
        input_: the values that the variables begin with.
        cond: a graph function of the variables, which takes nothing from outside.
        body: a graph function of the variables that gives their next values.
        name: of the node.
        hostmem: which of them are kept beside the processor, where there is another place.

    Returns:
        A list of tensors.

    Raises:
        ValueError: `cond` takes something from outside, or other types than `body`.
    """
    del hostmem
    if cond.captured_inputs:
        raise ValueError(
            "While op 'cond' argument must be a function without implicitly captured inputs."
        )
    if list(cond.declared_input_types) != list(body.declared_input_types):
        raise ValueError(
            "While op 'cond' and 'body' signatures do not match. "
            f"{cond.declared_input_types!r} vs {body.declared_input_types!r}"
        )
    captured = list(body.captured_inputs)
    if not captured:
        return raw.While(list(input_), cond=cond, body=body, name=name)
    count = len(body.declared_input_types)
    kinds = [*body.declared_input_types, *(tensor.dtype for tensor in captured)]

    @Defun(*kinds, func_name=f"{cond.name}_Wrapper")
    def condition(*args: Any) -> Any:
        return cond(*args[:count])

    given = [*input_, *captured]
    return raw.While(given, cond=condition, body=_with_captures(body), name=name)[: -len(captured)]


def For(  # noqa: N802
    start: Any,
    limit: Any,
    delta: Any,
    inputs: Sequence[Any],
    body: DefinedFunction,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
    rewrite_with_while: bool | None = None,
) -> Any:
    """The values of variables after `body` was called for each number of a range.

    Args:
        start: the first number, an int32 scalar.
        limit: the end of the range, which is not in it.
        delta: the distance of the numbers.
        inputs: the values that the variables begin with.
        body: a graph function of the number and the variables that gives their next values.
        name: of the node.
        hostmem: which of them are kept beside the processor, where there is another place.
        rewrite_with_while: whether the node is a `While`.

    Returns:
        A list of tensors.
    """
    if rewrite_with_while:
        return _for_by_while(start, limit, delta, inputs, body, name)
    del hostmem
    captured = list(body.captured_inputs)
    called = _with_captures(body) if captured else body
    found = raw.For(start, limit, delta, [*inputs, *captured], body=called, name=name)
    return found[: len(inputs)]


def _for_by_while(
    start: Any, limit: Any, delta: Any, inputs: Sequence[Any], body: DefinedFunction, name: Any
) -> list[Any]:
    size = tf.abs(delta)
    distance = tf.abs(limit - start) + size - 1
    count = tf.cast(tf.cast(distance, tf.float32) / tf.cast(size, tf.float32), tf.int32)
    kinds = [dtypes.int32] * 4 + list(body.declared_input_types)[1:]

    @Defun(*kinds, func_name=f"{body.name}_Cond")
    def goes_on(number: Tensor, end: Tensor, *args: Any) -> Any:
        return tf.less(number, end)

    @Defun(*kinds, func_name=f"{body.name}_Body")
    def step(number: Tensor, end: Tensor, first: Tensor, by: Tensor, *args: Any) -> Any:
        following = _as_tuple(body(first + number * by, *args))
        return (number + 1, end, first, by, *following)

    return list(While([0, count, start, delta, *inputs], goes_on, step, name)[4:])
