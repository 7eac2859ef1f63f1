# SPDX-License-Identifier: Apache-2.0
"""The callback that writes what TensorBoard shows of a training."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ....engine import api
from ....engine.graph.tensor import IndexedSlices
from ....ops.public import tf
from ...summaries.projector import visualize_embeddings
from ...summaries.summary_io import FileWriter
from ..backend.phase import symbolic_learning_phase
from ..backend.sessions import get_session
from ..backend.settings import image_data_format
from .base import Callback

_NO_SCALARS = ("batch", "size", "num_steps")


class TensorBoard(Callback):
    """Writes what TensorBoard shows (tf.keras.callbacks.TensorBoard).

    Scalars are the logs, as `epoch_loss` and `batch_loss`. Histograms are computed beside the
    evaluation of validation data, a summary for each of its batches, and not without such data.

    Args:
        log_dir: the folder.
        histogram_freq: after how many epochs histograms of weights and of layers' outputs are
            written; 0 for never.
        batch_size: the examples of which embeddings are computed at once.
        write_graph: whether the graph is written.
        write_grads: whether histograms of gradients are written, too.
        write_images: whether weights are written as pictures, too, where histograms are.
        embeddings_freq: after how many epochs embeddings are saved; 0 for never.
        embeddings_layer_names: the layers whose outputs are embeddings; all of class Embedding if
            none are named.
        embeddings_metadata: a file of labels, or a dict of one for each layer.
        embeddings_data: the inputs whose embeddings are saved.
        update_freq: "epoch", "batch", or a number of examples.
        profile_batch: accepted, of no effect.

    Raises:
        ValueError: in training: embeddings are wanted, and there is no `embeddings_data`.
    """

    def __init__(
        self,
        log_dir: str = "./logs",
        histogram_freq: int = 0,
        batch_size: int = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Sequence[str] | None = None,
        embeddings_metadata: str | dict[str, str] | None = None,
        embeddings_data: Any = None,
        update_freq: str | int = "epoch",
        profile_batch: int = 2,
    ) -> None:
        super().__init__()
        self.log_dir, self.histogram_freq, self.batch_size = log_dir, histogram_freq, batch_size
        self.write_graph, self.write_grads = write_graph, write_grads
        self.write_images = write_images
        self.embeddings_freq, self.embeddings_layer_names = embeddings_freq, embeddings_layer_names
        self.embeddings_metadata, self.embeddings_data = embeddings_metadata, embeddings_data
        self.update_freq: Any = 1 if update_freq == "batch" else update_freq
        self.writer: Any = None
        self.merged: Any = None
        self._embeddings: _Embeddings | None = None
        self._samples_seen = self._samples_seen_at_last_write = 0
        self._total_batches_seen = self._total_val_batches_seen = 0
        del profile_batch

    def set_model(self, model: Any) -> None:
        """Opens the file, writes the graph, and makes what histograms and embeddings need."""
        self.model = model
        graph = get_session().graph if self.write_graph else None
        self.writer = FileWriter(self.log_dir, graph)
        if self.histogram_freq and self.merged is None:
            for layer in model.layers:
                self._summarize(layer)
        self.merged = api.NAMES["summary.merge_all"]()
        if self.embeddings_freq and self.embeddings_data is not None:
            self._embeddings = _Embeddings(self)

    def _summarize(self, layer: Any) -> None:
        histogram = api.NAMES["summary.histogram"]
        for weight in layer.weights:
            name = weight.name.replace(":", "_")
            histogram(name, weight)
            picture = _picture(weight) if self.write_images else None
            if picture is not None:
                api.NAMES["summary.image"](name, picture)
        if self.write_grads:
            for weight in layer.trainable_weights:
                found = self.model.optimizer.get_gradients(self.model.total_loss, weight)
                gradients = [g.values if isinstance(g, IndexedSlices) else g for g in found]
                histogram(f"{weight.name.replace(':', '_')}_grad", gradients)
        output = getattr(layer, "output", None)
        if isinstance(output, list):
            for i, one in enumerate(output):
                histogram(f"{layer.name}_out_{i}", one)
        elif output is not None:
            histogram(f"{layer.name}_out", output)

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Writes the logs of a batch if it is time."""
        logs = logs or {}
        self._samples_seen += logs.get("size", 1)
        since = self._samples_seen - self._samples_seen_at_last_write
        if self.update_freq != "epoch" and since >= self.update_freq:
            self._write("batch_", logs, self._total_batches_seen)
            self._samples_seen_at_last_write = self._samples_seen
        self._total_batches_seen += 1

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Has the evaluation of this epoch compute the summaries, if it is time."""
        if not self.histogram_freq or epoch % self.histogram_freq or self.merged is None:
            return
        function = self.model._function("test")
        if self.merged not in function.fetches:
            function.fetches.append(self.merged)
            function.fetch_callbacks[self.merged] = self._write_summary

    def _write_summary(self, summary: bytes) -> None:
        self.writer.add_summary(summary, self._total_val_batches_seen)
        self._total_val_batches_seen += 1

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Writes the logs of an epoch, and embeddings if it is time."""
        step = epoch if self.update_freq == "epoch" else self._samples_seen
        self._write("epoch_", logs or {}, step)
        function = self.model.test_function if self.histogram_freq else None
        if function is not None and self.merged in function.fetches:
            function.fetches.remove(self.merged)
            function.fetch_callbacks.pop(self.merged)
        if self.embeddings_freq and self.embeddings_data is None:
            raise ValueError("To visualize embeddings, embeddings_data must be provided.")
        if self._embeddings is not None and epoch % self.embeddings_freq == 0:
            self._embeddings.save(epoch)

    def _write(self, prefix: str, logs: dict[str, Any], step: int) -> None:
        from ....io import protos

        for name, value in logs.items():
            if name in _NO_SCALARS:
                continue
            summary = protos.Summary()
            summary.value.add(tag=prefix + name, simple_value=float(value))
            self.writer.add_summary(summary, step)
        self.writer.flush()

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Closes the file."""
        self.writer.close()


def _picture(weight: Any) -> Any:
    """A weight as pictures, those of kernels one each; None for what has more axes."""
    x = tf.squeeze(weight)
    shape: list[Any] = x.shape.as_list()
    if len(shape) == 2:
        if shape[0] > shape[1]:
            x, shape = tf.transpose(x), shape[::-1]
        return tf.reshape(x, [1, *shape, 1])
    if len(shape) == 3:
        if image_data_format() == "channels_last":
            x, shape = tf.transpose(x, perm=[2, 0, 1]), [shape[2], *shape[:2]]
        return tf.reshape(x, [*shape, 1])
    return tf.reshape(x, [1, shape[0], 1, 1]) if len(shape) == 1 else None


class _Embeddings:
    """Variables of the outputs of layers for some inputs, saved for TensorBoard's projector."""

    def __init__(self, board: TensorBoard) -> None:
        self._model, self._size = board.model, board.batch_size
        self._path = os.path.join(board.log_dir, "keras_embedding.ckpt")
        data = board.embeddings_data
        self._data = [np.asarray(x) for x in (data if isinstance(data, (list, tuple)) else [data])]
        self._start, self._count = tf.placeholder("int32"), tf.placeholder("int32")
        names = board.embeddings_layer_names or [
            layer.name for layer in self._model.layers if type(layer).__name__ == "Embedding"
        ]
        variables = {}
        self._assignments: list[Any] = []
        for layer in self._model.layers:
            if layer.name in names:
                variables[layer.name] = self._variable(layer)
        get_session().run([variable.initializer for variable in variables.values()])
        self._saver = api.NAMES["train.Saver"](list(variables.values()))
        visualize_embeddings(board.writer, _config(variables, board.embeddings_metadata))

    def _variable(self, layer: Any) -> Any:
        width = int(np.prod(layer.output.shape.as_list()[1:]))
        rows = tf.reshape(layer.output, (self._count, width))
        made = api.NAMES["Variable"](
            tf.zeros((len(self._data[0]), width)), name=f"{layer.name}_embedding"
        )
        part = made[self._start : self._start + self._count]
        self._assignments.append(part.assign(rows))
        return made

    def save(self, epoch: int) -> None:
        """Computes the embeddings, and saves them with the number of an epoch."""
        session = get_session()
        for feeds in self._batches():
            session.run(self._assignments, feed_dict=feeds)
        self._saver.save(session, self._path, epoch)

    def _batches(self) -> Iterator[dict[Any, Any]]:
        count, phase = len(self._data[0]), symbolic_learning_phase()
        for start in range(0, count, self._size):
            size = min(self._size, count - start)
            feeds: dict[Any, Any] = {
                x: v[start : start + size] for x, v in zip(self._model.inputs, self._data)
            }
            feeds |= {self._start: start, self._count: size}
            yield feeds if phase is None else {**feeds, phase: False}


def _config(variables: dict[str, Any], metadata: str | dict[str, str] | None) -> Any:
    from ....io import protos

    file_of: Callable[[str], Any] = (
        (lambda _: metadata) if isinstance(metadata, str) else (metadata or {}).get
    )
    config = protos.ProjectorConfig()
    for name, variable in variables.items():
        entry = config.embeddings.add(tensor_name=variable.name)
        if file_of(name) is not None:
            entry.metadata_path = file_of(name)
    return config
