# SPDX-License-Identifier: Apache-2.0
"""Runs of a graph in a session of their own."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from ....engine.api import export
from ....engine.graph.scope_functions import get_graph_from_inputs
from ....ops.public import tf
from ....ops.state import resources
from ...checkpoints.saver import Saver
from ...inputs.queue_runner_impl import start_queue_runners
from ...sessions import coordinator

_GRACE_SECS = 120


def run_feeds_iter(
    output_dict: dict[str, Any],
    feed_dicts: Iterable[Any],
    restore_checkpoint_path: str | None = None,
) -> Iterator[dict[str, Any]]:
    """What tensors are for one feed after another; arguments as of `run_feeds`."""
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    graph = get_graph_from_inputs(output_dict.values())
    with graph.as_default(), tf.Session() as session:
        made = resources.shared_resources() + resources.local_resources()
        session.run(resources.initialize_resources(made))
        if restore_checkpoint_path:
            Saver().restore(session, restore_checkpoint_path)
        else:
            session.run(tf.global_variables_initializer())
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        coord = coordinator.Coordinator()
        threads = start_queue_runners(session, coord=coord)
        try:
            for feeds in feed_dicts:
                yield session.run(output_dict, feeds)
        finally:
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=_GRACE_SECS)


@export("contrib.learn.run_feeds", "contrib.learn.graph_actions.run_feeds")
def run_feeds(
    output_dict: dict[str, Any],
    feed_dicts: Iterable[Any],
    restore_checkpoint_path: str | None = None,
) -> list[dict[str, Any]]:
    """What tensors are for several feeds, in a session of their own.

    Args:
        output_dict: tensors by name.
        feed_dicts: feeds, None for none.
        restore_checkpoint_path: a checkpoint; variables are initialized if None.

    Returns:
        A dict of values for each of the feeds.

    Raises:
        ValueError: there are no tensors or no feeds.
    """
    return list(run_feeds_iter(output_dict, feed_dicts, restore_checkpoint_path))


@export("contrib.learn.run_n", "contrib.learn.graph_actions.run_n")
def run_n(
    output_dict: dict[str, Any],
    feed_dict: dict[Any, Any] | None = None,
    restore_checkpoint_path: str | None = None,
    n: int = 1,
) -> list[dict[str, Any]]:
    """What tensors are in n runs with the same feeds; arguments as of `run_feeds`."""
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


@export("contrib.learn.infer", "contrib.learn.graph_actions.infer")
def infer(
    restore_checkpoint_path: str | None,
    output_dict: dict[str, Any],
    feed_dict: dict[Any, Any] | None = None,
) -> dict[str, Any]:
    """What tensors are in one run; arguments as of `run_feeds`."""
    return run_feeds(output_dict, [feed_dict], restore_checkpoint_path)[0]
