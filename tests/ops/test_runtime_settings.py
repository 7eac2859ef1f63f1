# SPDX-License-Identifier: Apache-2.0
"""Settings of tf.config are kept and handed back as TensorFlow 1.15 does; figures are recorded."""

from __future__ import annotations

import pytest

import numbaflow as tf
from numbaflow.ops import device_lists, runtime_settings

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(runtime_settings, "_settings", runtime_settings._Settings())
    monkeypatch.setattr(device_lists, "_listed", [False])
    monkeypatch.setattr(device_lists, "_parts", [1])
    monkeypatch.setattr(device_lists, "_visible", list(device_lists._visible))


def test_options_of_the_optimizer_are_listed_in_one_order():
    optimizer = tf.config.optimizer
    assert optimizer.get_jit() is False
    always = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    assert optimizer.get_experimental_options() == always
    optimizer.set_experimental_options({"auto_mixed_precision": True, "x": 1})
    optimizer.set_experimental_options({"constant_folding": False, "min_graph_nodes": 5})
    names = ["constant_folding", "disable_model_pruning", "auto_mixed_precision"]
    names += ["disable_meta_optimizer", "min_graph_nodes"]
    assert list(optimizer.get_experimental_options()) == names


@pytest.mark.parametrize("kind", ["inter", "intra"])
def test_threads_stay_as_they_are_once_devices_were_listed(kind):
    get = getattr(tf.config.threading, f"get_{kind}_op_parallelism_threads")
    put = getattr(tf.config.threading, f"set_{kind}_op_parallelism_threads")
    assert get() == 0
    put(3)
    tf.config.experimental.list_logical_devices()
    put(3)
    with pytest.raises(RuntimeError, match=f"{kind.title()} op parallelism cannot be modified"):
        put(4)
    assert get() == 3


def test_the_processor_counts_as_several_devices():
    (cpu,) = tf.config.experimental.list_physical_devices("CPU")
    part = tf.config.experimental.VirtualDeviceConfiguration
    with pytest.raises(ValueError, match="memory limit on CPU"):
        tf.config.experimental.set_virtual_device_configuration(cpu, [part(memory_limit=3)])
    tf.config.experimental.set_virtual_device_configuration(cpu, [part(), part()])
    names = tf.config.experimental_list_devices()
    assert [name[-5:] for name in names] == ["CPU:0", "CPU:1"]
    tf.config.experimental.set_virtual_device_configuration(cpu, [part(), part()])
    with pytest.raises(RuntimeError, match="Virtual devices cannot be modified"):
        tf.config.experimental.set_virtual_device_configuration(cpu, [part()])


def test_what_there_is_not_is_refused():
    (cpu,) = tf.config.experimental.list_physical_devices()
    with pytest.raises(ValueError, match="Not a valid device policy: 'foo'"):
        tf.config.experimental.set_device_policy("foo")
    with pytest.raises(ValueError, match="non-GPU devices"):
        tf.config.experimental.set_memory_growth(cpu, True)
    with pytest.raises(KeyError):
        tf.config.experimental.get_memory_growth(cpu)
    with pytest.raises(ValueError, match="Unrecognized device: 'x'"):
        tf.config.experimental.set_visible_devices(["x"])
    with pytest.raises(tf.errors.UnimplementedError, match="no eager execution"):
        tf.config.experimental_connect_to_host("localhost:1")
