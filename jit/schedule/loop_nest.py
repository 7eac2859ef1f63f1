# SPDX-License-Identifier: Apache-2.0
"""From a cluster to loop nests.

Which loops these have is said in loop_order.py, and what they do in nest_builder.py.  Long
reductions with few results are cut into chunks whose partial results a second kernel combines, in
a fixed order.  What a reduction would read across the grain is turned by a kernel before it.
"""

from __future__ import annotations

from ...engine.record_class import record
from ..kernel import ir, sizes
from ..kernel.sizes import AnySize, Size
from ..passes.fuse import Cluster
from ..program.tensor_ir import Node, Partial, Reduce, Value
from .loop_order import loops, mergeable, runs_over_reduced, uses_row
from .nest_builder import Form, Groups, Nest, NestBuilder, Turned, finish


@record(frozen=True, slots=True)
class Pieces:
    """How reductions are done where a plan runs, and which are cut into how many chunks.

    results: at most so many rows are cut, of which threads would have nothing to share; rows: the
    same where columns are shared, too; long: the positions that a chunk has at least; most: chunks.
    by_memory: loops are in memory's order whatever that of the axes, and what is read across the
    grain is turned first.
    """

    results: int
    rows: int
    long: int
    most: int
    by_memory: bool


# A chunk takes some microseconds, well over what a second kernel costs, and 64 are enough for as
# many threads.
PROCESSOR = Pieces(results=64, rows=8, long=16384, most=64, by_memory=True)


def nests(cluster: Cluster, stored: set[Value], pieces: Pieces = PROCESSOR) -> list[Nest]:
    """The loop nests of a cluster: those that turn what it reads, if any, then one, or two when its
    reduction is chunked."""
    if cluster.reduced is not None and not cluster.reduced:
        # What is reduced turned out to be of size 1 and has no axis: a loop of one turn stands in.
        cluster.reduced = frozenset({len(cluster.domain)})
        cluster.domain = (*cluster.domain, 1)
    form, groups = loops(cluster, stored, pieces.by_memory)
    if _is_chunked(cluster, form, groups, pieces):
        return _chunked(cluster, stored, form, groups, pieces)
    # Every nest has a map loop, if only of one turn.
    lone = [] if cluster.kept else [(ir.Axis("map", 1), 1)]
    builder = NestBuilder(cluster, stored, groups, lead=len(lone))
    builder.may_turn = pieces.by_memory and cluster.reduced is not None
    for node in cluster.nodes:
        builder.write(node)
    return [*map(_turning, builder.turned.values()), finish(builder, form, lone)]


def _turning(turned: Turned) -> Nest:
    """The nest that puts what is read across the grain where it is read along it."""
    builder = NestBuilder(Cluster(turned.domain), set(), turned.groups)
    builder.move(turned)
    return finish(builder, "map", [])


def _is_chunked(cluster: Cluster, form: Form, groups: Groups, pieces: Pieces) -> bool:
    """Few results over many positions, with one pass over them?"""
    reduced = cluster.reduced
    if not reduced:
        return False
    outer = groups if form == "row" else groups[:-1]
    count = sizes.product(cluster.domain[a] for group in outer for a in group if a not in reduced)
    extent = sizes.product(cluster.domain[axis] for axis in reduced)
    # In the column form threads may share columns, too.
    if isinstance(count, Size) or count > (pieces.results if form == "row" else pieces.rows):
        return False
    # (What is symbolic may be long; if it is not, it makes one piece.)
    if not isinstance(extent, Size) and extent < pieces.long:
        return False
    # What combines pieces sees values, not where in its piece each was.
    if any(isinstance(n, Reduce) and n.fn.startswith("arg") for n in cluster.nodes):
        return False
    return not any(uses_row(node, cluster) for node in cluster.nodes)


def _chunked(
    cluster: Cluster, stored: set[Value], form: Form, groups: Groups, pieces: Pieces
) -> list[Nest]:
    """Two nests: reductions over chunks, then over the chunks' results, which finishes the rows."""
    reduced = cluster.reduced or frozenset()
    first = next(i for i, group in enumerate(groups) if group[0] in reduced)
    extent = sizes.product(cluster.domain[axis] for axis in groups[first])
    other = sizes.product(
        cluster.domain[axis] for group in groups for axis in group if group != groups[first]
    )
    # Chunks follow from the sizes alone, never from the number of threads: so do the sums' last
    # bits.
    least = sizes.maximum(sizes.ceil_div(pieces.long, sizes.maximum(other, 1)), 1)
    length = sizes.maximum(sizes.ceil_div(extent, pieces.most), least)
    chunks = sizes.maximum(sizes.ceil_div(extent, length), 1)
    kept_shape = tuple(cluster.domain[axis] for axis in cluster.kept)

    builder = NestBuilder(cluster, stored, groups, lead=1)
    builder.may_turn = pieces.by_memory
    partials: dict[Node, Value] = {}
    for node in cluster.nodes:
        if isinstance(node, Reduce):
            partial = Value(node.outputs[0].dtype, (chunks, *kept_shape), Partial())
            partials[node] = partial
            builder.write_partial(node, partial)
        elif runs_over_reduced(node, cluster):
            builder.write(node)
    axis = ir.Axis("chunk", None, of=first + 1, length=builder.arguments.param(length))
    parts = finish(builder, form, [(axis, chunks)])
    whole = _combined(cluster, stored, partials, chunks)
    return [*map(_turning, builder.turned.values()), parts, whole]


def _combined(
    cluster: Cluster, stored: set[Value], partials: dict[Node, Value], chunks: AnySize
) -> Nest:
    """The nest that combines chunks and does what the cluster does once per row."""
    reduced = cluster.reduced or frozenset()
    number = {axis: 1 + place for place, axis in enumerate(cluster.kept)}
    number |= dict.fromkeys(reduced, 0)
    domain = (chunks, *(cluster.domain[axis] for axis in cluster.kept))
    rows = Cluster(domain, reduced=frozenset({0}))
    for node in cluster.nodes:
        if isinstance(node, Reduce) or not runs_over_reduced(node, cluster):
            rows.nodes.append(node)
            rows.align[node] = tuple(
                None if axis is None else number[axis] for axis in cluster.align[node]
            )
    kept = tuple(range(1, len(domain)))
    groups: Groups = [(0,)] if not kept else [(0,), kept]
    if len(kept) > 1 and not _walks_as_one(rows, stored, partials, kept):
        groups = [(axis,) for axis in (*kept[:-1], 0, kept[-1])]
    lone = [] if kept else [(ir.Axis("map", 1), 1)]
    builder = NestBuilder(rows, stored, groups, lead=len(lone))
    builder.partials = partials
    for node in rows.nodes:
        builder.write(node)
    return finish(builder, "column" if kept else "row", lone)


def _walks_as_one(
    rows: Cluster, stored: set[Value], partials: dict[Node, Value], kept: tuple[int, ...]
) -> bool:
    trial = NestBuilder(rows, stored, [(axis,) for axis in (0, *kept)])
    trial.partials = partials
    for node in rows.nodes:
        trial.write(node)
    return all(mergeable(a, b, trial) for a, b in zip(kept, kept[1:]))
