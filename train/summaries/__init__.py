# SPDX-License-Identifier: Apache-2.0
"""`tf.summary.FileWriter`, and events that the operations of a session write.

Imports `engine`, `ops` and `io`.
"""

# Imported when one of their names is asked for (see train/public.py), or by tools.
ON_DEMAND = (
    *("event_logging", "graph_writers", "plugin_asset", "projector", "recording"),
    *("session_events", "summary_io"),
)
