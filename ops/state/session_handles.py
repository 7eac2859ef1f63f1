# SPDX-License-Identifier: Apache-2.0
"""Tensors that stay in a session between runs, and the handles that stand for them.

Fetching the op of `get_session_handle` gives a `TensorHandle`; feeding a handle in place of a
value feeds the kept tensor.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.devices import canonical_name
from ...engine.graph.graph import colocate_with, device
from ...engine.graph.registry import NoGradient, Touch
from ...engine.graph.tensor import Tensor
from ...engine.session import fetches
from ...engine.types import dtypes
from ...engine.types.dtypes import boxed
from ...engine.types.shape import TensorShape
from .. import shape_inference
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.session.session import BaseSession

_KEPT = NoGradient("what a session keeps is not differentiable", silent=True)
_BY_TEXT = (Touch("session"),)
_CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
_numbers = itertools.count()


def _store(state: Any) -> dict[str, np.ndarray]:
    """The tensors that a session keeps, by the text of their handles."""
    return state.lookup_or_create("", "session tensors", dict)


def _keep(c: KernelContext, value: Any) -> np.ndarray:
    # TensorFlow's form: programs take the device from behind the last semicolon.
    handle = f"{c.op.name};{next(_numbers)};{_CPU}"
    _store(c.session_state)[handle] = np.array(value)
    return boxed(handle.encode())


def _find(c: KernelContext, handle: np.ndarray) -> np.ndarray:
    text = handle.item().decode()
    kept = _store(c.session_state).get(text)
    if kept is None:
        raise errors.invalid(f"The tensor with handle '{text}' is not in the session store.")
    return kept


def _forget(c: KernelContext, handle: np.ndarray) -> None:
    _find(c, handle)
    del _store(c.session_state)[handle.item().decode()]


def _one_handle(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[0], 0)
    return [shape_inference.unknown() for _ in c.op.outputs]


_get_handle = define(
    "GetSessionHandle",
    "value: T -> handle: string",
    shape=lambda c: TensorShape([]),
    kernel=_keep,
    gradient=_KEPT,
    touches=_BY_TEXT,
    stateful=True,
    test={"session_only": True},
    doc="Keeps a tensor in the session and gives its handle.",
)
_get_tensor = define(
    "GetSessionTensor",
    "handle: string -> value: dtype",
    "dtype: type",
    shape=_one_handle,
    kernel=_find,
    gradient=_KEPT,
    touches=_BY_TEXT,
    stateful=True,
    test={"session_only": True},
    doc="The tensor that a handle stands for.",
)
_delete = define(
    "DeleteSessionTensor",
    "handle: string",
    shape=_one_handle,
    kernel=_forget,
    gradient=_KEPT,
    touches=_BY_TEXT,
    stateful=True,
    test={"session_only": True},
    doc="Drops the tensor that a handle stands for.",
)


class TensorHandle:
    """A tensor kept in a session; it is dropped with the last reference to this object."""

    def __init__(self, handle: bytes | str, dtype: dtypes.DType, session: BaseSession) -> None:
        self._handle = handle.decode() if isinstance(handle, bytes) else str(handle)
        self._dtype = dtype
        self._session = session
        self._owner = True

    def __del__(self) -> None:
        if self._owner:
            _store(self._session.resources).pop(self._handle, None)

    def __str__(self) -> str:
        return self._handle

    @property
    def handle(self) -> str:
        """The text of the handle, to feed where `get_session_tensor` asks for it."""
        return self._handle

    def _require_kept(self) -> None:
        if not self._owner:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")

    def kept(self) -> np.ndarray:
        """The tensor itself, as the session keeps it."""
        kept = _store(self._session.resources).get(self._handle)
        if kept is None:
            raise errors.invalid(
                f"The tensor with handle '{self._handle}' is not in the session store."
            )
        return kept

    def eval(self) -> np.ndarray:
        """The value of the tensor."""
        self._require_kept()
        return self.kept().copy()[()]

    def delete(self) -> None:
        """Drops the tensor."""
        self._require_kept()
        self._owner = False
        del _store(self._session.resources)[self._handle]

    def get_raw_handle(self) -> str:
        """The text of the handle; from now on the caller must delete the tensor."""
        self._owner = False
        return self._handle


fetches.register_handles("GetSessionHandle", TensorHandle)


def _device_of(handle: str) -> str:
    return canonical_name(str(handle).split(";")[-1])


@export("get_session_handle")
def get_session_handle(data: TensorLike, name: str | None = None) -> Tensor:
    """An op that keeps a tensor in the session; fetching it gives a TensorHandle."""
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        return _get_handle(data, name=name)


@export("get_session_tensor")
def get_session_tensor(
    handle: str, dtype: DTypeLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """A placeholder for the text of a handle, and the tensor that the handle stands for."""
    with device(_device_of(handle)):
        holder = tf.placeholder(dtypes.string)
        return holder, _get_tensor(holder, dtype, name=name)


@export("delete_session_tensor")
def delete_session_tensor(handle: Any, name: str | None = None) -> tuple[Tensor, Any]:
    """A placeholder for the text of a handle, and the op that drops its tensor."""
    with device(_device_of(handle)):
        holder = tf.placeholder(dtypes.string)
        return holder, _delete(holder, name=name)
