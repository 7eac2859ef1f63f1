# SPDX-License-Identifier: Apache-2.0
"""State of Python objects in checkpoints of objects: texts that are fed when they are saved."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.graph import device
from ...engine.graph.trackable import Trackable
from ...engine.types import dtypes
from ...ops.public import tf
from ..checkpoints.saveable import SaveableObject, SaveSpec

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.types.shape import TensorShape


class NoRestoreSaveable(SaveableObject):
    """A tensor that is saved and never restored."""

    def __init__(
        self,
        tensor: TensorLike | Callable[[], Tensor],
        name: str,
        dtype: DTypeLike | None = None,
        device: str | None = None,
    ) -> None:
        super().__init__(tensor, [SaveSpec(tensor, "", name, dtype=dtype, device=device)], name)

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[TensorShape] | None
    ) -> Operation:
        return tf.no_op()


class PythonStateSaveable(SaveableObject):
    """Something whose state is not in the graph."""

    def feed_dict_additions(self) -> dict[Any, Any]:
        """What to feed when it is saved."""
        raise NotImplementedError

    def freeze(self) -> SaveableObject:
        """A saveable with the present state as a constant."""
        raise NotImplementedError

    def python_restore(self, restored_strings: list[Any]) -> None:
        """Gives it the state of a checkpoint."""
        raise NotImplementedError


class PythonStringStateSaveable(PythonStateSaveable):
    """A state that a function tells as text and, perhaps, another one takes back."""

    def __init__(
        self,
        name: str,
        state_callback: Callable[[], Any],
        restore_callback: Callable[[Any], Any] | None = None,
    ) -> None:
        self._state_callback = state_callback
        self._restore_callback = restore_callback
        with device("/cpu:0"):
            # A constant to be fed: the state is asked for at each save.
            self._save_string = tf.constant("", dtype=dtypes.string)
        spec = SaveSpec(self._save_string, "", name, dtype=dtypes.string)
        super().__init__(self._save_string, [spec], name)

    @property
    def optional_restore(self) -> bool:
        """What nothing takes back may be missing."""
        return self._restore_callback is None

    def feed_dict_additions(self) -> dict[Any, Any]:
        return {self._save_string: self._state_callback()}

    def freeze(self) -> SaveableObject:
        def state() -> Tensor:
            return tf.constant(self._state_callback(), dtype=dtypes.string)

        return NoRestoreSaveable(state, self.name, dtype=dtypes.string, device="cpu:0")

    def python_restore(self, restored_strings: list[Any]) -> None:
        if self._restore_callback is not None:
            self._restore_callback(restored_strings[0])

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[TensorShape] | None
    ) -> Operation:
        return tf.no_op()


class PythonState(Trackable):
    """Base class of objects that `tf.train.Checkpoint` saves as a text.

    A subclass has `serialize`, which returns the text, and `deserialize`, which takes it.
    """

    def serialize(self) -> Any:
        """The state as a text."""
        raise NotImplementedError(f"{type(self).__name__} has no serialize()")

    def deserialize(self, string_value: object) -> None:
        """Takes the state from a text."""
        raise NotImplementedError(f"{type(self).__name__} has no deserialize()")

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        make = functools.partial(
            PythonStringStateSaveable,
            state_callback=self.serialize,
            restore_callback=self.deserialize,
        )
        return {"py_state": make}
