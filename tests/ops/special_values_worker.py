# SPDX-License-Identifier: Apache-2.0
"""Maxima, orders, gradients and functions of NaN, infinities, zeros and denormal numbers.

Run once per implementation.

As a script, `python special_values_worker.py MODULE OUT.json` imports a TensorFlow 1.x API by
name.  Works under Python 3.7 with NumPy 1.18.
"""

import importlib
import json
import sys

import numpy as np

NAN, INF = np.nan, np.inf
FOURS = [
    [NAN, 3, 2, -5],
    [1, NAN, 2, -5],
    [1, 3, NAN, -5],
    [1, 3, 2, NAN],
    [NAN, NAN, 2, 1],
    [1, NAN, NAN, 2],
    [NAN] * 4,
    [-INF] * 4,
    [-INF, NAN, -INF, -INF],
    [NAN, -INF, -INF, -INF],
    [INF] * 4,
    [INF, NAN, 1, 2],
    [0.0, -0.0, 0.0, -0.0],
    [-0.0, 0.0, 0.0, -0.0],
    [-1] * 4,
    [-INF, -3.4028234663852886e38, -INF, NAN],
]
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1, -1, 7, 6, 0.5, -0.5]
CHANNELS = (1, 3, 16)
LENGTHS = (1, 2, 9, 40)


def _one_nan_each(length):
    """Rows with a NaN at each place, rising and falling, and rows of one value."""
    rising = np.arange(length) - 3.0
    rows = [row.copy() for row in (rising, rising[::-1]) for _ in range(length)]
    for i, row in enumerate(rows):
        row[i % length] = NAN
    return np.array([*rows, *np.full((3, length), [[NAN], [-INF], [INF]])])


def _pairs(values, dtype):
    """All pairs of values, as two vectors."""
    return (part.ravel().astype(dtype) for part in np.meshgrid(values, values))


class _Cases:
    """Tensors by name, and the arrays that their placeholders are fed."""

    def __init__(self, tf):
        self.tf, self.fetches, self.feeds = tf, {}, {}

    def feed(self, array):
        placeholder = self.tf.placeholder(array.dtype, array.shape)
        self.feeds[placeholder] = array
        return placeholder


def _reductions(cases):
    tf = cases.tf
    for dtype in ("float32", "float64", "float16"):
        for length in LENGTHS:
            rows = _one_nan_each(length).astype(dtype)
            by_row, by_column = cases.feed(rows), cases.feed(np.ascontiguousarray(rows.T))
            for name in ("reduce_max", "reduce_min"):
                function, key = getattr(tf, name), f"{name}/{dtype}/{length}"
                cases.fetches[key + "/rows"] = function(by_row, axis=1)
                cases.fetches[key + "/columns"] = function(by_column, axis=0)
                cases.fetches[key + "/all"] = function(by_row[-3])
        empty = cases.feed(np.zeros((2, 0), dtype))
        cases.fetches["reduce_max/empty/" + dtype] = tf.reduce_max(empty, axis=1)
        cases.fetches["reduce_min/empty/" + dtype] = tf.reduce_min(empty, axis=1)


def _norms(cases):
    norm = cases.tf.math.reduce_euclidean_norm
    for dtype in ("float32", "float64", "float16", "int32", "complex64"):
        for shape in ((1,), (1, 3), (3, 1), (1, 3, 1), (0, 1)):
            x = cases.feed((np.arange(np.prod(shape)) - 3).reshape(shape).astype(dtype))
            for axes in ([0], [len(shape) - 1], sorted({0, len(shape) - 1}), None):
                key = f"euclidean_norm/{dtype}/{shape}/{axes}"
                cases.fetches[key] = norm(x, axis=axes)


def _pools(cases):
    nn, gradients = cases.tf.nn, cases.tf.gradients
    fours = np.float32(FOURS)
    for depth in CHANNELS:
        x = cases.feed(np.tile(fours.reshape(-1, 2, 2, 1), (1, 2, 2, depth)))
        for size in (2, 3):
            key = f"{depth}/{size}"
            window = [1, size, size, 1], [1, 2, 2, 1], "SAME"
            top = nn.max_pool(x, *window)
            cases.fetches["max_pool/" + key] = top
            cases.fetches["max_pool_gradient/" + key] = gradients(top, x)[0]
            top, places = nn.max_pool_with_argmax(x, *window)
            cases.fetches["max_pool_with_argmax/" + key] = top
            cases.fetches["places/" + key] = places
    flat = cases.feed(fours.reshape(-1, 1, 1, 4))
    cases.fetches["depth/"] = nn.max_pool(flat, [1, 1, 1, 4], [1, 1, 1, 4], "VALID")
    volume = cases.feed(fours.reshape(-1, 2, 2, 1, 1))
    top = nn.max_pool3d(volume, [1, 2, 2, 1, 1], [1, 2, 2, 1, 1], "SAME")
    cases.fetches["max_pool3d/"] = top
    cases.fetches["max_pool3d_gradient/"] = gradients(top, volume)[0]


def _segments(cases):
    tf, fours = cases.tf, np.float32(FOURS)
    x = cases.feed(np.ascontiguousarray(fours.T))
    for name in ("segment_max", "segment_min"):
        in_order, unsorted = getattr(tf, name), getattr(tf, "unsorted_" + name)
        cases.fetches[name + "/one"] = in_order(x, np.int32([0, 0, 0, 0]))
        cases.fetches[name + "/gap"] = in_order(x, np.int32([0, 2, 2, 2]))
        cases.fetches["unsorted_" + name + "/two"] = unsorted(x, np.int32([2, 0, 2, 0]), 4)
        cases.fetches["unsorted_" + name + "/one"] = unsorted(x, np.int32([1, 1, 1, 1]), 2)


def _orders(cases):
    tf, random = cases.tf, np.random.RandomState(1)
    fours = np.float32(FOURS)
    x, y = cases.feed(fours), cases.feed(np.ascontiguousarray(fours.T))
    for name in ("argmax", "argmin"):
        cases.fetches[name + "/rows"] = getattr(tf, name)(x, axis=1)
        cases.fetches[name + "/columns"] = getattr(tf, name)(y, axis=0)
    for i, four in enumerate(FOURS):
        cases.fetches[f"unique/{four}"] = tf.unique(x[i])[1]
    for length in (2, 4, 16, 17, 64, 100):
        rows = random.randn(24, length).astype(np.float32).round(1)
        rows[random.rand(*rows.shape) < np.linspace(0, 1, 24)[:, None]] = NAN
        x = cases.feed(rows)
        for count in sorted({1, 2, length // 2, length - 1, length}):
            top, places = tf.nn.top_k(x, count)
            cases.fetches[f"top_k/{length}/{count}"] = top
            cases.fetches[f"top_k/places/{length}/{count}"] = places


def _gradients(cases):
    tf, nn = cases.tf, cases.tf.nn
    functions = {
        "relu": nn.relu,
        "relu6": nn.relu6,
        "elu": nn.elu,
        "selu": nn.selu,
        "tanh": tf.tanh,
        "softplus": nn.softplus,
        "softsign": nn.softsign,
        "leaky_relu": nn.leaky_relu,
        "sigmoid": tf.sigmoid,
        "reciprocal": tf.reciprocal,
        "abs": tf.abs,
        "sign": tf.sign,
        "square": tf.square,
        "log": tf.log,
    }
    for dtype in ("float32", "float64", "float16"):
        x, dy = (cases.feed(part) for part in _pairs(SPECIAL, dtype))
        for name, function in functions.items():
            exact = "exact_" if name.startswith("relu") else "class_"
            cases.fetches[exact + f"gradient/{name}/{dtype}"] = tf.gradients(function(x), x, dy)[0]
        for name in ("maximum", "minimum"):
            both = tf.gradients(getattr(tf, name)(x, dy), [x, dy])
            cases.fetches[f"exact_gradient/{name}/{dtype}"] = tf.stack(both)
        chosen = tf.gradients(tf.where(x > 0, x, dy), [x, dy], dy)
        cases.fetches[f"exact_gradient/where/{dtype}"] = tf.stack(chosen)


def _pooled_gradients(cases):
    """A relu in front of a pooling, whose gradient has what is no number."""
    tf, nn = cases.tf, cases.tf.nn
    numbers = np.nan_to_num(np.float32(FOURS)) * np.float32(0.25)
    x = cases.feed(numbers.reshape(-1, 2, 2, 1)[:, :, :, [0, 0, 0]])
    dy = cases.feed(np.float32(np.resize([1, NAN, INF, -INF, 0, -2], (len(FOURS), 1, 1, 3))))
    top = nn.max_pool(nn.relu(x), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    cases.fetches["class_gradient/pooled_relu"] = tf.gradients(top, x, dy)[0]


def _functions(cases):
    tf = cases.tf
    one = ("lgamma", "digamma", "erf", "erfc", "expm1", "log1p", "exp", "log", "tanh", "atan")
    two = ("igamma", "igammac", "zeta", "polygamma", "atan2", "pow", "floormod")
    for dtype in ("float32", "float64"):
        x = cases.feed(np.array([*SPECIAL, -2, -3, -2.5, 1e30, -1e30, 1e-30], dtype))
        for name in one:
            cases.fetches[f"class_function/{name}/{dtype}"] = getattr(tf.math, name)(x)
        x, y = (cases.feed(part) for part in _pairs([*SPECIAL, -2, -2.5, 50], dtype))
        for name in two:
            cases.fetches[f"class_function/{name}/{dtype}"] = getattr(tf.math, name)(x, y)
        cases.fetches[f"class_function/zeta_of_many/{dtype}"] = tf.math.zeta(
            cases.feed(np.array([1e30, 100, 1e30], dtype)),
            cases.feed(np.array([1e30, 1e30, 2], dtype)),
        )
        some = [NAN, INF, -INF, 0.0, -0.0, 1, -1, 0.5, 2]
        a, b, x = (part.ravel().astype(dtype) for part in np.meshgrid(some, some, some))
        beta = tf.betainc(cases.feed(a), cases.feed(b), cases.feed(x))
        cases.fetches[f"class_function/betainc/{dtype}"] = beta


def _logarithms_of_denormals(cases):
    tf = cases.tf
    for dtype, tiny in (("float32", 1e-40), ("float64", 1e-310)):
        values = np.array([tiny, -tiny, np.nextafter(0, 1, dtype=dtype), np.finfo(dtype).tiny])
        for length in (1, 3, 100, 5000):
            for number, value in enumerate(values.astype(dtype)):
                x = cases.feed(np.full(length, value))
                key = f"denormal/{dtype}/{length}/{number}"
                cases.fetches["class_log/" + key] = tf.log(x)
                cases.fetches["class_xlogy/" + key] = tf.math.xlogy(tf.ones_like(x), x)
                cases.fetches["class_log1p/" + key] = tf.log1p(x)
    for kind in ("complex64", "complex128"):
        tiny = {"complex64": 1e-40, "complex128": 1e-310}[kind]
        x = cases.feed(np.array([tiny, tiny * 1j, tiny * (1 - 1j), 1 + tiny * 1j], kind))
        cases.fetches["class_log/denormal/" + kind] = tf.real(tf.log(x))
    x = cases.feed(np.float16([6e-8, -6e-8, 0]))
    cases.fetches["class_log/denormal/float16"] = tf.log(x)


def _determinants(cases):
    tf, matrix = cases.tf, np.array([[1.5, 0.5], [-1.0, 2.0]])
    for dtype in ("float32", "float64"):
        matrices = []
        for value in (NAN, INF, -INF, 0.0, 1e20):
            changed = np.tile(matrix, (4, 1, 1))
            changed.reshape(4, 4)[range(4), range(4)] = value
            matrices += [*changed, np.full((2, 2), value)]
        x = cases.feed(np.array(matrices, dtype))
        sign, log = tf.linalg.slogdet(x)
        cases.fetches["class_determinant/" + dtype] = tf.matrix_determinant(x) + 0
        cases.fetches["class_determinant/sign/" + dtype] = sign + 0
        cases.fetches["class_determinant/log/" + dtype] = log


def _cuts(cases):
    """Of images with an infinity, gradients by boxes that lie in part outside."""
    tf, image = cases.tf, (np.arange(48).reshape(2, 4, 3, 2) % 7).astype(np.float32)
    boxes = np.float32([[0, 0, 1, 1], [0.25, 0.1, 0.8, 0.9], [-0.5, 0.2, 1.2, 0.6]])
    for number, value in enumerate((INF, -INF, NAN)):
        for place in (0, 24, 26, 47):
            image.flat[place] = value
            x, by = cases.feed(image.copy()), cases.feed(boxes)
            cut = tf.image.crop_and_resize(x, by, [1, 0, 1], [3, 2])
            cases.fetches[f"class_cut/{number}/{place}"] = cut
            cases.fetches[f"class_gradient/cut/{number}/{place}"] = tf.gradients(cut, by)[0]


def _round_trips(cases):
    tf = cases.tf
    for place in range(8):
        x = np.linspace(-7, 2, 8).astype(np.float32).reshape(2, 4)
        x.flat[place] = NAN
        function = tf.quantization.quantize_and_dequantize
        cases.fetches[f"round_trip/{place}"] = function(cases.feed(x), 0.0, 0.0, range_given=False)


def _speech(cases):
    tf, nn, scores = cases.tf, cases.tf.nn, np.random.RandomState(3).randn(7, 2, 4)
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 2, 1], [2, 2])
    for value in (NAN, INF, -INF):
        for step, label in ((0, 0), (0, 1), (2, 3), (6, 1)):
            changed, key = scores.astype(np.float32), f"{value}/{step}/{label}"
            changed[step, 0, label] = value
            x = cases.feed(changed)
            (found,), score = nn.ctc_greedy_decoder(x, [7, 6])
            cases.fetches["labels/" + key] = found.values
            cases.fetches["class_labels/score/" + key] = score
            loss = nn.ctc_loss(labels, x, [7, 6])
            cases.fetches["class_ctc/loss/" + key] = loss
            cases.fetches["class_ctc/slopes/" + key] = tf.is_nan(tf.gradients(loss, x)[0])


FAMILIES = [_reductions, _norms, _pools, _segments, _orders]
FAMILIES += [_gradients, _pooled_gradients, _functions, _logarithms_of_denormals]
FAMILIES += [_determinants, _cuts, _round_trips, _speech]


def compute(tf):
    """Values of all cases, by name."""
    results = {}
    for family in FAMILIES:
        with tf.Graph().as_default(), tf.Session() as session:
            cases = _Cases(tf)
            family(cases)
            results.update(session.run(cases.fetches, cases.feeds))
    return {name: _texts(name, np.asarray(value)) for name, value in results.items()}


def _class(number):
    """What of a number does not depend on rounding."""
    if number == number and abs(number) not in (0, INF):
        return "+" if number > 0 else "-"
    return "0" if number == 0 else str(number)


def _texts(name, value):
    if name.startswith("class_"):
        return " ".join(_class(number) for number in value.ravel().tolist())
    if value.dtype.kind == "c":
        value = np.stack([value.real, value.imag], -1)
    return " ".join(f"{number:.9g}" for number in value.ravel().tolist())


if __name__ == "__main__":
    module = importlib.import_module(sys.argv[1])
    if sys.argv[1] == "tensorflow.compat.v1":
        module.disable_eager_execution()
    with open(sys.argv[2], "w") as file:
        json.dump(compute(module), file, indent=0, sort_keys=True)
        file.write("\n")
