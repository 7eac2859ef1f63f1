# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy in checkpoints of objects."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ....engine.api import export
from ....engine.graph.trackable import Trackable, TrackableReference
from ...objects.python_state import PythonState


class _NumpyWrapper(PythonState):
    """An array, saved in NumPy's own format."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def serialize(self) -> bytes:
        """The array as bytes."""
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value: Any) -> None:
        """Takes the array from bytes."""
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


@export("contrib.checkpoint.NumpyState")
class NumpyState(Trackable):
    """An object whose attributes are arrays that checkpoints hold.

    A restore gives it the attributes it had when it was saved, at once.

    Example:
        >>> arrays = tf.contrib.checkpoint.NumpyState()
        >>> arrays.x = np.arange(3)
        >>> with tf.Session():
        ...     path = tf.train.Checkpoint(arrays=arrays).save("./arrays")
        >>> other = tf.contrib.checkpoint.NumpyState()
        >>> status = tf.train.Checkpoint(arrays=other).restore(path)
        >>> other.x
        array([0, 1, 2])
    """

    def _lookup_dependency(self, name: str) -> Any:
        """The attribute's array; an empty one, which a restore will fill, if there is none."""
        tracking = self._tracking
        if name not in tracking.names:
            value = _NumpyWrapper(np.array([]))
            tracking.names[name] = value
            tracking.references.append(TrackableReference(name, value))
            object.__setattr__(self, name, value)
        return tracking.names[name]

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return value.array if isinstance(value, _NumpyWrapper) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, (np.ndarray, np.generic)):
            self._lookup_dependency(name).array = value
            return
        if name not in ("_self_setattr_tracking", "_update_uid"):
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a NumPy array. "
                "Currently mixing NumPy arrays and other trackable objects is not supported. File "
                "a feature request if this limitation bothers you."
            )
        super().__setattr__(name, value)
