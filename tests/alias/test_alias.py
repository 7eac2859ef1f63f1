# SPDX-License-Identifier: Apache-2.0
"""`import tensorflow` after `install()`: public modules, internal ones, and what is missing."""

from __future__ import annotations

import importlib
import pathlib
import subprocess
import sys
import types

import pytest

from numbaflow.alias.contributions import contribution_homes
from numbaflow.alias.finder import _MISSING, _internal_names, _public, _target, resolve
from numbaflow.alias.renamed import NICKNAMES, RENAMED

pytestmark = pytest.mark.process


def run(*lines: str) -> subprocess.CompletedProcess[str]:
    code = "\n".join(("from numbaflow.alias.finder import install", "install()", *lines))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "lines",
    [
        ("import tensorflow as tf, numbaflow", "assert tf is numbaflow"),
        ("install()", "import tensorflow.compat.v1 as tf", "tf.Graph()"),
        ("from tensorflow.compat import v1", "v1.disable_v2_behavior()"),
        ("import tensorflow.nn", "tensorflow.nn.relu"),
        ("from tensorflow.python.framework import ops", "ops.Tensor, ops.convert_to_tensor"),
        ("from tensorflow.python.framework.dtypes import float32, as_dtype",),
        ("import tensorflow.python.ops.math_ops as m", "m.reduce_sum, m.sub, m.add"),
        ("from tensorflow.python.ops import gen_math_ops", "gen_math_ops.mat_mul"),
        ("from tensorflow.core.framework.graph_pb2 import GraphDef", "GraphDef()"),
        ("from tensorflow.core.framework import types_pb2", "assert types_pb2.DT_FLOAT == 1"),
        ("from tensorflow.python.client import timeline", "timeline.Timeline"),
        (
            "from tensorflow.python.ops import functional_ops, nn_impl, sparse_ops",
            "functional_ops.If, functional_ops.For, functional_ops.scan, nn_impl.normalize",
            "assert sparse_ops.sparse_cross.__module__.endswith('sparse.cross')",
        ),
        (
            "from tensorflow.python.profiler import model_analyzer, option_builder",
            "model_analyzer.profile(options=option_builder.ProfileOptionBuilder.float_operation())",
        ),
        (
            "from tensorflow.python.framework import common_shapes, ops",
            "assert ops.RegisterShape('NoSuchOp')(None) is None",
            "assert ops._set_call_cpp_shape_fn(common_shapes.call_cpp_shape_fn) is None",
        ),
        (
            "from tensorflow.python import tf2",
            "assert not tf2.enabled(); tf2.enable(); assert tf2.enabled(); tf2.disable()",
            "assert not tf2.enabled()",
        ),
        ("from tensorflow.python.framework import graph_util", "graph_util.extract_sub_graph"),
        (
            "from tensorflow.python.estimator import estimator as lib",
            "assert lib._check_hooks_type(None) == []",
            "lib.ops.Graph, lib.training.MonitoredSession, lib.saver.latest_checkpoint",
            "assert lib.model_fn_lib.ModeKeys.PREDICT == 'infer'",
            "from tensorflow.python.ops import rnn, rnn_cell_impl",
            "assert rnn.vs is rnn_cell_impl.vs and rnn.vs.variable_scope",
            "from tensorflow.contrib.seq2seq.python.ops import attention_wrapper",
            "attention_wrapper.layers_core.Dense, attention_wrapper.nest.flatten",
        ),
        ("import tensorflow as tf", "import tensorflow.python.framework.ops", "tf.python"),
        ("from tensorflow.examples.tutorials.mnist import input_data", "input_data.read_data_sets"),
        (
            "from tensorflow.python.ops import variables",
            "v = variables.Variable(1.0, name='v')",
            "assert v.handle.op.name == 'v' and isinstance(v, variables.Variable)",
            "assert isinstance(variables.VariableV1(1.0), variables.Variable)",
        ),
        (
            "from tensorflow.python import layers",
            "from tensorflow.python.layers import conv2d, Convolution3DTranspose, core",
            "assert layers.dense is layers.layers.dense and core.Dense is layers.Dense",
        ),
        (
            "import tensorflow as tf",
            "from tensorflow.contrib.keras.api.keras.layers import Dense",
            "from tensorflow.contrib.keras.api.keras import models, optimizers",
            "assert Dense is tf.keras.layers.Dense is tf.contrib.keras.layers.Dense",
            "assert models.Sequential is tf.keras.Sequential and optimizers.Adam",
        ),
        (
            "from tensorflow.keras.layers import *",
            "from tensorflow.keras.models import *",
            "from tensorflow.python.keras.optimizers import Optimizer, SGD",
            "import tensorflow as tf",
            "assert Dense is tf.keras.layers.Dense and Sequential is tf.keras.Sequential",
            "assert issubclass(SGD, Optimizer) and SGD is not tf.keras.optimizers.SGD",
        ),
        (
            "import sys; import tensorflow as tf",
            "sys.modules['keras'] = tf.keras",
            "import keras.backend as K; from keras import layers",
            "assert K is tf.keras.backend and layers is tf.keras.layers",
        ),
        (
            "from tensorflow.python.keras.utils import conv_utils",
            "mask = conv_utils.conv_kernel_mask((4,), (2,), (1,), 'valid')",
            "assert mask.sum() == 6 and mask[1, 0] and mask[1, 1] and not mask[0, 1]",
            "assert conv_utils.deconv_output_length(4, 3, 'same', 1, 2) == 8",
        ),
        (
            "from tensorflow.python.keras.layers import recurrent_v2",
            "layer = recurrent_v2.GRU(2)",
            "assert layer.cell.reset_after and layer.get_config()['implementation'] == 2",
        ),
        (
            "from tensorflow.python.util.tf_export import tf_export",
            "assert tf_export('x')(lambda: 1)() == 1",
        ),
    ],
    ids=lambda lines: lines[0],
)
def test_imports_that_programs_make(lines: tuple[str, ...]) -> None:
    done = run(*lines)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "module",
    [
        "tensorflow.no_such",
        "tensorflow.python.framework.no_such",
        "tensorflow.core.framework.no_such_pb2",
        "tensorflow.engine.graph",
    ],
)
def test_what_there_is_not_is_named(module: str) -> None:
    done = run(f"import {module}")
    assert done.returncode == 1
    missing = "tensorflow.engine" if "engine" in module else module
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ModuleNotFoundError: No module named {missing!r}: numbaflow has no")


def test_a_missing_name_is_named() -> None:
    done = run("from tensorflow.python.framework.ops import no_such")
    assert "cannot import name 'no_such' from 'tensorflow.python.framework.ops'" in done.stderr


@pytest.mark.parametrize("name", ["contrib.cloud", "contrib.layers.no_such", "compat.no"])
def test_what_tensorflow_has_is_told_from_typos_when_imported(name: str) -> None:
    package, _, leaf = name.rpartition(".")
    done = run(f"from tensorflow.{package} import {leaf}")
    last = done.stderr.strip().splitlines()[-1]
    if leaf == "cloud":
        text = f"tf.{name} is in TensorFlow 1.15, not in numbaflow yet"
        assert last == f"ModuleNotFoundError: {text}"
    else:
        assert last.startswith(f"ImportError: cannot import name '{leaf}'")
    assert run(f"try:\n    from tensorflow.{package} import {leaf}", "except ImportError: pass")


def test_packages_of_tensorflow_have_other_names() -> None:
    done = run(
        "from tensorflow_core.python.keras.layers import Dense",
        "import tensorflow_core as core, tensorflow as tf",
        "import tensorflow_core.python.framework.ops as ops",
        "from tensorflow.python.framework import ops as usual",
        "assert core is tf and ops is usual and Dense is tf.keras.layers.Dense",
        "from tensorflow._api.v1.train import get_checkpoint_state",
        "from tensorflow._api.v1 import keras",
        "assert get_checkpoint_state is tf.train.get_checkpoint_state and keras is tf.keras",
        "import tensorflow.python.keras.api._v1.keras",
        "from tensorflow.python.keras.api import keras",
        "from tensorflow.python.keras.api._v2.keras import regularizers",
        "assert keras is tf.keras and regularizers.l2 is tf.keras.regularizers.l2",
        "try: import tensorflow_core.nothing",
        "except ModuleNotFoundError as e: assert 'tensorflow.nothing' in str(e), e",
        "else: raise SystemExit('no error')",
    )
    assert done.returncode == 0, done.stderr


def test_estimators_have_a_package_of_their_own() -> None:
    done = run(
        "from tensorflow_estimator.python.estimator import estimator",
        "from tensorflow_estimator.python.estimator.canned import head, metric_keys",
        "from tensorflow_estimator.contrib.estimator.python import estimator as more",
        "from tensorflow_estimator import estimator as public",
        "import tensorflow as tf",
        "assert public is tf.estimator and estimator.Estimator is tf.estimator.Estimator",
        "assert head._regression_head is tf.contrib.estimator.regression_head",
        "assert metric_keys.MetricKeys.AUC_PR == 'auc_precision_recall'",
    )
    assert done.returncode == 0, done.stderr


def test_an_installed_package_of_estimators_is_taken(tmp_path: pathlib.Path) -> None:
    (tmp_path / "tensorflow_estimator.py").write_text("own = True\n")
    done = run(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})",
        "import tensorflow_estimator",
        "assert tensorflow_estimator.own",
    )
    assert done.returncode == 0, done.stderr


def test_another_tensorflow_is_not_replaced() -> None:
    code = (
        "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow')\n"
        "from numbaflow.alias.finder import install; install()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "RuntimeError: another tensorflow was imported before" in done.stderr


def every_home() -> list[str]:
    return sorted({home for homes in _internal_names().values() for home in homes.split()})


@pytest.mark.pure
@pytest.mark.parametrize("home", every_home())
def test_every_home_of_names_exists(home: str) -> None:
    if home == "raw" or home == "tf" or home.startswith("tf."):
        assert home == "raw" or isinstance(_public(home[3:]), types.ModuleType)
    else:
        importlib.import_module(home, "numbaflow")


@pytest.mark.pure
@pytest.mark.parametrize(
    ("module", "name", "target"),
    [(module, name, target) for module, names in RENAMED.items() for name, target in names.items()],
)
def test_every_renamed_name_is_there(module: str, name: str, target: str) -> None:
    is_known = {f"python.{module}", module} & set(_internal_names())
    assert is_known or contribution_homes(module), f"no module has {name}"
    assert _target(target) is not _MISSING


@pytest.mark.pure
@pytest.mark.parametrize("name", NICKNAMES)
def test_every_nickname_of_a_module_is_one(name: str) -> None:
    assert isinstance(resolve(f"tensorflow.{NICKNAMES[name]}"), types.ModuleType)


def test_op_types_are_found_as_messages() -> None:
    done = run(
        "from tensorflow.python.framework import op_def_registry",
        "from tensorflow.core.framework import op_def_pb2",
        "import tensorflow as tf",
        "known = op_def_registry.get_registered_ops()",
        "assert known['Const'] == tf.constant(1).op.op_def",
        "assert known['MatMul'].input_arg[1].name == 'b'",
        "new = op_def_pb2.OpDef(name='Mine')",
        "op_def_registry.register_op_list(op_def_pb2.OpList(op=[new, known['Const']]))",
        "assert op_def_registry.get_registered_ops()['Mine'] == new",
        "other = op_def_pb2.OpDef(name='Const')",
        "try: op_def_registry.register_op_list(op_def_pb2.OpList(op=[other]))",
        "except ValueError as e: assert 'Registered op_def for Const (' in str(e)",
        "else: raise SystemExit('no error')",
        "try: op_def_registry.register_op_list(['Const'])",
        "except TypeError as e: assert 'not an op_def_pb2.OpList' in str(e)",
        "else: raise SystemExit('no error')",
    )
    assert done.returncode == 0, done.stderr


def test_horizons_of_compatibility_end_where_they_began() -> None:
    done = run(
        "from tensorflow.python.compat import compat",
        "before = compat.forward_compatible(2019, 12, 1)",
        "with compat.forward_compatibility_horizon(2020, 1, 1):",
        "    assert compat.forward_compatible(2019, 12, 1)",
        "    assert not compat.forward_compatible(2020, 1, 1)",
        "assert not before and not compat.forward_compatible(2019, 12, 1)",
    )
    assert done.returncode == 0, done.stderr


def test_modules_of_contributions_come_before_functions_of_their_names() -> None:
    done = run(
        "from tensorflow.contrib.checkpoint.python import split_dependency",
        "split_dependency.split_dependency",
        "from tensorflow.contrib.data.python.ops import unique",
        "unique.unique",
        "from tensorflow.contrib.framework.python.ops import arg_scope",
        "assert callable(arg_scope)",
        "from tensorflow.contrib.framework.python.framework import experimental",
        "assert callable(experimental)",
        "from tensorflow.contrib.sparsemax.python.ops import sparsemax",
        "sparsemax.sparsemax",
    )
    assert done.returncode == 0, done.stderr


def test_modules_of_packages_without_public_names() -> None:
    done = run(
        "from tensorflow.contrib.hooks import ProfilerHook",
        "from tensorflow.contrib.hooks.python.training.profiler_hook import ProfilerHook as same",
        "assert same is ProfilerHook",
        "from tensorflow.contrib.saved_model.python.saved_model import reader",
        "reader.read_saved_model",
        "from tensorflow.contrib.reduce_slice_ops.python.ops import reduce_slice_ops",
        "reduce_slice_ops.reduce_slice_sum",
        "from tensorflow.contrib.libsvm.python.ops import libsvm_ops",
        "from tensorflow.contrib.libsvm import decode_libsvm",
        "assert libsvm_ops.decode_libsvm is decode_libsvm",
        "from tensorflow.contrib.all_reduce.python import all_reduce",
        "from tensorflow.python.distribute.all_reduce import build_ring_all_reduce",
        "assert all_reduce.build_ring_all_reduce is build_ring_all_reduce",
    )
    assert done.returncode == 0, done.stderr


def test_modules_named_like_functions_leave_the_package_its_functions() -> None:
    """The import system puts a module into the one above it, and nowhere else."""
    done = run(
        "from tensorflow.python.eager import backprop",
        "from tensorflow.python.ops import gradients",
        "import tensorflow as tf",
        "x = tf.constant(2.0)",
        "with backprop.GradientTape() as tape:",
        "    tape.watch(x)",
        "    y = x * x",
        "assert tape.gradient(y, x) is not None",
        "assert gradients.gradients is tf.gradients",
    )
    assert done.returncode == 0, done.stderr
