# SPDX-License-Identifier: Apache-2.0
"""Savers: what is saved by name, which files there are, meta graphs, starting from them.

Imports variables; `train/objects` inside functions.
"""

# Imported when one of their names is asked for (see train/public.py), or by tools.
ON_DEMAND = (
    "checkpoint_ops",
    "checkpoint_utils",
    "inspect_checkpoint",
)
