# SPDX-License-Identifier: Apache-2.0
"""Training: optimizers and what surrounds them.

Rooms, in the order in which they may import one another: variables, summaries, checkpoints,
objects, inputs, sessions, optimizers, cluster, distributed; and layers, rnn, saved_model and
contrib, which programs see as such.  Imports `engine`, `ops` and `io`.
"""

# Imported when one of their names is asked for (see public.py), or by tools.
ON_DEMAND = ("inputs", "layers", "mnist", "objects", "rnn", "sessions", "summaries", "tools")
