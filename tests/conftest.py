# SPDX-License-Identifier: Apache-2.0
"""Checks that are off in production are on in tests: kernels obey the rules of their IR."""

from __future__ import annotations

from numbaflow.jit import verify

verify.enabled = True
