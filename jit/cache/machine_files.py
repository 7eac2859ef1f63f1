# SPDX-License-Identifier: Apache-2.0
"""The folders of what all programs of a machine share, so that no process waits for LLVM to say it
again: what kind of processor this is, and the machine code of what walks through plans."""

from __future__ import annotations

from .checked_files import Folder

# Few are ever kept: one of every version of LLVM, system and processor that share the folder.
HOSTS = Folder("hosts", "host", "numbaflow host 1", most=32)
WALKERS = Folder("walkers", "walker", "numbaflow walker 1", most=32)
