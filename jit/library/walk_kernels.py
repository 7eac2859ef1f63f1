# SPDX-License-Identifier: Apache-2.0
"""The kernels that walk over a plan's steps, alone or with others; see jit/runtime/thread_pool.py.

A walker stops when its slice of time is over (jit/codegen/clock.py), also within a step, when all
tiles that were begun are done.  It notes the place behind the table and is called again.

`walk` and `work` share tiles through a few words of memory, the pool's state.  To take a tile is
one atomic addition to WORD, which gives number and total of the same step even to a thread that
comes late; STEP is read afterwards, and cannot change before that tile is in DONE.  A thread may
add beyond the total: hence steps of less than half of MASK tiles, so that nothing is carried into
the total's bits.

All accesses to the state are sequentially consistent (jit/codegen/atomics.py), which two pairs
need: the caller raises GEN and then looks for SLEEPERS, a thread counts itself among these and then
has the system compare GEN; the caller sets WAITING and then looks at DONE, threads add to DONE and
then look at WAITING.  In either order one sees the other, and no wake-up is lost.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Arguments,
    Pointer,
    atomic_add,
    atomic_load,
    atomic_store,
    atomic_swap,
    call_kernel,
    clock,
    futex,
    helper,
    int64,
    pause,
    pointer,
    region,
    take_if_zero,
)
from .step_table import (
    ADDRESS,
    AGAIN,
    ARGS,
    AT_ROW,
    AT_TILE,
    COLUMN_TILE,
    COLUMNS,
    FIT,
    HOST,
    KIND,
    NEEDED,
    PAUSED,
    ROOM,
    ROW,
    ROW_TILE,
    ROWS,
    SKIP,
    STOP,
    TARGET,
    WANTED,
)

SHARED: bool = GIVEN  # the system has what threads need to share tiles
FUTEX: int = GIVEN  # the number of Linux's system call
SLICE: int = GIVEN  # nanoseconds after which a walk comes back to Python

# The pool's state, byte by byte.  Each word has a cache line of its own: what one thread writes
# would take the others' words from their caches.
LINE = 64
GEN, LOCK, WORD, DONE, STEP, SLEEPERS, WAITING, ENDED, LIMIT, EPOCH = range(0, 10 * LINE, LINE)
STATE_BYTES = 10 * LINE

# WORD holds epoch, number of tiles and next tile.
BITS = 20
MASK = (1 << BITS) - 1

# Operations of a futex among the threads of one process.
WAIT, WAKE = 128, 129
ALL = 1 << 30  # more threads than there are

# These take some 100 µs: a thread stays awake between the steps of a plan, and from one step of a
# training loop to the next, but not while a program does something else.
SPINS = 4000
# A third of an even share of what is left leaves enough to even out threads that are held up.
SHARES = 3
# The clock ticks every few milliseconds: what is done between two equal readings is quick.  Then up
# to so many tiles are taken together, and the clock is looked at once in so many rows.
TOGETHER = 64
SELDOM = 64


@helper
def count_tiles(row: int) -> int:
    """How many tiles a step has, whose row in the table is at an address."""
    words = pointer(region(row, "int64"))
    down = (words[ROWS] + words[ROW_TILE] - 1) // words[ROW_TILE]
    return down * ((words[COLUMNS] + words[COLUMN_TILE] - 1) // words[COLUMN_TILE])


@helper
def run_tile(row: int, tile: int, worker: int) -> None:
    """Calls the kernel of the row at an address for one of its tiles."""
    words = pointer(region(row, "int64"))
    rows, row_tile = words[ROWS], words[ROW_TILE]
    columns, column_tile = words[COLUMNS], words[COLUMN_TILE]
    across = (columns + column_tile - 1) // column_tile
    r, c = tile // across * row_tile, tile % across * column_tile
    kernel, block = words[ADDRESS], words[ARGS]
    call_kernel(kernel, block, r, min(r + row_tile, rows), c, min(c + column_tile, columns), worker)


@helper
def alone(row: int, tile: int, total: int, end: int) -> int:
    """Runs tiles one after the other until a moment; the first that is left."""
    while tile < total:
        run_tile(row, tile, 0)
        tile += 1
        if tile < total and clock() > end:
            return tile
    return tile


@helper
def take_tiles(state: int, worker: int, end: int) -> None:
    """Takes tiles of the step that is published until none are left, or worker 0's time is up."""
    # Neighbours together while many are left and they are quick, which spares the shared words.
    shares = SHARES * (atomic_load(state + LIMIT) + 1)
    word = atomic_load(state + WORD)
    most = 1
    seen = clock()
    while True:
        left = max(((word >> BITS) & MASK) - (word & MASK), 0)
        count = min(left // shares + 1, most)
        word = atomic_add(state + WORD, count)
        first, total = word & MASK, (word >> BITS) & MASK
        if first >= total:
            return
        last = min(first + count, total)
        for tile in range(first, last):
            run_tile(atomic_load(state + STEP), tile, worker)
        atomic_add(state + DONE, last - first)
        if atomic_load(state + WAITING) != 0:
            futex(FUTEX, state + DONE, WAKE, 1)
        now = clock()
        if worker == 0 and now > end:
            return
        most = min(2 * most, TOGETHER) if now == seen else 1
        seen = now
        word += count


@helper
def share(state: int, row: int, begin: int, total: int, limit: int, end: int) -> int:
    """Shares tiles with up to `limit` threads until a moment; the first that nobody has begun."""
    epoch = atomic_load(state + EPOCH) + 1
    atomic_store(state + EPOCH, epoch)
    atomic_store(state + STEP, row)
    atomic_store(state + DONE, begin)
    atomic_store(state + LIMIT, limit)
    # Behind everything else, as it lets others begin.
    atomic_store(state + WORD, (epoch << (2 * BITS)) | (total << BITS) | begin)
    atomic_add(state + GEN, 1)
    if atomic_load(state + SLEEPERS) > 0:
        futex(FUTEX, state + GEN, WAKE, ALL)
    take_tiles(state, 0, end)
    last = total
    if clock() > end:
        # The swap tells which tile was the last begun and leaves none to begin.
        none_left = (epoch << (2 * BITS)) | (total << BITS) | total
        last = min(atomic_swap(state + WORD, none_left) & MASK, total)
    spins = 0
    while atomic_load(state + DONE) != last:
        spins += 1
        if spins < SPINS:
            pause()
        else:
            atomic_store(state + WAITING, 1)
            done = atomic_load(state + DONE)
            if done != last:
                futex(FUTEX, state + DONE, WAIT, done)
            atomic_store(state + WAITING, 0)
    return last


def walk(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Runs the rows of a table, none of which jumps.

    args: the table; c1: its address; r0: its rows; r1: the pool's state; c0: workers to use beside
    this thread; worker: -1 to go on at the place behind the table.
    """
    state = r1
    place = ROW * r0
    # A second caller while the pool is taken does its own tiles alone.
    mine = take_if_zero(state + LOCK) if c0 > 0 else 0
    s = args[place + AT_ROW] if worker < 0 else 0
    tile = args[place + AT_TILE] if worker < 0 else 0
    args[place + PAUSED] = 0
    end = clock() + SLICE
    while s < r0:
        row = c1 + 8 * ROW * s
        total = count_tiles(row)
        if total > 1 and total < MASK // 2 and mine == 1:
            tile = share(state, row, tile, total, c0, end)
        else:
            tile = alone(row, tile, total, end)
        if tile >= total:
            s += 1
            tile = 0
        if s < r0 and clock() > end:
            args[place + AT_ROW] = s
            args[place + AT_TILE] = tile
            args[place + PAUSED] = 1
            break
    if mine == 1:
        atomic_store(state + LOCK, 0)


@helper
def looked_at(address: int) -> Pointer:
    """What a row that jumps or stops looks at; `address` is that of its address."""
    return pointer(region(pointer(region(address, "int64"))[0], "int64"))


@helper
def flag_at(address: int) -> int:
    """The flag that a row that jumps or stops looks at; `address` is that of its address."""
    return int64(pointer(region(pointer(region(address, "int64"))[0], "uint8"))[0])


@helper
def needs_python(args: Arguments, s: int) -> bool:
    """Whether a walk has to stop at a row without a kernel."""
    kind = args[ROW * s + KIND]
    if kind == HOST:
        return True
    if kind == ROOM:
        record = looked_at(args[ROW * s + ARGS])
        return record[NEEDED] > record[FIT]
    return kind == STOP and flag_at(args[ROW * s + ARGS]) != 0


@helper
def next_row(args: Arguments, s: int) -> int:
    """Where a walk goes on behind a row without a kernel at which it does not stop."""
    kind = args[ROW * s + KIND]
    if kind == AGAIN or (kind == SKIP and flag_at(args[ROW * s + ARGS]) != args[ROW * s + WANTED]):
        return args[ROW * s + TARGET]
    return s + 1


def walk_with_jumps(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Runs the rows of a table from row `worker` on; -1: from the place behind the table on.

    Other arguments are those of `walk`.  The place says where it stopped.
    """
    state = r1
    place = ROW * r0
    mine = take_if_zero(state + LOCK) if SHARED and c0 > 0 else 0
    s = args[place + AT_ROW] if worker < 0 else worker
    tile = args[place + AT_TILE] if worker < 0 else 0
    args[place + PAUSED] = 0
    seen = clock()
    end = seen + SLICE
    # The clock is looked at after more and more rows as long as they are quick: a turn of a loop
    # may take a few nanoseconds.
    every = 1
    left = 1
    while s < r0:
        left -= 1
        if left == 0:
            now = clock()
            if now > end:
                args[place + PAUSED] = 1
                break
            every = min(2 * every, SELDOM) if now == seen else 1
            left = every
            seen = now
        if args[ROW * s + ADDRESS] == 0:
            if needs_python(args, s):
                break
            s = next_row(args, s)
            continue
        rows, columns = args[ROW * s + ROWS], args[ROW * s + COLUMNS]
        if rows <= args[ROW * s + ROW_TILE] and columns <= args[ROW * s + COLUMN_TILE]:
            if rows > 0 and columns > 0:
                call_kernel(args[ROW * s + ADDRESS], args[ROW * s + ARGS], 0, rows, 0, columns, 0)
            s += 1
            continue
        row = c1 + 8 * ROW * s
        total = count_tiles(row)
        if SHARED and total < MASK // 2 and mine == 1:
            tile = share(state, row, tile, total, c0, end)
        else:
            tile = alone(row, tile, total, end)
        if tile < total:
            args[place + PAUSED] = 1
            break
        s += 1
        tile = 0
    args[place + AT_ROW] = s
    args[place + AT_TILE] = tile
    if mine == 1:
        atomic_store(state + LOCK, 0)


def work(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """What a thread of the pool does until it is ended.  r1: the pool's state."""
    state = r1
    while True:
        # Before tiles are looked for, so that a step published meanwhile keeps the thread awake.
        seen = atomic_load(state + GEN)
        if atomic_load(state + ENDED) != 0:
            return
        # How many threads the caller's session allows.
        if worker <= atomic_load(state + LIMIT):
            take_tiles(state, worker, 0)
        spins = 0
        while spins < SPINS and atomic_load(state + GEN) == seen:
            pause()
            spins += 1
        if atomic_load(state + GEN) == seen:
            atomic_add(state + SLEEPERS, 1)
            futex(FUTEX, state + GEN, WAIT, seen & 0xFFFFFFFF)
            atomic_add(state + SLEEPERS, -1)
