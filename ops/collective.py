# SPDX-License-Identifier: Apache-2.0
"""Ops by which the members of a group put tensors together, or hand one of them to all.

The members are operations on different devices: of one session, or of the tasks of a cluster, which
exchange what they have by themselves (train/cluster/collectives.py).  Which operations belong
together is said by numbers: the group's, and the instance's within it.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine import errors
from ..engine.graph.build import define
from ..engine.graph.registry import NoGradient
from ..engine.session.futures import Future
from ..engine.types import dtypes
from ..engine.types.shape import TensorShape, shape_text
from .public import raw

if TYPE_CHECKING:
    from ..engine.graph.inference import ShapeContext
    from ..engine.graph.kernel_context import KernelContext
    from ..engine.graph.tensor import Tensor

_TYPES = "T: {float32, float16, float64, int32, int64}"
_GROUP = "group_size: int; group_key: int; instance_key: int"
_HINT = "communication_hint: string = 'auto'"
_TEST = {"needs": "a group of operations on several devices"}
_NONE = NoGradient("TensorFlow states none for collectives")
MERGES: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "Mul": np.multiply,
    "Min": np.minimum,
    "Max": np.maximum,
}


def check_shapes(values: Sequence[np.ndarray]) -> None:
    """InvalidArgumentError where members of a collective have tensors of different shapes."""
    shapes = sorted({value.shape for value in values})
    if len(shapes) > 1:
        told = ", ".join(shape_text(shape) for shape in shapes)
        raise errors.invalid(f"Shape mismatch among the members of a collective: {told}")


def merged(values: Sequence[np.ndarray], merge: str) -> np.ndarray:
    """Values of one shape as one, in their order; InvalidArgumentError for different shapes."""
    check_shapes(values)
    result: np.ndarray = functools.reduce(MERGES[merge], values[1:], values[0])
    return result


def divided(value: np.ndarray, count: int) -> np.ndarray:
    """What the final "Div" makes of a value: integers lose what is behind the point."""
    if value.dtype.kind == "i":
        return np.asarray(np.sign(value) * (np.abs(value) // count), value.dtype)
    return np.asarray(value / value.dtype.type(count), value.dtype)


def joined(values: Sequence[np.ndarray]) -> np.ndarray:
    """Values one behind the other; InvalidArgumentError for shapes that differ."""
    check_shapes(values)
    return np.concatenate(values)


class Meeting:
    """Members of one session that have come: each is answered when all are there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._come: list[tuple[str, Any, Future]] = []

    def join(self, device: str, value: Any, count: int, answer: Callable[[Any], Any]) -> Future:
        """What `answer` makes of all values, in the order of their devices."""
        future = Future()
        with self._lock:
            # (Who gave up is not there any more.)
            self._come = [one for one in self._come if not one[2].is_done]
            self._come.append((device, value, future))
            if len(self._come) < count:
                return future
            come, self._come = sorted(self._come, key=lambda one: one[0]), []
        try:
            result = answer([one[1] for one in come])
        except errors.OpError as error:
            for _, _, pending in come:
                pending.settle(error=error)
        else:
            for _, _, pending in come:
                pending.settle(np.array(result))
        return future


_meetings: weakref.WeakKeyDictionary[Any, dict[Any, Meeting]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def _meeting(c: KernelContext) -> Meeting:
    with _lock:
        of_session = _meetings.setdefault(c.session, {})
        key = c.attr("group_key"), c.attr("instance_key")
        return of_session.setdefault(key, Meeting())


def _elsewhere(c: KernelContext) -> Any:
    """What reaches the other members, in a task of a cluster; None in a session of its own."""
    found = None if c.session is None else c.session.transfers
    return None if found is None else found.collectives


def _met(c: KernelContext, value: Any, answer: Callable[[Any], Any]) -> Future:
    if c.session is None:
        raise errors.failed_precondition(f"{c.type} runs only in a session.")
    return _meeting(c).join(c.op._device, value, c.attr("group_size"), answer)


def _reduce(c: KernelContext, value: np.ndarray) -> Any:
    other = _elsewhere(c)
    if other is not None:
        return other.reduce(c, value)

    def answer(values: list[np.ndarray]) -> np.ndarray:
        result = merged(values, c.attr("merge_op"))
        return divided(result, len(values)) if c.attr("final_op") == "Div" else result

    return _met(c, np.array(value), answer)


def _gather(c: KernelContext, value: np.ndarray) -> Any:
    other = _elsewhere(c)
    return other.gather(c, value) if other is not None else _met(c, np.array(value), joined)


def _first(values: list[Any]) -> Any:
    given = [value for value in values if value is not None]
    if len(given) != 1:
        raise errors.internal(f"A broadcast has {len(given)} sources.")
    return given[0]


def _send(c: KernelContext, value: np.ndarray) -> Any:
    other = _elsewhere(c)
    return other.broadcast(c, value) if other is not None else _met(c, np.array(value), _first)


def _receive(c: KernelContext) -> Any:
    other = _elsewhere(c)
    return other.broadcast(c, None) if other is not None else _met(c, None, _first)


def _gathered_shape(c: ShapeContext) -> TensorShape:
    shape = c.inputs[0]
    if shape.dims is None:
        return TensorShape(None)
    if not shape.dims:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    rows = shape.as_list()[0]
    return TensorShape([None if rows is None else rows * c.attr("group_size"), *shape[1:]])


_collective: dict[str, Any] = {
    "gradient": _NONE,
    "stateful": True,
    "control_flow_role": "wait",
    "test": _TEST,
}
define(
    "CollectiveReduce",
    "input: T -> data: T",
    f"{_TYPES}; {_GROUP}; merge_op: {{'Min', 'Max', 'Mul', 'Add'}}; final_op: {{'Id', 'Div'}}; "
    f"subdiv_offsets: list(int); wait_for: list(int) = []; {_HINT}",
    shape=lambda c: c.inputs[0],
    kernel=_reduce,
    doc="The tensors of all members of a group as one, for each of them.",
    **_collective,
)
define(
    "CollectiveGather",
    "input: T -> data: T",
    f"{_TYPES}; {_GROUP}; shape: shape; {_HINT}",
    shape=_gathered_shape,
    kernel=_gather,
    doc="The tensors of all members of a group, one behind the other, for each of them.",
    **_collective,
)
define(
    "CollectiveBcastSend",
    "input: T -> data: T",
    f"{_TYPES}; {_GROUP}; shape: shape; {_HINT}",
    shape=lambda c: TensorShape(c.attr("shape")),
    kernel=_send,
    doc="Gives a tensor to all other members of a group.",
    **_collective,
)
define(
    "CollectiveBcastRecv",
    "-> data: T",
    f"{_TYPES}; {_GROUP}; shape: shape; {_HINT}",
    shape=lambda c: TensorShape(c.attr("shape")),
    kernel=_receive,
    doc="Takes the tensor that another member of a group gives.",
    **_collective,
)


def _require(group_size: int, function: str) -> None:
    if group_size <= 1:
        raise ValueError(f"Parameter group_size to {function} must be at least 2.")


def _require_device(t: Tensor) -> None:
    if not t.device:
        raise ValueError("Device assignment required for collective ops")


def all_reduce(
    t: Tensor,
    group_size: int,
    group_key: int,
    instance_key: int,
    merge_op: str,
    final_op: str,
    subdiv_offsets: Sequence[int] = (0,),
    communication_hint: str = "auto",
) -> Tensor:
    """The tensors of all members of a group as one.

    Args:
        t: a tensor on a device of its own: floating or integer, of the same shape everywhere.
        group_size: how many members there are.
        group_key, instance_key: numbers of the group, and of the reduction within it.
        merge_op: "Add", "Mul", "Min" or "Max".
        final_op: "Id", or "Div" by the number of members.
        subdiv_offsets: where independent parts begin.
        communication_hint: "auto", "ring" or "nccl".

    Returns:
        A Tensor of the type and shape of `t`, with the same value for all members.

    Raises:
        ValueError: `t` has no device, or the group one member.

    As `collective_ops` of TensorFlow 1.15.
    """
    _require_device(t)
    _require(group_size, "all_reduce")
    return raw.CollectiveReduce(
        input=t,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        merge_op=merge_op,
        final_op=final_op,
        subdiv_offsets=list(subdiv_offsets),
        communication_hint=communication_hint,
    )


def all_gather(
    t: Tensor,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """The tensors of all members of a group, one behind the other.

    Args:
        t: a tensor [rows, ...] on a device of its own.
        group_size, group_key, instance_key, communication_hint: as of `all_reduce`.

    Returns:
        A Tensor [group_size * rows, ...], with the same value for all members.

    Raises:
        ValueError: `t` has no device, or the group one member.

    As `collective_ops` of TensorFlow 1.15.
    """
    _require_device(t)
    _require(group_size, "all_gather")
    return raw.CollectiveGather(
        input=t,
        shape=[0],
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint,
    )


def broadcast_send(
    t: Tensor,
    shape: TensorShape | Sequence[int],
    dtype: dtypes.DType,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """Gives a tensor to the other members of a group.

    Args:
        t: the tensor.
        shape, dtype: what it is, as the others are told.
        group_size, group_key, instance_key, communication_hint: as of `all_reduce`.

    Returns:
        The tensor.

    Raises:
        ValueError: `t` has no device or is something else, or the group has one member.

    As `collective_ops` of TensorFlow 1.15.
    """
    _require_device(t)
    _require(group_size, "broadcast_send")
    if t.shape != shape:
        raise ValueError("Shape of broadcast_send tensor not equal to delcared shape")
    if t.dtype != dtype:
        raise ValueError("Type of broadcast_send tensor not equal to declared type")
    return raw.CollectiveBcastSend(
        input=t,
        shape=shape,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint,
    )


def broadcast_recv(
    shape: TensorShape | Sequence[int],
    dtype: dtypes.DType,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """Takes the tensor that another member of a group gives with `broadcast_send`.

    Args:
        shape, dtype: what it is.
        group_size, group_key, instance_key, communication_hint: as of `all_reduce`.

    Returns:
        The tensor.

    Raises:
        ValueError: the group has one member.

    As `collective_ops` of TensorFlow 1.15.
    """
    _require(group_size, "broadcast_send")
    return raw.CollectiveBcastRecv(
        shape=shape,
        T=dtype,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint,
    )
