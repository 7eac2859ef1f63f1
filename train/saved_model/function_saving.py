# SPDX-License-Identifier: Apache-2.0
"""Functions as the messages that a SavedModel's graph of objects holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...engine.graph.tensor import Tensor
from ...engine.interface.specs import TensorSpec
from ...engine.types import nest
from ...io import protos
from ...ops.flow.concrete_functions import ConcreteFunction
from ...ops.flow.graph_functions import Function
from .structures import encode_structure


def serialize_concrete_function(function: ConcreteFunction, node_ids: Mapping[Tensor, int]) -> Any:
    """The SavedConcreteFunction of a function; `node_ids` are the numbers of what it captures.

    Raises:
        KeyError: it captures something that is not saved.
        NotEncodableError: an argument or result is of a kind that no message can hold.
    """
    message = protos.SavedConcreteFunction()
    for capture in function.captured_inputs:
        if capture not in node_ids:
            raise KeyError(
                f"Failed to add concrete function {function.name} to object based saved model as "
                f"it captures tensor {capture} which is unsupported or not reachable from root. "
                "One reason could be that a stateful object or a variable that the function "
                "depends on is not assigned to an attribute of the serialized trackable object "
                "(see SaveTest.test_captures_unreachable_variable)."
            )
        message.bound_inputs.append(node_ids[capture])
    outputs = nest.map_structure(_spec_of_result, function.structured_outputs)
    message.canonicalized_input_signature.CopyFrom(
        encode_structure(function.structured_input_signature)
    )
    message.output_signature.CopyFrom(encode_structure(outputs))
    return message


def _spec_of_result(value: Any) -> Any:
    from ...engine.interface.specs import type_spec_from_value

    if value is None:
        return None
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype, value.op.name)
    return value if isinstance(value, TensorSpec) else type_spec_from_value(value)


def serialize_bare_concrete_function(function: ConcreteFunction) -> Any:
    """The SavedBareConcreteFunction of a function that is called by the names of its arguments."""
    return protos.SavedBareConcreteFunction(
        concrete_function_name=function.name,
        allowed_positional_arguments=function._num_positional_args,
        argument_keywords=function._arg_keywords,
    )


def serialize_function(function: Function) -> Any:
    """The SavedFunction of a tf.function: its parameters, and a function for each known kind."""
    spec = function.function_spec
    message = protos.SavedFunction()
    message.function_spec.fullargspec.CopyFrom(encode_structure(spec.fullargspec))
    message.function_spec.is_method = spec.is_method
    message.function_spec.input_signature.CopyFrom(encode_structure(spec.input_signature))
    for concrete in function._list_all_concrete_functions_for_serialization():
        message.concrete_functions.append(concrete.name)
    return message
