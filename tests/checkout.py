# SPDX-License-Identifier: Apache-2.0
"""What lies in the checkout that git does not know of: after `make run`, the library."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HAS_LIBRARY = any((ROOT / "jit" / "library" / "objects").glob("*.kernels"))
# For tests whose processes compile what nobody has compiled before.
BARE = pytest.mark.skipif(HAS_LIBRARY, reason="`make run` compiled the library: `make clean`")
