# SPDX-License-Identifier: Apache-2.0
"""Sessions that begin, recover and end by themselves, and hooks that take part in their runs.

Imports all rooms of train named before: variables, summaries, checkpoints, objects, inputs.
"""

# Imported when one of their names is asked for (see train/public.py), or by tools.
ON_DEMAND = (
    "basic_loops",
    "basic_session_run_hooks",
    "coordinator",
    "hook_timers",
    "hooks_writing",
    "monitored_session",
    "scaffold",
    "session_manager",
    "session_run_hook",
    "session_wrappers",
    "supervisor",
)
