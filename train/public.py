# SPDX-License-Identifier: Apache-2.0
"""Public names of what runs training loops; what they stand for is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..engine.api import lazy
from ..engine.graph.collections import GraphKeys, register_proto_function

if TYPE_CHECKING:
    from .inputs.queue_runner_impl import QueueRunner

# Module below this folder -> its names in `tf.train`.
_NAMES = {
    "objects.checkpoint": "Checkpoint",
    "checkpoints.checkpoint_utils": (
        "checkpoints_iterator init_from_checkpoint list_variables load_checkpoint load_variable"
    ),
    "objects.warm_starting_util": "VocabInfo warm_start",
    "sessions.coordinator": "Coordinator LooperThread",
    "inputs.queue_runner_impl": "QueueRunner add_queue_runner start_queue_runners",
    "sessions.basic_loops": "basic_train_loop",
    "sessions.basic_session_run_hooks": (
        "CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook "
        "LoggingTensorHook NanLossDuringTrainingError NanTensorHook ProfilerHook SecondOrStepTimer "
        "StepCounterHook StopAtStepHook SummarySaverHook"
    ),
    "sessions.monitored_session": (
        "ChiefSessionCreator MonitoredSession MonitoredTrainingSession Scaffold SessionCreator "
        "SingularMonitoredSession WorkerSessionCreator"
    ),
    "sessions.session_manager": "SessionManager",
    "sessions.session_run_hook": "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues",
    "sessions.supervisor": "Supervisor",
    "distributed.sync_replicas_optimizer": "SyncReplicasOptimizer",
    "distributed.device_setter": "replica_device_setter",
    "inputs.input": (
        "batch batch_join input_producer limit_epochs match_filenames_once maybe_batch "
        "maybe_batch_join maybe_shuffle_batch maybe_shuffle_batch_join range_input_producer "
        "shuffle_batch shuffle_batch_join slice_input_producer string_input_producer"
    ),
}
for _module, _names in _NAMES.items():
    for _name in _names.split():
        lazy(f"train.{_module}:{_name}", f"train.{_name}")
for _name in _NAMES["inputs.queue_runner_impl"].split():
    lazy(f"train.inputs.queue_runner_impl:{_name}", f"train.queue_runner.{_name}")
lazy("train.inputs.input:match_filenames_once", "io.match_filenames_once")
for _module, _name in {
    "objects.iterator_saving": "make_saveable_from_iterator",
    "sessions.input_pipeline_hook": "CheckpointInputPipelineHook",
}.items():
    lazy(f"train.{_module}:{_name}", f"data.experimental.{_name}")
lazy(
    "train.objects.python_state:PythonState",
    "train.experimental.PythonState",
    "contrib.checkpoint.PythonStateWrapper",
)
for _module, _names in {
    "objects.checkpoint": "object_metadata",
    "objects.data_structures": "List Mapping NoDependency",
    "objects.object_graph": "list_objects",
}.items():
    for _name in _names.split():
        lazy(f"train.{_module}:{_name}", f"contrib.checkpoint.{_name}")
# Module of `layers` below this folder -> its names in `tf.layers`.
_LAYERS = {
    "base": "Layer",
    "input_spec": "InputSpec",
    "core": "Dense Dropout Flatten dense dropout flatten",
    "convolutional": "Conv1D Conv2D Conv3D conv1d conv2d conv3d",
    "transposed_conv": (
        "Conv2DTranspose Conv3DTranspose SeparableConv1D SeparableConv2D conv2d_transpose "
        "conv3d_transpose separable_conv1d separable_conv2d"
    ),
    "normalization": "BatchNormalization batch_normalization",
    "pooling": (
        "AveragePooling1D AveragePooling2D AveragePooling3D MaxPooling1D MaxPooling2D "
        "MaxPooling3D average_pooling1d average_pooling2d average_pooling3d max_pooling1d "
        "max_pooling2d max_pooling3d"
    ),
}
for _module, _names in _LAYERS.items():
    for _name in _names.split():
        lazy(f"train.layers.{_module}:{_name}", f"layers.{_name}")
# Module of `rnn` below this folder -> its names, with what stands before them.
_CELLS = (
    "BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple MultiRNNCell",
    "DeviceWrapper DropoutWrapper ResidualWrapper",
)
for _module, _names in zip(("cells", "wrappers", "cell"), (*_CELLS, "RNNCell")):
    for _name in _names.split():
        _target = f"train.rnn.{_module}:{_name}"
        lazy(_target, f"nn.rnn_cell.{_name}", f"contrib.rnn.{_name}")
lazy("train.rnn.cell:LayerRNNCell", "contrib.rnn.LayerRNNCell")
for _name in ("static_bidirectional_rnn", "static_rnn", "static_state_saving_rnn"):
    lazy(f"train.rnn.static:{_name}", f"nn.{_name}", f"contrib.rnn.{_name}")
for _name in ("bidirectional_dynamic_rnn", "dynamic_rnn"):
    lazy(f"train.rnn.dynamic:{_name}", f"nn.{_name}")
lazy("train.rnn.raw:raw_rnn", "nn.raw_rnn")
for _name in ("best_effort_input_batch_size", "transpose_batch_time"):
    lazy(f"train.rnn.step:{_name}", f"contrib.rnn.{_name}")
for _name in ("keras_style_scope", "set_keras_style"):
    lazy(f"train.layers.base:{_name}", f"layers.experimental.{_name}")
lazy("train.objects.tracking:AutoTrackable", "contrib.checkpoint.Checkpointable")
lazy("train.objects.module:Module", "Module")
for _name in ("FileWriter", "FileWriterCache"):
    lazy(f"train.summaries.summary_io:{_name}", f"summary.{_name}")
for _name in ("all_v2_summary_ops", "initialize"):
    lazy(f"train.summaries.recording:{_name}", f"summary.{_name}")
for _module, _names in {
    "graph_writers": (
        "SummaryWriter create_db_writer create_file_writer create_summary_file_writer flush"
    ),
    "recording": (
        "always_record_summaries audio eval_dir generic graph histogram image import_event "
        "initialize never_record_summaries record_summaries_every_n_global_steps scalar "
        "should_record_summaries summary_writer_initializer_op"
    ),
}.items():
    for _name in _names.split():
        lazy(f"train.summaries.{_module}:{_name}", f"contrib.summary.{_name}")
lazy("train.summaries.recording:all_v2_summary_ops", "contrib.summary.all_summary_ops")
_MNIST = "examples.tutorials.mnist"
for _name in "IMAGE_PIXELS IMAGE_SIZE NUM_CLASSES evaluation inference loss training".split():
    lazy(f"train.mnist:{_name}", f"{_MNIST}.mnist.{_name}")
lazy("io.mnist:read_data_sets", f"{_MNIST}.input_data.read_data_sets")
_PROJECTOR = "contrib.tensorboard.plugins.projector"
lazy("train.summaries.projector:visualize_embeddings", f"{_PROJECTOR}.visualize_embeddings")


def _queue_runner_def() -> Any:
    from ..io import protos

    return protos.QueueRunnerDef()


def _to_proto(runner: Any, export_scope: str | None = None) -> Any:
    return runner.to_proto(export_scope=export_scope)


def _from_proto(queue_runner_def: object, import_scope: str | None = None) -> QueueRunner:
    from .inputs.queue_runner_impl import QueueRunner

    return QueueRunner.from_proto(queue_runner_def, import_scope=import_scope)


register_proto_function(GraphKeys.QUEUE_RUNNERS, _queue_runner_def, _to_proto, _from_proto)
