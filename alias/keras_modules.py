# SPDX-License-Identifier: Apache-2.0
"""Where the modules below `tensorflow.python.keras` are found here, as module_map.py has others."""

from __future__ import annotations

_K = ".train.keras"
_HELPERS = ".alias.internals.keras_utils"
_ENGINE = {
    "base_layer": (
        ".train.layers.base_layer .train.layers.input_spec .train.layers.nodes "
        f"{_K}.engine.op_layer"
    ),
    "base_layer_utils": ".train.layers.weights .train.layers.nodes .train.layers.policy",
    "input_layer": f"{_K}.engine.input_layer",
    "input_spec": ".train.layers.input_spec .alias.internals.keras_utils",
    "network": f"{_K}.engine.network {_K}.engine.network_map",
    "node": ".train.layers.nodes",
    "saving": f"{_K}.saving.models {_K}.saving.hdf5",
    "sequential": f"{_K}.engine.sequential",
    "training": f"{_K}.engine.training",
    "training_utils": f".alias.internals.keras_training {_K}.engine.data {_K}.engine.endpoints",
}
# Where the classes of a module are that `tf.keras.layers` does not name, such as `_Merge`.
_LAYERS = {
    "advanced_activations": "activations",
    "convolutional": "convolutional",
    "core": "core",
    "local": "local",
    "merge": "merge",
    "noise": "normalization",
    "normalization": "normalization",
    "pooling": "spatial",
    "recurrent": "cells",
    "wrappers": "wrappers",
}
_OPTIMIZERS = "adadelta adagrad adam adamax ftrl gradient_descent nadam optimizer_v2 rmsprop"
_SAME = (
    "activations applications backend callbacks constraints datasets estimator initializers "
    "losses metrics models preprocessing preprocessing.image preprocessing.sequence "
    "preprocessing.text regularizers utils wrappers wrappers.scikit_learn"
)
_UTILS = {
    "conv_utils": f"{_HELPERS} {_K}.layers.connections .train.layers.utils",
    "data_utils": f"tf.keras.utils {_K}.utils.sequences {_K}.utils.files {_HELPERS}",
    "generic_utils": f"{_K}.serialization .train.layers.names tf.keras.utils {_K}.utils.generic",
    "io_utils": f"tf.keras.utils {_K}.engine.network_weights {_HELPERS}",
    "kernelized_utils": f"{_K}.layers.kernelized",
    "layer_utils": f"{_K}.utils.summary {_K}.utils.models tf.keras.utils",
    "losses_utils": f"{_K}.losses.objects {_K}.losses.ranks",
    "metrics_utils": f"{_K}.metrics.confusion",
    "mode_keys": ".alias.internals.mode_keys",
    "multi_gpu_utils": "tf.keras.utils",
    "np_utils": "tf.keras.utils",
    "tf_utils": (
        f".alias.internals.keras_view {_HELPERS} .train.layers.utils tf.contrib.framework"
    ),
    "vis_utils": "tf.keras.utils",
}
# The modules of `contrib.keras`, which were the way to Keras before `tf.keras`.
_OF_CONTRIB = (
    "activations backend callbacks constraints datasets datasets.boston_housing datasets.cifar10 "
    "datasets.cifar100 datasets.imdb datasets.mnist datasets.reuters initializers layers losses "
    "metrics models optimizers preprocessing preprocessing.image preprocessing.sequence "
    "preprocessing.text regularizers utils wrappers wrappers.scikit_learn"
)
MODULES = {
    "contrib.keras.api.keras": "tf.keras",
    **{f"contrib.keras.api.keras.{name}": f"tf.keras.{name}" for name in _OF_CONTRIB.split()},
    "python.keras": "tf.keras",
    **{f"python.keras.{name}": f"tf.keras.{name}" for name in _SAME.split()},
    **{f"python.keras.engine.{name}": homes for name, homes in _ENGINE.items()},
    **{
        f"python.keras.layers.{name}": (
            f"tf.keras.layers tf.keras.experimental {_K}.layers.style {_K}.layers.{home}"
        )
        for name, home in _LAYERS.items()
    },
    "python.keras.layers": "tf.keras.layers tf.keras.experimental",
    **{
        f"python.keras.layers.{name}": f"tf.keras.layers {_K}.layers.lookup"
        for name in ("dense_attention", "embeddings")
    },
    "python.keras.layers.convolutional_recurrent": f"tf.keras.layers {_K}.layers.conv_lstm",
    "python.keras.layers.kernelized": f"{_K}.layers.kernelized",
    "python.keras.layers.rnn_cell_wrapper_v2": f"{_K}.layers.cell_wrappers",
    "python.keras.layers.cudnn_recurrent": f"tf.keras.layers {_K}.layers.cudnn",
    "python.keras.layers.serialization": f"{_K}.layers.table",
    **{
        f"python.keras.optimizer_v2.{name}": f"tf.keras.optimizers {_K}.optimizers.base"
        for name in _OPTIMIZERS.split()
    },
    "python.keras.optimizer_v2.learning_rate_schedule": (
        f"tf.keras.optimizers.schedules {_K}.optimizers.schedules"
    ),
    # The module's own classes are Keras's first ones, not those of `tf.keras.optimizers`.
    "python.keras.optimizers": f"{_K}.optimizers.first {_K}.optimizers.table tf.keras.optimizers",
    "python.keras.models": f"tf.keras.models {_K}.saving.copies",
    "python.keras.callbacks_v1": "tf.keras.callbacks",
    "python.keras.layers.normalization_v2": "tf.keras.layers",
    "python.keras.layers.recurrent_v2": f"{_K}.layers.recurrent_v2",
    "python.keras.engine": f"{_K}.engine.network_map {_K}.engine.input_layer",
    "python.keras.saving": f"{_K}.saving.models",
    "python.keras.saving.saved_model_experimental": "tf.keras.experimental",
    "python.keras.saving.saved_model": f"{_K}.saving",
    "python.keras.saving.saved_model.load": (
        ".train.estimator.keras_object_models .train.estimator.keras_revived"
    ),
    "python.keras.saving.saved_model.save": (
        f".train.estimator.keras_object_models {_K}.saving.layer_objects "
        f"{_K}.saving.layer_functions"
    ),
    "python.keras.saving.hdf5_format": f"{_K}.saving.hdf5 {_K}.saving.conversion",
    "python.keras.saving.model_config": f"{_K}.saving.models",
    "python.keras.saving.save": f"{_K}.saving.models",
    "python.keras.saving.saving_utils": f"{_K}.saving.model_calls {_K}.saving.models",
    **{f"python.keras.utils.{name}": homes for name, homes in _UTILS.items()},
    "python.ops.init_ops_v2": f"{_K}.initializers_v2",
    "python.keras.keras_parameterized": ".alias.internals.keras_testing",
    "python.keras.testing_utils": ".alias.internals.keras_testing",
    "python.keras.backend_config": f"{_K}.backend.settings",
    "python.keras.mixed_precision.experimental": "tf.keras.mixed_precision.experimental",
    "python.keras.mixed_precision.experimental.policy": ".train.layers.policy",
    "python.keras.mixed_precision.experimental.autocast_variable": ".train.variables.auto_cast",
    "python.keras.mixed_precision.experimental.loss_scale_optimizer": (
        f"{_K}.optimizers.loss_scale"
    ),
}
# Module -> name -> where it is, under another name.
RENAMED = {
    "keras.utils.generic_utils": {"to_snake_case": ".train.layers.names:snake_case"},
    "keras.optimizer_v2.optimizer_v2": {"OptimizerV2": f"{_K}.optimizers.base:Optimizer"},
    "ops.losses.loss_reduction": {"ReductionV2": f"{_K}.losses.objects:Reduction"},
    "keras.utils.losses_utils": {"ReductionV2": f"{_K}.losses.objects:Reduction"},
    "keras.backend": {
        "_get_session": f"{_K}.backend.sessions:plain_session",
        "_initialize_variables": f"{_K}.backend.sessions:initialize",
        "get_graph": "get_default_graph",
        "dtypes_module": ".engine.types.dtypes",
        "local_conv": f"{_K}.backend.convolutions:local_conv",
        "variables_module": ".ops.state.variables",
    },
    "keras.saving.hdf5_format": {
        "save_weights_to_hdf5_group": f"{_K}.saving.hdf5:write_layers",
        "load_weights_from_hdf5_group": f"{_K}.saving.hdf5:read_layers",
        "load_weights_from_hdf5_group_by_name": f"{_K}.saving.hdf5:read_layers_by_name",
        "save_attributes_to_hdf5_group": f"{_K}.saving.hdf5:write_names",
        "load_attributes_from_hdf5_group": f"{_K}.saving.hdf5:read_names",
        "save_model_to_hdf5": f"{_K}.saving.models:save_model",
        "load_model_from_hdf5": f"{_K}.saving.models:load_model",
    },
    "keras.engine": {"get_source_inputs": f"{_K}.engine.network_map:source_inputs"},
    "keras.utils.mode_keys": {"ModeKeys": ".alias.internals.mode_keys:KerasModeKeys"},
    "keras.utils.metrics_utils": {
        "ragged_assert_compatible_and_get_flat_values": f"{_K}.metrics.ragged:flat_values"
    },
    "keras.models": {
        "_clone_functional_model": f"{_K}.saving.cloning:clone",
        "_clone_sequential_model": f"{_K}.saving.cloning:clone",
        "share_weights": f"{_K}.saving.cloning:share_weights",
    },
    "keras.initializers": {
        f"{name}V2": f"{_K}.initializers_v2:{name}"
        for name in (
            "Constant GlorotNormal GlorotUniform Identity Initializer Ones Orthogonal RandomNormal "
            "RandomUniform TruncatedNormal VarianceScaling Zeros he_normal he_uniform lecun_normal "
            "lecun_uniform"
        ).split()
    },
    "keras.losses": {"LossFunctionWrapper": f"{_K}.losses.objects:LossFunctionWrapper"},
    "keras.optimizers": {
        f"{module}_v2": f"{_K}.optimizers.{home}"
        for home, modules in (
            ("rules", "gradient_descent rmsprop adam adamax nadam"),
            ("further_rules", "adagrad adadelta"),
        )
        for module in modules.split()
    },
    "keras.mixed_precision.experimental.autocast_variable": {
        "AutoCastDistributedVariable": ".train.variables.auto_cast:AutoCastVariable"
    },
    "keras.engine.base_layer_utils": {"make_variable": ".train.layers.weights:make_variable"},
}
