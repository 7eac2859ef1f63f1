# SPDX-License-Identifier: Apache-2.0
"""Checks that are off in production are on in tests: kernels obey the rules of their IR."""

from __future__ import annotations

import os

from numbaflow.jit import verify

verify.enabled = True
# Runs any tests with kernels among guards, see jit/guards.py: "bytes" or "pages".
verify.guards = os.environ.get("NUMBAFLOW_TEST_GUARDS", "")
