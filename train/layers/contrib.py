# SPDX-License-Identifier: Apache-2.0
"""Functions of `tf.contrib.layers` that add little to those of `tf.layers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.types import nest
from ...ops.public import tf
from . import core

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


def flatten(
    inputs: TensorLike, outputs_collections: Sequence[str] | None = None, scope: str | None = None
) -> Any:
    """All axes but the first as one (tf.contrib.layers.flatten).

    Args:
        inputs: a tensor.
        outputs_collections: names of collections that get the result.
        scope: the name scope, "Flatten" if None.
    """
    with tf.name_scope(scope, "Flatten", [inputs]):
        outputs = core.flatten(tf.convert_to_tensor(inputs))
    for name in nest.flatten(outputs_collections) if outputs_collections else ():
        tf.add_to_collection(name, outputs)
    return outputs
