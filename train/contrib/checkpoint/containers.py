# SPDX-License-Identifier: Apache-2.0
"""A container that gives what it tracks names of their own."""

from __future__ import annotations

import itertools
from typing import Any

from ....engine.api import export
from ....engine.graph.trackable import Trackable
from ...objects.data_structures import TrackableDataStructure


@export("contrib.checkpoint.UniqueNameTracker")
class UniqueNameTracker(TrackableDataStructure):
    """Tracks objects under names that it completes by numbers: "x", "x_1", "x_2".

    Example:
        >>> tracker = tf.contrib.checkpoint.UniqueNameTracker()
        >>> objects = [tracker.track(tf.train.Checkpoint(), "x") for _ in range(3)]
        >>> [reference.name for reference in tracker._checkpoint_dependencies]
        ['x', 'x_1', 'x_2']
    """

    def __init__(self) -> None:
        super().__init__()
        self._maybe_initialize_trackable()
        self._name_counts: dict[str, int] = {}

    @property
    def _values(self) -> list[Any]:
        return [dependency.ref for dependency in self._checkpoint_dependencies]

    def track(self, trackable: object, base_name: str) -> Trackable:
        """Makes an object a dependency.

        Args:
            trackable: the object.
            base_name: its name, but for a number.

        Returns:
            The object.

        Raises:
            ValueError: checkpoints cannot hold it.
        """
        if not isinstance(trackable, Trackable):
            raise ValueError(
                f"Expected a trackable value, got {trackable} which does not inherit from "
                "tf.track.Trackable."
            )
        for count in itertools.count(self._name_counts.get(base_name, 0)):
            name = f"{base_name}_{count}" if count else base_name
            if self._lookup_dependency(name) is None:
                self._name_counts[base_name] = count + 1
                self._track_value(trackable, name=name)
                break
        return trackable
