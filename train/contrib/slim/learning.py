# SPDX-License-Identifier: Apache-2.0
"""`slim.learning`: a loop of training under a supervisor, and the operation that it runs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine import errors
from ....engine.api import export
from ....engine.graph.defaults import get_default_graph
from ....engine.graph.graph import Graph, control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....engine.interface import log
from ....engine.record_class import record
from ....io import files, protos, timeline
from ....ops.public import tf
from ....ops.summaries.api import merge_all
from ...checkpoints.saver import Saver
from ...distributed.sync_replicas_optimizer import SyncReplicasOptimizer
from ...optimizers.optimizer import Optimizer
from ...sessions.supervisor import Supervisor
from ...variables import global_step as steps
from ..training import training
from ..training.training import Pair, clip_gradient_norms, gradient_summaries, multiply_gradients

if TYPE_CHECKING:
    from threading import Thread

    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation
    from ....engine.session.session import BaseSession
    from ....ops.state.variables import Variable
    from ...inputs.queue_runner_impl import QueueRunner

_USE_GLOBAL_STEP = 0
_USE_DEFAULT = 0
_PREFIX = "contrib.slim.learning"

export(f"{_PREFIX}.clip_gradient_norms")(clip_gradient_norms)
export(f"{_PREFIX}.multiply_gradients")(multiply_gradients)


@export(f"{_PREFIX}.add_gradients_summaries")
def add_gradients_summaries(grads_and_vars: Iterable[Pair]) -> list[Tensor]:
    """Adds a histogram and the norm of each gradient to the summaries.

    Args:
        grads_and_vars: pairs of a gradient and its variable.

    Returns:
        The summaries.
    """
    return gradient_summaries(grads_and_vars, "/")


@export(f"{_PREFIX}.create_train_op")
def create_train_op(
    total_loss: Tensor,
    optimizer: Optimizer,
    global_step: TensorLike = _USE_GLOBAL_STEP,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: dict[Any, Any] | None = None,
    check_numerics: bool = True,
) -> Tensor:
    """A tensor that makes a step of training when it is fetched: the loss before the step.

    Args:
        total_loss: the loss.
        optimizer: gives and applies the gradients.
        global_step: the counter of steps; by default tf.train.get_or_create_global_step(); None
            counts nothing.
        update_ops: what is run before the loss is computed; by default the collection UPDATE_OPS.
        variables_to_train: by default tf.trainable_variables().
        clip_gradient_norm: the largest norm of each gradient; 0 clips nothing.
        summarize_gradients: whether histograms and norms of gradients become summaries.
        gate_gradients: see tf.train.Optimizer.
        aggregation_method: see tf.AggregationMethod.
        colocate_gradients_with_ops: see tf.train.Optimizer.
        gradient_multipliers: variable, or the name of its operation -> factor of its gradient.
        check_numerics: whether a loss of infinity or NaN is an error.

    Returns:
        The tensor; it is in the collection TRAIN_OP.
    """

    def transform(pairs: list[Pair]) -> list[Pair]:
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    return training.create_train_op(
        total_loss=total_loss,
        optimizer=optimizer,
        # The default of one function is told from zero as that of the other is: by identity.
        global_step=training._USE_GLOBAL_STEP if global_step is _USE_GLOBAL_STEP else global_step,
        update_ops=update_ops,
        variables_to_train=variables_to_train,
        transform_grads_fn=transform,
        summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics,
    )


def _wait_for_step(session: BaseSession, global_step: Tensor | Variable, step: int) -> None:
    while steps.global_step(session, global_step) < step:
        time.sleep(1.0)


@export(f"{_PREFIX}.train_step")
def train_step(
    sess: BaseSession, train_op: Tensor, global_step: TensorLike, train_step_kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Makes one step: the function that `train` calls by default.

    Args:
        sess: the session.
        train_op: what `create_train_op` gives.
        global_step: the counter.
        train_step_kwargs: "should_stop", "should_log", "should_trace": boolean tensors; "logdir":
            the folder of traces; "summary_writer": a FileWriter for them.

    Returns:
        The loss, and whether training is to end.

    Raises:
        ValueError: "should_trace" without "logdir".
    """
    begin = time.time()
    options = metadata = None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError(
                "logdir must be present in train_step_kwargs when should_trace is present"
            )
        if sess.run(train_step_kwargs["should_trace"]):
            options = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE)
            metadata = protos.RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    seconds = time.time() - begin
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        log.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, seconds)
    stop = train_step_kwargs.get("should_stop")
    return loss, False if stop is None else sess.run(stop)


def _write_trace(metadata: Any, step: int, arguments: dict[str, Any]) -> None:
    path = os.path.join(arguments["logdir"], f"tf_trace-{step}.json")
    log.info("Writing trace to %s", path)
    text = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()
    files.write_string_to_file(path, text)
    if "summary_writer" in arguments:
        arguments["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


@record(frozen=True)
class _Sync:
    """What optimizers that wait for their replicas need run besides."""

    optimizers: tuple[SyncReplicasOptimizer, ...]
    is_chief: bool

    def local_init_op(self, first: Any) -> Operation:
        with control_dependencies([first] if first is not None else []):
            return tf.group(
                *[
                    o.chief_init_op if self.is_chief else o.local_step_init_op
                    for o in self.optimizers
                ]
            )

    def ready_for_local_init_op(self) -> Operation:
        return tf.group(*[o.ready_for_local_init_op for o in self.optimizers])

    def chief_parts(self) -> tuple[list[Tensor], list[QueueRunner]]:
        """The operations that fill the queues of tokens, and the runners of those queues."""
        tokens = [o.get_init_tokens_op() for o in self.optimizers]
        runners = (o.get_chief_queue_runner() for o in self.optimizers)
        return tokens, [runner for runner in runners if runner is not None]


def _checked(
    train_op: Any,
    logdir: str | None,
    summary_op: Any,
    saver: Any,
    trace_every_n_steps: int | None,
    number_of_steps: int | None,
) -> None:
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    given = {
        "summary_op": summary_op is not None and not _is_default(summary_op),
        "saver": saver is not None,
        "trace_every_n_steps": trace_every_n_steps is not None,
    }
    for name, is_given in given.items():
        if logdir is None and is_given:
            raise ValueError(f"Cannot provide {name} because logdir=None")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")


def _is_default(value: Any) -> bool:
    return isinstance(value, int) and value == _USE_DEFAULT


def _sync(optimizers: Any, startup_delay_steps: int, is_chief: bool) -> _Sync | None:
    if optimizers is None:
        return None
    if startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    if isinstance(optimizers, SyncReplicasOptimizer):
        optimizers = [optimizers]
    for optimizer in optimizers:
        if not isinstance(optimizer, SyncReplicasOptimizer):
            raise ValueError("`sync_optimizer` must be a tf.train.SyncReplicasOptimizer.")
    return _Sync(tuple(optimizers), is_chief)


def _step_arguments(
    global_step: Any,
    number_of_steps: int | None,
    log_every_n_steps: int,
    trace_every_n_steps: int | None,
    logdir: str | None,
) -> dict[str, Any]:
    """The tensors that `train_step` asks."""
    with name_scope("train_step"):
        end = (
            tf.greater_equal(global_step, number_of_steps)
            if number_of_steps
            else tf.constant(False)
        )
        arguments: dict[str, Any] = {"should_stop": end}
        for name, every in (
            ("should_log", log_every_n_steps),
            ("should_trace", trace_every_n_steps),
        ):
            if every is not None and every > 0:
                arguments[name] = tf.equal(tf.mod(global_step, every), 0)
    if "should_trace" in arguments:
        arguments["logdir"] = logdir
    return arguments


@export(f"{_PREFIX}.train")
def train(
    train_op: Tensor,
    logdir: str | None,
    train_step_fn: Callable[..., tuple[Any, Any]] = train_step,
    train_step_kwargs: Any = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Graph | None = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
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
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Callable[[Any], Any] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Trains under a tf.train.Supervisor until a number of steps is made or the input ends.

    Args:
        train_op: what `create_train_op` gives.
        logdir: the folder of checkpoints and summaries; None writes nothing.
        train_step_fn: called as `train_step` is.
        train_step_kwargs: its last argument; by default what `train_step` describes.
        log_every_n_steps: steps between two lines of the log.
        graph: by default the default graph.
        master: of the session.
        is_chief: whether this is the chief of several replicas.
        global_step: the counter; by default tf.train.get_or_create_global_step().
        number_of_steps: training ends when the counter has reached it; None goes on.
        init_op: by default tf.global_variables_initializer().
        init_feed_dict: the feeds of `init_op`.
        local_init_op: by default that of local variables and tables.
        init_fn: called with the session after `init_op`.
        ready_op: by default tf.report_uninitialized_variables().
        summary_op: by default tf.summary.merge_all().
        save_summaries_secs: seconds between summaries.
        summary_writer: a FileWriter; None writes nothing; by default one for `logdir`.
        startup_delay_steps: a replica that is no chief begins when the counter has reached it.
        saver: by default one for all variables.
        save_interval_secs: seconds between checkpoints.
        sync_optimizer: a SyncReplicasOptimizer, or a list of them.
        session_config: a ConfigProto.
        session_wrapper: gives the session that is used in place of another.
        trace_every_n_steps: steps between two traces; None makes none.
        ignore_live_threads: whether threads that do not end are left alone.

    Returns:
        The last loss.

    Raises:
        ValueError: no `train_op`; something to write and no `logdir`; a number of steps below one;
            a delay with `sync_optimizer`.
    """
    _checked(train_op, logdir, summary_op, saver, trace_every_n_steps, number_of_steps)
    sync = _sync(sync_optimizer, startup_delay_steps, is_chief)
    tokens: list[Tensor] = []
    runners: list[QueueRunner] = []
    with (graph or get_default_graph()).as_default() as graph:
        if global_step is None:
            global_step = steps.get_or_create_global_step()
        saver = saver or Saver()
        ops = _init_ops(init_op, ready_op, local_init_op, sync)
        summary_op = merge_all() if _is_default(summary_op) else summary_op
        if is_chief and sync is not None:
            # Before the supervisor says that the graph is finished.
            tokens, runners = sync.chief_parts()
        if _is_default(train_step_kwargs):
            train_step_kwargs = _step_arguments(
                global_step,
                number_of_steps,
                log_every_n_steps,
                trace_every_n_steps if is_chief else None,
                logdir,
            )
    supervisor = Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        init_feed_dict=init_feed_dict,
        summary_op=summary_op,
        summary_writer=Supervisor.USE_DEFAULT if _is_default(summary_writer) else summary_writer,
        global_step=global_step,
        saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
        **ops,
    )
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer
    delay = min(startup_delay_steps, number_of_steps or sys.maxsize)
    services = _Services(supervisor, global_step, bool(logdir), delay, tokens, runners)
    loop = _Loop(services, train_step_fn, train_op, train_step_kwargs)
    while True:
        try:
            return loop.run(master, session_config, session_wrapper, logdir, ignore_live_threads)
        except errors.AbortedError:
            # A server of the cluster was started again.
            log.info("Retrying training!")


def _init_ops(
    init_op: Any, ready_op: Any, local_init_op: Any, sync: _Sync | None
) -> dict[str, Any]:
    """The supervisor's arguments that say how a session is initialised."""
    with name_scope("init_ops"):
        if _is_default(init_op):
            init_op = tf.global_variables_initializer()
        if _is_default(ready_op):
            ready_op = tf.report_uninitialized_variables()
        if _is_default(local_init_op):
            local_init_op = tf.group(tf.local_variables_initializer(), tf.tables_initializer())
        ready_for_local = None
        if sync is not None:
            local_init_op = sync.local_init_op(local_init_op)
            ready_for_local = sync.ready_for_local_init_op()
    return {
        "init_op": init_op,
        "ready_op": ready_op,
        "local_init_op": local_init_op,
        "ready_for_local_init_op": ready_for_local,
    }


@record(frozen=True)
class _Services:
    """What goes on beside the steps: queues, checkpoints, summaries."""

    supervisor: Supervisor
    global_step: Tensor | Variable
    writes: bool
    delay: int
    tokens: list[Tensor]
    runners: list[QueueRunner]

    def start(self, session: BaseSession) -> list[Thread]:
        """Starts them; a replica that is no chief first waits for the chief's steps."""
        supervisor = self.supervisor
        if supervisor.is_chief and self.writes:
            supervisor.start_standard_services(session)
        elif not supervisor.is_chief and self.delay > 0:
            _wait_for_step(session, self.global_step, self.delay)
        threads = supervisor.start_queue_runners(session)
        log.info("Starting Queues.")
        if self.runners:
            supervisor.start_queue_runners(session, self.runners)
            session.run(self.tokens)
        return threads


@record(frozen=True)
class _Loop:
    """Steps in a session of the supervisor's."""

    services: _Services
    step: Callable[..., tuple[Any, Any]]
    train_op: Tensor
    arguments: dict[str, Any]

    def run(
        self, master: str, config: Any, wrapper: Any, logdir: str | None, ignore_live_threads: bool
    ) -> Any:
        supervisor, loss = self.services.supervisor, None
        with supervisor.managed_session(
            master, start_standard_services=False, config=config
        ) as session:
            log.info("Starting Session.")
            if wrapper is not None:
                log.info("Wrapping session with wrapper function: %s", wrapper)
                session = wrapper(session)
            threads = self.services.start(session)
            try:
                while not supervisor.should_stop():
                    loss, stop = self.step(
                        session, self.train_op, self.services.global_step, self.arguments
                    )
                    if stop:
                        log.info("Stopping Training.")
                        supervisor.request_stop()
                        break
            except errors.OutOfRangeError as error:
                log.info("Caught OutOfRangeError. Stopping Training. %s", error)
            if logdir and supervisor.is_chief:
                log.info("Finished training! Saving model to disk.")
                supervisor.saver.save(
                    session, supervisor.save_path, global_step=supervisor.global_step
                )
                supervisor.stop(
                    threads, close_summary_writer=True, ignore_live_threads=ignore_live_threads
                )
        return loss
