# SPDX-License-Identifier: Apache-2.0
"""Arguments of layers about windows, sizes of their outputs, and conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.constants import constant_value as value_of_tensor
from ...engine.graph.tensor import Tensor
from ...engine.types import nest
from ...ops.flow.cond import smart_cond as known_or_cond
from ...ops.flow.cond import smart_constant_value
from ...ops.public import tf
from ..variables.variable_kind import is_variable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

_FORMATS = {
    "channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"},
    "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"},
}


def convert_data_format(data_format: str, ndim: int) -> str:
    """The ops' name of a data format; ValueError for unknown formats and ranks."""
    if data_format not in _FORMATS:
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in _FORMATS[data_format]:
        raise ValueError("Input rank not supported:", ndim)
    return _FORMATS[data_format][ndim]


def normalize_tuple(value: int | Sequence[int], n: int, name: str) -> tuple[Any, ...]:
    """A number or a sequence as a tuple of n integers; ValueError where it is none."""
    if isinstance(value, int):
        return (value,) * n
    wanted = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        values = tuple(value)
    except TypeError:
        raise ValueError(wanted) from None
    if len(values) != n:
        raise ValueError(wanted)
    for element in values:
        try:
            int(element)
        except (ValueError, TypeError):
            raise ValueError(
                f"{wanted} including element {element} of type {type(element)}"
            ) from None
    return values


def normalize_data_format(value: str | None) -> str:
    """The data format in lower case, the last axis being the channels' if None."""
    data_format = "channels_last" if value is None else value.lower()
    if data_format not in _FORMATS:
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {value}"
        )
    return data_format


def normalize_padding(value: str, causal: bool = False) -> Any:
    """The padding in lower case; lists of explicit paddings stay."""
    if isinstance(value, (list, tuple)):
        return value
    padding = value.lower()
    if padding not in ("valid", "same", *(["causal"] if causal else [])):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", '
            f"only for `Conv1D). Received: {padding}"
        )
    return padding


def conv_output_length(
    input_length: Any, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> Any:
    """The size of a window op's output along one axis; None for None."""
    if input_length is None:
        return None
    reach = (filter_size - 1) * dilation
    change = {"same": 0, "causal": 0, "valid": -reach, "full": reach}[padding]
    return (input_length + change + stride - 1) // stride


def conv_input_length(output_length: Any, filter_size: int, padding: str, stride: int) -> Any:
    """The size of a window op's input along one axis, from the output's; None for None."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length: Any, filter_size: int, padding: str, stride: int) -> Any:
    """The size of a transposed convolution's output along one axis; None for None."""
    if input_length is None:
        return None
    # The inverse of conv_output_length, which rounds: one of the lengths that fit.
    length = input_length * stride
    if padding == "valid":
        length += max(filter_size - stride, 0)
    elif padding == "full":
        length -= stride + filter_size - 2
    return length


def smart_cond(
    pred: TensorLike,
    true_fn: Callable[[], Any],
    false_fn: Callable[[], Any],
    name: str | None = None,
) -> Any:
    """`tf.cond`, or just one of the functions where the condition is known."""
    if is_variable(pred):
        return tf.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return known_or_cond(pred, true_fn, false_fn, name)


def constant_value(pred: TensorLike) -> Any:
    """The value of a condition where it is known, else None; TypeError for what can be none."""
    if isinstance(pred, Tensor):
        return value_of_tensor(pred)
    return None if is_variable(pred) else smart_constant_value(pred)


def object_list_uid(object_list: object) -> str:
    """The identities of objects as one text."""
    return ", ".join(str(abs(id(x))) for x in nest.flatten(object_list))


def static_shape(x: Any) -> tuple[Any, ...] | None:
    """The shape of a tensor as a tuple; None where it is unknown."""
    shape = None if x is None else x.get_shape()
    return None if shape is None or shape.ndims is None else tuple(shape.as_list())


def get_reachable_from_inputs(inputs: list[Any], targets: Any = None) -> set[Any]:
    """The tensors that depend on the inputs, which are among them; may stop at all targets."""
    reachable, waiting = set(inputs), list(inputs)
    while waiting and not (targets and set(targets) <= reachable):
        x = waiting.pop()
        consumers = x.consumers() if hasattr(x, "consumers") else [x.op]
        found = {y for op in consumers for y in op.outputs} - reachable
        reachable |= found
        waiting.extend(found)
    return reachable
