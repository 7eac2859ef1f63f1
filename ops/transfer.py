# SPDX-License-Identifier: Apache-2.0
"""The ops that carry tensors between the tasks of a cluster, in the parts that graphs are cut into.

Masters make them (train/cluster/partition.py); programs do not.  The tensor crosses under a key
made of the attributes, which both sides state alike (train/cluster/rendezvous.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..engine import errors
from ..engine.graph.build import define
from ..engine.graph.registry import NoGradient
from ..engine.types.shape import unknown_shape

if TYPE_CHECKING:
    import numpy as np

    from ..engine.graph.kernel_context import KernelContext

_CARRIED = NoGradient("cuts of a graph into parts have no gradient of their own")
_KEY = (
    "tensor_name: string; send_device: string; send_device_incarnation: int; "
    "recv_device: string; client_terminated: bool = False"
)
# Programs have no task to send to.
_TEST = {"needs": "a task of a cluster"}


def _transfers(c: KernelContext) -> Any:
    found = None if c.session is None else c.session.transfers
    if found is None:
        raise errors.failed_precondition(
            f"{c.type} runs only in a task of a cluster (tf.train.Server)."
        )
    return found


def _send(c: KernelContext, tensor: np.ndarray) -> None:
    _transfers(c).send(c.op, tensor)


def _recv(c: KernelContext) -> Any:
    return _transfers(c).receive(c.op)


for _name in ("_Send", "_HostSend"):
    define(
        _name,
        "tensor: T ->",
        f"T: type; {_KEY}",
        kernel=_send,
        gradient=_CARRIED,
        stateful=True,
        waits_for_data=True,
        test=lambda: _TEST,
        doc="Gives a tensor to another task, or to who runs this part of a graph.",
    )
for _name in ("_Recv", "_HostRecv"):
    define(
        _name,
        "-> tensor: tensor_type",
        f"tensor_type: type; {_KEY}",
        shape=lambda c: unknown_shape(),
        kernel=_recv,
        gradient=_CARRIED,
        stateful=True,
        control_flow_role="wait",
        test=lambda: _TEST,
        doc="Takes a tensor of another task, once it is there.",
    )
