# SPDX-License-Identifier: Apache-2.0
"""What parameters of cells and decoders are called that may be one tensor or many."""

from __future__ import annotations

from typing import Any

# A tensor, an array of tensors, or a tuple, list or dict of such, as `nest` takes them apart.
Structure = Any
