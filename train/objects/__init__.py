# SPDX-License-Identifier: Apache-2.0
"""`tf.train.Checkpoint`: what is saved by the objects that hold it; modules and tracked containers.

Imports variables and checkpoints.
"""

# Imported when one of their names is asked for (see train/public.py), or by tools.
ON_DEMAND = (
    "checkpoint",
    "data_structures",
    "data_wrappers",
    "load_status",
    "module",
    "object_checkpoint",
    "object_graph",
    "object_restore",
    "object_saver",
    "python_state",
    "tracking",
    "warm_starting_util",
)
