# SPDX-License-Identifier: Apache-2.0
"""Finds the last file that `ModelCheckpoint` has written."""

from __future__ import annotations

import os
import re

from ...checkpoints.checkpoint_management import latest_checkpoint


def checkpoint_exists(path: str) -> bool:
    """Whether there is an HDF5 file, or a checkpoint of that prefix."""
    if path.endswith(".h5"):
        return os.path.exists(path)
    return os.path.exists(path) or os.path.exists(f"{path}.index")


def latest_of_pattern(pattern: str) -> str | None:
    """The file that was changed last among those whose names a pattern may have given.

    Args:
        pattern: a path whose name may have fields, "{epoch:02d}".

    Returns:
        Its path: that of the folder's last checkpoint if the pattern may have given it; of several
        that were changed last the one with the largest name of all. None if there is none.
    """
    folder, name = os.path.split(pattern)
    wanted = re.compile("^" + re.sub(r"{.*}", r".*", name) + "$")
    last = latest_checkpoint(folder)
    if last is not None and wanted.match(os.path.basename(last)):
        return last
    if not os.path.isdir(folder):
        return None
    found = [os.path.join(folder, one) for one in os.listdir(folder) if wanted.match(one)]
    times = {path: os.path.getmtime(path) for path in found}
    newest = [path for path in found if times[path] == max(times.values())]
    return newest[0] if len(newest) == 1 else max(found, default=None)
