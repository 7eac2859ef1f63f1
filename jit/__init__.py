# SPDX-License-Identifier: Apache-2.0
"""From a graph to machine code: trace, rewrite, fuse, schedule, compile, lay out, run.

Rooms in the order of imports: kernel, program, library, trace, passes, cache, codegen, schedule,
runtime, cuda, report.  Imports `engine`'s graph layer; never `ops`.  Names no op.
"""
