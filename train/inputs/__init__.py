# SPDX-License-Identifier: Apache-2.0
"""Inputs by queues: producers, batches, and the threads that fill queues.

Imports `engine`, `ops` and `io`.
"""

# Imported when one of their names is asked for (see train/public.py), or by tools.
ON_DEMAND = ("input", "input_batch", "input_sparse", "queue_runner_impl")
