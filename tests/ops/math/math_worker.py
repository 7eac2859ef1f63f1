# SPDX-License-Identifier: Apache-2.0
"""Computes many math ops on fixed inputs and saves the results; run once per implementation.

As a script, `python math_worker.py MODULE OUT.npz` imports a TensorFlow 1.x API by name.  Errors
are kept as the name of their class.  Works under Python 3.7 with NumPy 1.18.
"""

import importlib
import sys

import numpy as np

FLOATS = ("float32", "float64", "float16")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 1e-4, 30.0, -30.0]
NOT_FINITE = [np.inf, -np.inf, np.nan]
UNARY = [
    "abs",
    "negative",
    "sign",
    "reciprocal",
    "square",
    "sqrt",
    "rsqrt",
    "exp",
    "expm1",
    "log",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sigmoid",
    "erf",
    "erfc",
    "lgamma",
    "digamma",
    "floor",
    "ceil",
    "rint",
    "round",
    "is_nan",
    "is_inf",
    "is_finite",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floordiv",
    "floormod",
    "pow",
    "maximum",
    "minimum",
    "squared_difference",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "equal",
    "not_equal",
]
INTEGER_UNARY = ["abs", "negative", "sign", "square"]
REDUCTIONS = [
    "reduce_sum",
    "reduce_mean",
    "reduce_prod",
    "reduce_max",
    "reduce_min",
    "reduce_logsumexp",
]


def unary_cases(tf):
    """Functions of one tensor, by dtype."""
    for name in UNARY:
        for dtype in FLOATS:
            x = np.array(SPECIAL + NOT_FINITE, dtype)
            yield name + "/" + dtype, lambda n=name, x=x: getattr(tf, n)(tf.constant(x))
    for name in INTEGER_UNARY:
        for dtype in ("int32", "int64"):
            x = np.array([0, 1, -1, 7, -9, np.iinfo(dtype).min], dtype)
            yield name + "/" + dtype, lambda n=name, x=x: getattr(tf, n)(tf.constant(x))
    for name in ("exp", "log", "sqrt", "sin", "tanh", "square", "sign", "reciprocal", "abs"):
        x = np.array([1 + 2j, -0.5 + 0.25j, 3 - 1j], np.complex64)
        yield name + "/complex64", lambda n=name, x=x: getattr(tf, n)(tf.constant(x))
    for name in ("bessel_i0e", "bessel_i1e"):
        x = np.array(SPECIAL, np.float32)
        yield name, lambda n=name, x=x: getattr(tf.math, n)(tf.constant(x))


def binary_cases(tf):
    """Functions of two tensors: all pairs of special values, and integers."""
    values = np.array(SPECIAL[:9] + NOT_FINITE)
    for name in BINARY + ["truncatediv", "truncatemod", "realdiv", "mod", "atan2", "div_no_nan"]:
        op = getattr(tf, name)
        for dtype in FLOATS:
            x, y = values.astype(dtype)[:, None], values.astype(dtype)[None]
            if name not in ("truncatediv",) and not (name == "realdiv" and dtype == "float16"):
                yield name + "/" + dtype, lambda op=op, x=x, y=y: op(tf.constant(x), tf.constant(y))
        if name in ("atan2", "div_no_nan", "realdiv", "divide"):
            continue
        for dtype in ("int32", "int64"):
            x = np.array([[7], [-7], [0], [5]], dtype)
            y = np.array([[2, 3, 1, 4]] if name == "pow" else [[2, -2, 3, -3]], dtype)
            yield name + "/" + dtype, lambda op=op, x=x, y=y: op(tf.constant(x), tf.constant(y))
    for name in ("floordiv", "floormod", "truncatediv", "pow"):
        x, y = np.array([1, 2], np.int32), np.array([0, -1], np.int32)
        op = getattr(tf, name)
        yield name + "/error", lambda op=op, x=x, y=y: op(tf.constant(x), tf.constant(y))
    positive = np.array([0.3, 1.0, 2.5, 6.0], np.float64)
    for name in ("igamma", "igammac", "zeta", "polygamma", "xlogy", "xdivy"):
        x, y = positive[:, None], positive[None]
        if name == "zeta":
            x = x + 1
        if name == "polygamma":
            x = np.array([[0.0], [1.0], [2.0], [3.0]])
        op = getattr(tf.math, name)
        yield name, lambda op=op, x=x, y=y: op(tf.constant(x), tf.constant(y))
    x = np.array([0.1, 0.5, 0.9, 0.3])
    yield (
        "betainc",
        lambda: tf.betainc(tf.constant(positive), tf.constant(positive), tf.constant(x)),
    )
    yield (
        "nextafter",
        lambda: tf.math.nextafter(tf.constant(values), tf.constant(values[::-1].copy())),
    )


def reduction_cases(tf, random):
    """Reductions over every kind of axes, of empty tensors too."""
    shapes = [
        ((3, 4), None),
        ((3, 4), 0),
        ((3, 4), [1]),
        ((2, 3, 4), [0, -1]),
        ((0, 3), 0),
        ((0, 3), 1),
        ((), None),
    ]
    for name in REDUCTIONS:
        for dtype in ("float32", "float64", "int32", "float16"):
            if name == "reduce_logsumexp" and dtype == "int32":
                continue
            for i, (shape, axis) in enumerate(shapes):
                if dtype == "int32" and name == "reduce_mean" and shape == (0, 3):
                    continue
                x = np.asarray(
                    random.uniform(-3, 3, shape) * (3 if dtype == "int32" else 1)
                ).astype(dtype)
                for keep in (False, True):
                    yield (
                        f"{name}/{dtype}/{i}/{int(keep)}",
                        lambda n=name, x=x, a=axis, k=keep: getattr(tf, n)(
                            tf.constant(x), a, keepdims=k
                        ),
                    )
    x = np.array([[1, 7, 7], [3, 2, 1]], np.float32)
    for name in ("argmax", "argmin"):
        for axis in (0, 1, -1):
            yield name + str(axis), lambda n=name, a=axis: getattr(tf, n)(tf.constant(x), a)
    yield "argmax/empty", lambda: tf.argmax(tf.zeros([0, 2]), 0)
    yield "norm", lambda: tf.math.reduce_euclidean_norm(tf.constant(x), 1)
    yield "count", lambda: tf.count_nonzero(tf.constant(x) - 1, 0)
    yield "any", lambda: tf.reduce_any(tf.constant(x) > 2, 0)
    yield "all", lambda: tf.reduce_all(tf.constant(x) > 2, 1)
    for exclusive in (False, True):
        for reverse in (False, True):
            flags = {"exclusive": exclusive, "reverse": reverse}
            for name in ("cumsum", "cumprod"):
                yield (
                    name + str(flags),
                    lambda n=name, f=flags: getattr(tf, n)(tf.constant(x), 1, **f),
                )


def product_cases(tf, random):
    """Matrix products and contractions."""

    def draw(*shape):
        return random.uniform(-1, 1, shape).astype(np.float32)

    a, b, s, t = draw(3, 3), draw(3, 3), draw(2, 1, 3, 3), draw(4, 3, 3)
    for p in (False, True):
        for q in (False, True):
            yield (
                f"mm{int(p)}{int(q)}",
                lambda p=p, q=q: tf.matmul(a, b, transpose_a=p, transpose_b=q),
            )
            yield f"bmm{int(p)}{int(q)}", lambda p=p, q=q: tf.matmul(s, t, adjoint_a=p, adjoint_b=q)
    yield "mm/int32", lambda: tf.matmul(np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2))
    yield "mm/half", lambda: tf.matmul(a.astype("float16"), b.astype("float16"))
    yield "mm/empty", lambda: tf.matmul(np.zeros((2, 0)), np.zeros((0, 3)))
    yield "matvec", lambda: tf.linalg.matvec(a, b[0])
    yield "tensordot", lambda: tf.tensordot(t, a, [[2], [0]])
    yield "einsum", lambda: tf.einsum("bij,jk->bik", t, a)
    yield "einsum3", lambda: tf.einsum("i,i,i->", a[0], a[1], a[2])


def segment_cases(tf):
    """Segments with gaps, negative and out-of-range ids."""
    x = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], np.float32)
    for name in ("sum", "mean", "prod", "max", "min"):
        for dtype in ("float32", "int32"):
            yield (
                f"segment_{name}/{dtype}",
                lambda n=name, d=dtype: getattr(tf, "segment_" + n)(x.astype(d), [0, 0, 2, 3]),
            )
        if name != "mean":
            yield (
                "unsorted_" + name,
                lambda n=name: getattr(tf, "unsorted_segment_" + n)(x, [2, 0, -1, 2], 4),
            )
    yield "segment/error", lambda: tf.segment_sum(x, [1, 0, 2, 3])
    yield "unsorted/error", lambda: tf.unsorted_segment_sum(x, [1, 0, 2, 4], 4)
    for name in ("sum", "mean", "sqrt_n"):
        op = getattr(tf, "sparse_segment_" + name)
        yield "sparse_" + name, lambda op=op: op(x, [0, 2, 1], [0, 0, 2])
        yield "sparse_counted_" + name, lambda op=op: op(x, [0, 2, 1], [0, 0, 2], num_segments=5)
    yield "bincount", lambda: tf.bincount([1, 2, 1, 5])
    yield "bincount/weights", lambda: tf.bincount([1, 2, 1], weights=[0.5, 1.0, 2.0], minlength=4)


def other_cases(tf):
    """Casts, sequences, bits, clipping, selection."""
    values = np.array([0.0, 1.5, -1.5, 255.0, 300.0, -3.9, 1e10, -1e10, np.inf, -np.inf, np.nan])
    for source in ("float32", "float64"):
        for target in ("int32", "int64", "uint8", "int8", "int16", "bool", "float16", "complex64"):
            x = values[:6] if target in ("uint8", "int8", "int16") else values
            yield (
                f"cast/{source}/{target}",
                lambda s=source, t=target, x=x: tf.cast(tf.constant(x.astype(s)), getattr(tf, t)),
            )
    yield "saturate", lambda: tf.saturate_cast(tf.constant(values[:6]), tf.uint8)
    yield "range", lambda: tf.range(0.0, 1.0, 0.1)
    yield "range/int", lambda: tf.range(7, 1, -2)
    yield "linspace", lambda: tf.linspace(0.0, 1.0, 7)
    x, y = np.array([5, -3, 7], np.int32), np.array([3, 6, 40], np.int32)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"):
        yield name, lambda n=name: getattr(tf.bitwise, n)(x, y)
    yield "invert", lambda: tf.bitwise.invert(x)
    yield "clip", lambda: tf.clip_by_value(values[:6], -1.0, 2.0)
    yield "clip_norm", lambda: tf.clip_by_norm(values[:6], 2.0)
    yield "select", lambda: tf.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    yield "add_n", lambda: tf.add_n([values[:3], values[3:6]])
    yield "cross", lambda: tf.cross([1.0, 2.0, 3.0], [0.0, 1.0, 5.0])
    yield "angle", lambda: tf.angle(tf.constant([1 + 1j, -2 + 0.5j], tf.complex64))
    yield "string", lambda: tf.constant([b"a", b"b"]) + b"c"


def compute(tf):
    """Results by case name."""
    results = {}
    random = np.random.RandomState(7)
    with tf.Graph().as_default(), tf.Session() as session:
        for cases in (
            unary_cases(tf),
            binary_cases(tf),
            reduction_cases(tf, random),
            product_cases(tf, random),
            segment_cases(tf),
            other_cases(tf),
        ):
            for name, make in cases:
                try:
                    value = np.asarray(session.run(make()))
                    results[name] = value.astype("S") if value.dtype == object else value
                except Exception as error:
                    results[name] = np.array("!" + type(error).__name__)
    return results


if __name__ == "__main__":
    np.savez(sys.argv[2], **compute(importlib.import_module(sys.argv[1])))
