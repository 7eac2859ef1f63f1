# SPDX-License-Identifier: Apache-2.0
"""Operators and builtin functions of rewritten functions: Python's for its values, else nodes."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.tensor import Tensor
from ...public import tf
from .state import is_dataset, is_tensor

_UNSPECIFIED: Any = object()


def if_exp(cond: Any, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`body if cond else orelse`."""
    if is_tensor(cond):
        return tf.cond(cond, body, orelse)
    return body() if cond else orelse()


def and_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a and b`; the second is built within a condition where the first is a tensor."""
    value = a()
    if is_tensor(value):
        return tf.cond(value, b, lambda: value)
    return value and b()


def or_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a or b`; the second is built within a condition where the first is a tensor."""
    value = a()
    if is_tensor(value):
        return tf.cond(value, lambda: value, b)
    return value or b()


def not_(a: Any) -> Any:
    """`not a`."""
    return tf.logical_not(a) if is_tensor(a) else not a


def eq(a: Any, b: Any) -> Any:
    """`a == b`, element by element for tensors."""
    return tf.equal(a, b) if is_tensor(a) or is_tensor(b) else a == b


def not_eq(a: Any, b: Any) -> Any:
    """`a != b`, element by element for tensors."""
    return not_(eq(a, b))


def assert_stmt(expression1: Any, expression2: Callable[[], Any]) -> Any:
    """`assert expression1, expression2()`; `tf.Assert` where the first is a tensor."""
    if not callable(expression2):
        raise ValueError(f"{expression2} must be a callable")
    if is_tensor(expression1):
        told = expression2()
        return tf.Assert(expression1, told if isinstance(told, list) else [told])
    assert expression1, expression2()
    return None


def abs_(x: Any) -> Any:
    """`abs(x)`."""
    return tf.abs(x) if is_tensor(x) else builtins.abs(x)


def float_(x: Any = 0) -> Any:
    """`float(x)`: a float32 where `x` is a tensor."""
    if not is_tensor(x):
        return builtins.float(x)
    x = convert_to_tensor(x)
    return tf.string_to_number(x, tf.float32) if x.dtype == tf.string else tf.cast(x, tf.float32)


def int_(x: Any = 0, base: Any = _UNSPECIFIED) -> Any:
    """`int(x, base)`: an int32 where `x` is a tensor."""
    if not is_tensor(x):
        return builtins.int(x) if base is _UNSPECIFIED else builtins.int(x, base)
    if base is not _UNSPECIFIED and base != 10:
        raise NotImplementedError(f"base {base} not supported for int")
    x = convert_to_tensor(x)
    return tf.string_to_number(x, tf.int32) if x.dtype == tf.string else tf.cast(x, tf.int32)


def len_(s: Any) -> Any:
    """`len(s)`: the first size of a tensor, how many elements a list of tensors has."""
    if isinstance(s, tf.TensorArray):
        return s.size()
    if not is_tensor(s):
        return builtins.len(s)
    if isinstance(s, Tensor) and s.dtype == tf.variant:
        from ..tensor_list import tensor_list_length

        return tensor_list_length(s)
    s = convert_to_tensor(s)
    if s.shape.ndims == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {s.shape}")
    if s.shape.ndims is not None:
        count = s.shape.as_list()[0]
        return tf.shape(s)[0] if count is None else count
    rank = tf.rank(s)
    told = tf.string_join(["len requires non-zero rank, got ", tf.as_string(rank)])
    with tf.control_dependencies([tf.Assert(rank > 0, [told])]):
        return tf.shape(s)[0]


def print_(*objects: Any, **kwargs: Any) -> Any:
    """`print`; when the graph runs, where a tensor is among the values."""
    unknown = set(kwargs) - {"sep", "end", "file", "flush"}
    if unknown:
        raise ValueError(f"invalid keyword arguments: {tuple(unknown)}")
    tensors = [x for x in objects if is_tensor(x)]
    if not tensors:
        return builtins.print(*objects, **kwargs)

    def write(*values: Any) -> None:
        given = iter(values)
        shown = [next(given) if is_tensor(x) else x for x in objects]
        shown = [x.decode("utf-8") if isinstance(x, bytes) else x for x in shown]
        builtins.print(*shown, **{"flush": True, **kwargs})

    kinds: Any = []
    return tf.py_func(write, tensors, kinds)


def range_(start_or_stop: Any, stop: Any = _UNSPECIFIED, step: Any = _UNSPECIFIED) -> Any:
    """`range`: a vector where one of the limits is a tensor."""
    given = [x for x in (start_or_stop, stop, step) if x is not _UNSPECIFIED]
    if not any(map(is_tensor, given)):
        return builtins.range(*given)
    if step is not _UNSPECIFIED:
        return tf.range(start_or_stop, stop, step)
    if stop is not _UNSPECIFIED:
        return tf.range(start_or_stop, tf.maximum(start_or_stop, stop))
    return tf.range(tf.maximum(start_or_stop, 0))


def enumerate_(s: Any, start: Any = 0) -> Any:
    """`enumerate`, of the elements of a dataset too."""
    if is_dataset(s):
        return s.apply(getattr(tf, "data.experimental.enumerate_dataset")(start=start))
    return builtins.enumerate(s, start)


def zip_(*iterables: Any) -> Any:
    """`zip`, of datasets too."""
    if iterables and all(map(is_dataset, iterables)):
        return getattr(tf, "data.Dataset").zip(iterables)
    return builtins.zip(*iterables)


BUILTINS: dict[Any, Callable[..., Any]] = {
    abs: abs_,
    float: float_,
    int: int_,
    len: len_,
    print: print_,
    range: range_,
    enumerate: enumerate_,
    zip: zip_,
}


def new_list(iterable: Any = None) -> Any:
    """`[]`: a list of tensors, to which a loop of the graph can append."""
    from ..tensor_list import empty_tensor_list

    if iterable:
        return builtins.list(iterable)
    unknown: Any = tf.constant(-1)
    return empty_tensor_list(element_shape=unknown, element_dtype=tf.variant)


def list_append(list_: Any, x: Any) -> Any:
    """`list_.append(x)`; returns the list."""
    if isinstance(list_, tf.TensorArray):
        return list_.write(list_.size(), x)
    if not is_tensor(list_):
        list_.append(x)
        return list_
    if list_.dtype != tf.variant:
        raise ValueError(
            f"tensor lists are expected to be Tensors with dtype=tf.variant, instead found {list_}"
        )
    from ..tensor_list import empty_tensor_list, tensor_list_length, tensor_list_push_back

    x = convert_to_tensor(x)
    shape: Any = tf.shape(x)
    list_ = tf.cond(
        tensor_list_length(list_) > 0,
        lambda: list_,
        lambda: empty_tensor_list(element_shape=shape, element_dtype=x.dtype),
    )
    return tensor_list_push_back(list_, x)


def set_item(target: Any, i: Any, x: Any) -> Any:
    """`target[i] = x`; returns the target."""
    if isinstance(target, tf.TensorArray):
        return target.write(i, x)
    if not is_tensor(target):
        target[i] = x
        return target
    if target.dtype == tf.variant:
        from ..tensor_list import tensor_list_set_item

        return tensor_list_set_item(target, i, x)
    return tf.tensor_scatter_update(target, ((i,),), (x,))


def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """What has the elements of a list as its rows; see `api.stack`."""
    if isinstance(list_or_tensor, tf.TensorArray):
        return list_or_tensor.stack()
    if not is_tensor(list_or_tensor):
        return tf.stack(list_or_tensor)
    if list_or_tensor.dtype != tf.variant:
        return list_or_tensor
    if element_dtype is None:
        raise ValueError(
            "cannot stack a list without knowing its element type; use set_element_type to "
            "annotate it"
        )
    from ..tensor_list import tensor_list_stack

    return tensor_list_stack(list_or_tensor, element_dtype=element_dtype)
