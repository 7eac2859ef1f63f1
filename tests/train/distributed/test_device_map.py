# SPDX-License-Identifier: Apache-2.0
"""Values of replicas by their devices, alone and in structures, sums of them, and their input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.distributed import device_map as maps
from numbaflow.train.distributed.cross_device_ops import CrossDeviceOps, devices_from
from numbaflow.train.distributed.replica_values import (
    DistributedDelegate,
    DistributedValues,
    Mirrored,
    PerReplica,
    regroup,
)
from numbaflow.train.distributed.strategy_input import InputContext
from numbaflow.train.distributed.worker_all_reduce import MultiWorkerAllReduce
from numbaflow.train.distributed.worker_input import (
    DatasetIterator,
    InputFunctionIterator,
    InputWorkers,
    get_distributed_dataset,
)

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


DEVICES = ["/cpu:0", "/cpu:1"]
WHOLE = tuple(f"/replica:0/task:0/device:CPU:{i}" for i in range(2))


def session() -> Any:
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))


def test_maps_tell_which_replica_is_where() -> None:
    two = maps.ReplicaDeviceMap(DEVICES)
    assert two.all_devices == WHOLE and two.devices_by_replica == ((WHOLE[0],), (WHOLE[1],))
    assert two.num_replicas_in_graph == 2 and two.num_logical_devices == 1
    assert two.select_for_device("ab", WHOLE[1]) == "b"
    assert two.is_device_in_replica(WHOLE[1], 1) and not two.is_device_in_replica(WHOLE[1], 0)
    with pytest.raises(ValueError, match="Device /gpu:3 not found"):
        two.replica_for_device("/gpu:3")
    with pytest.raises(ValueError, match="Duplicate devices"):
        maps.ReplicaDeviceMap(["/cpu:0", "/CPU:0"])
    one = maps.SingleDeviceMap("")
    assert one.all_devices == WHOLE[:1] and one.replica_for_device(WHOLE[0]) == 0
    with pytest.raises(ValueError, match="not found"):
        one.replica_for_device(WHOLE[1])
    workers = maps.WorkerDeviceMap(["/job:w/task:0", "/job:w/task:1"], 2)
    with tf.distribute.ReplicaContext(tf.distribute.get_strategy(), 0) as _:
        context = tf.distribute.get_replica_context()
        assert workers.select_for_current_replica("ab", context) == "a"
    with pytest.raises(ValueError, match="not indexed by replicas"):
        workers.replica_for_device("/job:w/task:0")


def test_values_are_found_by_device() -> None:
    values = DistributedValues(DEVICES, "ab")
    assert values.get("/cpu:1") == "b" and values.get() == "a"
    with pytest.raises(ValueError, match="not found"):
        values.get("/cpu:2")
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope(), tf.device("/cpu:1"):
        assert values.get() == "b"
    assert not values.is_tensor_like
    assert DistributedValues(DEVICES, [tf.constant(1), tf.constant(2)]).is_tensor_like


def test_a_delegate_is_as_good_as_its_value() -> None:
    v = DistributedDelegate(DEVICES, (7, 8))
    assert (v + v, 13 - v, 10.5 / v, 16 | v, pow(v, 3, 10), pow(2, v)) == (14, 6, 1.5, 23, 3, 128)
    assert (-v, ~v, abs(v), v <= 7, v.bit_length()) == (-7, ~7, 7, True, 3)
    with pytest.raises(AttributeError):
        v.nothing  # noqa: B018
    with pytest.raises(TypeError):
        v[0]


def test_values_of_replicas_are_structures_of_tensors() -> None:
    values = PerReplica(DEVICES, (tf.constant([1.0]), tf.constant([2.0, 3.0])))
    spec = values._type_spec
    assert [s.shape.as_list() for s in spec._value_specs] == [[1], [2]]
    doubled = tf.nest.map_structure(lambda x: x * 2.0, values, expand_composites=True)
    assert isinstance(doubled, PerReplica) and doubled.device_map is values.device_map
    chosen = tf.cond(tf.placeholder_with_default(False, []), lambda: values, lambda: doubled)
    called = tf.function(lambda v: v)(chosen)
    assert isinstance(called, PerReplica) and called._is_graph_tensor
    with session() as sess:
        np.testing.assert_array_equal(sess.run(called.values[1]), [4.0, 6.0])
    with pytest.raises(ValueError, match="other replicas"):
        spec._to_components(PerReplica(DEVICES[:1], (tf.constant([1.0]),)))


def test_sums_are_where_they_are_wanted() -> None:
    def placed(*numbers: float) -> Any:
        return PerReplica(DEVICES, [tf.constant(x) for x in numbers])

    ops, both = tf.distribute.ReductionToOneDevice(), placed(0.0, 0.0)
    total = ops.reduce("SUM", placed(1.0, 2.0), both)
    assert isinstance(total, Mirrored) and total.devices == WHOLE
    mean, other = ops.batch_reduce("mean", [(placed(1.0, 2.0), "/cpu:1"), (placed(3.0, 5.0), both)])
    assert devices_from(mean) == WHOLE[1:]
    alone = ops.reduce("SUM", tf.constant(7.0), "/cpu:1")
    spread = ops.broadcast(tf.constant(9.0), both)
    rows = PerReplica(
        DEVICES, [tf.IndexedSlices(tf.ones([1, 2]), tf.constant([i])) for i in (0, 2)]
    )
    slices = ops.reduce("MEAN", rows, "/cpu:0")
    with session() as sess:
        assert sess.run([*total.values, mean, *other.values]) == [3.0, 3.0, 1.5, 4.0, 4.0]
        assert sess.run([alone, *spread.values]) == [7.0, 9.0, 9.0]
        np.testing.assert_array_equal(sess.run(slices.indices), [0, 2])
        np.testing.assert_array_equal(sess.run(slices.values), [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match="no device"):
        ops.reduce("SUM", 3.0, "/cpu:0")
    with pytest.raises(ValueError, match="must not be empty"):
        ops.reduce("SUM", placed(1.0, 2.0), "")
    with pytest.raises(NotImplementedError, match="reduce_implementation"):
        CrossDeviceOps().reduce("SUM", placed(1.0, 2.0), "/cpu:0")


@pytest.mark.parametrize("way", ["pscpu/pscpu", "pscpu", [("xring", 1, 4), ("pscpu", 2)]])
def test_workers_add_up_in_several_ways(way: Any) -> None:
    workers = [f"/job:localhost/replica:0/task:0/cpu:{i}" for i in range(2)]
    ops = MultiWorkerAllReduce(["/job:localhost/replica:0/task:0"], 2, way)
    placed = []
    for i, device in enumerate(workers):
        with tf.device(device):
            placed.append(tf.constant([1.0 + i, 3.0]))
    total = ops.reduce("MEAN", PerReplica(workers, placed), PerReplica(workers, placed))
    with session() as sess:
        for value in total.values:
            np.testing.assert_array_equal(sess.run(value), [1.5, 3.0])


def test_a_way_that_is_not_there_is_an_error() -> None:
    for way, words in (("other", "unsupported"), (("pscpu", 1, -1, 2), "Too many"), ([3], "tuple")):
        with pytest.raises(ValueError, match=words):
            MultiWorkerAllReduce(["/job:w/task:0"], 1, way)


def test_strategies_add_up_as_they_are_told() -> None:
    class Smallest(tf.distribute.ReductionToOneDevice):
        def reduce_implementation(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
            del reduce_op
            least = tf.reduce_min(tf.stack(value.values))
            return self.broadcast(least, destinations)

    strategy = tf.distribute.MirroredStrategy(DEVICES, Smallest())
    with strategy.scope():
        given = strategy.experimental_run_v2(
            lambda: tf.cast(
                tf.distribute.get_replica_context().replica_id_in_sync_group + 5, "float"
            )
        )
        least = strategy.reduce("SUM", given, axis=None)
    with session() as sess:
        assert sess.run(least) == 5.0


def test_input_is_for_the_replicas_of_workers() -> None:
    workers = InputWorkers(maps.ReplicaDeviceMap(DEVICES), [("", DEVICES)])
    assert workers.num_workers == 1 and workers.compute_devices_for_worker(0) == WHOLE
    assert workers.device_map.all_devices == WHOLE and "device_map" in repr(workers)
    dataset = tf.data.Dataset.range(8).batch(4)
    split = DatasetIterator(dataset, workers, None, split_batch_by=2)
    own = InputFunctionIterator(lambda context: dataset, workers, [InputContext()], None)
    one_shot = get_distributed_dataset(dataset, workers, None).make_one_shot_iterator()
    with session() as sess:
        sess.run([*split.initialize(), *own.initializer])
        found = [sess.run(list(one.get_next().values)) for one in (split, own, one_shot)]
    assert [[part.tolist() for part in parts] for parts in found] == [
        [[0, 1], [2, 3]],
        *[[[0, 1, 2, 3], [4, 5, 6, 7]]] * 2,
    ]
    assert split.output_shapes.as_list() == [None] and split.get_iterator("/none") is None
    second = tf.data.Dataset.range(2)
    with pytest.raises(ValueError, match="not same as number"):
        InputFunctionIterator(lambda context: second, workers, [], None)
    with pytest.raises(ValueError, match="Workers feed"):
        InputWorkers(maps.ReplicaDeviceMap(DEVICES), [("", DEVICES[:1])])
    several = InputWorkers(maps.ReplicaDeviceMap(DEVICES), [("", [one]) for one in DEVICES])
    with pytest.raises(NotImplementedError, match="2 workers in one graph"):
        DatasetIterator(second, several, None)


def test_equal_structures_become_one() -> None:
    shared = object()
    found = regroup(DEVICES, [{"a": [1], "b": shared}, {"a": [2], "b": shared}])
    assert found["b"] is shared and found["a"][0].values == (1, 2)
