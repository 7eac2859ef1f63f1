# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's cluster protocol: sessions on a server elsewhere, and what a server does.

Needs grpcio (the extra `distributed`), imported when the first session or server asks for it.
Imports `engine` and `io`.
"""

# Imported when a target or a server asks for them, or by tools.
ON_DEMAND = (
    *(
        "call_threads",
        "collectives",
        "control_loops",
        "host",
        "launch",
        "link",
        "link_client",
        "link_server",
        "master",
    ),
    *(
        *("packing", "part_program"),
        "parted_run",
        "partial_run",
        "partition",
        "placement",
        "ray_engine",
        "remote_session",
        "rendezvous",
        "rpc",
    ),
    *("service", "staged_run", "stages", "task_session", "tensor_messages", "trace", "worker"),
)
