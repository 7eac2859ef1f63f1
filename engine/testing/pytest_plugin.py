# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: fixtures `graph` and `session`, options of what `enrol` makes.

pytest finds it by the entry point `pytest11`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..graph.graph import Graph


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options `--numbaflow-...`."""
    group = parser.getgroup("numbaflow", "tests of numbaflow's ops and gradients")
    group.addoption(
        "--numbaflow-order", type=int, default=2, help="Up to which order gradients are checked."
    )
    group.addoption(
        "--numbaflow-device", default="", metavar="DEVICE", help="Where ops run: /cpu:0, /gpu:0."
    )
    group.addoption(
        *("--numbaflow-budget",),
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="How long a property of an op is tried.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The mark `numbaflow_seed`."""
    config.addinivalue_line("markers", "numbaflow_seed(seed): the random seed of the fixture graph")


@pytest.fixture
def graph(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A graph of the test's own, the default one meanwhile; its random seed is 0 or the mark's."""
    from ..graph.graph import Graph

    mark = request.node.get_closest_marker("numbaflow_seed")
    with Graph().as_default() as made:
        made.seed = mark.args[0] if mark else 0
        with made.device(request.config.getoption("numbaflow_device") or None):
            yield made


@pytest.fixture
def session(graph: Graph) -> Iterator[Any]:
    """A session of the fixture `graph`, the default one meanwhile."""
    from ..gradients.autodiff_sums import public

    with public("Session")(graph=graph) as made:
        yield made
