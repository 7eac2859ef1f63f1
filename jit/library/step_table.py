# SPDX-License-Identifier: Apache-2.0
"""The table of a plan's steps: what a row says to those that write it, walk it or look at it.

jit/schedule/bind.py writes it; jit/library/walk_kernels.py reads it as it runs.  Imports nothing.
"""

from __future__ import annotations

# A step: the address of a kernel's code and of its argument block, how much there is to do in two
# directions, and how much of it is one tile.
ADDRESS, ARGS, ROWS, ROW_TILE, COLUMNS, COLUMN_TILE = range(6)
ROW = 6  # numbers per row

# Where ADDRESS is 0 there is no kernel, and the row says where to go on instead.  What it looks at
# to know that has its address at ARGS.
KIND, TARGET, WANTED = 2, 3, 4
# SKIP goes to TARGET unless a flag is as WANTED; AGAIN always does.  Python is needed at HOST, at
# STOP if a flag is set, and at ROOM if the memory of a stack has to grow.
SKIP, AGAIN, STOP, HOST, ROOM = range(5)

# Behind all rows: row and tile to go on with, and whether the walk only paused there.
AT_ROW, AT_TILE, PAUSED = range(3)
PLACE = 3  # numbers of it

# The record of a stack that grows: where its items are, how many, how many fit, bytes of one, how
# many have to fit.
MEMORY, HELD, FIT, ITEM_BYTES, NEEDED = range(5)
RECORD = 5  # numbers of it

# What is moved to stacks and from them at once (stacks_kernels.py): the argument block of a row
# that would do it alone, items that are counted before it, whether it puts something there.
BLOCK, LATER, PUTS = range(3)
MOVE = 3  # numbers of it
# The record of a stack, and how many items it has more than before.
STACK, CHANGE = range(2)
CHANGED = 2  # numbers of it

# What a device notes of turns of a loop in which something is wrong (latches.py): the first flag
# that was set, by its number and one (0: none), how many copies of evidence; behind that the
# addresses of all flags, and of every copy where to, where from, and how many bytes.
LATCHED, COPIES = range(2)
LATCH_HEAD = 2  # numbers before the flags
COPY = 3  # numbers of a copy
