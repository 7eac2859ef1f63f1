# SPDX-License-Identifier: Apache-2.0
"""What kernels load and store: an element of a value, or the parts of a complex one.

Imports the scalar vocabulary, tensor IR and fuse.
"""

from __future__ import annotations

from ..kernel import ir, scalar
from ..passes.fuse import Cluster
from ..program.tensor_ir import Gather, Map, StoreRegion, Value, Write


def only_moves(cluster: Cluster) -> bool:
    """Does a cluster put values elsewhere, and compute none?  Then they are moved as they are."""
    for node in cluster.nodes:
        if isinstance(node, Map):
            if not all(isinstance(expr, ir.Load) for expr in node.exprs):
                return False
        elif not isinstance(node, (Gather, StoreRegion, Write)):
            return False
    return True


def element(storage: Value, is_move: bool) -> str:
    """The dtype of what is loaded from the memory of a value, and stored."""
    if is_move and storage.dtype in scalar.AS_ONE:
        return scalar.AS_ONE[storage.dtype]
    return scalar.part_dtype(storage.dtype)
