# SPDX-License-Identifier: Apache-2.0
"""Several values of checkpoints that one operation makes, and one takes back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.trackable import VARIABLE_VALUE_KEY, Trackable
from ....engine.record_class import record
from ....ops.public import tf
from ...checkpoints.saveable import SaveableObject, SaveSpec

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike
    from ....engine.graph.tensor import Tensor
    from ....engine.types.shape import TensorShape

Buffer = dict[str, Any]


class _CallbackSaveable(SaveableObject):
    """A value that a function gives, and another one takes back."""

    def __init__(
        self,
        name: str,
        dtype: DTypeLike,
        device: str,
        save_callback: Callable[[], Tensor],
        restore_callback: Callable[[Tensor], Any],
    ) -> None:
        self._restore_callback = restore_callback
        spec = SaveSpec(save_callback, "", name, dtype=dtype, device=device)
        super().__init__(save_callback, [spec], name)

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[TensorShape] | None
    ) -> Any:
        (tensor,) = restored_tensors
        return self._restore_callback(tensor)


@record
class _Shared:
    """What the parts of one value share: those on their way out, and those on their way in."""

    fill: Callable[[Buffer], Any]
    consume: Callable[[Buffer], Any]
    count: int
    out: Buffer
    back: Buffer


class _SplitDependency(Trackable):
    """One part, which looks to checkpoints like a variable."""

    def __init__(self, shared: _Shared, name: str, dtype: DTypeLike, device: str) -> None:
        self._shared, self._name = shared, name
        self._dtype, self._device = dtype, device

    def _require(self, in_step: bool, done: str) -> None:
        if not in_step:
            raise AssertionError(
                f"Split dependency {self._name} ({self}) unsynchronized. Split dependencies must "
                f"be {done} together."
            )

    def _save(self) -> Any:
        out = self._shared.out
        if self._name not in out:
            self._require(not out, "saved")
            self._shared.fill(out)
        return out.pop(self._name)

    def _restore(self, tensor: Tensor) -> Any:
        back = self._shared.back
        self._require(self._name not in back, "restored")
        back[self._name] = tensor
        if len(back) < self._shared.count:
            return tf.no_op()
        operation = self._shared.consume(back)
        back.clear()
        return operation

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        make = functools.partial(
            _CallbackSaveable,
            dtype=self._dtype,
            device=self._device,
            save_callback=self._save,
            restore_callback=self._restore,
        )
        return {VARIABLE_VALUE_KEY: make}


@export("contrib.checkpoint.split_dependency")
def split_dependency(
    component_names: Sequence[str],
    component_dtypes: Sequence[DTypeLike],
    fill_save_buffer_fn: Callable[[Buffer], Any],
    consume_restore_buffer_fn: Callable[[Buffer], Any],
    device: str,
) -> dict[str, Trackable]:
    """Objects to track that are saved and restored together.

    Args:
        component_names: their names.
        component_dtypes: the dtype of each one's value.
        fill_save_buffer_fn: a function that puts all values into a dictionary, by names.
        consume_restore_buffer_fn: a function from restored values by names to an operation.
        device: where they are saved.

    Returns:
        The objects by names; a checkpoint with one of them must have all.
    """
    shared = _Shared(fill_save_buffer_fn, consume_restore_buffer_fn, len(component_names), {}, {})
    return {
        name: _SplitDependency(shared, name, dtype, device)
        for name, dtype in zip(component_names, component_dtypes)
    }
