# SPDX-License-Identifier: Apache-2.0
"""Names that internal modules of TensorFlow have for what this package calls differently.

A row is a module by its path below `tensorflow.python`, and what its names mean: a public name, a
module of this package and a name in it, or such a module alone.
"""

from __future__ import annotations

from . import keras_modules, renamed_contrib

# Room of columns -> names that 1.x has below an underscore, and that mean the same here.
_COLUMN_NAMES = {
    "numeric": "BucketizedColumn NumericColumn bucketized_column numeric_column",
    "categorical": (
        "HashedCategoricalColumn IdentityCategoricalColumn VocabularyFileCategoricalColumn "
        "VocabularyListCategoricalColumn WeightedCategoricalColumn "
        "categorical_column_with_hash_bucket categorical_column_with_identity "
        "categorical_column_with_vocabulary_file categorical_column_with_vocabulary_list "
        "weighted_categorical_column"
    ),
    "crossed": "CrossedColumn crossed_column",
    "embedding": "EmbeddingColumn embedding_column",
    "indicator": "IndicatorColumn indicator_column",
}

# Module -> {name there: public name or ".module:attribute"}, where the names differ.
_MODES = ".train.estimator.mode_keys:ModeKeys"
_MODE_TABLES = {
    name: f".alias.internals.mode_keys:{name}" for name in ("EXPORT_TAG_MAP", "SIGNATURE_KEY_MAP")
}
RENAMED = {
    **renamed_contrib.RENAMED,
    "saved_model.model_utils": {"EstimatorModeKeys": _MODES, **_MODE_TABLES},
    "saved_model.model_utils.export_utils": _MODE_TABLES,
    "estimator.estimator": {
        "_check_hooks_type": ".train.estimator.settings:checked_hooks",
        "_check_listeners_type": ".train.estimator.settings:checked_listeners",
    },
    "estimator.canned.head": {
        "_multi_class_head_with_softmax_cross_entropy_loss": "contrib.estimator.multi_class_head",
        "_binary_logistic_head_with_sigmoid_cross_entropy_loss": (
            "contrib.estimator.binary_classification_head"
        ),
        "_regression_head": "contrib.estimator.regression_head",
    },
    "feature_column.feature_column": {
        **{
            f"_{name}": f".train.feature_column.{room}:{name}"
            for room, names in _COLUMN_NAMES.items()
            for name in names.split()
        },
        "_internal_input_layer": ".train.feature_column.input_layer:internal_input_layer",
        "_transform_features": ".train.feature_column.input_layer:transform_features",
        "_SequenceCategoricalColumn": (
            ".train.feature_column.sequence_feature_column:SequenceCategoricalColumn"
        ),
    },
    "feature_column.feature_column_v2": {
        "_check_shape": ".train.feature_column.checks:checked_shape",
        "_transform_features_v2": ".train.feature_column.input_layer:transform_features_v2",
    },
    "feature_column.serialization": {
        "_column_name_with_class_name": (
            ".train.feature_column.serialization:column_name_with_class_name"
        ),
    },
    "feature_column.sequence_feature_column": {
        "_assert_all_equal_and_return": (
            ".train.feature_column.sequence_feature_column:assert_all_equal_and_return"
        ),
    },
    "contrib.feature_column.python.feature_column.sequence_feature_column": {
        "concatenate_context_input": (
            ".train.feature_column.sequence_feature_column:concatenate_context_input"
        ),
    },
    "contrib.framework.python.framework": {
        "experimental": ".train.contrib.framework.experimental:experimental",
    },
    "framework.config": {"set_optimizer_jit": "config.optimizer.set_jit"},
    **keras_modules.RENAMED,
    "framework.constant_op": {"constant_v1": "constant"},
    "framework.device": {"DeviceSpecV1": "DeviceSpec"},
    "framework.function": {
        "_DefinedFunction": ".ops.flow.function_library:DefinedFunction",
        "_FuncGraph": ".ops.flow.function_graph:FuncGraph",
        "_OverloadedFunction": ".ops.flow.function_library:OverloadedFunction",
        "_from_definition": ".ops.flow.function_library:from_definition",
    },
    "framework.tensor_shape": {"TensorShapeV1": "TensorShape"},
    "framework.tensor_util": {
        "constant_value": ".engine.graph.constants:constant_value",
        "TensorShapeProtoToList": ".io.tensor_proto:tensor_shape_proto_to_list",
        "ShapeEquals": ".io.tensor_proto:shape_equals",
    },
    "framework.versions": {
        "__version__": ".io.versions:VERSION",
        "__git_version__": ".io.versions:GIT_VERSION",
        "__compiler_version__": ".io.versions:COMPILER_VERSION",
    },
    "ops.init_ops": {
        "identity_initializer": "initializers.identity",
        "Constant": "constant_initializer",
        "GlorotNormal": "glorot_normal_initializer",
        "GlorotUniform": "glorot_uniform_initializer",
        "Identity": "initializers.identity",
        "Ones": "ones_initializer",
        "Orthogonal": "orthogonal_initializer",
        "RandomNormal": "random_normal_initializer",
        "RandomUniform": "random_uniform_initializer",
        "TruncatedNormal": "truncated_normal_initializer",
        "UniformUnitScaling": "uniform_unit_scaling_initializer",
        "VarianceScaling": "variance_scaling_initializer",
        "Zeros": "zeros_initializer",
    },
    "ops.list_ops": {"_build_element_shape": ".ops.flow.tensor_list:shape_argument"},
    "ops.math_ops": {
        "matvec": "linalg.matvec",
        "mul": "multiply",
        "neg": "negative",
        "sub": "subtract",
        "_bucketize": ".ops.math.range:bucketize",
    },
    "ops.logging_ops": {
        name: f".train.contrib.deprecated:{name}"
        for name in (
            "audio_summary histogram_summary image_summary merge_all_summaries merge_summary "
            "scalar_summary"
        ).split()
    },
    "ops.lookup_ops": {
        "StaticHashTableV1": ".ops.lookup.tables:StaticHashTable",
        "StaticVocabularyTableV1": ".ops.lookup.vocabulary:StaticVocabularyTable",
    },
    "ops.parsing_ops": {
        "decode_raw": ".ops.strings.decoding:decode_raw",
        "decode_raw_v1": "decode_raw",
    },
    "ops.linalg.linalg_impl": {"matrix_exponential": "linalg.expm"},
    "ops.variables": {
        "Variable": ".alias.helpers:Variable",
        "VariableV1": "Variable",
        "RefVariable": "Variable",
        "_try_guard_against_uninitialized_dependencies": ".ops.state.variable_guards:guarded",
        "VariableAggregationV2": "VariableAggregation",
        "_all_saveable_objects": ".train.checkpoints.meta_graph:all_saveable_objects",
    },
    "ops.variable_scope": {
        "_get_unique_variable_scope": ".ops.state.variable_scope:_unique_variable_scope",
        "_pure_variable_scope": ".ops.state.variable_scope:_PureVariableScope",
        "variable": "Variable",
        "_VariableStore": ".ops.state.variable_store:VariableStore",
        "_DEFAULT_USE_RESOURCE": ".ops.state.variable_store:default_use_resource",
    },
    "summary.writer.writer": {"_PLUGINS_DIR": ".train.summaries.plugin_asset:FOLDER"},
    "ops.nn_ops": {
        "softmax_v2": "nn.softmax",
        "log_softmax_v2": "nn.log_softmax",
        "conv2d_transpose_v2": "nn.conv2d_transpose",
        "conv3d_transpose_v2": "nn.conv3d_transpose",
    },
    "ops.nn_impl": {"moments_v2": "nn.moments", "l2_normalize_v2": "nn.l2_normalize"},
    "framework.ops": {
        "name_scope_v1": "name_scope",
        "TensorLike": "Tensor",
        "_get_graph_from_inputs": ".engine.graph.scope_functions:get_graph_from_inputs",
    },
    "ops.metrics_impl": {
        "metric_variable": ".ops.metrics.state:metric_variable",
    },
    "ops.rnn": {
        "_best_effort_input_batch_size": ".train.rnn.step:best_effort_input_batch_size",
        "_concat": ".train.rnn.cell:concat",
        "_transpose_batch_time": ".train.rnn.step:transpose_batch_time",
    },
    "ops.rnn_cell_impl": {
        "_WEIGHTS_VARIABLE_NAME": ".train.rnn.cell:WEIGHTS_NAME",
        "_BIAS_VARIABLE_NAME": ".train.rnn.cell:BIAS_NAME",
        "_concat": ".train.rnn.cell:concat",
        "_zero_state_tensors": ".train.rnn.cell:zero_state_tensors",
        # Of versions before 1.15, which cells of programs are made of.
        "_Linear": ".train.contrib.rnn.core_rnn_cell:_Linear",
        "_linear": ".train.contrib.rnn.core_rnn_cell:_linear",
        "_like_rnncell": ".alias.internals.cells:like_rnncell",
    },
    "pywrap_tensorflow": {
        "EventsWriter": ".alias.internals.events_writer:EventsWriter",
        "NewCheckpointReader": "train.NewCheckpointReader",
        "TF_GetAllOpList": ".io.op_def_registry:all_op_list",
        "TF_GetBuffer": ".io.op_def_registry:bytes_of_buffer",
        "TF_bfloat16_type": ".engine.types.dtypes:_bfloat16",
    },
}

# What TensorFlow's modules call others that they import, and what programs find there: `rnn.vs`.
NICKNAMES = {
    "base_layer": "python.layers.base",
    "core_layers": "python.layers.core",
    "distribution_lib": "python.ops.distributions.distribution",
    "estimator_lib": "python.estimator.estimator",
    "export_lib": "python.estimator.export.export",
    "file_io": "python.lib.io.file_io",
    "fwd_compat": "python.compat.compat",
    "layers_core": "python.layers.core",
    "meta_graph_lib": "python.framework.meta_graph",
    "metrics_lib": "python.ops.metrics",
    "model_fn_lib": "python.estimator.model_fn",
    "optimizer_lib": "python.training.optimizer",
    "pydev": "python.framework.device",
    "pywrap_tensorflow": "python.pywrap_tensorflow",
    "run_config": "python.estimator.run_config",
    "saved_model_builder": "python.saved_model.builder",
    "saver_lib": "python.training.saver",
    "session": "python.client.session",
    "session_lib": "python.client.session",
    "signature_def_utils": "python.saved_model.signature_def_utils",
    "sparse_tensor_lib": "python.framework.sparse_tensor",
    "summary": "python.summary.summary",
    "tag_constants": "python.saved_model.tag_constants",
    "tf_optimizer": "python.training.optimizer",
    "tf_saver": "python.training.saver",
    "tf_session": "python.client.session",
    "tf_variables": "python.ops.variables",
    "trackable": "python.training.tracking.base",
    "variables_lib": "python.ops.variables",
    "vs": "python.ops.variable_scope",
    **{
        f"{name}_pb2": f"core.{folder}.{name}_pb2"
        for folder, names in {
            "framework": "attr_value function graph node_def summary types variable versions",
            "protobuf": "config meta_graph rewriter_config saved_model saver",
        }.items()
        for name in names.split()
    },
}
