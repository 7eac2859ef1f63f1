# SPDX-License-Identifier: Apache-2.0
"""Arguments that functions of `tf.compat.v2` take in another order, or under other names.

Libraries that compare signatures, as TensorFlow Probability does, find those of TensorFlow 1.15.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from ...engine.syntax import tree_of

# Public names -> arguments, with their defaults, as behind a `def`.  What stands as an annotation
# is the name of the function here, and behind the star is what it is given besides.
_FORMS = {
    "argmax argmin math.argmax math.argmin": "input, axis=None, output_type=tf.int64, name=None",
    "assert_equal assert_greater assert_less debugging.assert_equal debugging.assert_greater "
    "debugging.assert_greater_equal debugging.assert_less debugging.assert_less_equal": (
        "x, y, message=None, summarize=None, name=None"
    ),
    "assert_rank debugging.assert_rank debugging.assert_rank_at_least": (
        "x, rank, message=None, name=None"
    ),
    "batch_to_space": "input, block_shape, crops, name=None",
    "boolean_mask": "tensor, mask, axis=None, name='boolean_mask'",
    "cond": "pred, true_fn=None, false_fn=None, name=None, *, strict=True",
    "constant": "value, dtype=None, shape=None, name='Const'",
    "convert_to_tensor": "value, dtype=None, dtype_hint=None, name=None",
    "debugging.assert_all_finite": "x, message, name=None",
    "debugging.assert_near": (
        "x, y, rtol=None, atol=None, message=None, summarize=None, name=None"
    ),
    "debugging.assert_negative debugging.assert_non_negative debugging.assert_non_positive "
    "debugging.assert_positive": "x, message=None, summarize=None, name=None",
    "debugging.assert_none_equal": "x, y, summarize=None, message=None, name=None",
    "debugging.assert_rank_in": "x, ranks, message=None, name=None",
    "debugging.assert_scalar": "tensor, message=None, name=None",
    "device": "device_name: device_name_or_function",
    "expand_dims": "input, axis, name=None",
    "feature_column.categorical_column_with_vocabulary_file": (
        "key, vocabulary_file, vocabulary_size=None, dtype=tf.string, default_value=None, "
        "num_oov_buckets=0"
    ),
    "gather": "params, indices, validate_indices=None, axis=None, batch_dims=0, name=None",
    "gather_nd": "params, indices, batch_dims=0, name=None",
    "gradients": (
        "ys, xs, grad_ys=None, name='gradients', gate_gradients=False, aggregation_method=None, "
        "stop_gradients=None, unconnected_gradients=tf.UnconnectedGradients.NONE, *, "
        "colocate_gradients_with_ops=True"
    ),
    "hessians": (
        "ys, xs, gate_gradients=False, aggregation_method=None, name='hessians', *, "
        "colocate_gradients_with_ops=True"
    ),
    "image.crop_and_resize": (
        "image, boxes, box_indices, crop_size, method='bilinear', extrapolation_value=0, name=None"
    ),
    "io.decode_csv": (
        "records, record_defaults, field_delim=',', use_quote_delim=True, na_value='', "
        "select_cols=None, name=None"
    ),
    "io.parse_example io.parse_single_example": (
        "serialized, features, example_names=None, name=None"
    ),
    "io.serialize_many_sparse io.serialize_sparse": "sp_input, out_type=tf.string, name=None",
    "linalg.l2_normalize math.l2_normalize nn.l2_normalize": (
        "x, axis=None, epsilon=1e-12, name=None"
    ),
    "linalg.norm norm": "tensor, ord='euclidean', axis=None, keepdims=None, name=None",
    "math.confusion_matrix": (
        "labels, predictions, num_classes=None, weights=None, dtype=tf.int32, name=None"
    ),
    "math.count_nonzero": "input, axis=None, keepdims=None, dtype=tf.int64, name=None",
    "math.in_top_k nn.in_top_k": "targets, predictions, k, name=None",
    "math.log_softmax math.softmax nn.log_softmax nn.softmax": "logits, axis=None, name=None",
    "math.reduce_all math.reduce_any math.reduce_logsumexp math.reduce_max math.reduce_mean "
    "math.reduce_min math.reduce_prod math.reduce_sum reduce_all reduce_any reduce_logsumexp "
    "reduce_max reduce_mean reduce_min reduce_prod reduce_sum": (
        "input_tensor, axis=None, keepdims=False, name=None"
    ),
    "nn.avg_pool2d": ("input: value, ksize, strides, padding, data_format='NHWC', name=None"),
    "nn.batch_norm_with_global_normalization": (
        "input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None"
    ),
    "nn.conv1d": "input, filters, stride, padding, data_format='NWC', dilations=None, name=None",
    "nn.conv2d": "input, filters, strides, padding, data_format='NHWC', dilations=None, name=None",
    "nn.conv2d_transpose": (
        "input, filters, output_shape, strides, padding='SAME', data_format='NHWC', "
        "dilations=None, name=None"
    ),
    "nn.conv3d": "input, filters, strides, padding, data_format='NDHWC', dilations=None, name=None",
    "nn.conv3d_transpose": (
        "input, filters, output_shape, strides, padding='SAME', data_format='NDHWC', "
        "dilations=None, name=None"
    ),
    "nn.convolution": (
        "input, filters, strides=None, padding='VALID', data_format=None, dilations=None, name=None"
    ),
    "nn.crelu": "features, axis=-1, name=None",
    "nn.depth_to_space nn.space_to_depth": "input, block_size, data_format='NHWC', name=None",
    "nn.depthwise_conv2d": (
        "input, filter, strides, padding, data_format=None, dilations=None, name=None"
    ),
    "nn.embedding_lookup": ("params, ids, max_norm=None, name=None, *, partition_strategy='div'"),
    "nn.embedding_lookup_sparse": (
        "params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None, *, "
        "partition_strategy='div'"
    ),
    "nn.max_pool_with_argmax": (
        "input, ksize, strides, padding, data_format='NHWC', output_dtype=tf.int64, "
        "include_batch_in_index=False, name=None"
    ),
    "nn.moments": "x, axes, shift=None, keepdims=False, name=None",
    "nn.pool": (
        "input, window_shape, pooling_type, strides=None, padding='VALID', data_format=None, "
        "dilations=None, name=None"
    ),
    "nn.separable_conv2d": (
        "input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, "
        "dilations=None, name=None"
    ),
    "nn.sigmoid_cross_entropy_with_logits": "labels=None, logits=None, name=None",
    "nn.softmax_cross_entropy_with_logits": "labels, logits, axis=-1, name=None",
    "nn.space_to_batch space_to_batch": "input, block_shape, paddings, name=None",
    "nn.sparse_softmax_cross_entropy_with_logits": "labels, logits, name=None",
    "nn.sufficient_statistics": "x, axes, shift=None, keepdims=False, name=None",
    "nn.weighted_cross_entropy_with_logits": "labels, logits, pos_weight, name=None",
    "nn.weighted_moments": "x, axes, frequency_weights, keepdims=False, name=None",
    "ones_like zeros_like": "input: tensor, dtype=None, name=None",
    "pad": "tensor, paddings, mode='CONSTANT', constant_values=0, name=None",
    "random.poisson": "shape, lam, dtype=tf.float32, seed=None, name=None",
    "reverse_sequence": "input, seq_lengths, seq_axis=None, batch_axis=None, name=None",
    "shape size": "input, out_type=tf.int32, name=None",
    "sparse.add": "a, b, threshold=0",
    "sparse.concat": "axis, sp_inputs, expand_nonconcat_dims=False, name=None",
    "sparse.segment_mean sparse.segment_sqrt_n sparse.segment_sum": (
        "data, indices, segment_ids, num_segments=None, name=None"
    ),
    "sparse.split": "sp_input=None, num_split=None, axis=None, name=None",
    "squeeze": "input, axis=None, name=None",
    "strings.length": "input, unit='BYTE', name=None",
    "strings.reduce_join": "inputs, axis=None, keepdims=False, separator='', name=None",
    "strings.substr": "input, pos, len, unit='BYTE', name=None",
    "strings.to_hash_bucket": "input, num_buckets, name=None",
    "strings.to_number": "input, out_type=tf.float32, name=None",
    "transpose": "a, perm=None, conjugate=False, name='transpose'",
    "tuple": "tensors, control_inputs=None, name=None",
    "while_loop": (
        "cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, "
        "swap_memory=False, maximum_iterations=None, name=None, *, return_same_structure=True"
    ),
}
# Names that mean another function, which has a public name or stands beside that of version 1.
_INSTEAD = {
    "batch_to_space": "batch_to_space_nd",
    "nn.space_to_batch": "space_to_batch_nd",
    "random.set_seed": "set_random_seed",
    "space_to_batch": "space_to_batch_nd",
    "feature_column.make_parse_example_spec": ":make_parse_example_spec_v2",
    "image.draw_bounding_boxes": ":draw_bounding_boxes_v2",
    "image.extract_glimpse": ":extract_glimpse_v2",
    "image.resize": ":resize_images_v2",
    "image.sample_distorted_bounding_box": ":sample_distorted_bounding_box_v2",
    "nn.avg_pool": ":avg_pool_v2",
    "nn.dropout": ":dropout_v2",
    "nn.fractional_avg_pool": ":fractional_avg_pool_v2",
    "nn.fractional_max_pool": ":fractional_max_pool_v2",
    "nn.max_pool": ":max_pool_v2",
    "nn.nce_loss": ":nce_loss_v2",
    "nn.safe_embedding_lookup_sparse": ":safe_embedding_lookup_sparse_v2",
    "nn.sampled_softmax_loss": ":sampled_softmax_loss_v2",
    "nn.softmax_cross_entropy_with_logits": "nn.softmax_cross_entropy_with_logits_v2",
    "where": "where_v2",
}


class Form(NamedTuple):
    """How a function is called in version 2, and what it is given here."""

    signature: inspect.Signature
    names: dict[str, str]
    fixed: dict[str, object]

    def adapt(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with these arguments."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            bound = self.signature.bind(*args, **kwargs)
            given = {self.names[name]: value for name, value in bound.arguments.items()}
            return function(**self.fixed, **{**self.__defaults, **given})

        vars(call).update(__signature__=self.signature)
        del call.__wrapped__  # Its arguments are not those of the function inside.
        return call

    @property
    def __defaults(self) -> dict[str, object]:
        """What is passed on for arguments that are not given: the functions' own may differ."""
        return {
            self.names[name]: parameter.default
            for name, parameter in self.signature.parameters.items()
            if parameter.default is not parameter.empty
        }


def form_of(name: str) -> Form | None:
    """The form of a public name; None if it is called as in version 1."""
    text = _by_name().get(name)
    return None if text is None else _parsed(text)


def public_names() -> tuple[str, ...]:
    """All names whose arguments differ."""
    return tuple(_by_name())


def function_of(name: str) -> Any:
    """What a public name means in version 2, with its own arguments.

    Raises:
        AttributeError: there is nothing of this name.
    """
    found, form = target_of(name), form_of(name)
    return found if form is None else form.adapt(found)


def target_of(name: str) -> Any:
    """The function here that a public name of version 2 calls."""
    path = _INSTEAD.get(name, name)
    if path.startswith(":"):
        return getattr(importlib.import_module(_public(name).__module__), path[1:])
    return _public(path)


def _public(path: str) -> Any:
    return operator.attrgetter(path)(importlib.import_module(__package__.partition(".")[0]))


@functools.cache
def _by_name() -> dict[str, str]:
    return {name: text for names, text in _FORMS.items() for name in names.split()}


@functools.cache
def _parsed(text: str) -> Form:
    definition = tree_of(f"def form({text}): ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    arguments = definition.args
    first = len(arguments.args) - len(arguments.defaults)
    defaults = [inspect.Parameter.empty] * first + [_value(d) for d in arguments.defaults]
    parameters = [
        inspect.Parameter(a.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
        for a, value in zip(arguments.args, defaults)
    ]
    names = {a.arg: ast.unparse(a.annotation) if a.annotation else a.arg for a in arguments.args}
    fixed = {a.arg: _value(d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)}
    return Form(inspect.Signature(parameters), names, fixed)


def _value(node: ast.expr | None) -> Any:
    """A literal, or what a public name stands for."""
    assert node is not None
    is_name = isinstance(node, ast.Attribute)
    return _public(ast.unparse(node).removeprefix("tf.")) if is_name else ast.literal_eval(node)
