# SPDX-License-Identifier: Apache-2.0
"""Sums of products on GPUs by tiles of the result: what products and convolutions have in common.

A block of 256 threads has a tile of both factors in shared memory and each thread some elements of
the result in registers, which are added up in the order of the inner axis.  Threads take elements
by their number, so that fewer of them, or one alone, do all of it as well.  A `Tiling` says how the
rest of the kernel is written: where in memory the elements of the factors lie, and around which
loops.  16-bit floats are float32 from where they are read.  Imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from ...engine.record_class import record

DTYPES = ("float32", "float64", "float16", "bfloat16")

Lines = Sequence[str]


@record(frozen=True)
class Factor:
    """How a thread finds element (outer, inner) of a factor's tile, `e` being its number.

    lines: what comes first, by names `outer` (counted within the tile) and `inner` (from `start`
    on).  place: where it lies; fits: whether there is such an element, as place must not be read
    otherwise.  by_inner: neighbours in memory are so along the inner axis.
    """

    name: str
    lines: Lines
    place: str
    fits: str
    by_inner: bool


@record(frozen=True)
class Tiling:
    """What is computed by tiles.

    buffers, numbers: names of the arguments, the result's buffer last.  sizes: lines that give m,
    n, lead (results are [lead, m, n], as `number` says where) and whatever else all of a tile
    needs.  table: lines for every row `e` of a tile, once per tile, with the names of the tables
    that they store to.  loops: headers around the innermost loop, and their lines.  extent: how
    long that is.  bias, relu: what is done to the sums.  place: where the result has row `ROW`.
    constants: further numbers that are part of the text.  across: threads side by side, of a
    square of them.  depth: how much of the inner axis is in shared memory at a time.
    """

    dtype: str
    buffers: Lines
    numbers: Lines
    sizes: Lines
    left: Factor
    right: Factor
    extent: str
    tile_lines: Lines = ()
    tables: Lines = ()
    table: Lines = ()
    loops: Lines = ()
    bias: bool = False
    relu: bool = False
    place: str = "(number * m + ROW) * n"
    constants: Sequence[tuple[str, int]] = ()
    across: int = 16
    depth: int = 16

    @property
    def each(self) -> int:
        """Rows and columns of a thread."""
        return 4 if self.dtype == "float64" else 8

    @property
    def tile(self) -> int:
        """Rows and columns of a tile."""
        return self.each * self.across

    @property
    def block(self) -> tuple[int, int, int]:
        """Rows and columns of a tile, and threads."""
        return self.tile, self.tile, self.threads

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.across**2

    @property
    def held(self) -> str:
        """What factors are multiplied and added up as."""
        return self.dtype if self.dtype == "float64" else "float32"

    @property
    def _pitch(self) -> int:
        # Elements of the inner axis begin in different banks of memory.
        return self.tile + (1 if self.held == "float64" else 4)

    def text(self) -> str:
        """The kernel's text."""
        numbers = {"ZERO": f"{self.held}(0.0)", "TILE": f"int64({self.tile})"}
        numbers |= {
            "DEPTH": f"int64({self.depth})",
            "ACROSS": f"int64({self.across})",
            "NONE": "int64(0)",
        }
        numbers |= {name: f"int64({value})" for name, value in self.constants}
        read = tuple(range(len(self.buffers) - 1))
        head = [f"CONSTANT = {read}", *(f"{name} = {value}" for name, value in numbers.items())]
        body = ["def kernel(args, rows, columns):", *_indented(self._lines())]
        return "\n".join([*head, "", "", *body, ""])

    def _lines(self) -> Iterator[str]:
        for i, name in enumerate((*self.buffers, *self.numbers)):
            yield f"{name} = args[{i}]"
        yield from self.sizes
        yield f"left = shared_{self.held}({self._pitch * self.depth})"
        yield f"right = shared_{self.held}({self._pitch * self.depth})"
        yield from (f"{name} = shared_int64({self.tile})" for name in self.tables)
        yield f"down = truncatediv(m + {self.tile - 1}, TILE)"
        yield f"across = truncatediv(n + {self.tile - 1}, TILE)"
        yield "for tile in range(block_y(), down * lead, blocks_y()):"
        yield from _indented(self._of_a_tile())

    def _of_a_tile(self) -> Iterator[str]:
        yield "number = truncatediv(tile, down)"
        yield "top = truncatemod(tile, down) * TILE"
        yield from self.tile_lines
        if self.table:
            yield f"for e in range(lane(), {self.tile}, lanes()):"
            yield from _indented(self.table)
        yield "for part in range(block_x(), across, blocks_x()):"
        yield "    first = part * TILE"
        yield f"    for thread in range(lane(), {self.threads}, lanes()):"
        yield from _indented(self._of_a_thread(), 8)

    def _of_a_thread(self) -> Iterator[str]:
        places = list(product(range(self.each), repeat=2))
        yield "row = truncatediv(thread, ACROSS)"
        yield "column = truncatemod(thread, ACROSS)"
        yield from (f"a{i}_{j} = ZERO" for i, j in places)
        depth = 0
        for line in self.loops:
            yield " " * depth + line
            depth += 4 if line.endswith(":") else 0
        yield from _indented(self._inner(), depth)
        yield from self._stores()

    def _inner(self) -> Iterator[str]:
        yield f"for start in range(0, {self.extent}, {self.depth}):"
        yield "    barrier()"
        yield f"    for e in range(lane(), {self.threads}, lanes()):"
        sides = ("left", self.left), ("right", self.right)
        # All of a thread's elements are under way before the first is waited for.
        for side, factor in sides:
            yield from _indented(self._read(side, factor), 8)
        for side, factor in sides:
            yield from _indented(self._kept(side, factor), 8)
        yield "    barrier()"
        yield f"    for s in range({self.depth}):"
        yield from _indented(self._added(), 8)

    def _read(self, side: str, factor: Factor) -> Iterator[str]:
        """A thread's elements of a factor."""
        outer, inner = f"{side}_outer", f"{side}_inner"
        if factor.by_inner:
            yield f"{outer} = truncatediv(e, DEPTH)"
            yield f"{inner} = truncatemod(e, DEPTH)"
        else:
            yield f"{inner} = truncatediv(e, TILE)"
            yield f"{outer} = truncatemod(e, TILE)"
        for t in range(self._elements):
            one = f"{side}{t}"
            at_outer, at_inner = self._places(side, factor, t)
            named = {"OUTER": f"({at_outer})", "INNER": f"start + {at_inner}", "SIDE": one}
            yield from (_filled(line, named) for line in factor.lines)
            yield f"{one}_fits = {_filled(factor.fits, named)}"
            place = f"select({one}_fits, {_filled(factor.place, named)}, NONE)"
            yield f"{one}_found = load({factor.name}, {place})"

    def _kept(self, side: str, factor: Factor) -> Iterator[str]:
        """They go into shared memory, zeros where there are none."""
        for t in range(self._elements):
            at_outer, at_inner = self._places(side, factor, t)
            value = f"select({side}{t}_fits, {side}{t}_found, ZERO)"
            yield f"store({side}, ({at_inner}) * {self._pitch} + {at_outer}, {value})"

    @property
    def _elements(self) -> int:
        """How many of a factor's elements a thread reads."""
        return self.tile * self.depth // self.threads

    def _places(self, side: str, factor: Factor, number: int) -> tuple[str, str]:
        """Where in the tile one of a thread's elements is: outer and inner."""
        outer, inner = f"{side}_outer", f"{side}_inner"
        behind = number * self.threads
        if factor.by_inner:
            return f"{outer} + {behind // self.depth}", f"{inner} + {behind % self.depth}"
        return f"{outer} + {behind % self.tile}", f"{inner} + {behind // self.tile}"

    def _added(self) -> Iterator[str]:
        """Products of a step of the inner axis.  A thread's rows lie four by four, far apart, so
        that threads side by side read what lies side by side."""
        each = range(self.each)
        yield from (f"x{i} = load(left, s * {self._pitch} + row * 4 + {self._at(i)})" for i in each)
        yield from (
            f"y{j} = load(right, s * {self._pitch} + column * 4 + {self._at(j)})" for j in each
        )
        yield from (f"a{i}_{j} = fused(x{i}, y{j}, a{i}_{j})" for i, j in product(each, repeat=2))

    def _at(self, number: int) -> int:
        """Of a thread's rows, or columns, where one lies behind the first."""
        return number // 4 * 4 * self.across + number % 4

    def _stores(self) -> Iterator[str]:
        if self.bias:
            for j in range(self.each):
                yield f"at{j} = first + column * 4 + {self._at(j)}"
                yield f"b{j} = load(added, select(lt(at{j}, n), at{j}, NONE))"
        for i in range(self.each):
            yield f"at = top + row * 4 + {self._at(i)}"
            yield "if at < m:"
            yield f"    begin = {_filled(self.place, {'ROW': 'at'})} + first + column * 4"
            for j in range(self.each):
                value = f"a{i}_{j}"
                value = f"add({value}, b{j})" if self.bias else value
                value = f"maximum({value}, ZERO)" if self.relu else value
                yield f"    if first + column * 4 + {self._at(j)} < n:"
                yield f"        store({self.buffers[-1]}, begin + {self._at(j)}, {value})"


def _indented(lines: Iterator[str] | Lines, depth: int = 4) -> Iterator[str]:
    return (" " * depth + line for line in lines)


def _filled(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(name, value)
    return text
