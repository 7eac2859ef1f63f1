# SPDX-License-Identifier: Apache-2.0
"""Checks for NaN and infinity: assert_all_finite and add_check_numerics_ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import colocate_with, control_dependencies, name_scope
from ...engine.types import dtypes
from ..control import with_dependencies
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

_CHECKED = (dtypes.float16, dtypes.float32, dtypes.float64)


@export("debugging.assert_all_finite", "verify_tensor_all_finite")
def verify_tensor_all_finite(
    t: TensorLike | None = None,
    msg: str | None = None,
    name: str | None = None,
    x: TensorLike | None = None,
    message: str | None = None,
) -> Any:
    """The tensor; running it raises InvalidArgumentError when it holds a NaN or an infinity."""
    x = deprecated_argument_lookup("x", x, "t", t)
    message = deprecated_argument_lookup("message", message, "msg", msg)
    with name_scope(name, "VerifyFinite", [x]) as name:
        x = convert_to_tensor(x, name="x")
        with colocate_with(x):
            checked = tf.check_numerics(x, message=message)
            return with_dependencies([checked], x)


@export("add_check_numerics_ops")
def add_check_numerics_ops() -> Operation:
    """An operation that checks every floating tensor of the graph, in order of creation."""
    checks: list[Any] = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype not in _CHECKED:
                continue
            # A chain of checks through all ops would run from one branch into the other.
            if op._get_control_flow_context() is not None:
                raise ValueError(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow "
                    "operations such as `tf.cond()` or `tf.while_loop()`."
                )
            with control_dependencies(checks):
                checks = [tf.check_numerics(output, message=f"{op.name}:{output.value_index}")]
    return tf.group(*checks)
