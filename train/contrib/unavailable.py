# SPDX-License-Identifier: Apache-2.0
"""Names that can be imported and not be used: they need what is not reached from here.

Programs name them behind flags such as `use_tpu`, on paths that they do not take here.
"""

from __future__ import annotations

from typing import Any

from ...engine.api import constant

_TPU = "a TPU"
_EAGER = "eager execution, and numbaflow computes graphs in sessions"
_PYTHON = "parts of AutoGraph that are not in numbaflow; tf.autograph.to_graph is"
_FFMPEG = "ffmpeg; tf.audio.decode_wav and tf.audio.encode_wav are here"
_CPP = "TensorFlow's C++ runtime"
_HEXAGON = "a Hexagon processor"
_RPC = "gRPC services"
_FORESTS = "the forests of random trees of TensorFlow's package; tf.estimator has boosted trees"
_LITE = (
    "TensorFlow Lite's converter, which is not in numbaflow; give it elsewhere the graph that "
    "tf.graph_util.convert_variables_to_constants or tf.saved_model.simple_save gives"
)

# What is needed -> public names.
TABLE = {
    _TPU: """
        contrib.tpu.AsyncCheckpointSaverHook contrib.tpu.DeviceAssignment contrib.tpu.InfeedQueue
        contrib.tpu.TPUDistributionStrategy contrib.tpu.Topology contrib.tpu.batch_parallel
        contrib.tpu.device_assignment contrib.tpu.infeed_dequeue contrib.tpu.infeed_dequeue_tuple
        contrib.tpu.infeed_enqueue contrib.tpu.infeed_enqueue_tuple contrib.tpu.initialize_system
        contrib.tpu.keras_to_tpu_model contrib.tpu.outfeed_dequeue
        contrib.tpu.outfeed_dequeue_tuple contrib.tpu.outfeed_enqueue
        contrib.tpu.outfeed_enqueue_tuple contrib.tpu.replicate contrib.tpu.rewrite
        contrib.tpu.shard contrib.tpu.shutdown_system tpu.batch_parallel tpu.initialize_system
        tpu.replicate tpu.rewrite tpu.shard tpu.shutdown_system tpu.experimental.DeviceAssignment
        tpu.experimental.initialize_tpu_system contrib.tpu.profiler.TPUProfiler
        contrib.distribute.TPUStrategy contrib.distribute.initialize_tpu_system
        distribute.experimental.TPUStrategy contrib.tpu.TPUInMemoryEvalHook
    """,
    _EAGER: """
        contrib.eager.EagerVariableStore contrib.eager.ExecutionCallback contrib.eager.Iterator
        contrib.eager.Network contrib.eager.Saver contrib.eager.Sequential
        contrib.eager.add_execution_callback contrib.eager.async_clear_error
        contrib.eager.async_wait contrib.eager.clear_execution_callbacks
        contrib.eager.connect_to_remote_host contrib.eager.enable_remote_eager_execution
        contrib.eager.errstate contrib.eager.execution_mode
        contrib.eager.inf_callback contrib.eager.inf_nan_callback contrib.eager.nan_callback
        contrib.eager.restore_network_checkpoint contrib.eager.restore_variables_on_create
        contrib.eager.save_network_checkpoint contrib.eager.set_execution_mode
        contrib.eager.set_server_def contrib.eager.seterr
        contrib.eager.metrics.Accuracy contrib.eager.metrics.BinaryAccuracy
        contrib.eager.metrics.CategoricalAccuracy contrib.eager.metrics.Mean
        contrib.eager.metrics.Metric contrib.eager.metrics.SparseAccuracy
    """,
    _PYTHON: "contrib.autograph.StackTraceMapper",
    _FFMPEG: """
        contrib.ffmpeg.decode_audio contrib.ffmpeg.decode_video contrib.ffmpeg.encode_audio
    """,
    _CPP: """
        contrib.stat_summarizer.DeleteStatSummarizer contrib.stat_summarizer.NewStatSummarizer
        contrib.stat_summarizer.StatSummarizer
    """,
    _HEXAGON: "contrib.remote_fused_graph.remote_fused_graph_execute",
    _RPC: "contrib.rpc.rpc contrib.rpc.try_rpc",
    _FORESTS: """
        contrib.tensor_forest.client.eval_metrics.get_metric
        contrib.tensor_forest.client.eval_metrics.get_prediction_key
        contrib.tensor_forest.client.random_forest.CoreTensorForestEstimator
        contrib.tensor_forest.client.random_forest.MultiForestMultiHeadEstimator
        contrib.tensor_forest.client.random_forest.TensorForestEstimator
        contrib.tensor_forest.client.random_forest.TensorForestLossHook
        contrib.tensor_forest.client.random_forest.TensorForestRunOpAtEndHook
        contrib.tensor_forest.client.random_forest.get_combined_model_fn
        contrib.tensor_forest.client.random_forest.get_model_fn
        contrib.tensor_forest.python.tensor_forest.ForestHParams
        contrib.tensor_forest.python.tensor_forest.ForestStats
        contrib.tensor_forest.python.tensor_forest.RandomForestGraphs
        contrib.tensor_forest.python.tensor_forest.TensorForestVariables
        contrib.tensor_forest.tensor_forest.ForestHParams
        contrib.tensor_forest.tensor_forest.RandomForestGraphs
    """,
    _LITE: """
        lite.Interpreter lite.OpHint lite.OpsSet lite.Optimize lite.RepresentativeDataset
        lite.TFLiteConverter lite.TargetSpec lite.TocoConverter lite.toco_convert
        lite.experimental.convert_op_hints_to_stubs lite.experimental.get_potentially_supported_ops
        lite.experimental.load_delegate lite.experimental.nn.TFLiteLSTMCell
        lite.experimental.nn.TfLiteRNNCell lite.experimental.nn.dynamic_rnn
    """,
}


class _Refusing(type):
    """A class whose functions refuse, too: `tf.lite.TFLiteConverter.from_session(…)`."""

    def __getattr__(cls, name: str) -> _Refusing:
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return cls


def _refusing(name: str, needs: str) -> type:
    """A class whose instances cannot be made; a function that is called looks the same."""

    def refuse(self: object, *unused: Any, **also_unused: Any) -> None:
        raise NotImplementedError(f"tf.{name} needs {needs}")

    last = name.rpartition(".")[2]
    return _Refusing(last, (), {"__init__": refuse, "__doc__": f"Needs {needs}: raises an error."})


_made: dict[tuple[str, str], type] = {}
for _needs, _names in TABLE.items():
    for _name in _names.split():
        _key = (_name.rpartition(".")[2], _needs)
        constant(_name, _made.setdefault(_key, _refusing(_name, _needs)))
