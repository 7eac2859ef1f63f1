# SPDX-License-Identifier: Apache-2.0
"""Where the names of `tf.keras` are: name below it -> ".module:name" of the package."""

from __future__ import annotations

_BACKEND = {
    "settings": ("epsilon floatx image_data_format set_epsilon set_floatx set_image_data_format"),
    "phase": (
        "get_uid in_test_phase in_train_phase learning_phase learning_phase_scope reset_uids "
        "set_learning_phase symbolic_learning_phase switch"
    ),
    "sessions": (
        "batch_get_value batch_set_value clear_session function get_session get_value "
        "manual_variable_initialization set_session set_value"
    ),
    "elements": (
        "abs all any arange argmax argmin backend batch_flatten cast cast_to_floatx clip "
        "concatenate constant cos count_params cumprod cumsum dtype equal eval exp expand_dims eye "
        "flatten foldl foldr gather gradients greater greater_equal identity is_keras_tensor "
        "is_placeholder is_sparse is_tensor l2_normalize less less_equal log map_fn max maximum "
        "mean min minimum moving_average_update ndim not_equal one_hot ones ones_like "
        "permute_dimensions placeholder pow print_tensor prod repeat repeat_elements reshape "
        "resize_images resize_volumes reverse round shape sigmoid sign sin spatial_2d_padding "
        "spatial_3d_padding sqrt square squeeze stack std stop_gradient sum tanh temporal_padding "
        "tile to_dense transpose update update_add update_sub var variable zeros zeros_like"
    ),
    "convolutions": (
        "bias_add conv1d conv2d conv2d_transpose conv3d conv3d_transpose depthwise_conv2d "
        "local_conv1d local_conv2d pool2d pool3d separable_conv2d"
    ),
    "networks": (
        "batch_dot batch_normalization binary_crossentropy categorical_crossentropy "
        "ctc_batch_cost ctc_decode "
        "ctc_label_dense_to_sparse dot dropout elu hard_sigmoid in_top_k "
        "normalize_batch_in_training relu "
        "softmax softplus softsign sparse_categorical_crossentropy"
    ),
    "random": (
        "random_binomial random_normal random_normal_variable random_uniform "
        "random_uniform_variable truncated_normal"
    ),
    "recurrence": "rnn",
}
_LAYERS = {
    "core": (
        "Activation ActivityRegularization Dense Dropout Flatten Lambda Masking Permute "
        "RepeatVector Reshape SpatialDropout1D SpatialDropout2D SpatialDropout3D"
    ),
    "activations": "ELU LeakyReLU PReLU ReLU Softmax ThresholdedReLU",
    "convolutional": (
        "Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose Convolution1D Convolution2D "
        "Convolution2DTranspose Convolution3D Convolution3DTranspose DepthwiseConv2D "
        "SeparableConv1D SeparableConv2D SeparableConvolution1D SeparableConvolution2D"
    ),
    "spatial": (
        "AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D "
        "Cropping1D Cropping2D Cropping3D GlobalAveragePooling1D GlobalAveragePooling2D "
        "GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D "
        "GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D "
        "MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D UpSampling1D "
        "UpSampling2D UpSampling3D ZeroPadding1D ZeroPadding2D ZeroPadding3D"
    ),
    "merge": (
        "Add Average Concatenate Dot Maximum Minimum Multiply Subtract add average concatenate dot "
        "maximum minimum multiply subtract"
    ),
    "normalization": (
        "AlphaDropout BatchNormalization GaussianDropout GaussianNoise LayerNormalization"
    ),
    "recurrent": "GRU LSTM RNN SimpleRNN",
    "conv_lstm": "ConvLSTM2D",
    "cudnn": "CuDNNGRU CuDNNLSTM",
    "cells": "AbstractRNNCell GRUCell LSTMCell SimpleRNNCell StackedRNNCells",
    "wrappers": "Bidirectional TimeDistributed Wrapper",
    "local": "LocallyConnected1D LocallyConnected2D",
    "lookup": "AdditiveAttention Attention Embedding",
    "table": "deserialize serialize",
}
_LOSSES = {
    "functions": (
        "KLD MAE MAPE MSE MSLE binary_crossentropy categorical_crossentropy categorical_hinge "
        "cosine cosine_proximity cosine_similarity hinge kld kullback_leibler_divergence logcosh "
        "mae mape mean_absolute_error mean_absolute_percentage_error mean_squared_error "
        "mean_squared_logarithmic_error mse msle poisson sparse_categorical_crossentropy "
        "squared_hinge"
    ),
    "objects": (
        "BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge Huber "
        "KLDivergence LogCosh Loss MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError "
        "MeanSquaredLogarithmicError Poisson Reduction SparseCategoricalCrossentropy SquaredHinge "
        "deserialize get serialize"
    ),
}
_METRICS = {
    "base": "Mean MeanTensor Metric Sum",
    "means": (
        "Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy CategoricalCrossentropy "
        "CategoricalHinge CosineSimilarity Hinge KLDivergence LogCoshError MeanAbsoluteError "
        "MeanAbsolutePercentageError MeanIoU MeanRelativeError MeanSquaredError "
        "MeanSquaredLogarithmicError Poisson RootMeanSquaredError SparseCategoricalAccuracy "
        "SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SquaredHinge "
        "TopKCategoricalAccuracy"
    ),
    "confusion": (
        "AUC FalseNegatives FalsePositives Precision Recall SensitivityAtSpecificity "
        "SpecificityAtSensitivity TrueNegatives TruePositives"
    ),
    "functions": (
        "binary_accuracy categorical_accuracy sparse_categorical_accuracy "
        "sparse_top_k_categorical_accuracy top_k_categorical_accuracy"
    ),
    "table": "deserialize get serialize",
}
_LOSS_METRICS = (
    "KLD MAE MAPE MSE MSLE binary_crossentropy categorical_crossentropy cosine cosine_proximity "
    "hinge kld kullback_leibler_divergence mae mape mean_absolute_error "
    "mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error mse msle "
    "poisson sparse_categorical_crossentropy squared_hinge"
)
_SCHEDULES = (
    "ExponentialDecay InverseTimeDecay LearningRateSchedule PiecewiseConstantDecay PolynomialDecay "
    "deserialize serialize"
)
_OPTIMIZERS = {
    "base": "Optimizer",
    "rules": "Adam Adamax Nadam RMSprop SGD",
    "further_rules": "Adadelta Adagrad Ftrl",
    "table": "deserialize get serialize",
}
_CALLBACKS = {
    "base": ("BaseLogger Callback History LambdaCallback ProgbarLogger TerminateOnNaN"),
    "files": (
        "CSVLogger EarlyStopping LearningRateScheduler ModelCheckpoint ReduceLROnPlateau "
        "RemoteMonitor"
    ),
    "listing": "CallbackList",
    "tensorboard": "TensorBoard",
}
_INITIALIZERS = (
    "Constant Identity Initializer Ones Orthogonal RandomNormal RandomUniform TruncatedNormal "
    "VarianceScaling Zeros constant deserialize get glorot_normal glorot_uniform he_normal "
    "he_uniform identity lecun_normal lecun_uniform normal ones orthogonal random_normal "
    "random_uniform serialize truncated_normal uniform zeros"
)
_UTILS = {
    "serialization": (
        "CustomObjectScope custom_object_scope deserialize_keras_object get_custom_objects "
        "serialize_keras_object"
    ),
    "utils.arrays": "normalize to_categorical",
    "utils.files": "HDF5Matrix get_file",
    "utils.drawing": "model_to_dot plot_model",
    "utils.models": "convert_all_kernels_in_model multi_gpu_model",
    "utils.progress": "Progbar",
    "utils.sequences": "GeneratorEnqueuer OrderedEnqueuer Sequence SequenceEnqueuer",
}
_IMAGE = {
    "image_arrays": "array_to_img img_to_array load_img save_img",
    "image_changes": (
        "apply_affine_transform apply_brightness_shift apply_channel_shift random_brightness "
        "random_channel_shift random_rotation random_shear random_shift random_zoom"
    ),
    "image_files": "DirectoryIterator",
    "image_iterators": "Iterator NumpyArrayIterator",
    "image_generator": "ImageDataGenerator",
}
_PREPROCESSING = {
    "sequence": "TimeseriesGenerator make_sampling_table skipgrams",
    "text": "Tokenizer hashing_trick one_hot text_to_word_sequence tokenizer_from_json",
}
# Family -> its networks and what it expects of pixels.
_APPLICATIONS = {
    "densenet": ("DenseNet121 DenseNet169 DenseNet201", "torch"),
    "inception_resnet_v2": ("InceptionResNetV2", "tf"),
    "inception_v3": ("InceptionV3", "tf"),
    "mobilenet": ("MobileNet", "tf"),
    "mobilenet_v2": ("MobileNetV2", "tf"),
    "nasnet": ("NASNetLarge NASNetMobile", "tf"),
    "resnet": ("ResNet101 ResNet152 ResNet50", "caffe"),
    "resnet50": ("ResNet50", "caffe"),
    "resnet_v2": ("ResNet101V2 ResNet152V2 ResNet50V2", "tf"),
    "vgg16": ("VGG16", "caffe"),
    "vgg19": ("VGG19", "caffe"),
    "xception": ("Xception", "tf"),
}
# Families whose file is another one's.
_FAMILY_FILES = {
    "inception_resnet_v2": "inception",
    "inception_v3": "inception",
    "mobilenet_v2": "mobilenet",
    "resnet50": "resnet",
    "resnet_v2": "resnet",
    "vgg16": "vgg",
    "vgg19": "vgg",
}
_ROOT = ".train.keras"


def _named(place: str, folder: str, modules: dict[str, str]) -> dict[str, str]:
    dot = f"{folder}." if folder else ""
    return {
        f"{place}.{name}": f"{_ROOT}.{dot}{module}:{name}"
        for module, names in modules.items()
        for name in names.split()
    }


def _applications() -> dict[str, str]:
    found = {}
    images = f"{_ROOT}.applications.images"
    for family, (networks, pixels) in _APPLICATIONS.items():
        module = f"{_ROOT}.applications.{_FAMILY_FILES.get(family, family)}"
        for name in networks.split():
            found[f"applications.{name}"] = found[f"applications.{family}.{name}"] = (
                f"{module}:{name}"
            )
        found[f"applications.{family}.preprocess_input"] = f"{images}:preprocess_{pixels}"
        found[f"applications.{family}.decode_predictions"] = f"{images}:decode_predictions"
    for name in ("preprocess_input", "decode_predictions"):
        found[f"applications.imagenet_utils.{name}"] = f"{images}:{name}"
    return found


NAMES: dict[str, str] = {
    **_applications(),
    **_named("backend", "backend", _BACKEND),
    "backend.int_shape": ".train.layers.nodes:int_shape",
    "backend.name_scope": "name_scope",
    **_named("layers", "layers", _LAYERS),
    "layers.Layer": ".train.layers.base_layer:Layer",
    "layers.InputSpec": ".train.layers.input_spec:InputSpec",
    **_named("layers", "engine", {"input_layer": "Input InputLayer"}),
    "layers.DenseFeatures": ".train.feature_column.dense_features:DenseFeatures",
    "experimental.SequenceFeatures": ".train.feature_column.dense_features:SequenceFeatures",
    **_named("losses", "losses", _LOSSES),
    **_named("metrics", "losses", {"functions": _LOSS_METRICS}),
    **_named("metrics", "metrics", _METRICS),
    **_named("optimizers", "optimizers", _OPTIMIZERS),
    **_named("optimizers.schedules", "optimizers", {"schedules": _SCHEDULES}),
    **_named(
        "experimental",
        "",
        {
            "optimizers.schedules": (
                "CosineDecay CosineDecayRestarts LinearCosineDecay NoisyLinearCosineDecay"
            ),
            "layers.cells": "PeepholeLSTMCell",
            "premade": "LinearModel WideDeepModel",
            "utils.sequences": "terminate_keras_multiprocessing_pools",
        },
    ),
    **_named("callbacks", "callbacks", _CALLBACKS),
    **_named("initializers", "", {"initializers": _INITIALIZERS}),
    **_named(
        "regularizers",
        "",
        {"regularizers": "L1L2 Regularizer deserialize get l1 l1_l2 l2 serialize"},
    ),
    **_named(
        "constraints",
        "",
        {
            "constraints": (
                "Constraint MaxNorm MinMaxNorm NonNeg RadialConstraint UnitNorm deserialize get "
                "max_norm min_max_norm non_neg radial_constraint serialize unit_norm"
            )
        },
    ),
    **_named(
        "activations",
        "",
        {
            "activations": (
                "deserialize elu exponential get hard_sigmoid linear relu selu serialize sigmoid "
                "softmax softplus softsign tanh"
            )
        },
    ),
    **_named("utils", "", _UTILS),
    "utils.get_source_inputs": f"{_ROOT}.engine.network_map:source_inputs",
    **_named(
        "models",
        "saving",
        {
            "models": (
                "clone_model load_model model_from_config model_from_json model_from_yaml "
                "save_model"
            )
        },
    ),
    "models.Model": f"{_ROOT}.engine.training:Model",
    "models.Sequential": f"{_ROOT}.engine.sequential:Sequential",
    **{
        f"experimental.{name}": f".train.estimator.keras_saved_models:{name}"
        for name in ("export_saved_model", "load_from_saved_model")
    },
    **{
        f"mixed_precision.experimental.{name}": f".train.layers.policy:{name}"
        for name in ("Policy", "global_policy", "set_policy")
    },
    "mixed_precision.experimental.LossScaleOptimizer": (
        f"{_ROOT}.optimizers.loss_scale:LossScaleOptimizer"
    ),
    "estimator.model_to_estimator": ".train.estimator.keras_models:model_to_estimator",
    "Model": f"{_ROOT}.engine.training:Model",
    "Sequential": f"{_ROOT}.engine.sequential:Sequential",
    "Input": f"{_ROOT}.engine.input_layer:Input",
    "preprocessing.sequence.pad_sequences": f"{_ROOT}.utils.arrays:pad_sequences",
    **{
        f"preprocessing.{module}.{name}": f"{_ROOT}.preprocessing.{module}:{name}"
        for module, names in _PREPROCESSING.items()
        for name in names.split()
    },
    **_named("preprocessing.image", "preprocessing", _IMAGE),
    **{
        f"datasets.{name}.load_data": f"{_ROOT}.datasets:load_{name}"
        for name in "boston_housing cifar10 cifar100 fashion_mnist imdb mnist reuters".split()
    },
    "datasets.imdb.get_word_index": f"{_ROOT}.datasets:imdb_word_index",
    "datasets.reuters.get_word_index": f"{_ROOT}.datasets:reuters_word_index",
    **_named("wrappers.scikit_learn", "utils", {"scikit_learn": "KerasClassifier KerasRegressor"}),
}
