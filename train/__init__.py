# SPDX-License-Identifier: Apache-2.0
"""Training: optimizers and what surrounds them.

Imports `engine`, `ops` and `io`.
"""

# Imported when one of their names is asked for: see public.py.
ON_DEMAND = tuple("coordinator input input_batch input_sparse queue_runner_impl summary_io".split())
