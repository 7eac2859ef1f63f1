# SPDX-License-Identifier: Apache-2.0
"""Random seeds: how the graph's seed and an op's seed become the two seeds of a kernel."""

from __future__ import annotations

from ..api import export
from .defaults import get_default_graph

DEFAULT_GRAPH_SEED = 87654321
_MAXINT32 = 2**31 - 1


@export("get_seed", "random.get_seed")
def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The pair of seeds for an op about to be made; (None, None) when nothing is seeded.

    With a graph seed only, the number of operations made so far tells ops apart.
    """
    graph = get_default_graph()
    if graph.seed is not None:
        graph._seed_used |= op_seed is None
        seeds = graph.seed, graph._last_id if op_seed is None else op_seed
    elif op_seed is not None:
        seeds = DEFAULT_GRAPH_SEED, op_seed
    else:
        return None, None
    first, second = (_truncate(seed) for seed in seeds)
    # Both zero means "unseeded" to the kernels.
    return (0, _MAXINT32) if (first, second) == (0, 0) else (first, second)


def _truncate(seed: int) -> int:
    return seed % _MAXINT32


@export("set_random_seed", "random.set_random_seed")
def set_random_seed(seed: int | None) -> None:
    """Sets the seed of the default graph, from which random operations made later get theirs.

    Each gets a seed of its own, by the number of operations before it: the same program draws the
    same numbers.

    Args:
        seed: an integer; None for numbers that differ from run to run.

    Example:
        >>> tf.set_random_seed(1)
        >>> x = tf.random_uniform([2])
        >>> first, second = tf.Session(), tf.Session()
        >>> np.array_equal(first.run(x), second.run(x)), np.array_equal(first.run(x), first.run(x))
        (True, False)
    """
    get_default_graph().seed = seed
