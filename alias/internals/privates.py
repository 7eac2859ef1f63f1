# SPDX-License-Identifier: Apache-2.0
"""Private functions and tables of `tensorflow.python` that copied code goes on calling."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...engine.graph.constants import constant_value
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...ops.flow.lifting import UnliftableError as UnliftableError
from ...ops.public import tf


def _kinds() -> list[dtypes.DType]:
    numbers = (kind for kind in vars(dtypes).values() if isinstance(kind, dtypes.DType))
    return [kind for kind in dict.fromkeys(numbers) if not kind._is_ref_dtype]


# Number of a type in messages -> NumPy's, and NumPy's -> the type.
_TF_TO_NP: dict[int, Any] = {}
_NP_TO_TF: dict[Any, dtypes.DType] = {}
for _kind in _kinds():
    try:
        _TF_TO_NP[_kind.as_datatype_enum] = _kind.as_numpy_dtype
        _NP_TO_TF.setdefault(_kind.as_numpy_dtype, _kind)
    except KeyError:  # A type that NumPy has not.
        continue


def _ReductionDims(x: Any, axis: Any, reduction_indices: Any = None) -> Any:
    """The axes over which a reduction goes; all of them if none are given."""
    axis = axis if reduction_indices is None else reduction_indices
    if axis is not None:
        return axis
    rank = x.get_shape().ndims
    return tf.range(0, tf.rank(x)) if rank is None else tf.constant(np.arange(rank), tf.int32)


def _maybe_tensor_shape_from_tensor(shape: Any) -> Any:
    """A static shape, of unknown sizes where a tensor says them."""
    if not isinstance(shape, tf.Tensor):
        return shape
    known = constant_value(shape)
    return TensorShape(shape.get_shape().as_list()[0] * [None] if known is None else list(known))


def _get_sequence(value: Any, n: int, channel_index: int, name: str) -> list[int]:
    """Strides or sizes of a window for all dimensions, given for one, for n or for all."""
    values = [1] if value is None else list(value) if isinstance(value, Iterable) else [value]
    if len(values) == n + 2:
        return values
    if len(values) not in (1, n):
        raise ValueError(f"{name} should be of length 1, {n} or {n + 2} but was {len(values)}")
    inner = values * n if len(values) == 1 else values
    return [1, 1, *inner] if channel_index == 1 else [1, *inner, 1]


def _bfs_for_reachable_nodes(target_nodes: Any, name_to_input_name: Any) -> set[str]:
    """The names of the nodes from which any of the targets is reached."""
    found: set[str] = set()
    waiting = deque(target_nodes)
    while waiting:
        name = waiting.popleft()
        if name not in found:
            found.add(name)
            waiting.extend(name_to_input_name.get(name, ()))
    return found


def _forward(op: Any) -> list[Any]:
    return [reader for output in op.outputs for reader in output.consumers()]


def _walk(seeds: Any, following: Any, inside: bool, within: Any) -> list[Any]:
    starts = [seeds] if hasattr(seeds, "op") or hasattr(seeds, "outputs") else list(seeds)
    first = [getattr(one, "op", one) for one in starts]
    found, waiting = dict[Any, None](), deque(first)
    while waiting:
        op = waiting.popleft()
        if op in found:
            continue
        found[op] = None
        waiting.extend(o for o in following(op) if within is None or o in within)
    return [op for op in found if inside or op not in first]


def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
    only_differentiable: bool = False,
) -> list[Any]:
    """The ops from which `seed_ops` follow.

    Args:
        seed_ops: ops or tensors.
        inclusive: whether they belong to the answer.
        within_ops: ops of which alone the answer is made.
        within_ops_fn: says of an op whether it may be in the answer.
        stop_at_ts: tensors at which the walk ends.
        control_inputs: whether it follows control dependencies, too.
        only_differentiable: whether it keeps to floats.

    Returns:
        The ops.
    """
    ends = set(stop_at_ts)

    def before(op: Any) -> list[Any]:
        inputs = [tensor for tensor in op.inputs if tensor not in ends]
        if only_differentiable:
            inputs = [t for t in inputs if t.dtype.is_floating or t.dtype.is_complex]
        more = op.control_inputs if control_inputs else ()
        ops = [*(tensor.op for tensor in inputs), *more]
        return [op for op in ops if within_ops_fn is None or within_ops_fn(op)]

    return _walk(seed_ops, before, inclusive, within_ops)


def get_forward_walk_ops(
    seed_ops: Any, inclusive: bool = True, within_ops: Any = None
) -> list[Any]:
    """The ops that follow from `seed_ops`.

    Args:
        seed_ops: ops or tensors.
        inclusive: whether they belong to the answer.
        within_ops: ops of which alone the answer is made.

    Returns:
        The ops.
    """
    return _walk(seed_ops, _forward, inclusive, within_ops)


def init_variable(v: Any, init: Any, name: str = "init") -> Any:
    """Assigns to a variable what a tensor, or an initializer for its shape and dtype, gives."""
    with tf.name_scope(f"{v.op.name}/{name}/") as scope, tf.colocate_with(v):
        if not callable(init):
            return tf.assign(v, tf.convert_to_tensor(init, name="init"), name=scope)
        assert v.get_shape().is_fully_defined(), "Variable shape unknown."
        value = init(v.get_shape().as_list(), v.dtype.base_dtype)
        return tf.assign(v, tf.convert_to_tensor(value, name="value"), name=scope)
