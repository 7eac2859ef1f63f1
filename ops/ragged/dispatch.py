# SPDX-License-Identifier: Apache-2.0
"""What ordinary functions do with ragged tensors (engine/dispatch.py asks).

Elementwise functions are applied to the innermost values; those of two tensors broadcast first.
Others have a function of their own here, with TensorFlow 1.15's arguments.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import api
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.build import OpFunction
from ...engine.graph.convert import convert_to_tensor, is_dense_tensor_like, is_sparse
from ...engine.types import dtypes
from ..public import tf
from .dynamic_shape import RaggedTensorDynamicShape, broadcast_dynamic_shape, broadcast_to
from .tensor import RaggedTensor, is_ragged, match_row_splits_dtypes
from .util import assert_splits_match

Function = Callable[..., Any]

_UNARY = """
    abs acos acosh angle asin asinh atan atanh bitwise.invert cast ceil check_numerics
    clip_by_value conj cos cosh digamma erf erfc exp expm1 floor identity imag is_finite is_inf
    is_nan lgamma log log1p log_sigmoid logical_not negative ones_like real reciprocal rint round
    rsqrt saturate_cast sign sin sinh sqrt square tan zeros_like
    as_string decode_base64 decode_compressed encode_base64 strings.length strings.regex_full_match
    strings.regex_replace strings.strip strings.substr strings.to_hash_bucket
    strings.to_hash_bucket_fast strings.to_hash_bucket_strong strings.to_number
    strings.unicode_script substr
""".split()
_UNARY_OF_LISTS = ["add_n", "strings.join"]
_BINARY = """
    add atan2 bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift
    bitwise.right_shift complex div_no_nan divide equal floordiv floormod greater greater_equal
    less less_equal logical_and logical_or logical_xor maximum minimum multiply not_equal pow
    realdiv squared_difference subtract truediv truncatediv truncatemod
""".split()


def _function(path: str) -> Function:
    """One of this folder, which is imported when it is called."""
    module, name = path.split(":")
    return lambda *args, **keywords: getattr(
        importlib.import_module(f"{__package__}.{module}"), name
    )(*args, **keywords)


def _expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    return _function("array:expand_dims")(input, axis if dim is None else dim, name)


def _gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: Any = 0,
) -> Any:
    axis = 0 if axis is None else axis
    return _function("gather:gather")(params, indices, validate_indices, axis, batch_dims, name)


def _gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: Any = 0) -> Any:
    return _function("gather:gather_nd")(params, indices, batch_dims, name)


def _size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Any:
    return _function("array:size")(input, out_type, name)


def _squeeze(
    input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Any:
    axis = deprecated_argument_lookup("axis", axis, "squeeze_dims", squeeze_dims)
    return _function("where:squeeze")(input, axis, name)


def _partition(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> list[Any]:
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    stack = _function("array:stack_dynamic_partitions")
    stacked = stack(data, partitions, num_partitions, name)
    return [stacked[i] for i in range(num_partitions)]


def _reduction(kind: str) -> Function:
    def reduce(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
        keepdims = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
        return _function(f"reduce:reduce_{kind}")(input_tensor, axis, keepdims, name)

    return reduce


def _reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: Any = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: Any = None,
) -> Any:
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
    keepdims = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    return _function("strings:reduce_join")(inputs, axis, keepdims, separator, name)


# Public name -> the arguments that may be ragged ("[values]": a list of such), and the function.
_OTHERS: dict[str, tuple[str, Function]] = {
    "batch_gather": ("params indices", _function("gather:batch_gather")),
    "concat": ("[values]", _function("join:concat")),
    "dynamic_partition": ("data partitions", _partition),
    "expand_dims": ("input", _expand_dims),
    "gather": ("params indices", _gather),
    "gather_nd": ("params indices", _gather_nd),
    "one_hot": ("indices", _function("array:ragged_one_hot")),
    "rank": ("input", _function("array:rank")),
    "size": ("input", _size),
    "squeeze": ("input", _squeeze),
    "stack": ("[values]", _function("join:stack")),
    "strings.reduce_join": ("inputs", _reduce_join),
    "tile": ("input", _function("array:tile")),
    "where": ("condition x y", _function("where:where")),
    **{
        f"reduce_{kind}": ("input_tensor", _reduction(kind))
        for kind in "sum prod min max mean any all".split()
    },
    **{
        f"unsorted_segment_{kind}": ("data segment_ids", _function(f"reduce:segment_{kind}"))
        for kind in "sum prod min max mean sqrt_n".split()
    },
}


def names() -> list[str]:
    """The public functions that take ragged tensors."""
    return [*_UNARY, *_BINARY, *_UNARY_OF_LISTS, *_OTHERS]


def _known_name(function: Function) -> str | None:
    """The public name in the tables of a function, or of the one that makes the same nodes."""
    op_type = function._type if isinstance(function, OpFunction) else None
    for name in names():
        found = api.NAMES.get(name)
        if found is function:
            return name
        if op_type is not None and isinstance(found, OpFunction) and found._type == op_type:
            return name
    return None


def handle(function: Function, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The result of a function of ragged tensors; NotImplemented where it takes none."""
    if not any(map(_mentions_ragged, (*args, *keywords.values()))):
        return NotImplemented
    name = _known_name(function)
    if name is None:
        return NotImplemented
    if name in _OTHERS:
        return _other(*_OTHERS[name], function, args, keywords)
    parameters = list(inspect.signature(function).parameters)
    if name in _BINARY:
        return _binary(function, parameters[:2], args, keywords)
    values, args, keywords = _taken(parameters[:1], args, keywords)
    apply = _unary_of_list if name in _UNARY_OF_LISTS else _unary
    return apply(function, values[0], args, keywords)


def _mentions_ragged(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(is_ragged(item) for item in value)
    return is_ragged(value)


def _taken(names: list[str], args: Any, keywords: Any) -> tuple[list[Any], Any, Any]:
    """The values of the first parameters, and the arguments that are left."""
    given = list(args[: len(names)])
    rest = dict(keywords)
    given += [rest.pop(name, None) for name in names[len(given) :]]
    return given, args[len(names) :], rest


def _unary(function: Function, x: Any, args: Any, keywords: Any) -> Any:
    if not isinstance(x, RaggedTensor):
        return NotImplemented
    return x.with_flat_values(function(x.flat_values, *args, **keywords))


def _unary_of_list(function: Function, values: Any, args: Any, keywords: Any) -> Any:
    if not isinstance(values, (list, tuple)) or not all(map(_is_usable, values)):
        return NotImplemented
    values = match_row_splits_dtypes(*values)
    nested = [value.nested_row_splits for value in values if is_ragged(value)]
    flat = [value.flat_values if is_ragged(value) else value for value in values]
    with tf.control_dependencies(assert_splits_match(nested)):
        result = function(flat, *args, **keywords)
        return RaggedTensor.from_nested_row_splits(result, nested[0], validate=False)


def _binary(function: Function, names: list[str], args: Any, keywords: Any) -> Any:
    (x, y), args, keywords = _taken(names, args, keywords)
    if not (isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor)):
        return NotImplemented
    try:
        if not is_ragged(x):
            x = convert_to_tensor(x, name=names[0], preferred_dtype=y.dtype)
        if not is_ragged(y):
            y = convert_to_tensor(y, name=names[1], preferred_dtype=x.dtype)
    except (TypeError, ValueError):
        return NotImplemented
    x, y = match_row_splits_dtypes(x, y)
    if _needs_broadcast(x, y):
        shapes = [RaggedTensorDynamicShape.from_tensor(item) for item in (x, y)]
        shape = broadcast_dynamic_shape(*shapes)
        x = broadcast_to(x, shape, broadcast_inner_dimensions=False)
        y = broadcast_to(y, shape, broadcast_inner_dimensions=False)
    flat = [item.flat_values if is_ragged(item) else item for item in (x, y)]
    result = function(*flat, *args, **keywords)
    return (x if is_ragged(x) else y).with_flat_values(result)


def _needs_broadcast(x: Any, y: Any) -> bool:
    """Whether rows meet something else than what every value takes as it is, such as a scalar."""
    if is_ragged(x) and is_ragged(y):
        return True
    ragged, dense = (x, y) if is_ragged(x) else (y, x)
    return ragged.flat_values.shape.ndims <= dense.shape.ndims


def _other(names: str, replacement: Function, function: Function, args: Any, keywords: Any) -> Any:
    parameters = list(inspect.signature(function).parameters)
    found = False
    for name in names.split():
        place = parameters.index(name.strip("[]"))
        value = args[place] if place < len(args) else keywords.get(parameters[place])
        parts = value if name[0] == "[" else [value]
        if not isinstance(parts, (list, tuple)) or not all(map(_is_usable, parts)):
            return NotImplemented
        found |= any(map(is_ragged, parts))
    return replacement(*args, **keywords) if found else NotImplemented


def _is_usable(value: Any) -> bool:
    """Whether a value is ragged or becomes a tensor."""
    if value is None or is_ragged(value) or is_dense_tensor_like(value):
        return True
    if is_sparse(value):
        return False
    if isinstance(value, (np.ndarray, int, float, str)):
        return True
    try:
        convert_to_tensor(value)
    except (TypeError, ValueError):
        return False
    return True
