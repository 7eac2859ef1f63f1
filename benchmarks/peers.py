# SPDX-License-Identifier: Apache-2.0
"""Who takes part in a comparison, and which Python runs them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Peer:
    """A peer: its title in tables, the variable and the folder that lead to its Python, what it
    imports."""

    title: str
    variable: str
    folder: str
    module: str = ""


Peers = Mapping[str, Peer]


def pythons(peers: Peers, folder: str | None) -> dict[str, str]:
    """The Python of every peer that there is: from the environment, else from the folder."""
    found = {"numbaflow": sys.executable}
    for name, peer in peers.items():
        python = os.environ.get(peer.variable, "") if peer.variable else ""
        if not python and folder and peer.folder:
            python = str(Path(folder).absolute() / peer.folder / "bin" / "python")
        if python and Path(python).exists():
            found.setdefault(name, python)
    return found
