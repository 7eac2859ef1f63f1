# SPDX-License-Identifier: Apache-2.0
"""From a graph to machine code: trace, lower, fuse, schedule, place buffers, emit, compile, run.

Imports `engine`'s graph layer; never `ops`.  Names no op.
"""
