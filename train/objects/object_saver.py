# SPDX-License-Identifier: Apache-2.0
"""Writes and reads saveables by key: a shard per device, merged to one checkpoint."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...engine.graph.graph import control_dependencies, device
from ...ops.public import raw, tf
from ...ops.state.save_restore import restore_v2, save_v2
from ..checkpoints.saveable import SaveableObject, set_cpu0

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


def _checked(saveables: Iterable[Any], what: str) -> list[SaveableObject]:
    found = list(saveables)
    for saveable in found:
        if not isinstance(saveable, SaveableObject):
            raise ValueError(f"Expected a {what} of SaveableObjects, got {saveable}.")
    return found


class _SingleDeviceSaver:
    """The saveables of one device."""

    def __init__(self, saveable_objects: Iterable[Any]) -> None:
        self._saveable_objects = _checked(saveable_objects, "list")

    def save(self, file_prefix: Tensor) -> Operation:
        """The op that writes them."""
        specs = [
            (spec.name, spec.slice_spec, spec.tensor)
            for saveable in self._saveable_objects
            for spec in saveable.specs
        ]
        names, slices, tensors = map(list, zip(*specs))
        with device("cpu:0"):
            return save_v2(file_prefix, names, slices, tensors)

    def restore(self, file_prefix: Tensor) -> dict[str, Any]:
        """The op that restores each, by its name."""
        specs = [spec for saveable in self._saveable_objects for spec in saveable.specs]
        with device("cpu:0"):
            tensors = iter(
                restore_v2(
                    file_prefix,
                    [spec.name for spec in specs],
                    [spec.slice_spec for spec in specs],
                    [spec.dtype for spec in specs],
                )
            )
        return {
            saveable.name: saveable.restore([next(tensors) for _ in saveable.specs], None)
            for saveable in self._saveable_objects
        }


class MultiDeviceSaver:
    """Saves the saveables of several devices to one checkpoint."""

    def __init__(self, saveable_objects: Iterable[Any]) -> None:
        by_device: dict[str, list[SaveableObject]] = {}
        for saveable in _checked(saveable_objects, "dictionary"):
            by_device.setdefault(saveable.device, []).append(saveable)
        self._single_device_savers = {
            place: _SingleDeviceSaver(saveables) for place, saveables in by_device.items()
        }

    def save(self, file_prefix: TensorLike) -> Operation:
        """The op that writes a checkpoint: shards in a folder of their own, then their merge."""
        with device("cpu:0"):
            temporary = tf.string_join([file_prefix, f"_temp_{uuid.uuid4().hex}/part"])
        savers = sorted(self._single_device_savers.items())
        count = tf.constant(len(savers), name="num_shards")
        saves, prefixes = [], []
        place = ""
        for shard, (place, saver) in enumerate(savers):
            with device(set_cpu0(place)):
                prefixes.append(raw.ShardedFilename(temporary, shard, count))
            with device(place):
                saves.append(saver.save(prefixes[-1]))
        with control_dependencies(saves), device(set_cpu0(place)):
            return raw.MergeV2Checkpoints(prefixes, file_prefix, delete_old_dirs=True)

    def restore(self, file_prefix: Any) -> dict[str, Any]:
        """The op that restores each saveable, by its name."""
        found: dict[str, Any] = {}
        for place, saver in sorted(self._single_device_savers.items()):
            with device(place):
                found.update(saver.restore(file_prefix))
        return found
