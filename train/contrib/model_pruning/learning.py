# SPDX-License-Identifier: Apache-2.0
"""tf.contrib.slim's training, which prunes after every step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ..slim import learning

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.graph import Graph
    from ....engine.session.session import BaseSession
    from ...checkpoints.saver import Saver

_USE_DEFAULT = learning._USE_DEFAULT
train_step = learning.train_step


@export("contrib.model_pruning.train")
def train(
    train_op: Any,
    logdir: str | None,
    mask_update_op: Any,
    train_step_fn: Callable[..., tuple[Any, Any]] = train_step,
    train_step_kwargs: Any = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Graph | None = None,
    master: str = "",
    is_chief: bool = True,
    global_step: TensorLike | None = None,
    number_of_steps: int | None = None,
    init_op: Any = _USE_DEFAULT,
    init_feed_dict: dict[Any, Any] | None = None,
    local_init_op: Any = _USE_DEFAULT,
    init_fn: Callable[[Any], None] | None = None,
    ready_op: Any = _USE_DEFAULT,
    summary_op: Any = _USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Saver | None = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    trace_every_n_steps: int | None = None,
) -> Any:
    """Trains as tf.contrib.slim.learning.train, and runs `mask_update_op` after every step.

    Args: as there.

    Returns:
        The last loss.

    Raises:
        ValueError: as there.
    """

    def step(session: BaseSession, op: Any, counter: Any, kwargs: Any) -> tuple[Any, Any]:
        found = train_step_fn(session, op, counter, kwargs)
        session.run(mask_update_op)
        return found

    return learning.train(
        train_op,
        logdir,
        train_step_fn=step,
        train_step_kwargs=train_step_kwargs,
        log_every_n_steps=log_every_n_steps,
        graph=graph,
        master=master,
        is_chief=is_chief,
        global_step=global_step,
        number_of_steps=number_of_steps,
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        local_init_op=local_init_op,
        init_fn=init_fn,
        ready_op=ready_op,
        summary_op=summary_op,
        save_summaries_secs=save_summaries_secs,
        summary_writer=summary_writer,
        startup_delay_steps=startup_delay_steps,
        saver=saver,
        save_interval_secs=save_interval_secs,
        sync_optimizer=sync_optimizer,
        session_config=session_config,
        trace_every_n_steps=trace_every_n_steps,
    )
