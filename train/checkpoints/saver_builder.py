# SPDX-License-Identifier: Apache-2.0
"""Adds the ops that save and restore to a graph: the `save/` scope of a `Saver`."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from ...engine.graph.devices import canonical_name
from ...engine.graph.graph import control_dependencies, device, get_default_graph, name_scope
from ...io import protos
from ...ops.control import with_dependencies
from ...ops.public import raw, tf
from ...ops.state.save_restore import _save, restore_v2, save_v2
from ...ops.state.variable_partitions import PartitionedVariable
from .saveable import (
    ReferenceVariableSaveable,
    ResourceVariableSaveable,
    SaveableObject,
    SaveSpec,
    set_cpu0,
    validate_and_slice_inputs,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

# The values of SaverDef.CheckpointFormatVersion, without importing the message.
V1, V2 = 1, 2
Saveables = list[SaveableObject]
PerDevice = list[tuple[str, Saveables]]


class BaseSaverBuilder:
    """Builds savers; subclasses may make other ops."""

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
    VariableSaveable = ReferenceVariableSaveable
    ResourceVariableSaveable = ResourceVariableSaveable

    def __init__(self, write_version: int = V2) -> None:
        self._write_version = write_version

    def save_op(self, filename_tensor: Any, saveables: Saveables) -> Operation:
        """The op that writes the saveables."""
        names, tensors, slices = [], [], []
        for saveable in saveables:
            for spec in saveable.specs:
                names.append(spec.name)
                tensors.append(spec.tensor)
                slices.append(spec.slice_spec)
        if self._write_version == V1:
            return _save(filename_tensor, names, tensors, slices)
        if self._write_version == V2:
            # The tensor holds the prefix of a checkpoint, not the name of a file.
            return save_v2(filename_tensor, names, slices, tensors)
        raise RuntimeError(f"Unexpected write_version: {self._write_version}")

    def bulk_restore(
        self,
        filename_tensor: TensorLike,
        saveables: Saveables,
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Any]:
        """The tensors of all saveables, by an op for each."""
        del restore_sequentially
        tensors: list[Any] = []
        for saveable in saveables:
            with device(set_cpu0(saveable.device) if saveable.device else None):
                tensors.extend(self.restore_op(filename_tensor, saveable, preferred_shard))
        return tensors

    def restore_op(self, filename_tensor: Any, saveable: Any, preferred_shard: int) -> list[Any]:
        """The tensors of one saveable."""
        del preferred_shard
        return [
            restore_v2(filename_tensor, [spec.name], [spec.slice_spec], [spec.dtype])[0]
            for spec in saveable.specs
        ]

    def sharded_filename(
        self, filename_tensor: TensorLike, shard: int, num_shards: TensorLike
    ) -> Tensor:
        """The name of one shard."""
        return raw.ShardedFilename(filename_tensor, shard, num_shards)

    def _AddSaveOps(self, filename_tensor: Tensor, saveables: Saveables) -> Any:  # noqa: N802
        """The name of the file, once it is written."""
        return with_dependencies([self.save_op(filename_tensor, saveables)], filename_tensor)

    def _AddShardedSaveOpsForV2(self, checkpoint_prefix: Tensor, per_device: PerDevice) -> Tensor:  # noqa: N802
        """Writes a shard per device into a folder of its own, then merges them."""
        import uuid

        # Two savers of one prefix must not mix their shards. The name is a constant of the graph,
        # and what runs it again overwrites its own.
        folder = f"_temp_{uuid.uuid4().hex}/part"
        temporary = tf.string_join([checkpoint_prefix, folder])
        shards = tf.constant(len(per_device), name="num_shards")
        saves, prefixes = [], []
        for shard, (place, saveables) in enumerate(per_device):
            with device(set_cpu0(place)):
                prefix = self.sharded_filename(temporary, shard, shards)
                prefixes.append(prefix)
                saves.append(self._AddSaveOps(prefix, saveables))
        with control_dependencies([save.op for save in saves]):
            with device(set_cpu0(per_device[-1][0])):
                merge = raw.MergeV2Checkpoints(prefixes, checkpoint_prefix, delete_old_dirs=True)
                with control_dependencies([merge]):
                    return tf.identity(checkpoint_prefix)

    def _AddShardedSaveOps(self, filename_tensor: Tensor, per_device: PerDevice) -> Tensor:  # noqa: N802
        if self._write_version == V2:
            return self._AddShardedSaveOpsForV2(filename_tensor, per_device)
        shards = tf.constant(len(per_device), name="num_shards")
        saves = []
        for shard, (place, saveables) in enumerate(per_device):
            with device(place):
                name = self.sharded_filename(filename_tensor, shard, shards)
                saves.append(self._AddSaveOps(name, saveables))
        with control_dependencies([save.op for save in saves]):
            return raw.ShardedFilespec(filename_tensor, shards)

    def _AddRestoreOps(  # noqa: N802
        self,
        filename_tensor: Tensor,
        saveables: Saveables,
        restore_sequentially: bool,
        reshape: bool,
        preferred_shard: int = -1,
        name: str = "restore_all",
    ) -> Operation:
        """The op that restores the saveables."""
        tensors = self.bulk_restore(
            filename_tensor, saveables, preferred_shard, restore_sequentially
        )
        assigned, position = [], 0
        for saveable in saveables:
            shapes = [_shape_of(spec.tensor) for spec in saveable.specs] if reshape else None
            count = len(saveable.specs)
            assigned.append(saveable.restore(tensors[position : position + count], shapes))
            position += count
        return tf.group(*assigned, name=name)

    def _AddShardedRestoreOps(  # noqa: N802
        self,
        filename_tensor: Tensor,
        per_device: PerDevice,
        restore_sequentially: bool,
        reshape: bool,
    ) -> Operation:
        restored = []
        for shard, (place, saveables) in enumerate(per_device):
            with device(place):
                op = self._AddRestoreOps(
                    filename_tensor,
                    saveables,
                    restore_sequentially,
                    reshape,
                    preferred_shard=shard,
                    name="restore_shard",
                )
                restored.append(op)
        return tf.group(*restored, name="restore_all")

    def _GroupByDevices(self, saveables: Saveables) -> PerDevice:  # noqa: N802
        """The saveables of each device, in order of devices."""
        groups: dict[str, Saveables] = defaultdict(list)
        for saveable in saveables:
            places = {canonical_name(spec.tensor.device) for spec in saveable.specs}
            if len(places) != 1:
                raise ValueError(
                    f"All tensors of a saveable object must be on the same device: {saveable.name}"
                )
            groups[places.pop()].append(saveable)
        return sorted(groups.items(), key=lambda item: item[0])

    def build(
        self,
        names_to_saveables: object,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
    ) -> Any:
        """Adds the ops to the default graph; a SaverDef that names them."""
        return self._build_internal(
            names_to_saveables,
            reshape=reshape,
            sharded=sharded,
            max_to_keep=max_to_keep,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            name=name,
            restore_sequentially=restore_sequentially,
            filename=filename,
        )

    def _build_internal(
        self,
        names_to_saveables: object,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
        build_save: bool = True,
        build_restore: bool = True,
    ) -> Any:
        if not build_save or not build_restore:
            raise ValueError(
                "save and restore operations need to be built together  when eager execution is "
                "not enabled."
            )
        saveables = validate_and_slice_inputs(names_to_saveables)
        with name_scope(name, "save", [saveable.op for saveable in saveables]) as name:
            default = tf.placeholder_with_default(filename or "model", shape=(), name="filename")
            # The name that savers have always had for it.
            filename_tensor = tf.placeholder_with_default(default, shape=(), name="Const")
            options = (restore_sequentially, reshape)
            if sharded:
                per_device = self._GroupByDevices(saveables)
                save_tensor = self._AddShardedSaveOps(filename_tensor, per_device)
                restore = self._AddShardedRestoreOps(filename_tensor, per_device, *options)
            else:
                save_tensor = self._AddSaveOps(filename_tensor, saveables)
                restore = self._AddRestoreOps(filename_tensor, saveables, *options)
        _concatenate_partitioned()
        return protos.SaverDef(
            filename_tensor_name=filename_tensor.name,
            save_tensor_name=save_tensor.name,
            restore_op_name=restore.name,
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )


def _shape_of(tensor: Tensor) -> Any:
    shape = tensor.get_shape()
    return shape if shape.is_fully_defined() else tf.shape(tensor)


def _concatenate_partitioned() -> None:
    """Partitioned variables in collections get an op of their name: meta graphs refer to it."""
    graph = get_default_graph()
    for key in graph.get_all_collection_keys():
        for element in graph.get_collection(key):
            if isinstance(element, PartitionedVariable):
                try:
                    graph.get_operation_by_name(element.name)
                except KeyError:
                    element.as_tensor()


class BulkSaverBuilder(BaseSaverBuilder):
    """Builds savers that restore all tensors by one op."""

    def bulk_restore(
        self,
        filename_tensor: TensorLike,
        saveables: Saveables,
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Any]:
        """The tensors of all saveables, by one op."""
        del preferred_shard, restore_sequentially
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names = [spec.name for spec in specs]
        slices = [spec.slice_spec for spec in specs]
        with device("cpu:0"):
            return restore_v2(filename_tensor, names, slices, [spec.dtype for spec in specs])
