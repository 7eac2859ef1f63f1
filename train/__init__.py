# SPDX-License-Identifier: Apache-2.0
"""Training: optimizers and what surrounds them.

Imports `engine`, `ops` and `io`.
"""

# Imported when one of their names is asked for (see public.py), or by tools.
ON_DEMAND = tuple(
    "basic_loops basic_session_run_hooks checkpoint checkpoint_ops checkpoint_utils coordinator "
    "data_structures data_wrappers device_setter hook_timers hooks_writing input input_batch "
    "input_sparse inspect_checkpoint layers load_status module monitored_session object_checkpoint "
    "object_graph object_restore object_saver python_state queue_runner_impl rnn scaffold "
    "session_events session_manager session_run_hook session_wrappers summary_io supervisor "
    "sync_replicas_optimizer tools tracking warm_starting_util".split()
)
