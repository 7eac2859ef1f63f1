# SPDX-License-Identifier: Apache-2.0
"""Which control flow graphs get: nodes of TensorFlow 1, or nodes that call functions (v2)."""

from __future__ import annotations

from typing import Any

from ...engine.api import export
from ...engine.graph.defaults import get_default_graph
from . import util


@export("enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """Has `tf.cond`, `tf.case` and `tf.while_loop` make one node each, which calls functions.

    These are `If` (or `StatelessIf`) and `While` nodes, as in TensorFlow 2; TensorArrays are lists
    of tensors then.  They have gradients of every order.

    Example:
        >>> tf.enable_control_flow_v2()
        >>> x = tf.constant(3.0)
        >>> y = tf.while_loop(lambda v: v < 100.0, lambda v: v * x, [x])
        >>> first = tf.gradients(y, x)[0]
        >>> tf.Session().run([y, first, tf.gradients(first, x)[0]])
        [np.float32(243.0), np.float32(405.0), np.float32(540.0)]
        >>> tf.disable_control_flow_v2()
    """
    util.ENABLE_CONTROL_FLOW_V2 = True


@export("disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """Has `tf.cond` and `tf.while_loop` make the nodes of TensorFlow 1 again."""
    util.ENABLE_CONTROL_FLOW_V2 = False


@export("disable_v2_behavior")
def disable_v2_behavior() -> None:
    """Switches off what there is of TensorFlow 2: its control flow."""
    disable_control_flow_v2()


@export("control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """Whether branches and loops that are made now are nodes that call functions."""
    return util.EnableControlFlowV2(get_default_graph())


@export("experimental.output_all_intermediates")
def output_all_intermediates(state: Any) -> None:
    """Whether branches and loops give out all of their values from the start.

    Args:
        state: False, or None: values are given out once a gradient needs them, which changes
            nothing for sessions that exist.

    Raises:
        NotImplementedError: `state` is true.
    """
    if state:
        raise NotImplementedError(
            "tf.experimental.output_all_intermediates(True): values within branches and loops are "
            "given out once a gradient needs them"
        )
