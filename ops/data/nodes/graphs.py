# SPDX-License-Identifier: Apache-2.0
"""The op that writes datasets as graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.graph import registry
from ....engine.graph.build import define
from ..runtime.dataset import boxed, dataset_in
from ..runtime.functions import require_stateless
from ..runtime.origins import graph_of
from .common import NONE, scalars

if TYPE_CHECKING:
    from ....engine.graph.kernel_context import KernelContext


def _text(name: str | bytes) -> str:
    """A text of an attribute."""
    return name.decode() if isinstance(name, bytes) else name


def _to_graph(c: KernelContext, source: Any) -> np.ndarray:
    allowed = [_text(name) for name in c.attr("stateful_whitelist")]
    for name in allowed:
        if name not in registry.known_types():
            raise errors.not_found(f"Op type not registered '{name}'")
    dataset = dataset_in(source)
    require_stateless(dataset, allowed)
    return boxed(graph_of(dataset).SerializeToString())


define(
    "DatasetToGraph",
    "input_dataset: variant -> graph: string",
    "stateful_whitelist: list(string) >= 0 = []",
    shape=scalars(),
    kernel=_to_graph,
    gradient=NONE,
    touches=(),
    doc="The graph that makes a dataset, serialized.",
    test={"needs": "a dataset"},
)
