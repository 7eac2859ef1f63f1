# SPDX-License-Identifier: Apache-2.0
"""`tf.case` whose conditions may be known when the graph is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....engine.api import export
from ....ops.flow.cond import case, smart_constant_value
from ....ops.public import tf


@export("contrib.framework.smart_case")
def smart_case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """`tf.case`, of which nothing is built for conditions that are known.

    Args: as tf.case.
    """
    pairs = pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs
    left: list[tuple[Any, Any]] = []
    for predicate, function in pairs:
        known = smart_constant_value(predicate)
        if known and not exclusive:
            # What follows is not asked for.
            default = function
            break
        if known and not left:
            return function()
        if known is None or known:
            left.append((tf.convert_to_tensor(predicate), function))
    if not left and default is not None:
        return default()
    return case(left or pred_fn_pairs, default=default, exclusive=exclusive, name=name)
