# SPDX-License-Identifier: Apache-2.0
"""The versions that graphs and programs carry: those of TensorFlow 1.15, whose API this is."""

from __future__ import annotations

from ..engine.api import constant

VERSION = "1.15.5"
GIT_VERSION = "unknown"
COMPILER_VERSION = "numba"
CXX11_ABI_FLAG = 0
MONOLITHIC_BUILD = 0
# GraphDefs written here can be read by programs from MIN_CONSUMER on; programs read those of
# producers from MIN_PRODUCER on.
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

for _name in (
    "VERSION GIT_VERSION COMPILER_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER "
    "GRAPH_DEF_VERSION_MIN_PRODUCER"
).split():
    constant(_name, globals()[_name])
    constant(f"version.{_name}", globals()[_name])
for _name in ("CXX11_ABI_FLAG", "MONOLITHIC_BUILD"):
    constant(_name, globals()[_name])
    constant(f"sysconfig.{_name}", globals()[_name])
