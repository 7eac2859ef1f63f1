# SPDX-License-Identifier: Apache-2.0
"""Names of `tf.contrib` for what is defined elsewhere; imported when they are first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import lazy
from ...engine.graph.collections import register_proto_function

if TYPE_CHECKING:
    from .training.hparam import HParams

# Module -> its names in `tf.contrib.framework`.
_FRAMEWORK = {
    "engine.deprecation": "deprecated deprecated_arg_values deprecated_args",
    "engine.graph.convert": "convert_to_tensor_or_sparse_tensor",
    "engine.graph.scope_functions": (
        "get_graph_from_inputs get_name_scope prepend_name_scope strip_name_scope"
    ),
    "engine.interface.specs": "BoundedTensorSpec TensorSpec",
    "ops.array.sort": "argsort sort",
    "ops.checks.shape": "assert_same_float_dtype assert_scalar",
    "ops.queues.record_input": "RecordInput",
    "ops.state.init_orthogonal": (
        "convolutional_delta_orthogonal convolutional_orthogonal_1d convolutional_orthogonal_2d "
        "convolutional_orthogonal_3d"
    ),
}
for _module, _names in _FRAMEWORK.items():
    for _name in _names.split():
        lazy(f"{_module}:{_name}", f"contrib.framework.{_name}")
_NEST = {
    "engine.types.nest": "flatten_dict_items is_sequence_or_composite",
    "engine.types.nest_paths": (
        "flatten_with_joined_string_paths flatten_with_tuple_paths flatten_with_tuple_paths_up_to "
        "map_structure_with_paths map_structure_with_tuple_paths "
        "map_structure_with_tuple_paths_up_to yield_flat_paths"
    ),
}
for _module, _names in _NEST.items():
    for _name in _names.split():
        lazy(f"{_module}:{_name}", f"contrib.framework.nest.{_name}")
lazy("engine.types.nest:is_sequence", "contrib.framework.nest.is_nested")
for _name in ("set_difference", "set_intersection", "set_size", "set_union"):
    lazy(f"ops.array.sets:{_name}", f"contrib.metrics.{_name}")

lazy("train.contrib.layers.feature_column", "contrib.layers.feature_column")

# Names that slim shares with layers and framework.
_SLIM = """
    add_arg_scope add_model_variable apply_regularization arg_scope arg_scoped_arguments
    assert_global_step assert_or_get_global_step assign_from_checkpoint assign_from_checkpoint_fn
    assign_from_values assign_from_values_fn avg_pool2d avg_pool3d batch_norm bias_add bow_encoder
    conv1d conv2d conv2d_in_plane conv2d_transpose conv3d conv3d_transpose convolution convolution1d
    convolution2d convolution2d_in_plane convolution2d_transpose convolution3d
    convolution3d_transpose create_global_step current_arg_scope dense_to_sparse dropout elu
    embed_sequence embedding_lookup_unique filter_variables flatten fully_connected gdn GDN
    get_global_step get_local_variables get_model_variables get_or_create_global_step
    get_trainable_variables get_unique_variable get_variable_full_name get_variables
    get_variables_by_name get_variables_by_suffix get_variables_to_restore global_variable
    group_norm has_arg_scope images_to_sequence instance_norm l1_l2_regularizer l1_regularizer
    l2_regularizer layer_norm legacy_fully_connected legacy_linear legacy_relu linear local_variable
    max_pool2d max_pool3d maxout model_variable one_hot_encoding optimize_loss relu relu6 repeat
    safe_embedding_lookup_sparse scale_gradient separable_conv2d separable_convolution2d
    sequence_to_images softmax spatial_softmax stack sum_regularizer summarize_activation
    summarize_activations summarize_biases summarize_collection summarize_tensor summarize_tensors
    summarize_variables summarize_weights unit_norm variable VariableDeviceChooser
    variance_scaling_initializer xavier_initializer xavier_initializer_conv2d zero_initializer
    OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES RevBlock SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
    bucketized_column check_feature_columns create_feature_spec_for_parsing crossed_column
    deprecated deprecated_arg_values embedding_column infer_real_valued_columns
    input_from_feature_columns joint_weighted_sum_from_feature_columns
    make_place_holder_tensors_for_base_features multi_class_target one_hot_column
    parse_feature_columns_from_examples parse_feature_columns_from_sequence_examples
    real_valued_column recompute_grad regression_target rev_block scattered_embedding_column
    sequence_input_from_feature_columns shared_embedding_columns sparse_column_with_hash_bucket
    sparse_column_with_integerized_feature sparse_column_with_keys
    sparse_column_with_vocabulary_file transform_features weighted_sparse_column
    weighted_sum_from_feature_columns
    DataFrameColumn InputLayer ProblemType adaptive_clipping_fn arg_scope_func_key binary_svm_target
    bucketize embedding_lookup_sparse_with_distributed_aggregation experimental
    get_default_binary_metrics_for_eval pool scattered_embedding_lookup
    scattered_embedding_lookup_sparse sparse_feature_cross
"""
for _name in _SLIM.split():
    lazy(f"train.contrib.slim.names:{_name}", f"contrib.slim.{_name}")
lazy("contrib.losses", "contrib.slim.losses")
lazy("contrib.metrics", "contrib.slim.metrics")
# Modules that slim has as names; those of layers by their own.
_SLIM_MODULES = """
    bucketization_op embedding_ops encoders feature_column feature_column_ops initializers layers
    normalization optimizers regularizers rev_block_lib sparse_feature_cross_op target_column utils
"""
for _name in _SLIM_MODULES.split():
    lazy(f"train.contrib.layers.{_name}", f"contrib.slim.{_name}")
lazy("train.contrib.layers.feature_column", "contrib.slim.fc")
lazy("train.contrib.layers.sparse_ops", "contrib.slim.contrib_sparse_ops")
lazy("train.contrib.framework.variables", "contrib.slim.contrib_variables")
lazy("train.contrib.framework.variables", "contrib.slim.variables")
lazy("train.contrib.framework.checkpoint_utils", "contrib.slim.checkpoint_utils")
lazy("train.contrib.losses.loss_ops", "contrib.slim.loss_ops")
lazy("contrib.metrics", "contrib.slim.metric_ops")
lazy("contrib.framework", "contrib.slim.contrib_framework")
lazy("contrib.lookup", "contrib.slim.lookup")
_NETS = (
    "alexnet inception inception_v1 inception_v2 inception_v3 overfeat resnet_utils resnet_v1 "
    "resnet_v2 vgg"
)
for _name in _NETS.split():
    lazy(f"train.contrib.slim.nets.{_name}", f"contrib.slim.nets.{_name}")

# Module of the core's distributions -> its names in `tf.contrib.distributions`.
_DISTRIBUTIONS = {
    "distribution": (
        "Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED ReparameterizationType"
    ),
    "divergence": "RegisterKL kl_divergence",
    "location_scale": "Laplace Normal NormalWithSoftplusScale StudentT Uniform",
    "positive_support": "Beta Dirichlet Exponential Gamma",
    "discrete": "Bernoulli Categorical DirichletMultinomial Multinomial",
    "softplus": (
        "BetaWithSoftplusConcentration ExponentialWithSoftplusRate "
        "GammaWithSoftplusConcentrationRate LaplaceWithSoftplusScale StudentTWithAbsDfSoftplusScale"
    ),
    "transformed_distribution": "TransformedDistribution",
    "util": (
        "fill_triangular fill_triangular_inverse matrix_diag_transform reduce_weighted_logsumexp "
        "softplus_inverse tridiag"
    ),
}
for _module, _names in _DISTRIBUTIONS.items():
    for _name in _names.split():
        lazy(f"ops.distributions.{_module}:{_name}", f"contrib.distributions.{_name}")
# Names of `tf.contrib.estimator` for what is in `tf.estimator` since.
_ESTIMATOR = {
    "extenders:add_metrics": "add_metrics",
    "model_fn:call_logit_fn": "call_logit_fn",
    "dnn_part:dnn_logit_fn_builder": "dnn_logit_fn_builder",
    "linear_part:linear_logit_fn_builder": "linear_logit_fn_builder",
    "export:build_raw_supervised_input_receiver_fn": "build_raw_supervised_input_receiver_fn",
}
for _target, _name in _ESTIMATOR.items():
    lazy(f"train.estimator.{_target}", f"contrib.estimator.{_name}")
for _name in ("params_ops", "specs", "specs_lib", "specs_ops", "summaries"):
    lazy(f"train.contrib.specs.{_name}", f"contrib.specs.{_name}")
lazy("train.contrib.layers.layers", "contrib.specs.layers")
for _name, _target in (
    ("save_keras_model", "export_saved_model"),
    ("load_keras_model", "load_from_saved_model"),
):
    lazy(f"train.estimator.keras_saved_models:{_target}", f"contrib.saved_model.{_name}")
lazy("train.contrib.timeseries.saved_model_utils", "contrib.timeseries.saved_model_utils")
for _name in ("edit", "reroute", "select", "subgraph", "transform", "util"):
    lazy(f"train.contrib.graph_editor.{_name}", f"contrib.graph_editor.{_name}")
# Namespace -> what it has under the names of others: a module's names, or names that begin alike.
_ALIASES = {
    "contrib.training": {
        "train.estimator.feeding": "FeedingQueueRunner",
    },
    "contrib.data": {
        "ops.data.dataset": "AUTOTUNE",
        "ops.data.checkpointing": "get_single_element",
        "ops.data.experimental.batching": "dense_to_sparse_batch map_and_batch unbatch",
        "ops.data.experimental.choosing": (
            "choose_from_datasets parallel_interleave rejection_resample sample_from_datasets"
        ),
        "ops.data.experimental.csv": "make_csv_dataset",
        "ops.data.experimental.elements": "copy_to_device prefetch_to_device",
        "ops.data.experimental.grouping": (
            "Reducer bucket_by_sequence_length group_by_reducer group_by_window"
        ),
        "ops.data.experimental.reading": (
            "SqlDataset TFRecordWriter make_batched_features_dataset parse_example_dataset"
        ),
        "ops.data.experimental.scanning": (
            "enumerate_dataset ignore_errors scan shuffle_and_repeat unique"
        ),
        "ops.data.iterators": "Iterator get_next_as_optional",
        "ops.data.optional": "Optional",
        "train.objects.iterator_saving": "make_saveable_from_iterator",
        "train.sessions.input_pipeline_hook": "CheckpointInputPipelineHook",
    },
    "contrib.proto": {
        "ops.parsing.proto_ops": "decode_proto encode_proto",
    },
    "contrib.nn": {
        "ops.nn.conv_public": "conv1d_transpose",
    },
    "contrib.stateless": {
        "ops.random.distributions_stateless": (
            "stateless_multinomial stateless_random_normal stateless_random_uniform "
            "stateless_truncated_normal"
        ),
    },
    "contrib.tensorboard.plugins.projector.projector_config_pb2": {
        "io.protos": "EmbeddingInfo ProjectorConfig SpriteMetadata",
    },
    "contrib.tfprof.model_analyzer": {"engine.deprecation": "deprecated"},
    "contrib.tfprof.tfprof_logger": {"engine.deprecation": "deprecated"},
    "contrib.util": {
        "io.meta_graph": "ops_used_by_graph_def stripped_op_list_for_graph",
    },
    "contrib.eager": {
        "engine.compat": "enable_eager_execution executing_eagerly",
        "engine.interface.specs": "TensorSpec",
        "ops.flow.custom_gradient": "custom_gradient",
        "ops.flow.gradient_tape": "GradientTape",
        "ops.flow.graph_functions": "function",
        "ops.state.template": "make_template",
        "train.objects.checkpoint": "Checkpoint",
    },
    "contrib.lookup": {
        "ops.lookup.tables": (
            "InitializableLookupTableBase KeyValueTensorInitializer LookupInterface "
            "TableInitializerBase TextFileIdTableInitializer TextFileIndex TextFileInitializer "
            "TextFileStringTableInitializer"
        ),
        "ops.lookup.vocabulary": (
            "FastHashSpec HasherSpec IdTableWithHashBuckets StrongHashSpec index_table_from_file "
            "index_to_string_table_from_file"
        ),
    },
}
for _space, _modules in _ALIASES.items():
    for _module, _names in _modules.items():
        for _name in _names.split():
            lazy(f"{_module}:{_name}", f"{_space}.{_name}")
for _target, _public in {
    "ops.data.experimental.csv:CsvDatasetV1": "data.CsvDataset",
    "ops.data.experimental.scanning:RandomDatasetV1": "data.RandomDataset",
    "ops.data.experimental.scanning:counter": "data.Counter",
    "engine.graph.trackable:Trackable": "checkpoint.CheckpointableBase",
    "ops.flow.python_function:eager_py_func": "eager.py_func",
    "ops.state.resource_variable:ResourceVariable": "eager.Variable",
    "train.objects.tracking:AutoTrackable": "eager.Checkpointable",
    "io.protos:TrackableObjectGraph": "checkpoint.CheckpointableObjectGraph",
}.items():
    lazy(_target, f"contrib.{_public}")


def _hparam_def() -> Any:
    from ...io import protos

    return protos.HParamDef()


def _to_proto(hparams: Any, export_scope: str | None = None) -> Any:
    return hparams.to_proto(export_scope=export_scope)


def _from_proto(hparam_def: object, import_scope: str | None = None) -> HParams:
    from .training.hparam import HParams

    return HParams.from_proto(hparam_def, import_scope=import_scope)


register_proto_function("hparams", _hparam_def, _to_proto, _from_proto)
