# SPDX-License-Identifier: Apache-2.0
"""Where modules below `tensorflow.contrib` have their names: rows for module_map.py, renamed.py."""

from __future__ import annotations

_SEQ2SEQ = ".train.contrib.seq2seq"
_PRIVATE = ".alias.internals.seq2seq"
_STEP = f"{_SEQ2SEQ}.beam_search_step"
_ZEROS = ".train.rnn.cell:zero_state_tensors"
_TRANSPOSED = ".train.rnn.step:transpose_batch_time"
_CUDNN = ".train.contrib.cudnn_rnn.cudnn_rnn_ops"
_LEARN = ".train.contrib.learn"
_STATES = ".train.contrib.timeseries.state_space_models"
_NORMAL = ".alias.internals.contributions:trunc_normal"
_REDUCED = ".train.contrib.slim.nets.inception_parts:reduced"

# The names of modules of `contrib.cudnn_rnn` that are constants of its operations.
_CONSTANTS = """
    CUDNN_GRU CUDNN_GRU_PARAMS_PER_LAYER CUDNN_INPUT_AUTO_MODE CUDNN_INPUT_LINEAR_MODE
    CUDNN_INPUT_SKIP_MODE CUDNN_LSTM CUDNN_LSTM_PARAMS_PER_LAYER CUDNN_RNN_BIDIRECTION
    CUDNN_RNN_RELU CUDNN_RNN_RELU_PARAMS_PER_LAYER CUDNN_RNN_TANH CUDNN_RNN_TANH_PARAMS_PER_LAYER
    CUDNN_RNN_UNIDIRECTION
"""
# What the package `contrib.learn.python.learn` has of the modules below it.
_OF_LEARN = {
    "estimators.run_config": "ClusterConfig Environment",
    "estimators.exporting": "GraphRewriteSpec",
    "estimators.constants": "MetricKey",
    "estimators.rnn_common": "PredictionType",
    "estimators.head": "loss_only_head",
    "learn_io.frames": "HAS_DASK HAS_PANDAS",
    "learn_io.generator_io": "generator_input_fn",
    "learn_io.numpy_io": "numpy_input_fn",
    "learn_io.pandas_io": "pandas_input_fn",
    "learn_io.graph_io": "queue_parsed_features",
    "utils.export": "export_estimator",
    "utils.input_fn_utils": "build_default_serving_input_fn",
}
_NETS = "alexnet inception_v1 inception_v2 inception_v3 overfeat"

# Module below `tensorflow` -> its homes, as in module_map.py.
HOMES = {
    "contrib.layers.python.layers": "tf.contrib.layers .train.contrib.slim.names",
    "contrib.learn.python.learn.basic_session_run_hooks": "tf.train",
    "contrib.learn.python.learn.estimator": f"{_LEARN}.estimators.estimator",
    "contrib.learn.python.learn.estimators.head": f"{_LEARN}.estimators.head",
    "contrib.learn.python.learn.learn_io": f"tf.contrib.learn.io {_LEARN}.learn_io.frames",
    "contrib.learn.python.learn.learn_runner": f"{_LEARN}.learn_runner",
    "contrib.learn.python.learn.monitored_session": "tf.train",
    "contrib.learn.python.learn.monitors": f"{_LEARN}.monitors",
    "contrib.learn.python.learn.run_config": f"{_LEARN}.estimators.run_config",
    "contrib.learn.python.learn.session_run_hook": "tf.train",
}
# Module below `tensorflow` -> {name there: public name or ".module:attribute"}.
RENAMED = {
    "contrib.cudnn_rnn.python.layers.cudnn_rnn": {
        name: f"{_CUDNN}:{name}" for name in _CONSTANTS.split()
    },
    "contrib.distributions.python.ops.vector_exponential_linear_operator": {
        "VectorExponentialLinearOperator": (
            ".train.contrib.distributions.mvn_linear_operator:VectorExponentialLinearOperator"
        ),
    },
    "contrib.distributions.python.ops.vector_laplace_linear_operator": {
        "VectorLaplaceLinearOperator": (
            ".train.contrib.distributions.mvn_linear_operator:VectorLaplaceLinearOperator"
        ),
    },
    "contrib.layers.python.layers.normalization": {
        "DATA_FORMAT_NCHW": ".alias.internals.contributions:DATA_FORMAT_NCHW",
        "DATA_FORMAT_NHWC": ".alias.internals.contributions:DATA_FORMAT_NHWC",
    },
    "contrib.learn.python.learn": {
        name: f"{_LEARN}.{module}:{name}"
        for module, names in _OF_LEARN.items()
        for name in names.split()
    },
    "contrib.learn.python.learn.summary_writer_cache": {
        "SummaryWriterCache": ".train.summaries.summary_io:FileWriterCache",
        "clear_summary_writers": ".alias.internals.contributions:clear_summary_writers",
        "get_summary_writer": ".alias.internals.contributions:get_summary_writer",
    },
    "contrib.learn.python.learn.estimators.estimator": {
        "GraphRewriteSpec": f"{_LEARN}.estimators.exporting:GraphRewriteSpec",
        "_get_replica_device_setter": ".train.estimator.settings:device_function",
    },
    "contrib.rnn.python.ops.core_rnn_cell": {
        "_WEIGHTS_VARIABLE_NAME": ".train.rnn.cell:WEIGHTS_NAME",
        "_BIAS_VARIABLE_NAME": ".train.rnn.cell:BIAS_NAME",
    },
    "contrib.seq2seq.python.ops.attention_wrapper": {
        **{
            f"{kind}AttentionV2": f"{_SEQ2SEQ}.attention_layers:{kind}AttentionV2"
            for kind in ("Bahdanau", "BahdanauMonotonic", "Luong", "LuongMonotonic")
        },
        "_BaseAttentionMechanism": f"{_SEQ2SEQ}.attention_mechanisms:MemoryAttention",
        "_BaseAttentionMechanismV2": f"{_SEQ2SEQ}.attention_layer:MemoryAttentionLayer",
        "_BaseMonotonicAttentionMechanism": f"{_SEQ2SEQ}.attention_mechanisms:MonotonicAttention",
        "_maybe_mask_score": f"{_PRIVATE}:_maybe_mask_score",
        "_prepare_memory": f"{_PRIVATE}:_prepare_memory",
        "_zero_state_tensors": _ZEROS,
    },
    "contrib.seq2seq.python.ops.basic_decoder": {
        "BasicDecoderV2": f"{_SEQ2SEQ}.decoder_layer:BasicDecoderV2",
    },
    "contrib.seq2seq.python.ops.beam_search_decoder": {
        "BeamSearchDecoderV2": f"{_SEQ2SEQ}.beam_search_layer:BeamSearchDecoderV2",
        "attention_probs_from_attn_state": f"{_STEP}:attention_probs_from_attn_state",
        "_check_ndims": f"{_SEQ2SEQ}.beam_arrays:require_rank",
        "_get_scores": f"{_PRIVATE}:_get_scores",
        "_length_penalty": f"{_STEP}:length_penalty",
        "_maybe_tensor_gather_helper": f"{_PRIVATE}:_maybe_tensor_gather_helper",
        "_tensor_gather_helper": f"{_PRIVATE}:_tensor_gather_helper",
    },
    "contrib.seq2seq.python.ops.decoder": {
        "BaseDecoder": f"{_SEQ2SEQ}.decoder_layer:BaseDecoder",
        "_create_zero_outputs": f"{_PRIVATE}:_create_zero_outputs",
        "_transpose_batch_time": _TRANSPOSED,
        "_zero_state_tensors": _ZEROS,
    },
    **{
        f"contrib.seq2seq.python.ops.{module}": {
            "bernoulli_sample": f"{_SEQ2SEQ}.sampling:bernoulli_sample",
            "categorical_sample": f"{_SEQ2SEQ}.sampling:categorical_sample",
            "_call_sampler": f"{_SEQ2SEQ}.sampling:_call_sampler",
            "_transpose_batch_time": _TRANSPOSED,
            "_unstack_ta": f"{_SEQ2SEQ}.helper:unstacked",
        }
        for module in ("helper", "sampler")
    },
    "contrib.timeseries.python.timeseries.estimators": {
        "StateSpaceRegressor": (
            ".train.contrib.timeseries.state_space_estimators:StateSpaceRegressor"
        ),
    },
    "contrib.timeseries.python.timeseries.state_space_models.state_space_model": {
        "StateSpaceModelConfiguration": f"{_STATES}.configuration:StateSpaceModelConfiguration",
        **{
            f"StateSpace{kind}Ensemble": f"{_STATES}.ensembles:StateSpace{kind}Ensemble"
            for kind in ("", "Independent", "CorrelatedFeatures")
        },
    },
    **{
        f"contrib.slim.python.slim.nets.{net}": {
            "trunc_normal": _NORMAL,
            "_reduced_kernel_size_for_small_input": _REDUCED,
        }
        for net in _NETS.split()
    },
}
