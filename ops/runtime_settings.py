# SPDX-License-Identifier: Apache-2.0
"""What `tf.config` keeps of a process: threads, optimizers, devices.

In TensorFlow 1.15 these are settings of the runtime of eager execution; sessions go by the
ConfigProto that they are given.  So here they are kept, checked and handed back, and change no run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..engine import errors
from ..engine.api import export
from ..engine.types.nest import as_list
from . import device_lists
from .device_lists import PhysicalDevice

# The options of graph rewriting that are on, off or left alone, and those that are true or false,
# in the order in which they are listed.
_TOGGLES = (
    *("layout_optimizer", "constant_folding", "shape_optimization", "remapping"),
    *("arithmetic_optimization", "dependency_optimization", "loop_optimization"),
    *("function_optimization", "debug_stripper", "scoped_allocator_optimization"),
    *("pin_to_host_optimization", "implementation_selector", "auto_mixed_precision"),
)
_SWITCHES = ("disable_model_pruning", "disable_meta_optimizer")
_POLICIES = ("explicit", "warn", "silent", "silent_for_int32")


@export("config.experimental.VirtualDeviceConfiguration")
class VirtualDeviceConfiguration(NamedTuple):
    """What a virtual device is given of a device: MB of memory, or None."""

    memory_limit: int | None = None


class _Settings:
    """The settings of the process."""

    def __init__(self) -> None:
        self.threads = {"Intra": 0, "Inter": 0}
        self.jit = False
        self.options: dict[str, Any] = {}
        self.soft_placement = False
        self.log_placement = False
        self.policy = "silent"
        self.is_synchronous = True
        self.runs_eagerly = False
        self.virtual: dict[PhysicalDevice, Any] = {}


_settings = _Settings()


def _require_open(is_same: bool, message: str) -> bool:
    """Whether a setting is to be changed; RuntimeError where it no longer can be."""
    if not is_same and device_lists.were_listed():
        raise RuntimeError(message)
    return not is_same


def _require_device(device: PhysicalDevice) -> None:
    if device not in device_lists.list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")


def _define_threads(kind: str) -> None:
    name = f"{kind.lower()}_op_parallelism_threads"

    def get() -> int:
        return _settings.threads[kind]

    def put(num_threads: int) -> None:
        same = _settings.threads[kind] == num_threads
        if _require_open(same, f"{kind} op parallelism cannot be modified after initialization."):
            _settings.threads[kind] = num_threads

    for function, verb, words in (
        (get, "get", "How many threads were asked for; 0: as many as there are processors."),
        (put, "set", "Asks for so many threads; 0: as many as there are processors."),
    ):
        function.__name__ = function.__qualname__ = f"{verb}_{name}"
        function.__doc__ = words
        export(f"config.threading.{verb}_{name}")(function)


for _kind in ("Intra", "Inter"):
    _define_threads(_kind)


@export("config.optimizer.get_jit")
def get_optimizer_jit() -> bool:
    """Whether compilation was asked for."""
    return _settings.jit


@export("config.optimizer.set_jit")
def set_optimizer_jit(enabled: bool) -> None:
    """Asks for compilation, which there is in any case."""
    _settings.jit = bool(enabled)


@export("config.optimizer.get_experimental_options")
def get_optimizer_experimental_options() -> dict[str, Any]:
    """The options of graph rewriting that were set, and those that are always set.

    Returns:
        names and booleans, and `min_graph_nodes` where it was set.

    Example:
        >>> tf.config.optimizer.get_experimental_options()
        {'disable_model_pruning': False, 'disable_meta_optimizer': False}
    """
    given = _settings.options
    found: dict[str, Any] = {}
    names = [*_TOGGLES[:9], _SWITCHES[0], *_TOGGLES[9:], _SWITCHES[1]]
    for name in names:
        if name in _SWITCHES or given.get(name) is not None:
            found[name] = bool(given.get(name))
    if given.get("min_graph_nodes"):
        found["min_graph_nodes"] = given["min_graph_nodes"]
    return found


@export("config.optimizer.set_experimental_options")
def set_optimizer_experimental_options(options: dict[str, Any]) -> None:
    """Sets options of graph rewriting; those that there are not are not handed back."""
    _settings.options.update(options)


@export("config.get_soft_device_placement")
def get_soft_device_placement() -> bool:
    """Whether ops may go to another device than the one they name."""
    return _settings.soft_placement


@export("config.set_soft_device_placement")
def set_soft_device_placement(enabled: bool) -> None:
    """Says whether ops may go to another device than the one they name."""
    _settings.soft_placement = enabled


@export("debugging.get_log_device_placement")
def get_log_device_placement() -> bool:
    """Whether it is logged where ops are placed."""
    return _settings.log_placement


@export("debugging.set_log_device_placement")
def set_log_device_placement(enabled: bool) -> None:
    """Says whether it is logged where ops are placed."""
    same = _settings.log_placement == enabled
    if _require_open(same, "Device placement logging must be set at program startup"):
        _settings.log_placement = enabled


@export("config.experimental.get_device_policy")
def get_device_policy() -> str:
    """What happens to inputs that lie on another device."""
    return _settings.policy


@export("config.experimental.set_device_policy")
def set_device_policy(device_policy: str | None) -> None:
    """Says what happens to inputs that lie on another device.

    Args:
        device_policy: "explicit", "warn", "silent", "silent_for_int32" or None, which is "silent".

    Raises:
        ValueError: it is none of these.
    """
    policy = device_policy or "silent"
    if policy not in _POLICIES:
        raise ValueError(f"Not a valid device policy: {device_policy!r}")
    _settings.policy = policy


@export("config.experimental.get_synchronous_execution")
def get_synchronous_execution() -> bool:
    """Whether ops are waited for."""
    return _settings.is_synchronous


@export("config.experimental.set_synchronous_execution")
def set_synchronous_execution(enable: bool) -> None:
    """Says whether ops are waited for."""
    _settings.is_synchronous = bool(enable)


@export("config.experimental.get_memory_growth")
def get_memory_growth(device: PhysicalDevice) -> bool:
    """Whether the memory that is used of a GPU grows as needed; KeyError of other devices."""
    _require_device(device)
    raise KeyError(device)


@export("config.experimental.set_memory_growth")
def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Says that the memory that is used of a GPU grows; ValueError of other devices."""
    _require_device(device)
    if device in _settings.virtual:
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    raise ValueError("Cannot set memory growth on non-GPU devices")


@export("config.experimental.get_virtual_device_configuration")
def get_virtual_device_configuration(device: PhysicalDevice) -> Any:
    """The virtual devices that a device was divided into, or None."""
    _require_device(device)
    return _settings.virtual.get(device)


@export("config.experimental.set_virtual_device_configuration")
def set_virtual_device_configuration(
    device: PhysicalDevice, virtual_devices: Sequence[VirtualDeviceConfiguration]
) -> None:
    """Divides a device into virtual ones, which are listed as such.

    Args:
        device: one of tf.config.experimental.list_physical_devices.
        virtual_devices: a VirtualDeviceConfiguration for each.

    Raises:
        ValueError: the device is none of these, or memory of the processor is limited.
        RuntimeError: devices have been listed already.
    """
    _require_device(device)
    if any(part.memory_limit is not None for part in virtual_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    same = _settings.virtual.get(device) == virtual_devices
    if _require_open(same, "Virtual devices cannot be modified after being initialized"):
        _settings.virtual[device] = virtual_devices
        device_lists.divide(len(virtual_devices))


@export("config.experimental.set_visible_devices")
def set_visible_devices(
    devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None
) -> None:
    """Says which devices are used, of one type or of all.

    Raises:
        ValueError: a device is none of this machine.
        RuntimeError: devices have been listed already.
    """
    given: Any = [devices] if isinstance(devices, PhysicalDevice) else devices
    chosen: list[PhysicalDevice] = as_list(given)
    for device in chosen:
        _require_device(device)
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r}")
    visible = device_lists.get_visible_devices()
    others = [d for d in visible if device_type is not None and d.device_type != device_type]
    same = visible == others + chosen
    if _require_open(same, "Visible devices cannot be modified after being initialized"):
        device_lists.show(others + chosen)


@export("config.experimental_list_devices")
def list_devices() -> list[str]:
    """The names of the devices that ops can be placed on."""
    return [device.name for device in device_lists.list_logical_devices()]


def runs_functions_eagerly() -> bool:
    """Whether functions of tf.function run as Python."""
    return _settings.runs_eagerly


@export("config.experimental_run_functions_eagerly")
def experimental_run_functions_eagerly(run_eagerly: bool) -> None:
    """Says whether functions of tf.function run as Python, without a graph of their own."""
    _settings.runs_eagerly = bool(run_eagerly)


def _refused(name: str) -> BaseException:
    return errors.unimplemented(
        f"tf.config.{name} makes eager execution use other machines, and there is no eager "
        "execution here; sessions reach other machines by their target"
    )


@export("config.experimental_connect_to_host")
def connect_to_remote_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Refused: it is for eager execution.

    Raises:
        ValueError: no host is named.
        UnimplementedError: in all other cases.
    """
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    raise _refused("experimental_connect_to_host")


@export("config.experimental_connect_to_cluster")
def connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
) -> None:
    """Refused with UnimplementedError: it is for eager execution."""
    raise _refused("experimental_connect_to_cluster")
