# SPDX-License-Identifier: Apache-2.0
"""Internal modules of TensorFlow's: what they answer, and how what is absent fails."""

from __future__ import annotations

import collections.abc
import functools
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.alias import finder
from numbaflow.alias.internals import eager, forms_v2, framework, functions, products
from numbaflow.alias.internals.compat_v2 import V2

pytestmark = pytest.mark.pure
# A module whose classes have no counterpart.
_PREPROCESSING = "python.keras.engine.base_preprocessing_layer"


def view(path: str) -> Any:
    """The module of this path below `tensorflow`, as `import` gives it."""
    return finder.resolve(f"tensorflow.{path}")


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("python.util.tf_decorator", "make_decorator unwrap rewrap TFDecorator"),
        ("python.util.tf_inspect", "getargspec getfullargspec isclass ismethod getcallargs"),
        ("python.util.function_utils", "fn_args has_kwargs get_func_name get_func_code"),
        ("python.util.deprecation", "silence deprecated_args deprecated deprecated_alias"),
        ("python.eager.context", "executing_eagerly context graph_mode in_eager_mode num_gpus"),
        ("python.eager.backprop", "GradientTape implicit_grad make_vjp"),
        ("python.eager.tape", "Tape"),
        ("python.framework.ops", "_TensorLike EagerTensor _get_graph_from_inputs init_scope"),
        ("python.framework.test_util", "TensorFlowTestCase run_deprecated_v1 assert_ops_in_graph"),
        ("python.client.device_lib", "list_local_devices"),
        ("python.ops.control_flow_util", "GraphOrParentsInXlaContext IsInWhileLoop"),
        ("python.ops.metrics_impl", "metric_variable _remove_squeezable_dimensions"),
        ("python.estimator.head.base_head", "Head"),
        ("python.estimator.head.regression_head", "RegressionHead PoissonRegressionHead"),
        ("python.tpu.tpu_function", "get_tpu_context"),
        ("python.tpu.tpu_config", "RunConfig TPUConfig InputPipelineConfig"),
        ("python.tpu.tpu_estimator", "TPUEstimator TPUEstimatorSpec"),
        ("python.debug", "LocalCLIDebugWrapperSession has_inf_or_nan"),
        ("python.debug.wrappers.hooks", "LocalCLIDebugHook"),
        ("python.distribute.distribution_strategy_context", "get_replica_context has_strategy"),
        ("python.profiler.model_analyzer", "profile"),
        ("python.saved_model.nested_structure_coder", "StructureCoder"),
        ("python.ops.init_ops", "identity_initializer"),
        ("python.estimator.canned.prediction_keys", "PredictionKeys"),
        ("python.estimator.canned.head", "_multi_class_head_with_softmax_cross_entropy_loss"),
        ("python.ops.summary_op_util", "clean_tag collect summary_scope"),
        ("python.ops.linalg_ops", "log_matrix_determinant tridiagonal_mat_mul"),
        ("python.ops.math_ops", "matvec"),
        ("python.util.compat", "collections_abc as_bytes"),
        ("python.distribute.multi_worker_util", "is_chief normalize_cluster_spec id_in_cluster"),
        ("python.feature_column.dense_features_v2", "DenseFeatures"),
        ("python.tf2", "enabled enable disable"),
    ],
)
def test_names_that_libraries_import(module: str, names: str) -> None:
    found = view(module)
    assert not [name for name in names.split() if not hasattr(found, name)]


def test_modes_have_the_names_of_estimators_and_of_keras() -> None:
    modes = view("python.saved_model.model_utils.mode_keys")
    found = modes.ModeKeyMap(predict=3, eval=1)
    assert found["infer"] == found["predict"] == 3 and found[modes.KerasModeKeys.TEST] == 1
    assert list(found) == ["predict", "eval"] and len(found) == 2 and "train" not in found
    for given in ({"predict": 3, "infer": 1}, {"serve": 1}):
        with pytest.raises(ValueError, match="mode"):
            modes.ModeKeyMap(**given)


def test_arguments_of_functions() -> None:
    def inner(a: int, b: int = 1, *rest: int, **named: int) -> None:
        pass

    class Callable_:
        def __call__(self, x: int, y: int) -> None:
            pass

        def method(self, z: int) -> None:
            pass

    assert functions.fn_args(inner) == ("a", "b")
    assert functions.fn_args(functools.partial(inner, 1)) == ("b",)
    assert functions.fn_args(functools.partial(inner, b=2)) == ("a",)
    assert functions.fn_args(Callable_()) == ("x", "y")
    assert functions.fn_args(Callable_().method) == ("z",)
    assert functions.has_kwargs(inner) and not functions.has_kwargs(Callable_())
    assert functions.getargspec(inner) == (["a", "b"], "rest", "named", (1,))
    spec = functions.getargspec(functools.partial(inner, b=3))
    assert spec.args == ["a", "b"] and spec.defaults == (3,)
    assert functions.get_func_code(inner) is inner.__code__
    with pytest.raises(TypeError, match="should be a function-like object"):
        functions.has_kwargs(3)


def test_inspecting_looks_within_decorators() -> None:
    class Made:
        def __new__(cls, a: int, b: int = 1) -> Made:
            return super().__new__(cls)

    def inner(a: int, b: int, c: int = 3) -> int:
        return a

    outer = functions.TFDecorator("outer", inner)
    assert functions.isfunction(outer) and not functions.isclass(outer)
    assert functions.isroutine(len) and not functions.isroutine(functions.TFDecorator("x", Made))
    assert functions.getfile(outer) == __file__
    assert functions.getargspec(Made) == (["cls", "a", "b"], None, None, (1,))
    told = functions.TFDecorator("told", inner, "", functions.ArgSpec(["x"], None, None, (7,)))
    assert functions.getcallargs(told) == {"x": 7}
    assert functions.getcallargs(outer, 1, c=5) == {"a": 1, "c": 5}
    with pytest.raises(ValueError, match=r"Some arguments \['b'\] do not have default value, but"):
        functions.getargspec(functools.partial(inner, a=0))
    with pytest.raises(ValueError, match="unknown partial keyword"):
        functions.getargspec(functools.partial(inner, d=0))


def test_the_gradient_of_batch_norms_has_its_internal_name() -> None:
    x = tf.ones([2, 3, 3, 4])
    norm = finder.resolve("tensorflow.python.ops.nn_grad")._BatchNormGrad
    made = norm(x, x, tf.ones([4]), tf.zeros([4]), tf.ones([4]), 0.1, b"NHWC", False)
    assert [one.shape.as_list() for one in made] == [[2, 3, 3, 4], [4], [4]]


def test_parts_and_copies_of_datasets() -> None:
    parts = finder.resolve("tensorflow.python.distribute.input_ops")
    whole = tf.data.Dataset.range(6).map(lambda x: x * 10)
    first, copy = parts.auto_shard_dataset(whole, 2, 1), parts._clone_dataset(whole)
    types = {op.type for op in tf.get_default_graph().get_operations()}
    assert first.element_spec == whole.element_spec == copy.element_spec
    assert "AutoShardDataset" in types
    assert copy._variant_tensor.op.type == whole._variant_tensor.op.type
    assert copy._variant_tensor.op.inputs[0].op is not whole._variant_tensor.op.inputs[0].op
    options = tf.data.Options()
    options.experimental_distribute.auto_shard = False
    plain = whole.with_options(options)
    assert parts.auto_shard_dataset(plain, 2, 1) is plain


def test_decorators_know_what_is_inside() -> None:
    def inner(a: int) -> int:
        return a

    def outer(*args: int) -> int:
        return inner(*args) + 1

    made = functions.make_decorator(inner, outer, "twice")
    decorators, target = functions.unwrap(made)
    assert target is inner and [one.decorator_name for one in decorators] == ["twice"]
    assert made(1) == 2 and made.__name__ == "inner" and functions.fn_args(made) == ("a",)
    functions.rewrap(made, inner, outer)
    assert functions.unwrap(inner) == ([], inner)
    decorators, _ = functions.unwrap(functions.make_decorator(inner, outer))
    assert decorators[0].decorator_name == "test_decorators_know_what_is_inside"


def test_modules_have_no_special_attributes_by_chance() -> None:
    """`inspect.getmodule` asks all modules for their files, and takes an AttributeError for no."""
    for module in (tf.nn, finder.resolve("tensorflow.python.ops.array_ops")):
        assert not hasattr(module, "__file__"), module
        with pytest.raises(AttributeError, match=f"^module '{module.__name__}' has no attr"):
            _ = module.__wrapped__


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (products.GrpcDebugWrapperSession, "GrpcDebugWrapperSession"),
        (eager.eager_mode, "eager_mode"),
        (eager.Tape, "tensorflow.python.eager.tape.Tape"),
    ],
)
def test_what_is_absent_fails_with_its_name(thing: Any, name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"{name} is not in numbaflow"):
        thing(tf.Session(), ui_type="curses")

    class Mine(thing):
        pass

    with pytest.raises(NotImplementedError, match="is not in numbaflow"):
        Mine()


def test_questions_have_answers() -> None:
    assert not eager.executing_eagerly() and eager.in_graph_mode() and eager.num_gpus() == 0
    assert not eager.context().executing_eagerly()
    assert not isinstance(tf.constant(1), eager.EagerTensor)
    assert isinstance(tf.constant(1), framework._TensorLike)
    (device,) = framework.list_local_devices()
    assert device.device_type == "CPU" and device.name == "/device:CPU:0"
    assert products.has_inf_or_nan(None, np.array([1.0, np.nan]))
    assert not products.has_inf_or_nan(None, np.array([1, 2]))
    tpus, strategies = view("python.tpu.tpu_function"), view("python.distribute.distribute_lib")
    assert tpus.get_tpu_context().number_of_shards is None
    with tpus.tpu_shard_context(8):
        assert tpus.get_tpu_context().number_of_shards == 8
    assert strategies.get_replica_context().merge_call(lambda _, x: x, (3,)) == 3
    one, other = [1], [1]
    known = framework.ObjectIdentitySet([one])
    assert one in known and other not in known


def test_version_2_of_names_is_seen() -> None:
    assert tf.compat.v2 is V2 and V2.nn.relu is tf.nn.relu
    assert V2.add is tf.add and V2.io.gfile is not tf.gfile
    assert V2.where is tf.where_v2 and V2.compat.v1 is tf.compat.v1
    entropy = V2.nn.softmax_cross_entropy_with_logits
    assert entropy.__name__ == tf.nn.softmax_cross_entropy_with_logits_v2.__name__
    assert V2.keras is tf.keras and V2.initializers is tf.keras.initializers
    assert view("compat.v2.nn").tanh is tf.nn.tanh
    assert view("compat.v2.summary").scalar is V2.summary.scalar is not tf.summary.scalar
    assert V2.summary.experimental.set_step and not hasattr(V2.summary, "trace_on")
    assert "numbaflow.compat.v2.nn" in sys.modules and hasattr(V2, "function")
    with pytest.raises(NotImplementedError, match="tf.compat.v2.function is not in numbaflow"):
        V2.function(lambda: 1)


@pytest.mark.parametrize("name", forms_v2.public_names())
def test_functions_take_what_their_form_in_version_2_passes(name: str) -> None:
    form = forms_v2.form_of(name)
    assert form is not None
    place, path = V2, name.split(".")
    for part in path:
        place = getattr(place, part)
    assert list(inspect.signature(place).parameters) == list(form.names)
    inside = inspect.signature(forms_v2.target_of(name)).parameters
    assert {*form.names.values(), *form.fixed} <= set(inside)


@pytest.mark.programs
def test_arguments_of_version_2_are_passed_on() -> None:
    spec = functions.getfullargspec(V2.ones_like)
    assert spec.args == ["input", "dtype", "name"] and spec.defaults == (None, None)
    assert functions.getfullargspec(V2.pad).defaults == ("CONSTANT", 0, None)
    rows = np.arange(6.0).reshape(2, 3)
    with tf.Session() as sess:
        nodes = (
            V2.argmax(rows, 1, tf.int32),
            V2.transpose(rows, [1, 0], False, "name"),
            V2.zeros_like(input=rows, dtype=tf.int32),
            V2.boolean_mask(rows, [True, False, True], 1),
            V2.nn.embedding_lookup([rows[:1], rows[1:]], [1, 0]),
            V2.cond(tf.constant(True), lambda: [tf.constant(1.0)], lambda: [tf.constant(2.0)]),
        )
        found = sess.run(nodes)
    assert found[0].dtype == np.int32 and found[0].tolist() == [2, 2]
    assert nodes[1].op.name == "name" and found[1].shape == (3, 2)
    assert found[2].dtype == np.int32 and found[3].tolist() == [[0.0, 2.0], [3.0, 5.0]]
    assert found[4].tolist() == rows[::-1].tolist() and found[5] == [1.0]


def test_every_public_namespace_is_below_compat_v1() -> None:
    for name in ("train", "nn", "summary", "logging", "flags", "app", "gfile", "layers"):
        assert view(f"compat.v1.{name}") is getattr(tf, name)
    assert importlib.import_module("numbaflow.compat.v1") is tf


@pytest.mark.programs
def test_gradients_are_found_by_name() -> None:
    ops = view("python.framework.ops")
    known = ops._gradient_registry
    assert "Relu" in known._registry and "NoSuchOp" not in known._registry
    assert "Relu" in known.list() and callable(known.lookup("Relu"))
    with pytest.raises(LookupError, match="gradient registry has no entry for: NoSuchOp"):
        known.lookup("NoSuchOp")
    known.register(lambda op, grad: 5 * grad, "FiveFold")
    with tf.Graph().as_default() as graph:
        x = tf.constant(2.0)
        with graph.gradient_override_map({"Relu": "FiveFold"}):
            y = tf.nn.relu(x)
        with tf.Session() as session:
            assert session.run(tf.gradients(y, x)[0]) == 5.0
    assert "FiveFold" in known._registry and known._registry.pop("FiveFold")["type"]
    assert "FiveFold" not in known._registry
    nn_grad = view("python.ops.nn_grad")
    assert nn_grad._ReluGrad is known.lookup("Relu") and not hasattr(nn_grad, "_NoSuchGrad")


def test_private_helpers() -> None:
    with tf.Graph().as_default():
        x = tf.zeros([2, 3])
        math_ops, nn_ops = view("python.ops.math_ops"), view("python.ops.nn_ops")
        reduced = math_ops._ReductionDims(x, None)
        assert view("python.framework.tensor_util").constant_value(reduced).tolist() == [0, 1]
        assert math_ops._ReductionDims(x, 1) == 1
        assert nn_ops._get_sequence(2, 2, 3, "strides") == [1, 2, 2, 1]
        assert nn_ops._get_sequence([2, 3], 2, 1, "strides") == [1, 1, 2, 3]
        with pytest.raises(ValueError, match="strides should be of length 1, 2 or 4 but was 3"):
            nn_ops._get_sequence([1, 2, 3], 2, 3, "strides")
        y = tf.identity(x, name="y")
        walk = view("python.ops.op_selector").get_backward_walk_ops
        assert [op.name for op in walk(y)] == ["y", "zeros"]
        assert [op.name for op in walk(y, inclusive=False)] == ["zeros"]
    kinds = view("python.framework.dtypes")
    assert kinds._TF_TO_NP[1] is np.float32 and kinds._NP_TO_TF[np.int64] is tf.int64
    nodes = view("python.framework.graph_util_impl")._bfs_for_reachable_nodes
    assert nodes(["c"], {"c": ["b"], "b": ["a"], "d": []}) == {"a", "b", "c"}


def test_keras_can_be_imported_and_says_what_it_lacks() -> None:
    keras = view("keras")
    assert keras is tf.keras and view("keras.layers") is keras.layers
    assert issubclass(tf.layers.Dense, keras.layers.Layer)
    assert keras.activations.get("relu") is keras.activations.relu
    assert keras.activations.get(None)(3) == 3
    assert keras.initializers.Zeros is tf.zeros_initializer
    with pytest.raises(ValueError, match="Unknown activation function:no_such"):
        keras.activations.get("no_such")

    class Mine(view(_PREPROCESSING).CombinerPreprocessingLayer):  # type: ignore[misc]
        pass

    with pytest.raises(NotImplementedError, match="CombinerPreprocessingLayer is not in numbaflow"):
        Mine()
    with pytest.raises(AttributeError, match="has no attribute 'Densee'"):
        keras.layers.Densee()


def test_a_device_is_told_to_what_asks_for_it() -> None:
    class Asker:
        device: Any = None

        def _set_device(self, device: Any) -> None:
            self.device = device

    with tf.Graph().as_default() as graph:
        asker = Asker()
        graph._apply_device_functions(asker)
        assert asker.device is None
        with tf.device("/gpu:1"):
            graph._apply_device_functions(asker)
    assert asker.device.device_type == "GPU" and asker.device.device_index == 1


def test_internal_names_without_counterpart_fail_when_they_are_used() -> None:
    conversion = view("python.autograph.pyct.parser").parse_entity
    with pytest.raises(NotImplementedError, match="tensorflow.python.autograph.pyct.parser.parse_"):
        conversion(len)
    assert view("python.keras.utils.losses_utils").ReductionV2.SUM is not None
    assert not hasattr(view("python.keras.backend"), "there_never_was")
    assert not hasattr(view("python.ops.math_ops"), "there_never_was")
    with pytest.raises(ModuleNotFoundError):
        view("python.keras.there_never_was")
    assert view("core.protobuf.tpu.topology_pb2").TopologyProto.__name__ == "TopologyProto"

    assert (
        view("python.keras.optimizer_v2.optimizer_v2").OptimizerV2 is tf.keras.optimizers.Optimizer
    )
    features = view(_PREPROCESSING).CombinerPreprocessingLayer

    class Both(features, collections.abc.Sized):  # type: ignore[misc]
        pass

    with pytest.raises(NotImplementedError, match="CombinerPreprocessingLayer"):
        Both()
    assert view("python.ops.control_flow_util").GetContainingXLAContext(None) is None


def test_functions_that_make_nodes_have_both_spellings() -> None:
    nodes = view("python.ops.gen_nn_ops")
    assert nodes.conv3d_backprop_input_v2 is nodes.Conv3DBackpropInputV2
    assert nodes.conv2d is tf.raw_ops.Conv2D and view("python.ops.gen_math_ops")._max is not None
    assert view("python.ops.gen_spectral_ops").fft2d is tf.raw_ops.FFT2D


def test_metrics_of_libraries_count() -> None:
    counts = view("python.eager.monitoring").Counter("/name", "What it counts.", "kind")
    counts.get_cell("a").increase_by(2)
    counts.get_cell("a").increase_by(1)
    assert counts.get_cell("a").value() == 3 and counts.get_cell("b").value() == 0
    with pytest.raises(ValueError, match="expects taking 1 labels"):
        counts.get_cell()
    buckets = view("python.eager.monitoring").ExponentialBuckets(1.0, 2.0, 2)
    cell = view("python.eager.monitoring").Sampler("/name", buckets, "").get_cell()
    for value in (0.5, 1.0, 3.0):
        cell.add(value)
    assert cell.value() == [1, 1, 1]


def test_a_pure_variable_scope_opens_no_name_scope() -> None:
    scopes = finder.resolve("tensorflow.python.ops.variable_scope")
    with tf.Graph().as_default():
        with scopes._pure_variable_scope("a", initializer=tf.ones_initializer()) as scope:
            v = scopes.get_variable("v", [2])
            assert scopes._get_unique_variable_scope("b") == "b"
            doubled = tf.multiply(v, 2.0, name="doubled")
        with tf.name_scope("n"), scopes._pure_variable_scope(scope, reuse=True) as again:
            assert tf.get_variable("v") is v and again.name == "a"
        assert (v.name, doubled.name, v.initial_value.op.type) == ("a/v:0", "doubled:0", "Const")
        with tf.variable_scope("c", dtype=tf.float64):
            assert tf.get_variable("w", [1]).dtype.base_dtype == tf.float64
            with scopes._pure_variable_scope("d"):
                assert tf.get_variable("w", [1]).dtype.base_dtype == tf.float32


def test_op_types_are_had_as_bytes() -> None:
    c_api = finder.resolve("tensorflow.python.pywrap_tensorflow")
    message = finder.resolve("tensorflow.core.framework.op_def_pb2").OpList()
    message.ParseFromString(c_api.TF_GetBuffer(c_api.TF_GetAllOpList()))
    (matmul,) = [op for op in message.op if op.name == "MatMul"]
    assert [argument.name for argument in matmul.input_arg] == ["a", "b"]


def test_programs_write_event_files_themselves(tmp_path: Path) -> None:
    writer = finder.resolve("tensorflow.python.pywrap_tensorflow").EventsWriter(
        bytes(tmp_path / "events")
    )
    writer.WriteEvent(tf.Event(step=3, summary=tf.Summary(value=[{"tag": "a"}])))
    name = writer.FileName().decode()
    assert name.startswith(str(tmp_path / "events.out.tfevents."))
    writer.Flush()
    first, event = tf.train.summary_iterator(name)
    assert first.file_version and (event.step, event.summary.value[0].tag) == (3, "a")
    with pytest.raises(TypeError, match="Expected an event_pb2.Event proto, but got <class 'int'>"):
        writer.WriteEvent(3)
    writer.Close()


def test_a_second_registration_tells_of_the_first() -> None:
    registry = framework.Registry("codec")
    registry.register(len, "one")
    with pytest.raises(KeyError, match=r"two codec with name 'one'! .*test_internals.py:\d+"):
        registry.register(max, "one")


def test_a_property_is_computed_once_for_each_object() -> None:
    calls = []

    class Thing:
        @view("python.training.tracking.tracking").cached_per_instance
        def size(self) -> int:
            calls.append(self)
            return 3

    one, other = Thing(), Thing()
    assert (one.size(), one.size(), other.size()) == (3, 3, 3)
    assert calls == [one, other]


def test_lengths_of_texts_take_a_name_second_as_before() -> None:
    length = view("python.ops.string_ops").string_length
    assert length(["a", "bc"], "lengths").op.name == "lengths"


def test_the_type_of_bfloat16_is_the_arrays() -> None:
    kind = view("python.pywrap_tensorflow").TF_bfloat16_type()
    assert np.array([1.5], kind).dtype == tf.bfloat16.as_numpy_dtype


def test_surroundings_wish_for_version_2_until_the_program_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tf2 = view("python.tf2")
    monkeypatch.setattr(tf2, "_force_enable", None)
    for text, wanted in (("1", True), ("0", False)):
        monkeypatch.setenv("TF2_BEHAVIOR", text)
        assert tf2.enabled() is wanted
    tf2.enable()
    assert tf2.enabled()
    tf2.disable()
    monkeypatch.setenv("TF2_BEHAVIOR", "1")
    assert not tf2.enabled()


def test_optimizers_of_ready_made_models_are_found_by_name() -> None:
    optimizers = view("python.estimator.canned.optimizers")
    with tf.Graph().as_default():
        made = optimizers.get_optimizer_instance("Adagrad", learning_rate=0.05)
        assert isinstance(made, tf.train.AdagradOptimizer)
        assert optimizers.get_optimizer_instance(lambda: made) is made
    with pytest.raises(ValueError, match="learning_rate must be specified when opt is string"):
        optimizers.get_optimizer_instance("Adagrad")
    with pytest.raises(ValueError, match="Unsupported optimizer name: Best"):
        optimizers.get_optimizer_instance("Best", 0.1)


def test_seeds_of_graphs_are_set_by_the_name_of_version_2() -> None:
    with tf.Graph().as_default() as graph:
        V2.random.set_seed(7)
        assert graph.seed == 7


def test_settings_and_draws_by_their_internal_names() -> None:
    options = view("python.framework.config").get_optimizer_experimental_options()
    assert options == tf.config.optimizer.get_experimental_options()
    with tf.Graph().as_default():
        made = view("python.ops.random_ops").random_poisson_v2([3], [1.0, 2.0])
        assert made.shape.as_list() == [3, 2]
