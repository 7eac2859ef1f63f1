# SPDX-License-Identifier: Apache-2.0
"""`enrol`: a class of tests, one per property, for ops of one's own.

    TestMyOp = testing.enrol("MyOp")

pytest collects it as it stands.  The options of the plugin (pytest_plugin.py) say to which order
gradients are checked, on which device, and for how many seconds a property is tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .. import settings as ours
from ..gradients.autodiff_sums import public
from ..graph import registry
from ..graph.graph import Graph
from ..graph.registry import NoGradient
from ..graph.tensor import Tensor
from . import cones, strategies
from .calls import Call, calls, reason_against
from .checking import Options
from .functions import Array
from .gradients_of import gradient_report
from .report import GradientError

_EXAMPLES = 10
_BUDGET = 10.0
# The same examples everywhere, and no deadline: a first run compiles.
_QUIET = settings(
    max_examples=_EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
_RTOL = {"float16": 1e-2, "bfloat16": 5e-2, "float64": 1e-10, "complex128": 1e-10}
_WIDE = {"f": np.float64, "c": np.complex128}
Property = Callable[[Call, Options], None]


def enrol(
    ops: str | ModuleType | Iterable[str],
    cases: st.SearchStrategy[Call] | None = None,
    leave_out: Iterable[str] = (),
) -> type:
    """A class whose tests hold ops to what every op promises.

    The properties: `declared_shape` (of shapes partly known, too), `compiled` (equals the
    reference), `threads` (equal bits for any number), `gradients` (to the order asked for),
    `graph_def` (survives the round trip), `zero_size`, `special_values` (compiled as by reference)
    and `inputs_unchanged`.

    Args:
      ops: an op type, several, or a module: then all ops that it defines functions of.
      cases: calls to try (`numbaflow.engine.testing.calls.Call`) in place of those that follow from
        the definition.
      leave_out: properties that the ops do not promise.

    Raises:
      KeyError: there is no such op.
      ValueError: nothing to test, or a property that there is not.
    """
    names = _names(ops)
    unknown = set(leave_out) - set(_PROPERTIES)
    if unknown:
        raise ValueError(f"no properties: {sorted(unknown)}; there are {sorted(_PROPERTIES)}")
    tests = {
        f"test_{name}": _test(name, check, names, cases)
        for name, check in _PROPERTIES.items()
        if name not in leave_out
    }
    return type("TestOps", (), {"__doc__": f"The promises of {', '.join(names)}.", **tests})


def _names(ops: str | ModuleType | Iterable[str]) -> list[str]:
    if isinstance(ops, str):
        names = [ops]
    elif isinstance(ops, ModuleType):
        names = [
            op.name
            for op in registry.definitions()
            if any(
                getattr(part, "__module__", None) == ops.__name__
                for part in (op.kernel, op.gradient, op.lower, op.shape)
            )
        ]
    else:
        names = list(ops)
    if not names:
        raise ValueError(f"{ops} defines no op")
    for name in names:
        registry.lookup(name)
    return names


def _test(
    name: str, check: Property, names: list[str], cases: st.SearchStrategy[Call] | None
) -> Callable[..., None]:
    @pytest.mark.parametrize("op_type", names)
    def test(self: Any, op_type: str, request: pytest.FixtureRequest) -> None:
        definition = registry.lookup(op_type)
        reason = "" if cases is not None else reason_against(definition)
        if reason:
            pytest.skip(f"{op_type} {reason}")
        config = request.config
        options = Options(order=config.getoption("numbaflow_order", 2))
        ends = time.monotonic() + config.getoption("numbaflow_budget", _BUDGET)
        device = config.getoption("numbaflow_device", "") or None
        drawn = cases if cases is not None else calls(definition, *_SIDES.get(name, ()))

        @_QUIET
        @given(drawn)
        def on(call: Call) -> None:
            if time.monotonic() < ends:
                with Graph().as_default() as graph, graph.device(device):
                    check(call, options)

        on()

    test.__name__ = f"test_{name}"
    return test


# What is drawn for a property beside the usual: (smallest side, special values?).
_SIDES = {"zero_size": (0, False), "special_values": (1, True)}


def _run(outputs: list[Tensor], feeds: dict[Any, Array], jit: str = "never") -> list[Array]:
    with ours.override(jit=jit), np.errstate(all="ignore"):
        with public("Session")(graph=outputs[0].graph) as session:
            return [np.asarray(value) for value in session.run(outputs, feeds)]


def _declared_shape(call: Call, options: Options) -> None:
    """Static shapes and types are those of the values, whatever of the inputs' shapes is known."""
    del options
    outputs, feeds = call.on_placeholders()
    unknown = [strategies.TensorShape([None] * x.ndim) for x in call.arrays]
    partly, _ = call.on_placeholders(unknown)
    for known, open_, value in zip(outputs, partly, _run(outputs, feeds), strict=True):
        assert known.shape.is_compatible_with(value.shape), (known.shape, value.shape)
        assert open_.shape.is_compatible_with(value.shape), (open_.shape, value.shape)
        assert known.dtype.base_dtype.np_dtype == value.dtype


def _compiled(call: Call, options: Options) -> None:
    del options
    outputs, feeds = call.on_placeholders()
    for want, got in zip(_run(outputs, feeds), _run(outputs, feeds, "always"), strict=True):
        _same(want, got)


def _same(want: Array, got: Array) -> None:
    assert want.dtype == got.dtype and want.shape == got.shape
    name, kind = want.dtype.name, want.dtype.kind
    if kind in "fc" or name == "bfloat16":
        rtol, wide = _RTOL.get(name, 1e-5), _WIDE.get(kind, np.float64)
        np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=rtol, atol=rtol)
    else:
        np.testing.assert_array_equal(got, want)


def _threads(call: Call, options: Options) -> None:
    del options
    outputs, feeds = call.on_placeholders()
    found = []
    for count in (1, 2, 3):
        with ours.override(threads=count):
            found.append([value.tobytes() for value in _run(outputs, feeds, "always")])
    assert found[0] == found[1] == found[2]


def _gradients(call: Call, options: Options) -> None:
    gradient = call.op.gradient
    arrays = call.arrays
    if gradient is None or isinstance(gradient, NoGradient) or any(x.size == 0 for x in arrays):
        return
    numbers = [k for k, x in enumerate(arrays) if x.dtype.kind in "fc"]

    def f(*xs: Tensor) -> list[Tensor]:
        moved = dict(zip(numbers, xs, strict=True))
        constant = public("constant")
        return call.build([moved.get(k, constant(x)) for k, x in enumerate(arrays)])

    if numbers and any(map(cones.is_number, call.on_placeholders()[0])):
        report = gradient_report(f, *(arrays[k] for k in numbers), options=options)
        if not report.passed:
            raise GradientError(report)


def _graph_def(call: Call, options: Options) -> None:
    """The op comes back from a GraphDef, with its attributes, and gives the same."""
    del options
    outputs, feeds = call.on_placeholders()
    names = [tensor.name for tensor in (*outputs, *feeds)]
    proto = outputs[0].graph.as_graph_def()
    definition = type(proto).FromString(proto.SerializeToString())
    want = _run(outputs, feeds)
    with Graph().as_default():
        found = public("import_graph_def")(definition, return_elements=names, name="")
        copies = dict(zip(found[len(outputs) :], feeds.values(), strict=True))
        for expected, got in zip(want, _run(found[: len(outputs)], copies), strict=True):
            np.testing.assert_array_equal(got, expected)


def _inputs_unchanged(call: Call, options: Options) -> None:
    """Inputs keep their values, by reference and compiled, and results are no views of them."""
    del options
    outputs, feeds = call.on_placeholders()
    kept = {place: value.copy() for place, value in feeds.items()}
    for mode in ("never", "always"):
        first = _run(outputs, feeds, mode)
        before = [value.copy() for value in first]
        for place, value in feeds.items():
            np.testing.assert_array_equal(value, kept[place])
        _run(outputs, feeds, mode)
        for value, copy in zip(first, before, strict=True):
            np.testing.assert_array_equal(value, copy)


_PROPERTIES: dict[str, Property] = {
    "declared_shape": _declared_shape,
    "compiled": _compiled,
    "threads": _threads,
    "gradients": _gradients,
    "graph_def": _graph_def,
    "zero_size": _compiled,
    "special_values": _compiled,
    "inputs_unchanged": _inputs_unchanged,
}
