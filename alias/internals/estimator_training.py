# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.distribute.estimator_training`: no process coordinates others here."""

from __future__ import annotations

from typing import Any

from ...engine.interface.log import info


def should_run_distribute_coordinator(config: Any) -> bool:
    """Whether a RunConfig wants a process that tells others what to do; none here does.

    Raises:
        NotImplementedError: it does.
    """
    mode = getattr(config, "_distribute_coordinator_mode", None)
    if mode is not None and config.cluster_spec:
        raise NotImplementedError(
            f"The distribute coordinator ({mode}) is not in numbaflow: start the cluster's tasks "
            "each by itself, with TF_CONFIG"
        )
    info("Not using Distribute Coordinator.")
    return False
