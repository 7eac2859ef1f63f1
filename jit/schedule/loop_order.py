# SPDX-License-Identifier: Apache-2.0
"""Which loops a cluster becomes, in which order: neighbours in memory in the innermost one.

Adjacent axes that every access walks as one are merged.
Imports the builder of nests.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..kernel import ir, sizes
from ..kernel.affine import Affine
from ..kernel.sizes import Size, same
from ..passes.fuse import Cluster
from ..program.tensor_ir import Node, Value, base
from .nest_builder import Form, Groups, NestBuilder

# Channels of a pixel: vectors load one of so many as well as all.
_FEW = 3


def loops(cluster: Cluster, stored: set[Value], by_memory: bool) -> tuple[Form, Groups]:
    """The kernel's form and its loops, outermost first, merged where all accesses allow.

    by_memory: in the order that those of a reduction have in memory, not that of the axes.
    """
    axes = range(len(cluster.domain))
    if len(axes) < 2:
        return "map" if cluster.reduced is None else "row", [(axis,) for axis in axes]
    # Written once with a loop for each axis, to see all accesses.
    trial = NestBuilder(cluster, stored, [(axis,) for axis in axes])
    for node in cluster.nodes:
        trial.write(node)
    if cluster.reduced is None:
        return "map", merged(cluster.kept, trial)
    order = _memory_order(trial) if by_memory else list(axes)
    kept = [axis for axis in order if axis not in cluster.reduced]
    reduced = [axis for axis in order if axis in cluster.reduced]
    last = order.index(reduced[-1])
    outer, inner = [a for a in kept if order.index(a) < last], order[last + 1 :]
    if not inner or (by_memory and _is_few(inner, cluster)):
        # The reduced axis lies along memory, or nearly so: a row is read from end to end, into a
        # few accumulators.
        return "row", merged(kept + reduced, trial)
    # The kept axis innermost: neighbours in memory are neighbours in the loop and fill a vector,
    # each with an accumulator of its own.
    groups = merged(outer + reduced + inner, trial)
    # The form has one inner loop; the other kept axes go outside of the reduction.
    if groups[-1] != tuple(inner):
        groups = merged(outer + inner[:-1] + reduced + inner[-1:], trial)
    return "column", groups


def _is_few(inner: Sequence[int], cluster: Cluster) -> bool:
    """Are there so few neighbours that vectors had better hold those behind them, each its own?"""
    count = sizes.product(cluster.domain[axis] for axis in inner)
    return not isinstance(count, Size) and count <= _FEW


def merged(order: Sequence[int], trial: NestBuilder) -> Groups:
    """Axes in this order, those together that every access of a trial walks as one."""
    groups: Groups = []
    for axis in order:
        if groups and mergeable(groups[-1][-1], axis, trial):
            groups[-1] = (*groups[-1], axis)
        else:
            groups.append((axis,))
    return groups


def mergeable(outer: int, inner: int, trial: NestBuilder) -> bool:
    """Do all accesses of a trial walk two axes as one?"""
    reduced = trial.cluster.reduced or frozenset()
    if (outer in reduced) != (inner in reduced) or {outer, inner} & trial.pinned:
        return False
    # One loop does for two if a step of the outer one is a whole turn of the inner one, in every
    # access.
    size = trial.cluster.domain[inner]
    return all(
        same(place.coefficients.get(outer, 0), place.coefficients.get(inner, 0) * size)
        for place in trial.accesses
    )


def _memory_order(trial: NestBuilder) -> list[int]:
    """The axes as what is reduced has them in memory: neighbours along the last one.

    Where this cannot be so for all that is read, as little as can be is read across the grain: no
    matrix for the sake of a vector that it is multiplied by.
    """
    cluster = trial.cluster
    axes = list(range(len(cluster.domain)))
    # What uses a result on its row again does so while the row is there.
    if any(uses_row(node, cluster) for node in cluster.nodes):
        return axes
    reduced = cluster.reduced or frozenset()
    read = [place for place in trial.accesses if not _walked(place).isdisjoint(reduced)]
    # By the axis that each has its neighbours along.
    along: dict[int, list[Affine]] = {}
    for place in read:
        near = [axis for axis, step in place.coefficients.items() if same(step, 1)]
        if near:
            along.setdefault(near[0], []).append(place)
    if not along:
        return axes
    inner = max(sorted(along, reverse=True), key=lambda a: (-_across(read, a), *_weight(along[a])))
    widest = max(along[inner], key=lambda place: len(_walked(place)))
    return _chain(axes, inner, widest, cluster)


def _across(places: Sequence[Affine], axis: int) -> int:
    """How much is read across the grain in a loop over an axis, as far as axes tell."""
    steps = ((place, place.coefficients.get(axis, 1)) for place in places)
    return sum(len(_walked(p)) for p, step in steps if not (same(step, 1) or same(step, -1)))


def _weight(places: Sequence[Affine]) -> tuple[int, int]:
    """How much is read at some positions: what walks most axes reads most, and comes first."""
    walked = [len(_walked(place)) for place in places]
    return max(walked), walked.count(max(walked))


def _walked(place: Affine) -> set[int]:
    """The axes that a position follows, of a trial; of a gather those of its indices, too."""
    loads = [e for expr, _ in place.loaded for e in ir.postorder(expr) if isinstance(e, ir.Load)]
    found = set(place.coefficients)
    for load in loads:
        found |= {axis for axis, step in enumerate(load.index.strides) if step != 0}
    return found


def _chain(axes: list[int], inner: int, place: Affine, cluster: Cluster) -> list[int]:
    """The axes in the order of their steps in memory, as far as each is a whole turn of the one
    behind it; all others in front, as they are."""
    order = [inner]
    while True:
        turn = place.coefficients[order[0]] * cluster.domain[order[0]]
        steps = place.coefficients.items()
        found = [axis for axis, step in steps if axis not in order and same(step, turn)]
        if not found:
            return [axis for axis in axes if axis not in order] + order
        order.insert(0, found[0])


def uses_row(node: Node, cluster: Cluster) -> bool:
    """Does a node that runs over the reduced axes use a result of the reduction?"""
    return runs_over_reduced(node, cluster) and any(
        base(value).node in cluster.align and cluster.level(base(value)) == "row"
        for value in node.inputs
    )


def runs_over_reduced(node: Node, cluster: Cluster) -> bool:
    """Is a node computed at every position of the reduced axes?"""
    return bool(set(cluster.align[node]) & (cluster.reduced or frozenset()))
