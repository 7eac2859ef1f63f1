# SPDX-License-Identifier: Apache-2.0
"""Public functions below a namespace by their names, looked up when they are used: `nn.relu`."""

from __future__ import annotations

from typing import Any

from ....engine import api


class Published:
    """Attribute access to the published functions of one namespace."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        return api.NAMES[f"{self._namespace}.{name}"]


nn = Published("nn")
image = Published("image")
