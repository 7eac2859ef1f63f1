# SPDX-License-Identifier: Apache-2.0
"""A writer of summaries that keeps them, for tests."""

from __future__ import annotations

from typing import Any, ClassVar

from ....engine.api import export
from ...summaries import summary_io


@export("contrib.testing.FakeSummaryWriter")
class FakeSummaryWriter:
    """A writer that keeps what it is given, by steps.

    Between `install()` and `uninstall()` tf.summary.FileWriterCache gives such ones.

    Example:
        >>> writer = tf.contrib.testing.FakeSummaryWriter("logs")
        >>> value = tf.Summary.Value(tag="loss", simple_value=0.5)
        >>> writer.add_summary(tf.Summary(value=[value]), 3)
        >>> writer.summaries[3][0].value[0].simple_value
        0.5
    """

    _replaced_summary_writer: ClassVar[Any] = None

    @classmethod
    def install(cls) -> None:
        """Puts itself in the place of tf.summary.FileWriter.

        Raises:
            ValueError: it is there already.
        """
        if cls._replaced_summary_writer is not None:
            raise ValueError("FakeSummaryWriter already installed.")
        FakeSummaryWriter._replaced_summary_writer = summary_io.FileWriter
        summary_io.FileWriter = FakeSummaryWriter  # type: ignore[assignment,misc]

    @classmethod
    def uninstall(cls) -> None:
        """Puts tf.summary.FileWriter back.

        Raises:
            ValueError: it is there.
        """
        if cls._replaced_summary_writer is None:
            raise ValueError("FakeSummaryWriter not installed.")
        summary_io.FileWriter = cls._replaced_summary_writer  # type: ignore[misc]
        FakeSummaryWriter._replaced_summary_writer = None

    def __init__(self, logdir: str, graph: object = None) -> None:
        self._logdir, self._graph = logdir, graph
        self._summaries: dict[Any, list[Any]] = {}
        self._added_graphs: list[Any] = []
        self._added_meta_graphs: list[Any] = []
        self._added_session_logs: list[Any] = []
        self._added_run_metadata: dict[str, Any] = {}

    @property
    def summaries(self) -> dict[Any, list[Any]]:
        """The summaries by steps."""
        return self._summaries

    def assert_summaries(
        self,
        test_case: Any,
        expected_logdir: str | None = None,
        expected_graph: Any = None,
        expected_summaries: dict[Any, dict[str, float]] | None = None,
        expected_added_graphs: list[Any] | None = None,
        expected_added_meta_graphs: list[Any] | None = None,
        expected_session_logs: list[Any] | None = None,
    ) -> None:
        """Checks by a TestCase what was given; None is not checked.

        How many steps went by a second is left out, since other threads write it.
        """
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertIs(expected_graph, self._graph)
        for step, values in (expected_summaries or {}).items():
            test_case.assertIn(step, self._summaries)
            found = {v.tag: v.simple_value for given in self._summaries[step] for v in given.value}
            found.pop("global_step/sec", None)
            test_case.assertEqual(values, found)
        for expected, added in (
            (expected_added_graphs, self._added_graphs),
            (expected_added_meta_graphs, self._added_meta_graphs),
            (expected_session_logs, self._added_session_logs),
        ):
            if expected is not None:
                test_case.assertEqual(expected, added)

    def add_summary(self, summ: object, current_global_step: object) -> None:
        """Keeps a Summary, or one as bytes."""
        if isinstance(summ, bytes):
            from ....io import protos

            summ = protos.Summary.FromString(summ)
        self._summaries.setdefault(current_global_step, []).append(summ)

    @staticmethod
    def _check_step(global_step: int | None) -> None:
        if global_step is not None and global_step < 0:
            raise ValueError(f"Invalid global_step {global_step}.")

    def add_graph(
        self, graph: object, global_step: int | None = None, graph_def: object = None
    ) -> None:
        """Keeps a graph."""
        self._check_step(global_step)
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}.")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def: object, global_step: int | None = None) -> None:
        """Keeps a MetaGraphDef."""
        self._check_step(global_step)
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: object, global_step: int | None = None) -> None:
        """Keeps a SessionLog."""
        del global_step
        self._added_session_logs.append(session_log)

    def add_run_metadata(
        self, run_metadata: object, tag: str, global_step: int | None = None
    ) -> None:
        """Keeps a RunMetadata."""
        self._check_step(global_step)
        self._added_run_metadata[tag] = run_metadata

    def flush(self) -> None:
        """Does nothing."""

    def reopen(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""
