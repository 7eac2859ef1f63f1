# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.distribute.values`: values and variables that each replica has one of."""

from __future__ import annotations

from ...train.distributed.device_map import DeviceMap as DeviceMap
from ...train.distributed.device_map import LogicalDeviceSpec as LogicalDeviceSpec
from ...train.distributed.device_map import ReplicaDeviceMap as ReplicaDeviceMap
from ...train.distributed.device_map import SingleDeviceMap as SingleDeviceMap
from ...train.distributed.device_map import WorkerDeviceMap as WorkerDeviceMap
from ...train.distributed.mirrored_variables import DistributedVariable as DistributedVariable
from ...train.distributed.mirrored_variables import MirroredVariable as MirroredVariable
from ...train.distributed.mirrored_variables import SyncOnReadVariable as SyncOnReadVariable
from ...train.distributed.replica_values import DistributedDelegate as DistributedDelegate
from ...train.distributed.replica_values import DistributedValues as DistributedValues
from ...train.distributed.replica_values import Mirrored as Mirrored
from ...train.distributed.replica_values import PerReplica as PerReplica
from ...train.distributed.replica_values import PerReplicaSpec as PerReplicaSpec
from ...train.distributed.replica_values import for_device as select_device_mirrored
from ...train.distributed.replica_values import for_replica as select_replica
from ...train.distributed.replica_values import regroup as regroup

__all__ = ["select_device_mirrored", "select_replica"]
