# SPDX-License-Identifier: Apache-2.0
"""Fusion: nodes of a Program are gathered into clusters, each of which becomes one loop nest.

A cluster has a domain (the sizes its loops run over) and perhaps reduced axes.  Nodes live in it at
one of two levels: "element" (once per position) or "row" (once per position of the kept axes).
Producers join their consumers' cluster whenever positions line up and no cycle would arise.
Imports tensor IR and sizes only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from ...engine import stopping
from ...engine.record_class import record
from ..kernel import sizes
from ..kernel.costs import expression_cost
from ..kernel.sizes import AnySize, same
from ..program.editing import Program
from ..program.tensor_ir import (
    Axis,
    Call,
    Compose,
    Gather,
    Guard,
    Host,
    Iota,
    Loop,
    Map,
    Measure,
    Node,
    Read,
    Reduce,
    Reshape,
    Source,
    Stop,
    StoreRegion,
    Value,
    View,
    Write,
    base,
)
from .incremental_order import Order
from .siblings import Siblings

# More would save next to nothing when it runs, and compilers take more than twice as long for twice
# as much: nodes of one kernel, and what they compute at a position, in simple instructions.
# (A chain of 1024 instructions compiles in about a second, one of 2048 in four.)
_MOST_NODES = 256
_MOST_WORK = 1024

# For each dimension of a value, the domain axis it runs along; None for dimensions of one.
Alignment = tuple[int | None, ...]


@record(eq=False, slots=True)
class Cluster:
    """Nodes that share one loop nest, or one node that cannot share (Call, Host, Loop, Stop)."""

    domain: tuple[AnySize, ...]
    nodes: list[Node] = field(default_factory=list)
    align: dict[Node, Alignment] = field(default_factory=dict)
    reduced: frozenset[int] | None = None
    fused: bool = True
    guard: Guard = ()
    # The latest node's position, and the nodes that write to memory.
    last: float = -1
    writes: set[Node] = field(default_factory=set)
    # What the nodes compute at a position, and after how many reductions of this cluster, one upon
    # the other, a node is known: rows are gone over once for each.
    work: int = 0
    passes: dict[Node, int] = field(default_factory=dict)
    most_passes: int = 0
    # Why nodes that use this cluster's results did not join it: (node, reason).
    refusals: list[tuple[Node, str]] = field(default_factory=list)

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes that are not reduced."""
        return tuple(i for i in range(len(self.domain)) if i not in (self.reduced or ()))

    @property
    def is_row(self) -> bool:
        """Are rows finished one by one, so that a row's result can be used on the row again?"""
        last = len(self.domain) - 1
        return self.reduced is not None and last in self.reduced and bool(self.kept)

    def level(self, value: Value) -> str:
        """ "row" for values that do not run along the reduced axes, else "element"."""
        if not self.reduced:
            return "element"
        covered = {axis for axis in self.align[value.node] if axis is not None}
        # A reduction is aligned as its input is, but what it gives has left the reduced axes.
        if isinstance(value.node, Reduce) or not covered & self.reduced:
            return "row"
        return "element"


@record(slots=True)
class Fused:
    """The clusters in an order that can run, and where each node is."""

    clusters: list[Cluster]
    home: dict[Node, Cluster]
    needs: dict[Node, set[Node]]
    program: Program
    # The test and the body of every loop.
    loops: dict[Loop, tuple[Fused, Fused]]

    def all(self) -> Iterator[Fused]:
        """This and what is fused within loops."""
        yield self
        for parts in self.loops.values():
            for part in parts:
                yield from part.all()


def fuse(program: Program) -> Fused:
    """Cuts a program, and those of the loops in it, into clusters."""
    needs = dependencies(program)
    fusion = _Fusion(needs)
    for node in program:
        # (These have no loops of their own: they are ways in which others read or write.)
        if not isinstance(node, (Source, View, Reshape, Iota, Compose)):
            stopping.check()
            fusion.place(node)
    loops = {node: (fuse(node.test), fuse(node.body)) for node in program if isinstance(node, Loop)}
    return Fused(fusion.ordered(), fusion.home, needs, program, loops)


def dependencies(program: Program) -> dict[Node, set[Node]]:
    """For each node, the nodes that run before it: those that are computed on their own."""
    places: dict[Node, set[Node]] = {}
    for node in program:
        if isinstance(node, StoreRegion):
            places.setdefault(node.target.node, set()).add(node)
    reach: dict[Node, set[Node]] = {}
    for node in program:
        found: set[Node] = set()
        for other in [value.node for value in node.inputs] + node.after:
            if isinstance(other, (View, Reshape, Source, Iota)):
                found |= reach[other]
            elif isinstance(other, Compose):
                found |= places.get(other, set())
            else:
                found.add(other)
        # A lazy node passes on what it waits for; a Compose waits for nothing itself.
        reach[node] = set() if isinstance(node, Compose) else found
    return reach


# Clustering.


class _Fusion:
    """Places nodes into clusters one by one, in program order."""

    def __init__(self, needs: dict[Node, set[Node]]) -> None:
        self.needs = needs
        self.home: dict[Node, Cluster] = {}
        self.clusters: dict[Cluster, None] = {}
        self.order: Order[Cluster] = Order()
        self.siblings = Siblings()

    def place(self, node: Node) -> None:
        """Puts a node into the best cluster there is, or a new one."""
        if isinstance(node, (Call, Host, Loop, Stop, Measure)):
            cluster = Cluster((), fused=False, guard=node.guard)
            self._add(cluster)
            self._settle(node, cluster, ())
            return
        for cluster in self._candidates(node):
            alignment = self._fit(node, cluster)
            if alignment is not None:
                self._join(node, cluster, alignment)
                return
        self._open(node)

    def _add(self, cluster: Cluster) -> None:
        self.clusters[cluster] = None
        self.order.add(cluster)

    def ordered(self) -> list[Cluster]:
        """All clusters, each behind those it depends on; ties in program order."""
        order: list[Cluster] = []
        done: set[Cluster] = set()

        def visit(cluster: Cluster) -> None:
            stack = [(cluster, iter(self._ordered_preds(cluster)))]
            done.add(cluster)
            while stack:
                current, preds = stack[-1]
                for pred in preds:
                    if pred not in done:
                        done.add(pred)
                        stack.append((pred, iter(self._ordered_preds(pred))))
                        break
                else:
                    order.append(current)
                    stack.pop()

        for cluster in sorted(self.clusters, key=_last_position):
            if cluster not in done:
                visit(cluster)
        return order

    def _ordered_preds(self, cluster: Cluster) -> list[Cluster]:
        return sorted(self.order.needs(cluster), key=_last_position)

    def _candidates(self, node: Node) -> list[Cluster]:
        """Clusters that make this node's inputs, the latest first."""
        # The latest may need the others: joined to one of those, the node would need a kernel that
        # needs it.
        makers = (base(value).node for value in node.inputs)
        found = dict.fromkeys(self.home[maker] for maker in makers if maker in self.home)
        return sorted((c for c in found if c.fused), key=_last_position, reverse=True)

    def _open(self, node: Node) -> None:
        shape = iteration_shape(node)
        # No loops for dimensions of one: kernels of shapes that differ in them only are alike.
        places = [i for i, size in enumerate(shape) if not same(size, 1)]
        alignment = tuple(places.index(i) if i in places else None for i in range(len(shape)))
        cluster = Cluster(tuple(shape[i] for i in places), guard=node.guard)
        self._add(cluster)
        self._join(node, cluster, alignment)

    def _join(self, node: Node, cluster: Cluster, alignment: Alignment) -> None:
        if isinstance(node, Reduce):
            axes = frozenset(a for a in (alignment[i] for i in node.axes) if a is not None)
            cluster.reduced = axes if cluster.reduced is None else cluster.reduced
        # What the node reads from two clusters stays in registers only if they are one.
        for other in self._candidates(node):
            if other is not cluster and self._can_merge(node, other, cluster, alignment):
                self._merge(other, cluster)
        self._settle(node, cluster, alignment)
        if isinstance(node, Reduce):
            for other in list(self.siblings.of(cluster)):
                if self._are_independent(other, cluster):
                    self._merge(other, cluster)

    def _are_independent(self, other: Cluster, cluster: Cluster) -> bool:
        """Can two clusters become one without a node that brings them together?"""
        if _is_large(
            len(other.nodes) + len(cluster.nodes),
            other.work + cluster.work,
            max(other.most_passes, cluster.most_passes),
        ):
            return False
        # What one writes and the other reads makes one depend on the other.
        pair = (other, cluster), (cluster, other)
        return not any(self.order.reaches([one], another) for one, another in pair)

    def _settle(self, node: Node, cluster: Cluster, alignment: Alignment) -> None:
        cluster.nodes.append(node)
        cluster.last = max(cluster.last, node.position)
        cluster.work += work(node)
        self._count_passes(node, cluster)
        if isinstance(node, (Write, StoreRegion)):
            cluster.writes.add(node)
        cluster.align[node] = alignment
        self.home[node] = cluster
        self.siblings.note(node, cluster)
        homes = {self.home[need] for need in self.needs[node]}
        self.order.depend(cluster, homes - {cluster})

    # Does a node fit into a cluster?

    def _fit(self, node: Node, cluster: Cluster) -> Alignment | None:
        # A kernel runs or is jumped over as a whole.
        if node.guard != cluster.guard:
            return self._refuse(cluster, node, "runs under another condition")
        if self._is_too_large(node, cluster):
            return self._refuse(cluster, node, "would make a kernel too large")
        if isinstance(node, Gather):  # neither rows nor indices are read at its own position
            return self._refuse(cluster, node, "reads its results at other positions")
        shape = iteration_shape(node)
        alignment = self._align(node, shape, cluster)
        if alignment is None:
            return self._refuse(cluster, node, "runs over other positions")
        covered = {axis for axis in alignment if axis is not None}
        # Either at every position of the loops, or once for each row: what lies between would need
        # loops of its own.
        everything = covered == set(range(len(cluster.domain)))
        if not everything and covered != set(cluster.kept):
            return self._refuse(cluster, node, "runs over other axes")
        if isinstance(node, Reduce) and not self._can_reduce(node, cluster, alignment, everything):
            return None
        uses_rows = any(
            self.home.get(base(v).node) is cluster and cluster.level(base(v)) == "row"
            for v in node.inputs
        )
        # Columns are finished all at once, behind the last row: no position can use them before.
        if cluster.reduced and everything and uses_rows and not cluster.is_row:
            return self._refuse(cluster, node, "needs the finished reduction")
        if not self._inputs_agree(node, alignment, cluster):
            return self._refuse(cluster, node, "reads its results at other positions")
        if not self._effects_agree(node, alignment, cluster):
            return self._refuse(cluster, node, "needs what it writes to memory")
        if self._would_cycle(node, cluster):
            return self._refuse(cluster, node, "needs a kernel between the two")
        return alignment

    def _is_too_large(self, node: Node, cluster: Cluster) -> bool:
        passes = max(cluster.most_passes, self._passes(node, cluster))
        return _is_large(len(cluster.nodes), cluster.work + work(node), passes)

    def _count_passes(self, node: Node, cluster: Cluster) -> None:
        cluster.passes[node] = self._passes(node, cluster)
        cluster.most_passes = max(cluster.most_passes, cluster.passes[node])

    def _passes(self, node: Node, cluster: Cluster) -> int:
        """After how many reductions of a cluster, one upon the other, a node of it is known."""
        if not cluster.most_passes:  # nothing is reduced so far
            return int(isinstance(node, Reduce))
        before = (cluster.passes.get(base(value).node, 0) for value in node.inputs)
        return max(before, default=0) + isinstance(node, Reduce)

    @staticmethod
    def _refuse(cluster: Cluster, node: Node, reason: str) -> None:
        cluster.refusals.append((node, reason))

    def _can_reduce(
        self, node: Reduce, cluster: Cluster, alignment: Alignment, everything: bool
    ) -> bool:
        axes = frozenset(alignment[i] for i in node.axes if alignment[i] is not None)
        reason = ""
        if not everything or not axes:
            reason = "reduces what is reduced already"
        elif cluster.reduced is not None and cluster.reduced != axes:
            reason = "reduces other axes"
        elif node.fn.startswith("arg") and len(axes) != 1:
            reason = "looks for a position on several axes"
        if reason:
            self._refuse(cluster, node, reason)
        return not reason

    def _align(self, node: Node, shape: tuple[AnySize, ...], cluster: Cluster) -> Alignment | None:
        """Which domain axis each dimension of the node runs along."""
        for value in node.inputs:
            inner = base(value)
            if self.home.get(inner.node) is not cluster:
                continue
            moved = _simple_path(value)
            if moved is None:
                continue
            own = cluster.align[inner.node]
            # The first result of the cluster that the node reads says where it stands, its
            # dimensions being the last ones as in NumPy; `_inputs_agree` holds all others to it.
            lead = len(shape) - len(value.shape)
            result: list[int | None] = [None] * len(shape)
            for dim, axis in enumerate(moved):
                if axis is not None and own[dim] is not None and not _is_one(inner, dim):
                    result[lead + axis] = own[dim]
            filled = _fill_rest(result, shape, cluster.domain)
            if filled is not None:
                return filled
        return None

    def _inputs_agree(self, node: Node, alignment: Alignment, cluster: Cluster) -> bool:
        """Is every result of this cluster that the node reads read at the node's own position?"""
        for value in node.inputs:
            inner = base(value)
            if self.home.get(inner.node) is not cluster:
                continue
            if not _lines_up(value, inner, alignment, cluster):
                return False
        return True

    def _effects_agree(self, node: Node, alignment: Alignment, cluster: Cluster) -> bool:
        """May the node share a loop with the cluster's writes to memory?

        What the loop itself writes cannot be read back in it, nor written twice; a variable may be
        read and written in one loop if each position reads what it alone writes, and before.
        """
        if not cluster.writes.isdisjoint(self.needs[node]):
            return False
        if not isinstance(node, Write):
            return True
        reading = [
            (other, value)
            for other in cluster.nodes
            for value in other.inputs
            if isinstance(read := base(value).node, Read) and read.cell is node.cell
        ]
        # Threads share the positions in any order: none may find what another has written.
        for other, value in reading:
            if isinstance(other, Gather) or not _is_all_of(value):
                return False
            if cluster.align[other] != alignment:
                return False
        # What no store up to this one takes is computed behind it, if ever.
        return not reading or self._computed(node, cluster).issuperset(o for o, _ in reading)

    def _computed(self, node: Node, cluster: Cluster) -> set[Node]:
        """The nodes of a cluster whose results its writes take, and a node to be added."""
        found: set[Node] = {node, *cluster.writes}
        waiting = list(found)
        while waiting:
            for value in waiting.pop().inputs:
                other = base(value).node
                if other not in found and self.home.get(other) is cluster:
                    found.add(other)
                    waiting.append(other)
        return found

    def _would_cycle(self, node: Node, cluster: Cluster) -> bool:
        """Does anything the node needs, outside of the cluster, itself need the cluster?"""
        # (Through views as well: `needs` names what is behind them.)
        starts = dict.fromkeys(self.home[n] for n in self.needs[node])
        starts.pop(cluster, None)
        return self.order.reaches(starts, cluster)

    # Two clusters that a node brings together.

    def _can_merge(
        self, node: Node, other: Cluster, cluster: Cluster, alignment: Alignment
    ) -> bool:
        reason = ""
        if _is_large(
            len(other.nodes) + len(cluster.nodes),
            other.work + cluster.work + work(node),
            # At worst the passes of one begin when those of the other have ended.
            other.most_passes + cluster.most_passes + isinstance(node, Reduce),
        ):
            reason = "would make a kernel too large"
        elif other.guard != cluster.guard:
            reason = "runs under another condition"
        elif len(other.domain) != len(cluster.domain) or not sizes.same_shape(
            other.domain, cluster.domain
        ):
            reason = "runs over other positions"
        elif None not in (other.reduced, cluster.reduced) and other.reduced != cluster.reduced:
            reason = "reduces other axes"
        elif (other.reduced is None) != (cluster.reduced is None) and not _merged_is_row(
            other, cluster
        ):
            reason = "needs the finished reduction"
        elif self._fit(node, other) != alignment:
            reason = "runs over other positions"
        # Whether reads and writes agree is asked node by node, never of two clusters.
        elif other.writes or cluster.writes:
            reason = "is in a kernel that writes to memory of its own"
        else:
            pair = cluster, other
            # They may depend on each other directly, but not through a third.
            outside = set().union(*map(self.order.needs, pair)).difference(pair)
            if any(self.order.reaches(outside, one) for one in pair):
                reason = "needs a kernel between the two"
        if reason:
            self._refuse(other, node, reason)
        return not reason

    def _merge(self, other: Cluster, cluster: Cluster) -> None:
        """Moves everything of `other` into `cluster`."""
        for member in other.nodes:
            self.home[member] = cluster
        cluster.nodes = sorted(cluster.nodes + other.nodes, key=lambda n: n.position)
        cluster.last = max(cluster.last, other.last)
        cluster.work += other.work
        cluster.passes.clear()
        # A reduction of one may now stand upon a reduction of the other.
        for member in cluster.nodes:
            self._count_passes(member, cluster)
        cluster.align.update(other.align)
        cluster.writes |= other.writes
        cluster.reduced = cluster.reduced if cluster.reduced is not None else other.reduced
        cluster.refusals.extend(other.refusals)
        del self.clusters[other]
        self.order.merge(other, cluster)
        self.siblings.merge(other, cluster)


def work(node: Node) -> int:
    """What a node computes at a position, in simple instructions, itself counted as one."""
    return 1 + expression_cost(node.exprs) if isinstance(node, Map) else 1


def _is_large(nodes: int, work: int, passes: int) -> bool:
    """Would a kernel be too large?  Passes over a row compute most of the others' work again."""
    return nodes >= _MOST_NODES or work * max(passes, 1) > _MOST_WORK


def _merged_is_row(a: Cluster, b: Cluster) -> bool:
    return a.is_row or b.is_row


def iteration_shape(node: Node) -> tuple[AnySize, ...]:
    """The positions a node is computed at: its input's for reductions and writes."""
    if isinstance(node, (Reduce, StoreRegion, Write)):
        return node.inputs[0].shape
    return node.outputs[0].shape


def _last_position(cluster: Cluster) -> float:
    return cluster.last


def _is_one(value: Value, dim: int) -> bool:
    return same(value.shape[dim], 1)


def _simple_path(value: Value) -> tuple[int | None, ...] | None:
    """For each dimension of the base, the dimension of `value` that moves along it.

    None when a view on the way does more than permute, broadcast, add or drop dimensions.
    """
    if isinstance(value.node, Reshape):
        return None
    if not isinstance(value.node, View):
        return tuple(range(value.ndim))
    inner = _simple_path(value.node.inputs[0])
    if inner is None:
        return None
    result: list[int | None] = []
    for dim in inner:
        axis = Axis(None) if dim is None else value.node.axes[dim]
        if not (same(axis.stride, 1) and same(axis.offset, 0)):
            return None
        result.append(axis.axis)
    return tuple(result)


def _is_all_of(value: Value) -> bool:
    """Is a value read at the position at which its base is?  (Of a part, the ends are repeated.)"""
    is_in_place = _simple_path(value) == tuple(range(value.ndim))
    return is_in_place and sizes.same_shape(value.shape, base(value).shape)


def _fill_rest(
    found: list[int | None], shape: tuple[AnySize, ...], domain: tuple[AnySize, ...]
) -> Alignment | None:
    """Gives the remaining wide dimensions the remaining axes, in order; axes must ascend."""
    free = [axis for axis in range(len(domain)) if axis not in found]
    for dim, size in enumerate(shape):
        if found[dim] is None and not same(size, 1):
            if not free or not same(domain[free[0]], size):
                return None
            found[dim] = free.pop(0)
        elif found[dim] is not None and not same(size, domain[found[dim]]):  # type: ignore[index]
            return None
    used = [axis for axis in found if axis is not None]
    return tuple(found) if used == sorted(used) else None


def _lines_up(value: Value, inner: Value, alignment: Alignment, cluster: Cluster) -> bool:
    moved = _simple_path(value)
    if moved is None:
        return False
    own = cluster.align[inner.node]
    lead = len(alignment) - len(value.shape)
    for dim, axis in enumerate(moved):
        if _is_one(inner, dim) or own[dim] is None:
            continue
        if axis is None or alignment[lead + axis] != own[dim]:
            return False
        # The first of many is repeated, which the many are not.
        if not same(value.shape[axis], inner.shape[dim]):
            return False
    return True
