# SPDX-License-Identifier: Apache-2.0
"""The GPUs of this machine, or those that stand in for some (NUMBAFLOW_GPU).

Looking for cards where there are none costs a look at the file system.  Imports drivers on use.
"""

from __future__ import annotations

from functools import cache

from ...engine import settings
from .device import Device


def devices() -> tuple[Device, ...]:
    """All GPUs that sessions may use, by number."""
    return _devices(settings.get("gpu"))


@cache
def _devices(kind: str) -> tuple[Device, ...]:
    if kind.startswith("emulated"):
        from .emulated import EmulatedDevice

        count = int(kind.partition(":")[2] or 1)
        return tuple(EmulatedDevice(number) for number in range(count))
    from .card import found

    return tuple(found())
