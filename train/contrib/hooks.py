# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.contrib.hooks`: the old place of `tf.train.ProfilerHook`."""

from __future__ import annotations

from ..sessions.basic_session_run_hooks import ProfilerHook

__all__ = ["ProfilerHook"]
