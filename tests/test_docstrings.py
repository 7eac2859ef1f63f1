# SPDX-License-Identifier: Apache-2.0
"""The docstrings of the names that programs use most say all there is to say, and it is true.

Every argument is named, results and errors are stated, examples print what they say they print,
and what is said to raise an error raises it (docstring_errors.txt).
"""

from __future__ import annotations

import ast
import doctest
import fnmatch
import importlib
import inspect
import re
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import api, documentation, settings
from numbaflow.engine.graph import registry
from numbaflow.engine.graph.build import OpFunction
from numbaflow.ops.state.variables import RefVariable

pytestmark = pytest.mark.text

# Module -> names, by how often programs of TensorFlow 1 use them.
NAMES = {
    "": """
        placeholder Variable get_variable variable_scope constant Session InteractiveSession Graph
        global_variables_initializer matmul reduce_sum reduce_mean reduce_max reduce_min
        reduce_prod reduce_any reduce_all reduce_logsumexp argmax argmin cumsum add subtract
        multiply divide div truediv floordiv mod pow maximum minimum squared_difference square sqrt
        rsqrt exp log sin cos tanh sigmoid abs negative sign floor round add_n is_nan equal
        not_equal less less_equal greater greater_equal logical_and logical_or logical_not where
        cast to_float to_int32 shape reshape expand_dims squeeze transpose concat stack unstack
        split slice strided_slice gather gather_nd one_hot tile pad reverse boolean_mask range
        linspace zeros ones zeros_like ones_like fill eye identity rank size scatter_nd
        sequence_mask unique tensordot einsum norm matrix_inverse random_uniform random_normal
        truncated_normal random_shuffle multinomial set_random_seed random_uniform_initializer
        random_normal_initializer truncated_normal_initializer constant_initializer
        zeros_initializer ones_initializer clip_by_value clip_by_norm clip_by_global_norm cond case
        while_loop map_fn scan group tuple no_op py_func Print Assert assert_equal assert_greater
        assert_less assert_positive gradients stop_gradient assign
        assign_add assign_sub convert_to_tensor name_scope control_dependencies device
        get_default_graph reset_default_graph get_variable_scope get_collection add_to_collection
        GraphKeys global_variables local_variables trainable_variables variables_initializer
        local_variables_initializer initialize_all_variables placeholder_with_default
        sparse_placeholder SparseTensor sparse_tensor_to_dense TensorShape import_graph_def
        parse_single_example decode_raw string_to_number FIFOQueue
    """,
    "nn": """
        relu conv2d max_pool softmax dropout bias_add embedding_lookup sigmoid tanh l2_loss
        softmax_cross_entropy_with_logits softmax_cross_entropy_with_logits_v2
        sparse_softmax_cross_entropy_with_logits sigmoid_cross_entropy_with_logits avg_pool elu
        leaky_relu relu6 selu softplus log_softmax moments batch_normalization l2_normalize lrn
        conv2d_transpose conv1d top_k in_top_k xw_plus_b nce_loss dynamic_rnn static_rnn
        bidirectional_dynamic_rnn
    """,
    "nn.rnn_cell": """
        BasicLSTMCell LSTMCell GRUCell BasicRNNCell MultiRNNCell DropoutWrapper LSTMStateTuple
    """,
    "layers": """
        dense conv2d batch_normalization dropout max_pooling2d average_pooling2d flatten
        conv2d_transpose conv1d Dense
    """,
    "train": """
        AdamOptimizer GradientDescentOptimizer MomentumOptimizer RMSPropOptimizer AdagradOptimizer
        AdadeltaOptimizer FtrlOptimizer Optimizer Saver Coordinator start_queue_runners
        MonitoredTrainingSession exponential_decay piecewise_constant polynomial_decay
        ExponentialMovingAverage get_or_create_global_step get_global_step global_step
        latest_checkpoint get_checkpoint_state import_meta_graph batch shuffle_batch write_graph
    """,
    "summary": "scalar histogram image merge merge_all FileWriter",
    "losses": """
        mean_squared_error softmax_cross_entropy sparse_softmax_cross_entropy sigmoid_cross_entropy
        absolute_difference huber_loss get_total_loss get_regularization_loss add_loss
    """,
    "metrics": "accuracy mean auc precision recall",
    "python_io": "TFRecordWriter",
    "test": "TestCase main",
}
IN = {
    module: [f"{module}.{name}".lstrip(".") for name in names.split()]
    for module, names in NAMES.items()
}
LISTED = [name for names in IN.values() for name in names]
# Class -> its methods that programs call most; the class has the example.
METHODS = {
    "Session": "run",
    "Graph": "get_tensor_by_name get_operation_by_name",
    "Tensor": "eval set_shape",
    "Operation": "run",
    "Variable": "load",
    "train.Saver": "save restore",
    "train.Optimizer": "minimize compute_gradients apply_gradients",
    "train.Coordinator": "request_stop join",
    "train.ExponentialMovingAverage": "apply average",
    "summary.FileWriter": "add_summary add_graph",
    "test.TestCase": "assertAllClose assertAllEqual",
}
LISTED_METHODS = [f"{kind}.{name}" for kind, names in METHODS.items() for name in names.split()]
# Functions for what they do: they return None.
DO = {"add_to_collection", "set_random_seed", "reset_default_graph", "losses.add_loss", "test.main"}


def resolve(name: str) -> Any:
    thing: Any = tf
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def sections(thing: Any) -> dict[str, str]:
    """Name of a section -> its text, as `help` shows it."""
    parts = re.split(r"^(\w+):\n", inspect.getdoc(thing) or "", flags=re.M)
    return {name: textwrap.dedent(text) for name, text in zip(parts[1::2], parts[2::2])}


def entries(text: str) -> list[str]:
    """The names before the colons of a section: "a, b: what they are." has two."""
    heads = re.findall(r"^((?:[*\w]+(?:,\s+)?)+):(?:\s|$)", text, re.M)
    return [name for head in heads for name in re.split(r",\s+", head)]


def parameters(thing: Any) -> list[str]:
    """The names of arguments, without those that are handed on to a base class."""
    # What makes variables takes them all.
    source = RefVariable.__init__ if thing is tf.Variable else thing
    found = inspect.signature(source).parameters.values()
    is_class = isinstance(thing, type)
    names = [p.name for p in found if not (is_class and p.kind is p.VAR_KEYWORD)]
    # Python has one signature for all classes whose constructor is `object`'s.
    return [name for name in names if name != "self"]


def unnamed(thing: Any) -> tuple[list[str], list[str]]:
    """Parameters that the docstring does not name; names in it that are no parameters."""
    said, known = entries(sections(thing).get("Args", "")), parameters(thing)
    missing = [name for name in known if not any(fnmatch.fnmatch(name, entry) for entry in said)]
    return missing, [entry for entry in said if not fnmatch.filter(known, entry)]


# Arguments by keyword that stand for the parameter **kwargs.
BY_KEYWORD = {"einsum": ["name"], "group": ["name"], "Variable": ["use_resource"]}


@pytest.mark.parametrize("module", [*IN, "methods"])
def test_every_argument_is_named_and_no_other(module: str) -> None:
    names = IN.get(module, LISTED_METHODS)
    wrong = {
        name: found
        for name in names
        if (found := unnamed(resolve(name)))
        != (["kwargs"] if name in ("einsum", "group") else [], BY_KEYWORD.get(name, []))
    }
    assert not wrong


def raises(thing: Any) -> bool:
    """Whether a function, or the constructor of a class, has a `raise` of its own."""
    if isinstance(thing, OpFunction):  # whose source is that of all of them
        return False
    thing = thing.__dict__.get("__init__") if isinstance(thing, type) else thing
    try:
        source = inspect.getsource(inspect.unwrap(thing))
    except (OSError, TypeError):
        return False
    return any(isinstance(node, ast.Raise) for node in ast.walk(ast.parse(textwrap.dedent(source))))


def unstated(name: str) -> list[str]:
    """What the docstring of a name lacks."""
    thing = resolve(name)
    text, found = inspect.getdoc(thing) or "", sections(thing)
    summary = text.split("\n")[0]
    gives = not isinstance(thing, type) and name not in DO
    facts = {
        "a sentence of one line": summary.endswith(".") and len(summary) <= 100,
        "at most 40 lines": len(text.splitlines()) <= 40,
        "Returns": not gives or bool(found.get("Returns")),
        "Raises": not raises(thing) or bool(found.get("Raises")),
        "an Example": ">>>" in found.get("Example", ""),
    }
    return [fact for fact, is_there in facts.items() if not is_there]


@pytest.mark.parametrize("module", IN)
def test_results_errors_and_an_example_are_stated(module: str) -> None:
    assert not {name: lacks for name in IN[module] if (lacks := unstated(name))}


# --- examples ---------------------------------------------------------------------------------

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


class Checker(doctest.OutputChecker):
    """Compares numbers by value: the last digit may be another one on another processor."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        words, others = ("".join(NUMBER.sub("#", text).split()) for text in (want, got))
        numbers, found = (np.float64(NUMBER.findall(text)) for text in (want, got))
        return words == others and np.allclose(numbers, found, rtol=1e-5, atol=1e-6)


def documented() -> Iterator[tuple[str, Any]]:
    """(name, object) of all that is published and has an example, each once."""
    seen = {}
    for name in [*LISTED, *LISTED_METHODS, *api.NAMES, *api.LATER, *api.LAZY]:
        thing = resolve(name)
        if ">>>" in (getattr(thing, "__doc__", None) or ""):
            seen.setdefault(id(thing), (name, thing))
    yield from seen.values()


def examples_fail(name: str, doc: str) -> str:
    """What differs, as doctest reports it; "" if nothing does."""
    test = doctest.DocTestParser().get_doctest(doc, {"tf": tf, "np": np}, name, None, None)
    report: list[str] = []
    runner = doctest.DocTestRunner(checker=Checker(), verbose=False)
    with tf.Graph().as_default(), settings.override(jit="never"):
        runner.run(test, out=report.append)
    return "".join(report)


# Their threads run as the environment says.
COMPILES = dict.fromkeys(
    ("train.batch", "train.shuffle_batch", "train.start_queue_runners"), pytest.mark.cpu
)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("name", "thing"),
    [pytest.param(*row, id=row[0], marks=COMPILES.get(row[0], ())) for row in documented()],
)
def test_examples_print_what_they_say(
    name: str, thing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert examples_fail(name, inspect.getdoc(thing)) == ""


def test_an_example_that_is_wrong_is_found() -> None:
    right = ">>> tf.Session().run(tf.add(1.0, 2.0))\nnp.float32(3.0)\n"
    assert examples_fail("right", right) == ""
    assert examples_fail("near", right.replace("3.0", "3.0000001")) == ""
    for wrong in ("np.float32(3.1)", "np.int32(3.0)", "3.0"):
        assert "Expected" in examples_fail("wrong", right.replace("np.float32(3.0)", wrong))


# --- errors -----------------------------------------------------------------------------------

ROWS = [
    tuple(part.strip() for part in line.split("|", 2))
    for line in (Path(__file__).parent / "docstring_errors.txt").read_text().splitlines()
    if not line.startswith("#")
]


def error_class(name: str) -> type[BaseException]:
    builtin = getattr(importlib.import_module("builtins"), name, None)
    return builtin or getattr(tf.errors, name)


def straggle() -> None:
    """Joins a thread that does not stop."""
    go, coord = threading.Event(), tf.train.Coordinator()
    thread = threading.Thread(target=go.wait)
    thread.start()
    coord.request_stop()
    try:
        coord.join([thread], stop_grace_period_secs=0)
    finally:
        go.set()
        thread.join()


def saver() -> Any:
    """A saver of a variable called "v", a scalar."""
    return tf.train.Saver({"v": tf.Variable(1.0)})


def saved(**values: Any) -> str:
    """A checkpoint with variables of these names and values."""
    with tf.Graph().as_default():
        variables = {name: tf.Variable(value) for name, value in values.items()}
        return tf.train.Saver(variables).save(initialized(), "./model.ckpt")


def initialized() -> Any:
    """A session in which all variables of the default graph have values."""
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


class Odd:
    """Something whose registered conversion gives no tensor."""


tf.register_tensor_conversion_function(Odd, lambda v, dtype=None, name=None, as_ref=False: "no")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("name", "error", "call"), ROWS)
def test_errors_are_raised_as_stated(
    name: str, error: str, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert error in entries(sections(resolve(name))["Raises"])
    with tf.Graph().as_default():
        foreign = tf.constant(1)
    with tf.Graph().as_default(), settings.override(jit="never"):
        x, n = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
        optimizer, closed = tf.train.GradientDescentOptimizer(0.1), tf.Session()
        closed.close()

        def run(fetches: Any, value: Any = None) -> Any:
            with tf.Session() as session:
                return session.run(fetches, None if value is None else {x: value, n: value})

        scope = {**globals(), **locals()}
        with pytest.raises(error_class(error)) as raised:
            eval(call, scope)
    assert type(raised.value) is error_class(error) or error in ("OSError", "LookupError")


def test_every_error_that_is_stated_is_shown() -> None:
    shown = {(name, error) for name, error, _ in ROWS}
    stated = {
        (name, error)
        for name in LISTED + LISTED_METHODS
        if not isinstance(resolve(name), OpFunction)
        for error in entries(sections(resolve(name)).get("Raises", ""))
    }
    same = {"nn.sigmoid": "sigmoid", "nn.tanh": "tanh"}
    stated = {(same.get(name, name), error) for name, error in stated}
    assert stated - shown - FAMILY == set()
    assert {name for name, _ in shown} <= {*LISTED, *LISTED_METHODS}


# Functions of one tensor whose docstring is that of their op.
FAMILY = {(name, "TypeError") for name in ("square", "sqrt", "negative", "sign", "tanh")}


# --- what is put together from definitions ----------------------------------------------------


def test_every_op_has_a_docstring_with_all_its_arguments() -> None:
    wrong = {}
    for definition in registry.definitions():
        function = getattr(tf.raw_ops, definition.name)
        found = sections(function)
        if unnamed(function) != ([], []) or not found.get("Returns"):
            wrong[definition.name] = unnamed(function)
    assert wrong == {}


FORBIDDEN = (tf.string, tf.bool, tf.complex64, tf.int32)


def test_ops_refuse_the_dtypes_that_their_docstrings_leave_out() -> None:
    checked = 0
    for name in LISTED:
        function = resolve(name)
        if not isinstance(function, OpFunction) and (name, "TypeError") not in FAMILY:
            continue
        op = registry.lookup(function._type) if isinstance(function, OpFunction) else None
        allowed = op.attr(op.inputs[0].type_attr).allowed if op and op.inputs[0].type_attr else None
        if allowed is None:
            continue
        assert "TypeError" in entries(sections(function)["Raises"])
        for dtype in set(FORBIDDEN) - set(allowed):
            with tf.Graph().as_default(), pytest.raises(TypeError):
                function(*[tf.placeholder(dtype, [1, 1])] * len(op.inputs))
            checked += 1
    assert checked > 60


def test_ops_of_several_tensors_refuse_shapes_as_their_docstrings_say() -> None:
    checked = 0
    for name in LISTED:
        function = resolve(name)
        if not isinstance(function, OpFunction) or len(function.definition.inputs) != 2:
            continue
        if "do not broadcast" in sections(function).get("Raises", ""):
            arg = function.definition.inputs[0]
            dtype = arg.dtype or (function.definition.attr(arg.type_attr).allowed or [tf.int32])[0]
            with tf.Graph().as_default(), pytest.raises(ValueError):
                function(tf.placeholder(dtype, [2]), tf.placeholder(dtype, [3]))
            checked += 1
    assert checked > 10


def test_a_definition_completes_what_its_doc_says() -> None:
    definition = registry.parse(
        "Scale",
        "x: T, y: T, n: int32, rest: N * T -> out: T, size: int64",
        "T: {float32, float64}; N: int >= 1; k: int >= 2 = 3; mode: {'A', 'B'} = 'A'",
    )
    doc = """What it does.

        More of it.

        Args:
            n: how often.
            k: how far,
                which is a long story.

        Raises:
            OSError: never.

        Example:
            >>> 1
            1
    """
    shown = {"x": "x", "y": "other", "n": "n", "rest": "rest", "k": "k", "mode": "mode"}
    assert documentation.documentation(definition, shown, doc) == textwrap.dedent(
        """\
        What it does.

        More of it.

        Args:
            x: a tensor of float32 or float64.
            other: a tensor of the dtype of `x`.
            n: how often; a tensor of int32.
            rest: a list of tensors of the dtype of `x`.
            k: how far, which is a long story; an integer, at least 2, 3 by default.
            mode: "A" or "B", "A" by default.
            name: of the operation.

        Returns:
            A named tuple of `out`, a tensor of the dtype of `x`; `size`, a tensor of int64.

        Raises:
            TypeError: a dtype is not allowed, or two differ that must be one.
            OSError: never.

        Example:
            >>> 1
            1"""
    )
