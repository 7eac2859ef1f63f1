# SPDX-License-Identifier: Apache-2.0
"""Types of arguments that may be names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Union

# An object, its name, its description as configurations have it, or None.
Identifier: TypeAlias = Union[str, Mapping[str, Any], Callable[..., Any], None]
# One number for all axes, or one for each.
PerAxis: TypeAlias = Union[int, Sequence[int]]
