# SPDX-License-Identifier: Apache-2.0
"""Libraries of compiled ops, beside a program's files."""

from __future__ import annotations

from typing import Any

from ....engine.api import export
from ....engine.interface import loading


@export("contrib.util.loader.load_op_library")
def load_op_library(path: str) -> Any:
    """Refuses: compiled ops need TensorFlow's C++ runtime.

    Args:
        path: the name of the library.

    Raises:
        NotFoundError: there is no such file.
        UnimplementedError: there is one.
    """
    return loading.load_op_library(path)
