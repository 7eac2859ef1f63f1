# SPDX-License-Identifier: Apache-2.0
"""Where operations run, as lines on the standard output (ConfigProto's `log_device_placement`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..graph.devices import parse_device

if TYPE_CHECKING:
    from ..graph.operation import Operation


def tell_devices(task: str, devices: Sequence[Any]) -> None:
    """Says what stands behind the names of a session's GPUs."""
    if not devices:
        print("Device mapping: no known devices.")
        return
    print("Device mapping:")
    for number, device in enumerate(devices):
        print(f"{task}/device:GPU:{number} -> {device.description}")


def tell_operations(
    task: str,
    operations: Iterable[Operation],
    counts: dict[str, int],
    begins: Callable[[Operation], bool],
) -> None:
    """Says where all operations of a graph run; those that begin a chain come last."""
    for op in sorted(operations, key=begins):
        print(f"{op.name}: ({op.type}): {task}/device:{place_of(op, counts)}")


def place_of(op: Operation, counts: dict[str, int]) -> str:
    """The type and number of the device of an operation, in a session with so many of each."""
    kind, number = parse_device(op._device)[3:]
    if kind in counts and (number or 0) < counts[kind]:
        return f"{kind}:{number or 0}"
    # What is not compiled runs on the processor, whatever there is.
    return "GPU:0" if counts["GPU"] and op.definition.lower is not None else "CPU:0"
