# SPDX-License-Identifier: Apache-2.0
"""Runs cases of ops and their gradients, here or in TensorFlow, and moves them in files.

`python tensorflow_worker.py FOLDER` runs them in TensorFlow for all ops in FOLDER/todo.json, one
after another: OP.in.npz has the cases, OP.out.npz gets the results, as plain arrays and JSON.  In
Python that 3.7 reads, for TensorFlow 1.15.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

Results = Any


# Files


def save(path: Path, tree: Any) -> None:
    """Writes a tree of lists, dicts, numbers, texts and arrays; the file appears when complete."""
    arrays: list[np.ndarray] = []
    text = json.dumps(_packed(tree, arrays))
    part = path.with_name("part.npz")
    np.savez(part, tree=np.array(text), **{f"a{i}": array for i, array in enumerate(arrays)})
    os.replace(part, path)


def load(path: Path) -> Any:
    """What `save` wrote."""
    with np.load(path) as file:
        return _unpacked(json.loads(str(file["tree"])), file)


def _packed(tree: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(tree, dict):
        return {"dict": {key: _packed(value, arrays) for key, value in tree.items()}}
    if isinstance(tree, (list, tuple)):
        return [_packed(value, arrays) for value in tree]
    if isinstance(tree, bytes):
        return {"bytes": tree.decode("latin-1")}
    if not isinstance(tree, (np.ndarray, np.generic)):
        return tree
    array = np.asarray(tree)
    if array.dtype == object:
        items = [bytes(item).decode("latin-1") for item in array.flat]
        return {"texts": items, "shape": list(array.shape)}
    name = array.dtype.name
    arrays.append(array.view(np.uint16) if name == "bfloat16" else array)
    return {"array": len(arrays) - 1, "dtype": name}


def _unpacked(tree: Any, file: Any) -> Any:
    if isinstance(tree, list):
        return [_unpacked(value, file) for value in tree]
    if not isinstance(tree, dict):
        return tree
    if "dict" in tree:
        return {key: _unpacked(value, file) for key, value in tree["dict"].items()}
    if "bytes" in tree:
        return tree["bytes"].encode("latin-1")
    if "texts" in tree:
        array = np.empty(len(tree["texts"]), object)
        array[:] = [item.encode("latin-1") for item in tree["texts"]]
        return array.reshape(tree["shape"])
    array = file[f"a{tree['array']}"]
    if tree["dtype"] == "bfloat16":
        import ml_dtypes

        return array.view(ml_dtypes.bfloat16)
    return array


# Running


def evaluate(tf: Any, apply: Any, cases: list[Results], config: Any = None) -> list[Results]:
    """The results of the cases of one op; apply(inputs, attrs) makes it and gives its outputs."""
    results = []
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        tf.set_random_seed(7)
        for case in cases:
            results.append(_run(tf, apply, session, case))
    return results


def _run(tf: Any, apply: Any, session: Any, case: Results) -> Results:
    feeds: dict[Any, np.ndarray] = {}
    try:
        inputs = [_symbol(tf, item, case, feeds) for item in case["inputs"]]
        op, outputs = apply(inputs, _attrs(tf, case["attrs"]))
        values = session.run(outputs, feeds) if outputs else []
        if not outputs:
            session.run(op, feeds)
    except Exception as error:
        return {"error": type(error).__name__, **_message(error)}
    result: Results = {"values": [_plain(value) for value in values]}
    if case["gradient"]:
        result.update(_gradients(tf, session, outputs, values, feeds))
    return result


def _message(error: Exception) -> Results:
    text = str(error)
    lacks = isinstance(error, NotImplementedError) or type(error).__name__ == "UnimplementedError"
    lacking = ("OpKernel", "not in list of allowed values", "do not yet support")
    lacks = lacks or any(words in text for words in lacking)
    # (Where nodes were made is of this machine.)
    text = text.split("Original stack trace")[0].split("\n\t [[")[0]
    lines = [line for line in text.splitlines() if "Graph execution error" not in line]
    return {"message": " ".join(lines)[-300:], "unsupported": lacks}


def _symbol(tf: Any, item: Any, case: Results, feeds: dict[Any, np.ndarray]) -> Any:
    if isinstance(item, list):
        return [_symbol(tf, each, case, feeds) for each in item]
    kind = tf.string if item.dtype == object else tf.as_dtype(item.dtype)
    if not is_fed(item) and not (case["lone"] and not feeds):
        return tf.constant(item, kind)
    tensor = tf.placeholder(kind, item.shape if case["static"] else [None] * item.ndim)
    feeds[tensor] = strided(item) if case["strided"] else item
    return tensor


def is_fed(array: np.ndarray) -> bool:
    """Whether an input is data; small arrays of integers are parameters, and become constants."""
    return array.dtype.kind in "fcb" or array.dtype.name == "bfloat16" or array.size > 8


def strided(array: np.ndarray) -> np.ndarray:
    """The same values, not contiguous in memory."""
    if not array.ndim:
        return array
    wide = np.repeat(array, 2, axis=-1)
    return wide[..., ::2]


def _attrs(tf: Any, attrs: Results) -> Results:
    return {key: _attr(tf, *value) for key, value in attrs.items()}


def _attr(tf: Any, kind: str, value: Any) -> Any:
    if kind == "type":
        return tf.as_dtype(value)
    if kind in ("types", "shapes"):
        return [_attr(tf, kind[:-1], item) for item in value]
    return tf.TensorShape(value) if kind == "shape" else value


def _plain(value: Any) -> np.ndarray:
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "SU" else array


def weights(value: np.ndarray) -> np.ndarray:
    """The weight of each element of a result in the loss that is differentiated."""
    exact = np.cos(np.arange(1, value.size + 1.0)).reshape(value.shape)
    return np.asarray(exact + (0.5j if value.dtype.kind == "c" else 0), value.dtype)


def _gradients(
    tf: Any, session: Any, outputs: Any, values: Any, feeds: dict[Any, np.ndarray]
) -> Results:
    xs = [x for x in feeds if x.dtype.is_floating or x.dtype.is_complex]
    ys = [
        (y, weights(np.asarray(value)))
        for y, value in zip(outputs, values)
        if y.dtype.is_floating or y.dtype.is_complex
    ]
    if not xs or not ys:
        return {}
    try:
        sides = {tf.placeholder(y.dtype, w.shape): w for y, w in ys}
        found = tf.gradients([y for y, _ in ys], xs, grad_ys=list(sides))
        dense = [None if g is None else tf.convert_to_tensor(g) for g in found]
        fetched = iter(session.run([g for g in dense if g is not None], {**feeds, **sides}))
    except Exception as error:
        return {"gradient_error": type(error).__name__, **_message(error)}
    return {"gradients": [None if g is None else _plain(next(fetched)) for g in dense]}


# TensorFlow


def main(folder: Path) -> None:
    """Evaluates every op of the list that has no results yet."""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    lookup, apply_op = _library()
    # The ops themselves, not what the graph optimizer makes of them.
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0

    is_later = not tf.__version__.startswith("1.")
    for name in json.loads((folder / "todo.json").read_text()):
        target = folder / f"{name}.out.npz"
        if target.exists():
            continue
        definition = lookup(name)
        if definition is None or (is_later and definition.deprecation.version):
            save(target, {"missing": True})
            continue

        def apply(inputs: list[Any], attrs: Results, definition: Any = definition) -> Any:
            values = zip((arg.name for arg in definition.input_arg), inputs)
            attrs = {key: _proto(tf, value) for key, value in attrs.items()}
            made = apply_op(definition.name, **dict(values), **{**_defaults(definition), **attrs})
            if isinstance(made, tf.Operation):
                return made, []
            return None, list(tf.nest.flatten(made))

        save(target, {"cases": evaluate(tf, apply, load(folder / f"{name}.in.npz"), config)})


def _library() -> Any:
    """(the definition of an op type or None, what makes an op by its type and inputs)."""
    from tensorflow.python.framework import op_def_library, op_def_registry

    if hasattr(op_def_library, "apply_op"):
        return op_def_registry.get, op_def_library.apply_op
    import tensorflow.contrib  # noqa: F401  what it has registers ops, too
    from tensorflow.contrib.libsvm.python.ops import libsvm_ops  # noqa: F401
    from tensorflow.contrib.reduce_slice_ops.python.ops import reduce_slice_ops  # noqa: F401
    from tensorflow.contrib.rnn.python.ops import gru_ops, lstm_ops  # noqa: F401
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python import pywrap_tensorflow

    every = pywrap_tensorflow.TF_GetBuffer(pywrap_tensorflow.TF_GetAllOpList())
    known = op_def_pb2.OpList.FromString(every)
    library = op_def_library.OpDefLibrary()
    library.add_op_list(known)
    return {op.name: op for op in known.op}.get, library.apply_op


def _defaults(definition: Any) -> Results:
    inferred = {
        key
        for arg in definition.input_arg
        for key in (arg.type_attr, arg.type_list_attr, arg.number_attr)
    }
    return {
        attr.name: _value(attr.default_value)
        for attr in definition.attr
        if attr.HasField("default_value") and attr.name not in inferred
    }


def _value(attr: Any) -> Any:
    kind = attr.WhichOneof("value")
    if kind != "list":
        return getattr(attr, kind)
    return next((list(values) for _, values in attr.list.ListFields()), [])


def _proto(tf: Any, value: Any) -> Any:
    return tf.make_tensor_proto(value) if isinstance(value, np.ndarray) else value


if __name__ == "__main__":
    main(Path(sys.argv[1]))
