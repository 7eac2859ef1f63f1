# SPDX-License-Identifier: Apache-2.0
"""Several tasks: cluster specs, servers, placement of variables, one update for many workers.

Imports variables, inputs, sessions and optimizers.
"""

# Imported when one of their names is asked for (see train/public.py), or by tools.
ON_DEMAND = ("device_setter", "sync_replicas_optimizer")
