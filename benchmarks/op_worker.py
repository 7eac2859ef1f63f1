# SPDX-License-Identifier: Apache-2.0
"""One side of the survey of ops: builds a call of one op, or of its gradient, and times it.

Reads JSON commands (benchmarks/serving.py).  The inputs come in files of the scratch folder;
`python -m benchmarks.op_worker PEER THREADS` runs under any Python that has the peer's package.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .serving import serve
from .sides import PEERS
from .worker import elapsed

_BATCH = 0.002  # seconds that one figure covers at least, so that short calls are seen


class OpWorker:
    """Holds the current call between commands; a command is a public method."""

    def __init__(self, peer: str, threads: int) -> None:
        import importlib

        self.tf: Any = importlib.import_module(PEERS[peer].module)
        self._is_ours = peer == "numbaflow"
        if not self._is_ours:
            self.tf.disable_v2_behavior()
        self._config = self.tf.ConfigProto(
            intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
        )
        self._session: Any = None
        self._step: Callable[[], Any] = lambda: None
        self._repeats = 1
        self._has_variables = False

    def version(self) -> dict[str, Any]:
        """The version of the peer."""
        name = "__numbaflow_version__"
        return {"version": getattr(self.tf, name, None) or self.tf.__version__}

    def build(self, op: str, file: str, gradient: bool) -> dict[str, Any]:
        """Builds a call and warms it up; `absent` where the peer has no such op or gradient."""
        call = pickle.loads(Path(file).read_bytes())
        if self._session is not None:
            self._session.close()
        with self.tf.Graph().as_default() as graph:
            self.tf.set_random_seed(7)
            self._session = self.tf.Session(graph=graph, config=self._config)
            feeds: dict[Any, Any] = {}
            self._has_variables = bool(call["variables"])
            inputs = [
                self._variable(item)
                if i in call["variables"]
                else self._symbol(item, feeds, i in call["fed"])
                for i, item in enumerate(call["inputs"])
            ]
            attrs = {key: self._attr(value) for key, value in call["attrs"].items()}
            self._session.run(self.tf.global_variables_initializer())
            inputs = [self._as_input(op, i, item) for i, item in enumerate(inputs)]
            made, outputs = self._apply(op, inputs, attrs)
            fetches: Any = outputs or made
            if gradient:
                fetches, feeds = self._gradients(outputs, feeds)
                if not fetches:
                    return {"absent": "has no gradient"}
        session = self._session
        self._step = lambda: session.run(fetches, feeds)
        return self._warm(fetches, feeds)

    def _warm(self, fetches: Any, feeds: Any) -> dict[str, Any]:
        first = elapsed(self._step)
        second = elapsed(self._step)
        took = elapsed(self._step)
        self._repeats = max(1, int(_BATCH / max(took, 1e-6)))
        answer: dict[str, Any] = {"first": first + second}
        if self._is_ours:
            answer["hosted"] = _hosted(self._session, fetches, feeds)
        return answer

    def measure(self, seconds: float) -> dict[str, Any]:
        """A turn: the least seconds of a call, over about `seconds`."""
        self._step()
        end, least = time.perf_counter() + seconds, float("inf")
        runs = 0
        while runs < 2 or time.perf_counter() < end:
            start = time.perf_counter()
            for _ in range(self._repeats):
                self._step()
            least = min(least, (time.perf_counter() - start) / self._repeats)
            runs += 1
        return {"least": least}

    def _variable(self, array: np.ndarray) -> Any:
        return array, [
            self.tf.Variable(array, use_resource=is_resource) for is_resource in (False, True)
        ]

    def _as_input(self, op: str, number: int, item: Any) -> Any:
        """A reference or a handle, as the op takes it, where the input is a variable."""
        if not isinstance(item, tuple):
            return item
        reference, resource = item[1]
        takes_handle = "Resource" in op or "Variable" in op
        return resource.handle if takes_handle else reference

    def _symbol(self, item: Any, feeds: dict[Any, Any], is_fed: bool = False) -> Any:
        if isinstance(item, list):
            return [self._symbol(each, feeds) for each in item]
        kind = self.tf.string if item.dtype == object else self.tf.as_dtype(item.dtype)
        # Small integers are parameters.
        is_rate = bool(self._has_variables and not item.ndim)  # learning rates are constants
        if is_rate or (item.dtype.kind in "iuO" and item.size <= 8 and not is_fed):
            return self.tf.constant(item, kind)
        # The first input is a batch; what comes beside it, such as weights, has a size.
        is_batch = item.ndim and not feeds and item.shape[0] > 8
        shape = [None, *item.shape[1:]] if is_batch else item.shape
        tensor = self.tf.placeholder(kind, shape)
        feeds[tensor] = item
        return tensor

    def _attr(self, value: Any) -> Any:
        if isinstance(value, dict):
            ((kind, item),) = value.items()
            return self.tf.as_dtype(item) if kind == "type" else self.tf.TensorShape(item)
        if isinstance(value, list):
            return [self._attr(item) for item in value]
        return value

    def _apply(self, op: str, inputs: list[Any], attrs: dict[str, Any]) -> tuple[Any, list[Any]]:
        """The operation and its outputs."""
        if self._is_ours:
            from numbaflow.engine.graph.build import OpFunction

            made = OpFunction(op)(*inputs, **attrs)
        else:
            made = self._raw(op, inputs, attrs)
        if isinstance(made, self.tf.Operation):
            return made, []
        flat = [t for t in self.tf.nest.flatten(made) if isinstance(t, self.tf.Tensor)]
        return flat[0].op, flat

    def _raw(self, op: str, inputs: list[Any], attrs: dict[str, Any]) -> Any:
        from tensorflow.python.framework import op_def_registry
        from tensorflow.python.framework.op_def_library import apply_op

        definition = op_def_registry.get(op)
        if definition is None:
            raise NotImplementedError(f"{op} is no op of this version")
        given = dict(zip((arg.name for arg in definition.input_arg), inputs, strict=True))
        attrs = {
            key: self.tf.make_tensor_proto(value) if isinstance(value, np.ndarray) else value
            for key, value in attrs.items()
        }
        return apply_op(op, **given, **{**_defaults(definition), **attrs})

    def _gradients(self, outputs: list[Any], feeds: dict[Any, Any]) -> tuple[list[Any], Any]:
        ys = [y for y in outputs if y.dtype.is_floating or y.dtype.is_complex]
        xs = [x for x in feeds if x.dtype.is_floating or x.dtype.is_complex]
        if not xs or not ys:
            return [], feeds
        values = self._session.run(ys, feeds)
        sides = {
            self.tf.placeholder(y.dtype, y.shape): np.ones_like(value)
            for y, value in zip(ys, values, strict=True)
        }
        try:
            found = self.tf.gradients(ys, xs, grad_ys=list(sides))
        except LookupError:
            return [], feeds
        dense: list[Any] = []
        for gradient in found:
            if isinstance(gradient, self.tf.IndexedSlices):
                dense += [gradient.values, gradient.indices]
            elif gradient is not None:
                dense.append(gradient)
        return dense, {**feeds, **sides}


def _defaults(definition: Any) -> dict[str, Any]:
    """The attributes' defaults, which `apply_op` wants to be told."""
    inferred = {
        key
        for arg in definition.input_arg
        for key in (arg.type_attr, arg.type_list_attr, arg.number_attr)
    }
    found: dict[str, Any] = {}
    for attr in definition.attr:
        if not attr.HasField("default_value") or attr.name in inferred:
            continue
        kind = attr.default_value.WhichOneof("value")
        if kind == "list":
            lists = attr.default_value.list.ListFields()
            found[attr.name] = next((list(values) for _, values in lists), [])
        else:
            found[attr.name] = getattr(attr.default_value, kind)
    return found


def _hosted(session: Any, fetches: Any, feeds: Any) -> list[str]:
    """The ops that a run leaves to reference kernels, each with the reason."""
    try:
        plan, _ = session.prepared_plan(fetches, feeds)
    except ValueError:
        return ["not compiled"]
    return sorted({f"{op.type}: {reason}" for op, reason in plan.traced.hosted})


if __name__ == "__main__":
    serve(OpWorker)
