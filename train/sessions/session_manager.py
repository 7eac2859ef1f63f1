# SPDX-License-Identifier: Apache-2.0
"""`SessionManager`: makes sessions whose variables are initialized or restored."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.defaults import get_default_graph
from ...engine.interface import log
from ...engine.session.session import Session
from ..checkpoints.checkpoint_management import get_checkpoint_state

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.graph import Graph
    from ...engine.graph.operation import Operation
    from ...engine.session.session import BaseSession
    from ..checkpoints.saver import Saver


def _maybe_name(thing: Operation) -> str:
    if thing is None:
        return "None"
    return getattr(thing, "name", None) or f"<no name for {type(thing)}>"


class SessionManager:
    """Makes a session and brings its model into the state to begin in (tf.train.SessionManager).

    The chief task prepares it, from a checkpoint or by an initializer; others wait until it has.
    """

    def __init__(
        self,
        local_init_op: Operation | None = None,
        ready_op: TensorLike | None = None,
        ready_for_local_init_op: Any = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: object = None,
    ) -> None:
        """local_init_op: run in every session.  ready_op: the names of what lacks a value, empty
        when the model is ready; ready_for_local_init_op the same for `local_init_op`.
        """
        self._graph = get_default_graph() if graph is None else graph
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._recovery_wait_secs = recovery_wait_secs
        self._target: Any = None
        self._local_init_run_options = local_init_run_options
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                f"ready_for_local_init_op [{ready_for_local_init_op}]"
            )

    def _restore_checkpoint(
        self,
        master: str,
        saver: Saver | None = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: object = None,
    ) -> tuple[Any, bool]:
        """A new session, and whether it was restored from a checkpoint."""
        self._target = master
        session = Session(master, graph=self._graph, config=config)
        if checkpoint_dir and checkpoint_filename_with_path:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        if not saver or not (checkpoint_dir or checkpoint_filename_with_path):
            return session, False
        if checkpoint_filename_with_path:
            saver.restore(session, checkpoint_filename_with_path)
            return session, True
        waited = 0.0
        state = get_checkpoint_state(checkpoint_dir)
        while not state or not state.model_checkpoint_path:
            if not wait_for_checkpoint or waited >= max_wait_secs:
                return session, False
            log.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs
            state = get_checkpoint_state(checkpoint_dir)
        saver.restore(session, state.model_checkpoint_path)
        # The saver counts the checkpoints of the former process among those that it keeps.
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return session, True

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: object = None,
        init_feed_dict: object = None,
        init_fn: Any = None,
    ) -> Any:
        """A session with a restored model, or with one that `init_op` and `init_fn` began.

        RuntimeError where the model is not ready then.
        """
        session, is_restored = self._restore_checkpoint(
            *(master, saver, checkpoint_dir, checkpoint_filename_with_path),
            *(wait_for_checkpoint, max_wait_secs, config),
        )
        if not is_restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError(
                    "Model is not initialized and no init_op or init_fn or local_init_op was given"
                )
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(session)
        began = f"Init op: {_maybe_name(init_op)}, init fn: {init_fn}"
        is_done, problem = self._try_run_local_init_op(session)
        if not is_done:
            raise RuntimeError(
                "Init operations did not make model ready for local_init.  "
                f"{began}, error: {problem}"
            )
        is_ready, problem = self._model_ready(session)
        if not is_ready:
            raise RuntimeError(
                f"Init operations did not make model ready.  {began}, local_init_op: "
                f"{self._local_init_op}, error: {problem}"
            )
        return session

    def recover_session(
        self,
        master: str,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: object = None,
    ) -> tuple[Any, bool]:
        """A session, and whether its model was restored and is ready."""
        session, is_restored = self._restore_checkpoint(
            *(master, saver, checkpoint_dir, checkpoint_filename_with_path),
            *(wait_for_checkpoint, max_wait_secs, config),
        )
        is_done, problem = self._try_run_local_init_op(session)
        if not is_restored:
            return session, False
        source = checkpoint_dir or checkpoint_filename_with_path
        if not is_done:
            log.info(
                "Restoring model from %s did not make model ready for local init: %s",
                *(source, problem),
            )
            return session, False
        is_ready, problem = self._model_ready(session)
        if not is_ready:
            log.info("Restoring model from %s did not make model ready: %s", source, problem)
            return session, False
        log.info("Restored model from %s", source)
        return session, True

    def wait_for_session(
        self, master: str, config: object = None, max_wait_secs: float | None = float("Inf")
    ) -> Session:
        """A session whose model another task has made ready.

        DeadlineExceededError when it is not after `max_wait_secs`.
        """
        self._target = master
        limit = float("Inf") if max_wait_secs is None else max_wait_secs
        end = time.time() + limit
        while True:
            session = Session(master, graph=self._graph, config=config)
            problem = None
            is_done, local_problem = self._try_run_local_init_op(session)
            if is_done:
                is_ready, problem = self._model_ready(session)
                if is_ready:
                    return session
            self._safe_close(session)
            if max(end - time.time(), 0.0) - self._recovery_wait_secs < 0:
                raise errors.deadline_exceeded(
                    f"Session was not ready after waiting {limit:.0f} secs."
                )
            log.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s",
                *(local_problem, problem),
            )
            time.sleep(self._recovery_wait_secs)

    @staticmethod
    def _safe_close(session: BaseSession) -> None:
        """Closes a session that is given up."""
        try:
            session.close()
        except errors.OpError as error:
            log.debug("Ignored exception: %s", error)

    def _model_ready(self, session: BaseSession) -> tuple[bool, str | None]:
        return _ready(self._ready_op, session, "Model not ready")

    def _model_ready_for_local_init(self, session: BaseSession) -> tuple[bool, str | None]:
        return _ready(self._ready_for_local_init_op, session, "Model not ready for local init")

    def _try_run_local_init_op(self, session: BaseSession) -> tuple[bool, str | None]:
        """Runs the local initializer if there is one and it may run; whether that was so."""
        if self._local_init_op is None:
            return True, None
        is_ready, problem = self._model_ready_for_local_init(session)
        if not is_ready:
            return False, problem
        log.info("Running local_init_op.")
        session.run(self._local_init_op, options=self._local_init_run_options)
        log.info("Done running local_init_op.")
        return True, None


def _ready(op: Any, session: BaseSession, text: str) -> tuple[bool, str | None]:
    """Whether an operation says that a model is ready, or what is missing."""
    if op is None:
        return True, None
    try:
        value = session.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            log.warning("%s : error [%s]", text, str(error))
            raise
        return False, str(error)
    if value is None or value.dtype == np.int32 or value.size == 0:
        return True, None
    names = ", ".join(name.decode() for name in value)
    return False, f"Variables not initialized: {names}"
