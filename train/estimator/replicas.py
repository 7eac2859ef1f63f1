# SPDX-License-Identifier: Apache-2.0
"""What the replicas of one process gave an Estimator, as one model's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...ops.public import tf
from ..sessions.scaffold import Scaffold
from .model_fn import EstimatorSpec

_HOOKS = ("training_hooks", "training_chief_hooks", "evaluation_hooks")


def merged_spec(strategy: Any, spec: Any) -> EstimatorSpec:
    """The EstimatorSpec of all replicas: their mean loss and all updates; hooks of the first.

    Args:
        strategy: the strategy.
        spec: the replicas' EstimatorSpecs as one structure.
    """
    local = strategy.experimental_local_results

    def first(values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(local(value)[0] for value in values or ())

    metrics = {
        name: (local(value)[0], tf.group(*local(update)))
        for name, (value, update) in (spec.eval_metric_ops or {}).items()
    }
    given = {name: first(getattr(spec, name)) for name in _HOOKS}
    return EstimatorSpec(
        mode=spec.mode,
        loss=strategy.reduce("MEAN", spec.loss, axis=None),
        train_op=None if spec.train_op is None else strategy.group(spec.train_op),
        eval_metric_ops=metrics,
        scaffold=_merged_scaffold(local(spec.scaffold)),
        **given,
    )


def _merged_scaffold(scaffolds: tuple[Any, ...]) -> Any:
    """One of what all replicas' say; savers and functions are the first one's."""
    found = [s for s in scaffolds if s is not None]
    if not found:
        return None

    def grouped(name: str) -> Any:
        ops = [op for op in (getattr(s, name) for s in found) if op is not None]
        return tf.group(*ops) if ops else None

    first = found[0]
    return Scaffold(
        init_op=grouped("init_op"),
        init_feed_dict=first.init_feed_dict,
        init_fn=first._user_init_fn,
        ready_op=first.ready_op,
        ready_for_local_init_op=first.ready_for_local_init_op,
        local_init_op=grouped("local_init_op"),
        summary_op=grouped("summary_op"),
        saver=first.saver,
    )
