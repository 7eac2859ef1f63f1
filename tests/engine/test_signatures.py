# SPDX-License-Identifier: Apache-2.0
"""What programs see of public functions and classes is what TensorFlow 1.15 shows."""

from __future__ import annotations

import ast
import copy
import functools
import gzip
import importlib.util
import inspect
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.engine.signatures import without_private_bases
from numbaflow.train.contrib import unavailable

pytestmark = pytest.mark.text

HERE = Path(__file__).parent


def _load_public_signatures() -> Any:
    path = HERE / "public_signatures.py"
    spec = importlib.util.spec_from_file_location("public_signatures", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


public_signatures = _load_public_signatures()
RECORDED = json.loads(gzip.decompress((HERE / "public_signatures.json.gz").read_bytes()))
# Names that only say what they would need have no arguments to compare.
REFUSING = {name for names in unavailable.TABLE.values() for name in names.split()}
SHARED = [
    name
    for name in RECORDED
    if callable(public_signatures.resolve(tf, name))
    and REFUSING.isdisjoint((name, name.rpartition(".")[0]))
]
FUNCTIONS = [name for name in SHARED if "arguments" in RECORDED[name]]
CLASSES = [name for name in SHARED if "bases" in RECORDED[name]]
# Pattern of names -> why their argument lists are not TensorFlow's.
INTENDED = {
    r".*\.__exit__": "called by `with`: takes whatever three arguments come",
    r"Variable\.__getitem__": "called by brackets; the first argument is the variable",
    r"nn\.rnn_cell\.\w+Cell\.build": "TensorFlow's are those of a decorator",
    r"nn\.rnn_cell\.\w+Wrapper\.__init__": "TensorFlow's say *args; here the arguments are listed",
    r"layers\.(Separable)?[cC]onv[23]D(Transpose)?\.__init__": "strides of 1 stand for (1, 1)",
    r"layers\.(separable_)?conv[23]d(_transpose)?": "strides of 1 stand for (1, 1)",
    r"layers\.Separable[cC]onv2D\.__init__": "strides of 1 stand for (1, 1)",
    r"(raw_ops\.SdcaOptimizer(V2)?|train\.sdca_optimizer)": "the default is that of graphs",
}


@pytest.fixture(scope="module")
def ours() -> Any:
    """What the recorder sees of this package."""
    return public_signatures.describe(tf, "numbaflow", SHARED)


def same_argument(recorded: str, here: str) -> bool:
    """Whether two parameters have one name and one default."""
    name, given, default = recorded.partition("=")
    own_name, own_given, own_default = here.partition("=")
    if (name, given) != (own_name, own_given):
        return False
    if public_signatures.OTHER in default or default == own_default:
        return True
    try:
        return bool(ast.literal_eval(default) == ast.literal_eval(own_default))
    except (SyntaxError, ValueError):
        return False


def same_arguments(recorded: list[str] | None, here: list[str] | None) -> bool:
    """Whether two argument lists are one for callers."""
    if recorded is None or here is None:
        return recorded is here
    return len(recorded) == len(here) and all(map(same_argument, recorded, here))


def argument_lists(described: dict[str, Any]) -> dict[str, list[str] | None]:
    """Name of function or method -> its arguments."""
    result = {name: entry["arguments"] for name, entry in described.items() if "arguments" in entry}
    for name, entry in described.items():
        for method, arguments in entry.get("methods", {}).items():
            result[f"{name}.{method}"] = arguments
    return result


def test_argument_lists_are_those_of_tensorflow(ours: Any) -> None:
    recorded, here = argument_lists(RECORDED), argument_lists(ours)
    compared = [name for name in recorded if name in here]
    assert len(compared) > 3500
    different = {n for n in compared if not same_arguments(recorded[n], here[n])}
    intended = {n for n in different if any(re.fullmatch(p, n) for p in INTENDED)}
    assert {n: (recorded[n], here[n]) for n in different - intended} == {}
    # A reason without a difference is out of date.
    assert [p for p in INTENDED if not any(re.fullmatch(p, n) for n in different)] == []


def test_the_comparison_sees_names_order_defaults_and_stars() -> None:
    assert same_arguments(["x", "y=1", "z=..."], ["x", "y=1.0", "z='a'"])
    for other in (["y=1", "x"], ["x", "y=2"], ["x", "y"], ["x"], ["x", "*y"], ["x", "y='1'"], None):
        assert not same_arguments(["x", "y=1"], other)


def public_ancestors(kind: type, public: dict[type, str]) -> list[str]:
    return [public[base] for base in kind.__mro__[1:-1] if base in public]


# Operators stand among the ops, below the parts of models: they are no tf.Module.
BELOW = {name for name in CLASSES if name.startswith("linalg.LinearOperator")}


def test_classes_derive_from_the_classes_they_derive_from_in_tensorflow() -> None:
    public = {public_signatures.resolve(tf, name): name for name in reversed(CLASSES)}
    public[object] = "object"
    wrong = {}
    for name in set(CLASSES) - BELOW:
        kind = public_signatures.resolve(tf, name)
        there = [public_signatures.resolve(tf, base) for base in RECORDED[name]["ancestors"]]
        expected = [public[base] for base in there if base in public]
        if public_ancestors(kind, public) != expected:
            wrong[name] = expected, public_ancestors(kind, public)
        bases = RECORDED[name]["bases"]
        # A private base there may be another one here, but a public one is the same.
        if all(base in (*CLASSES, "object") for base in bases):
            # (What several have in common here may stand between them and a public one.)
            own = [
                base
                for named in kind.__bases__
                for base in (named.__bases__ if named.__name__.startswith("_") else (named,))
            ]
            found = [public.get(base, base.__name__) for base in own]
            if found != [public[public_signatures.resolve(tf, b) or object] for b in bases]:
                wrong[name] = bases, found
    assert len(CLASSES) > 200 and wrong == {}


def callables() -> Any:
    """(name, function) of shared functions and of shared classes' methods and properties."""
    for name in FUNCTIONS:
        yield name, public_signatures.resolve(tf, name)
    for name in CLASSES:
        kind = public_signatures.resolve(tf, name)
        for member, value in inspect.getmembers(kind, inspect.isroutine):
            yield f"{name}.{member}", value
        for member, value in inspect.getmembers(kind, lambda v: isinstance(v, property)):
            yield f"{name}.{member}", value.fget


def test_functions_and_methods_show_no_annotations() -> None:
    annotated = []
    for name, function in callables():
        while function is not None:
            module = getattr(function, "__module__", None) or ""
            if module.startswith("numbaflow") and getattr(function, "__annotations__", None):
                annotated.append(name)
            function = getattr(function, "__wrapped__", None)
    for name in FUNCTIONS:
        function = public_signatures.resolve(tf, name)
        signature = inspect.signature(function)
        shown = [signature, *signature.parameters.values()]
        if any(getattr(s, "annotation", s.empty) is not s.empty for s in shown[1:]):
            annotated.append(name)
        if inspect.getfullargspec(function).annotations:
            annotated.append(name)
    assert annotated == []


def test_functions_have_names_and_survive_wraps() -> None:
    for name in FUNCTIONS:
        function = public_signatures.resolve(tf, name)
        assert function.__name__.isidentifier(), name
        assert function.__qualname__ and function.__module__.startswith("numbaflow"), name
        assert isinstance(function.__doc__, str), name

        @functools.wraps(function)
        def wrapped(*args: Any, **keywords: Any) -> Any:
            return function(*args, **keywords)  # noqa: B023 - called nowhere else

        assert wrapped.__name__ == function.__name__, name
        assert str(inspect.signature(wrapped)) == str(inspect.signature(function)), name


def test_functions_are_pickled_and_copied_by_name() -> None:
    for name in FUNCTIONS:
        function = public_signatures.resolve(tf, name)
        for protocol in (2, pickle.HIGHEST_PROTOCOL):
            assert pickle.loads(pickle.dumps(function, protocol)) is function, name
        assert copy.deepcopy(function) is function, name


def test_writers_of_yaml_find_a_call_with_texts_in_functions_made_of_ops() -> None:
    make, arguments = tf.nn.relu.__reduce_ex__(2)
    assert all(type(argument) is str for argument in arguments)
    assert make(*arguments) is tf.nn.relu


def test_raw_ops_take_the_names_of_arguments_that_tensorflow_shows() -> None:
    total = tf.raw_ops.Sum(input=[1.0, 2.0], axis=0)
    assert total.op.type == "Sum" and total.shape == []
    chosen = tf.raw_ops.Select(condition=True, x=1.0, y=2.0)
    assert chosen.op.type == "Select"
    with pytest.raises(TypeError, match="multiple values for argument"):
        tf.raw_ops.Sum([1.0], 0, axis=0)


def test_errors_are_made_by_code_and_are_direct_kinds_of_their_base() -> None:
    assert tf.errors.NotFoundError.__bases__ == (tf.OpError,)
    assert tf.errors.exception_type_from_error_code(5) is tf.errors.NotFoundError
    error = tf.errors.NotFoundError(None, None, "gone")
    assert error.error_code == 5 and pickle.loads(pickle.dumps(error)).message == "gone"


def test_a_class_keeps_what_it_has_from_a_private_base() -> None:
    class Public:
        def name(self) -> str:
            return "public"

    class _Inner(Public):
        size = 1

        def name(self) -> str:
            return "inner"

    class _Outer(_Inner):
        @property
        def double(self) -> int:
            return 2 * self.size

    @without_private_bases
    class Made(_Outer):
        size = 2

    assert Made.__bases__ == (Public,) and Made().name() == "inner" and Made().double == 4
    assert Made.__name__ == "Made" and Made.__doc__ is None
