# SPDX-License-Identifier: Apache-2.0
"""The order of a growing graph: against a plain search, on random graphs."""

from __future__ import annotations

import random

import pytest

from numbaflow.jit.passes.incremental_order import Order

pytestmark = pytest.mark.pure


class Plain:
    """The same questions, answered by looking at everything."""

    def __init__(self) -> None:
        self.needs: dict[int, set[int]] = {}

    def reaches(self, starts: set[int], goal: int) -> bool:
        stack, seen = list(starts), set()
        while stack:
            node = stack.pop()
            if node == goal:
                return True
            if node not in seen:
                seen.add(node)
                stack.extend(self.needs[node])
        return False

    def merge(self, old: int, new: int) -> None:
        self.needs[new] |= self.needs.pop(old)
        for needs in self.needs.values():
            if old in needs:
                needs.discard(old)
                needs.add(new)
        self.needs[new] -= {old, new}


def check(order: Order, plain: Plain) -> None:
    for node, needs in plain.needs.items():
        assert order.needs(node) == needs
        assert all(order._label[other] < order._label[node] for other in needs)
    assert sorted(order._label.values()) == order._labels
    assert len(set(order._labels)) == len(plain.needs)


@pytest.mark.parametrize("seed", range(12))
def test_order_answers_as_a_plain_search(seed: int) -> None:
    rng = random.Random(seed)
    order, plain = Order(), Plain()
    answers = []
    for step in range(300):
        nodes = list(plain.needs)
        kind = rng.random()
        if kind < 0.4 or len(nodes) < 3:
            order.add(step)
            plain.needs[step] = set()
            node = step
        else:
            node = rng.choice(nodes)
        others = set(rng.sample(nodes, min(len(nodes), rng.randrange(4)))) - {node}
        answer = plain.reaches(others, node)
        answers.append(answer)
        assert order.reaches(others, node) == answer
        if not answer:
            order.depend(node, others)
            plain.needs[node] |= others
        if kind > 0.85 and len(nodes) > 3:
            one, two = rng.sample(nodes, 2)
            outside = (plain.needs[one] | plain.needs[two]) - {one, two}
            if not plain.reaches(outside, one) and not plain.reaches(outside, two):
                order.merge(one, two)
                plain.merge(one, two)
        check(order, plain)
    assert True in answers
    assert False in answers


def test_labels_never_run_out() -> None:
    order = Order()
    order.add(0)
    order.add(1)
    # Each comes between the one before and node 1.
    for node in range(2, 500):
        order.add(node)
        order.depend(node, [node - 1] if node > 2 else [0])
        order.depend(1, [node])
    labels = [order._label[node] for node in (0, *range(2, 500), 1)]
    assert labels == sorted(set(labels))
