# SPDX-License-Identifier: Apache-2.0
"""Programs compile no kernel of the library that could not be compiled before them.

Benchmarks, examples and a program for each family are planned, with a compiler that only notes what
it is asked for.  What they ask of the library is in the closed set.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.cli import aot
from numbaflow.engine import settings
from numbaflow.jit import target
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen.bytecode import is_fit, program
from numbaflow.jit.library.library_kernel import LibraryKernel
from numbaflow.jit.runtime import calling, driver, warming
from numbaflow.jit.runtime.constant_parts import ConstantParts
from numbaflow.jit.schedule import size_code

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))
from benchmarks.workloads import WORKLOADS  # noqa: E402

sys.path.remove(str(ROOT))

pytestmark = pytest.mark.programs
DTYPES = ("float32", "float64")
# Every workload of the benchmarks is small here.
SIZES = {"n": 500, "rows": 40, "columns": 30, "batch": 6, "steps": 3, "units": 16, "layers": 4}
# image_records.py is shared by others, and no program.
# (One is shared by others, and no program; two start processes of their own.)
OTHERS = {"image_records.py", "digits_cluster.py", "digits_workers.py"}
EXAMPLES = sorted({path.name for path in (ROOT / "examples").glob("*.py")} - OTHERS)
TAKE_A_FOLDER = ("digits_queues.py", "photo_patches.py", "photo_patches_data.py")

# What the recorder takes the place of.
COMPILE, PREPARE = compiler.compile_kernels, driver.prepare

Run = tuple[list[Any], dict[Any, Any]]


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Numbers whose sums depend on their order."""
    drawn = np.random.RandomState(sum(shape)).standard_normal(shape)
    return (drawn if dtype.startswith("float") else drawn * 9).astype(dtype)


def some(*shape: int, dtype: str = "float32") -> Any:
    return tf.Variable(numbers(*shape, dtype=dtype))


def randoms(dtype: str) -> Run:
    found = [
        tf.random_normal([7], dtype=dtype, seed=1),
        tf.random_uniform([7, 3], dtype=dtype, seed=1),
        tf.truncated_normal([7], dtype=dtype, seed=1),
        tf.random_uniform([7], 0, 9, tf.int32, seed=1),
        tf.random_uniform([7], 0, 9, tf.int64, seed=1),
    ]
    rates = tf.Variable(numbers(4, dtype=dtype) ** 2)
    gamma = tf.random_gamma([3], rates, dtype=dtype, seed=1)
    found += [gamma, *tf.gradients(gamma, rates)]
    for kind in (dtype, "int32", "int64"):
        found.append(tf.random_poisson(rates, [3], tf.as_dtype(kind), seed=1))
    true = tf.constant([[1], [2]], tf.int64)
    for sample in (tf.random.uniform_candidate_sampler, tf.random.log_uniform_candidate_sampler):
        found += sample(true, 1, 3, True, 9, seed=1)
    return found, {}


def special(dtype: str) -> Run:
    a, b, x = (tf.Variable(numbers(n, dtype=dtype) ** 2) for n in (4, 4, 4))
    lower = tf.igamma(a, x)
    found = [lower, tf.igammac(a, x), tf.zeta(x, b), tf.polygamma(a, x), tf.betainc(a, b, x)]
    return [*found, *tf.gradients(lower, a)], {}


def rows(dtype: str) -> Run:
    x = some(40, 30, dtype=dtype)
    found = []
    for where in (tf.constant([3, 0, 3]), tf.constant([3, 0, 3], tf.int64)):
        for name in ("max", "min", "prod", "sum"):
            function = getattr(tf, f"unsorted_segment_{name}")
            found += [function(tf.gather(x, where), where, 5), function(x[:3, 0], where, 5)]
    return found, {}


def running(dtype: str) -> Run:
    x = some(4, 30, 5, dtype=dtype)
    found = [tf.cumsum(x, 1), tf.cumsum(x, 2, exclusive=True), tf.cumprod(x, 0, reverse=True)]
    found += [tf.math.cumulative_logsumexp(x, 2), tf.real(tf.cumprod(tf.complex(x, x), 1))]
    return [*found, *tf.gradients(found, x)], {}


def scattered(dtype: str) -> Run:
    x = some(9, 5, dtype=dtype)
    found = []
    for update in (tf.tensor_scatter_add, tf.tensor_scatter_sub, tf.tensor_scatter_update):
        for ids in ("int32", "int64"):
            found.append(update(x, tf.constant([[3], [0]], ids), x[:2]))
            found.append(update(x, tf.constant([[3, 1], [0, 1]], ids), x[0, :2]))
    found.append(tf.scatter_nd([[3], [0]], x[:2], [9, 5]))
    return [*found, tf.math.bincount(tf.cast(tf.abs(x[0]), "int32"), minlength=4, maxlength=4)], {}


def picked(dtype: str) -> Run:
    x, picks = some(9, 5, dtype=dtype), tf.constant([8, 0, 3])
    entries = some(3, dtype=dtype)
    held = tf.SparseTensor(tf.constant([[0, 1], [1, 0], [3, 8]], tf.int64), entries, [4, 9])
    found = [tf.sparse_tensor_dense_matmul(held, x)]
    ids = tf.placeholder(tf.int32, [3])
    for name in ("sum", "mean", "sqrt_n"):
        found.append(getattr(tf, f"sparse_segment_{name}")(x, picks, ids, num_segments=3))
    return [*found, *tf.gradients(found[-3:], x)], {ids: np.array([0, 0, 2])}


def pools(dtype: str) -> Run:
    x = some(2, 9, 8, 5, dtype=dtype)
    found = []
    for function in (tf.nn.max_pool, tf.nn.avg_pool):
        for window, padding in ((2, "SAME"), (3, "VALID"), (17, "SAME")):
            y = function(x, [1, window, window, 1], [1, 2, 2, 1], padding)
            found += [y, *tf.gradients(y * y, x)]
    return found, {}


def convolutions(dtype: str) -> Run:
    x = some(3, 12, 12, 16, dtype=dtype)
    filters = some(3, 3, 16, 32, dtype=dtype)
    found = []
    for stride in (1, 2):
        y = tf.nn.conv2d(x, filters, [1, stride, stride, 1], "SAME")
        pooled = tf.nn.max_pool(tf.nn.relu(y), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        found += [y, *tf.gradients(y, [x, filters]), *tf.gradients(pooled, [x, filters])]
        y = tf.nn.depthwise_conv2d(x, filters[..., :1], [1, stride, stride, 1], "SAME")
        found += [y, *tf.gradients(y, [x, filters])]
    return found, {}


def texts(dtype: str) -> Run:
    """Unpadded windows along a text, whose gradients lack much of a window at the ends."""
    x = some(3, 60, 64, dtype=dtype)
    found = []
    for window in (2, 3, 4, 5, 7):
        y = tf.nn.conv1d(x, some(window, 64, 32, dtype=dtype), 1, "VALID")
        found += [y, *tf.gradients(y * y, x)]
    return found, {}


def products(dtype: str) -> Run:
    x = tf.placeholder(dtype, [None, 50])
    w, whole = some(50, 20, dtype=dtype), some(9, 9, dtype="int32")
    y = tf.nn.relu(tf.matmul(x, w) + some(20, dtype=dtype))
    found = [y, *tf.gradients(y, [x, w]), tf.matmul(whole, whole)]
    found.append(tf.matmul(some(4, 5, 6, dtype=dtype), some(4, 6, 7, dtype=dtype)))
    return found, {x: numbers(33, 50, dtype=dtype)}


def boxes(dtype: str) -> Run:
    place = tf.random_uniform([], 0, 3, tf.int32, seed=1)
    found, feeds = [], {}
    for kind in (dtype, "uint8"):
        for shape in ((7, 8, 3), (6, 7, 8, 3)):
            x = tf.placeholder(kind, shape)
            around, feeds[x] = len(shape) - 3, np.zeros(shape, kind)
            corner = [*[0] * around, place, place, 0]
            found.append(tf.slice(x, corner, [*shape[:around], 2, 2, 3]))
    return found, feeds


def arrays(dtype: str) -> Run:
    xs = tf.placeholder(dtype, [None, 4, 3])
    held = tf.TensorArray(dtype, tf.shape(xs)[0]).unstack(xs)
    w = some(3, dtype=dtype)

    def body(i: Any, total: Any, out: Any) -> Any:
        total = tf.tanh(total * w + held.read(i))
        return i + 1, total, out.write(i, total)

    start = 0, tf.zeros([4, 3], dtype), tf.TensorArray(dtype, tf.shape(xs)[0])
    _, total, out = tf.while_loop(lambda i, *_: i < tf.shape(xs)[0], body, start)
    stacked = out.stack()
    found = [total, stacked, *tf.gradients(stacked * total, [xs, w])]
    return found, {xs: numbers(5, 4, 3, dtype=dtype)}


def orders(dtype: str) -> Run:
    x = tf.placeholder(dtype, [None, 9])
    found = [*tf.nn.top_k(x, 3), tf.random_shuffle(x)]
    for side in ("left", "right"):
        found += [tf.searchsorted(x, x + 1, side, kind) for kind in (tf.int32, tf.int64)]
    for kind in ("int32", "int64"):
        places = tf.Variable(np.array([2, 0, 3, 1], kind))
        found.append(tf.math.invert_permutation(places))
    return found, {x: numbers(4, 9, dtype=dtype)}


def alignments(dtype: str) -> Run:
    x = tf.placeholder(dtype, [None, 2, 5])
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 0, 3]), [2, 2])
    loss = tf.nn.ctc_loss(labels, x, [4, 3])
    return [loss, *tf.gradients(loss, x)], {x: numbers(4, 2, 5, dtype=dtype)}


def pictures(dtype: str) -> Run:
    del dtype  # images are resampled in single precision
    x, boxes = some(2, 8, 8, 3, dtype="float32"), some(4, 4, dtype="float32")
    found = [tf.image.resize_bilinear(x, [5, 5]), tf.image.resize_nearest_neighbor(x, [5, 5])]
    for method in ("bilinear", "nearest"):
        found.append(tf.image.crop_and_resize(x, boxes, [0, 1, 1, 0], [3, 3], method))
    seen = [tf.image.resize_bicubic(x, [5, 5]), tf.image.resize_area(x, [5, 5])]
    seen.append(tf.image.draw_bounding_boxes(x, [boxes, boxes]))
    seen.append(tf.image.non_max_suppression_padded(boxes, boxes[0], 3)[0])
    seen.append(tf.image.non_max_suppression_overlaps(boxes, boxes[0], 3))
    scores = tf.expand_dims(boxes, 0)
    seen += tf.image.combined_non_max_suppression(scores[:, :, tf.newaxis], scores, 2, 3)[:3]
    many = some(9, 9, 3, 1, dtype="float32")
    found.append(tf.nn.depthwise_conv2d(x, many, [1, 1, 1, 1], "SAME"))
    seen += tf.gradients(found[-1], [many])
    return [
        *seen,
        *found,
        *(g for y in found for g in tf.gradients(y, [x, boxes]) if g is not None),
    ], {}


def growing(dtype: str) -> Run:
    """Arrays and tensors that take another element in every turn of a loop."""
    n, w = tf.placeholder(tf.int32, []), some(3, dtype=dtype)

    def body(i: Any, total: Any, out: Any) -> Any:
        total = tf.tanh(total * w)
        return i + 1, total, out.write(i, total)

    array = tf.TensorArray(dtype, 0, dynamic_size=True, element_shape=[3])
    out = tf.while_loop(lambda i, *_: i < n, body, (0, w * 2, array))[2]
    stacked = out.stack()
    _, rows = tf.while_loop(
        lambda i, _: i < n,
        lambda i, rows: (i + 1, tf.concat([rows, [w * 2]], 0)),
        (0, tf.zeros([1, 3], dtype)),
        (tf.TensorShape([]), tf.TensorShape([None, 3])),
    )
    _, forks = tf.while_loop(
        lambda i, _: i < n,
        lambda i, rows: (i + 1, tf.concat([rows, of_two_shapes(i > 1, w)], 0)),
        (0, tf.zeros([1, 3], dtype)),
        (tf.TensorShape([]), tf.TensorShape([None, 3])),
    )
    started = tf.TensorArray(dtype, 1, dynamic_size=True, clear_after_read=False).write(1, w)
    read = tf.while_loop(
        lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, a.read(i - 1) + w)), (2, started)
    )[1].stack()
    _, varying = tf.while_loop(
        lambda i, _: i < n,
        lambda i, rows: (i + 1, tf.concat([rows, tf.reduce_sum(rows, 0, keepdims=True)], 0)),
        (0, w[None]),
        (tf.TensorShape([]), tf.TensorShape([None, 3])),
    )
    _, places = tf.while_loop(
        lambda i, _: i < n,
        lambda i, where: (i + 1, tf.concat([where, where[:1]], 0)),
        (0, tf.where(w > -99)[:, 0]),
        (tf.TensorShape([]), tf.TensorShape([None])),
    )
    several = tf.map_fn(
        lambda r: tf.reduce_sum(tf.square(tf.boolean_mask(r, r > 0))), w * some(4, 3, dtype=dtype)
    )
    ragged = tf.TensorArray(dtype, n, infer_shape=False)
    _, ragged = tf.while_loop(
        lambda i, _: i < n,
        lambda i, a: (i + 1, a.write(i, tf.boolean_mask(w, w > tf.cast(i, dtype)))),
        (0, ragged),
    )
    pieces = ragged.concat()
    found = [pieces, ragged.read(0), *tf.gradients(tf.reduce_sum(pieces * pieces), w)]
    found += [varying, *tf.gradients(varying, w), places]
    found += [rows, forks, read, of_two_shapes(tf.reduce_all(w > 0), w), stacked, out.size()]
    found += [*tf.gradients(stacked, w), *tf.gradients(several, w)]
    return found, {n: np.array(4, np.int32)}


def of_two_shapes(flag: Any, w: Any) -> Any:
    """One row or two."""
    return tf.cond(flag, lambda: tf.stack([w, w]), lambda: tf.stack([w * 2]))


def ragged_tensors(dtype: str) -> Run:
    x = tf.ragged.placeholder(dtype, 1, [])
    fetches = [x[:, 1:].values, x.to_sparse().values, tf.gather(x, [1, 0]).values]
    value = tf.ragged.constant_value([[1, 2, 3], [4]], np.dtype(dtype))
    return fetches, {x.values: value.values, x.row_splits: value.row_splits}


def sparse_tensors(dtype: str) -> Run:
    a, b = (tf.sparse_placeholder(dtype, [4, 6]) for _ in range(2))
    total, default = tf.sparse_add(a, b), tf.constant(1, dtype)
    filled, _ = tf.sparse_fill_empty_rows(a, default)
    block = tf.sparse_slice(a, [1, 1], [2, 3])
    results = [total.values, filled.values, block.values, tf.sparse_softmax(b).values]
    ends = [tf.sparse_maximum(a, b).values, tf.sparse_minimum(a, b).values]
    gradients = tf.gradients(
        tf.add_n([tf.reduce_sum(x * x) for x in results]), [a.values, b.values]
    )
    places = np.array([[0, 1], [2, 3], [2, 5]])
    values = numbers(3, dtype=dtype)
    feeds = {x: tf.SparseTensorValue(places, values, [4, 6]) for x in (a, b)}
    parts = {
        part: given
        for x, fed in feeds.items()
        for part, given in zip((x.indices, x.values, x.dense_shape), fed, strict=True)
    }
    return [*results, *ends, *gradients], parts


def fractional_pools(dtype: str) -> Run:
    x = some(2, 9, 8, 3, dtype=dtype)
    ratio = [1.0, 1.4, 1.7, 1.0]
    found = [tf.nn.fractional_max_pool(x, ratio)[0], tf.nn.fractional_avg_pool(x, ratio)[0]]
    return [*found, *(g for y in found for g in tf.gradients(y, x))], {}


def matrices(dtype: str) -> Run:
    x, y = tf.placeholder(dtype, [None, 3, 3]), tf.placeholder(dtype, [None, 3, 2])
    root = tf.linalg.cholesky(tf.matmul(x, x, transpose_b=True))
    solved = [tf.linalg.solve(x, y), tf.linalg.triangular_solve(root, y)]
    found = [root, *solved, tf.linalg.inv(x), tf.linalg.det(x)]
    found += tf.gradients([tf.reduce_sum(each) for each in found], [x, y])
    found += [*tf.linalg.qr(x), *tf.linalg.eigh(x)]
    found += [*tf.linalg.lu(x), *tf.linalg.lu(x, output_idx_type=tf.int64)]
    square = numbers(4, 3, 3, dtype=dtype) + 3 * np.eye(3, dtype=dtype)
    return found, {x: square, y: numbers(4, 3, 2, dtype=dtype)}


def spectra(dtype: str) -> Run:
    x = some(3, 12, 10, dtype=dtype)
    found = [tf.fft(tf.complex(x, x)), tf.ifft2d(tf.complex(x, x))]
    single = tf.cast(x, tf.float32)
    return [*found, tf.signal.rfft(single), tf.signal.irfft(tf.complex(single, single))], {}


FAMILIES: tuple[Callable[[str], Run], ...] = (
    pictures,
    fractional_pools,
    matrices,
    spectra,
    orders,
    alignments,
    growing,
    sparse_tensors,
    ragged_tensors,
    special,
    *(randoms, rows, running, scattered, picked, pools, convolutions, texts, products),
    *(arrays, boxes),
)


class Recorder:
    """In place of the compiler: which kernels of the library were asked for."""

    def __init__(self) -> None:
        self.asked: set[LibraryKernel] = set()
        self.closed = frozenset(warming.kernels(DTYPES))

    def compile(self, wanted: Sequence[compiler.Wanted]) -> list[compiler.Compiled]:
        """Makes nothing of kernels, but a note."""
        kernels = [kernel for kernel, _ in wanted]
        for kernel in kernels:
            if isinstance(kernel, LibraryKernel):
                # By itself, as it is compiled.
                self.asked |= {kernel.calling(()), *kernel.parts}
            elif is_fit(kernel):
                # It begins as bytecode, whose instructions of rare dtypes are in no set.
                made = program(kernel)
                self.asked |= self.closed.intersection((made.machine, *made.kernels))
        return [compiler.Compiled(0, kernel.name, "", 0.0, True, "") for kernel in kernels]

    def plan(self, graph: tf.Graph, fetches: Sequence[Any], feeds: dict[Any, Any]) -> set[str]:
        """Plans a run, and that of the initializers; the names of kernels that it asked for, and
        that are not in the closed set."""
        before, self.asked = self.asked, set()
        with graph.as_default(), tf.Session(graph=graph) as session:
            aot.make_variables(session, fetches, feeds)
            session.prepared_plan(list(fetches), feeds)
            if tf.global_variables():
                session.prepared_plan(tf.global_variables_initializer())
        asked, self.asked = self.asked, self.asked | before
        return {kernel.name for kernel in asked - self.closed}


def recording(patch: pytest.MonkeyPatch) -> Recorder:
    """Takes the compiler's place."""
    found = Recorder()
    patch.setattr(compiler, "compile_kernels", found.compile)
    patch.setattr(compiler, "compiled_parts", lambda kernel: [])
    patch.setattr(driver, "prepare", lambda: None)
    patch.setattr(warming, "begin", lambda: None)
    # Nothing can run: what is constant stays in the plan, with the kernels that it takes.
    patch.setattr(ConstantParts, "_compute", lambda self, operations: False)
    return found


@pytest.fixture(scope="module")
def recorder() -> Iterator[Recorder]:
    """A compiler that compiles nothing."""
    with pytest.MonkeyPatch.context() as patch, settings.override(jit="always"):
        yield recording(patch)


@pytest.mark.parametrize("name", WORKLOADS)
def test_benchmarks(recorder: Recorder, name: str) -> None:
    build = WORKLOADS[name]
    sizes = {k: v for k, v in SIZES.items() if k in inspect.signature(build).parameters}
    with tf.Graph().as_default() as graph:
        fetches, feeds = build(tf, **sizes)
        assert not recorder.plan(graph, tf.nest.flatten(fetches), feeds or {})


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(recorder: Recorder, name: str, tmp_path: Path) -> None:
    if name == "digits_cnn.py" or name in TAKE_A_FOLDER:
        pytest.importorskip("sklearn")
    arguments = ["--logdir", str(tmp_path)] if name in TAKE_A_FOLDER else []
    with tf.Graph().as_default():
        graph = aot.load_graph(ROOT / "examples" / name, arguments)
    fetches = [aot.fetched(graph, each) for each in aot.candidates(graph)]
    assert not recorder.plan(graph, fetches, aot.feeds_of(graph, fetches, []))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("build", FAMILIES)
def test_families(recorder: Recorder, build: Callable[[str], Run], dtype: str) -> None:
    with tf.Graph().as_default() as graph:
        left = recorder.plan(graph, *build(dtype))
        assert not left, left


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
def test_tiles_of_every_width_of_vectors(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On processors with vectors of another length other tiles are the quickest."""
    with settings.override(jit="always", target=target):
        recorder = recording(monkeypatch)
        for name in ("lenet_adam", "deep_mlp"):
            test_benchmarks(recorder, name)
        for build, dtype in itertools.product((convolutions, products), DTYPES):
            test_families(recorder, build, dtype)


@pytest.mark.cpu
@pytest.mark.parametrize("dtype", DTYPES)
def test_segments(recorder: Recorder, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows sizes that depend on data is planned when a run is there, so there is one."""
    asked = set()

    def note(wanted: Sequence[compiler.Wanted]) -> list[compiler.Compiled]:
        asked.update(kernel for kernel, _ in wanted if isinstance(kernel, LibraryKernel))
        return COMPILE(wanted)

    monkeypatch.setattr(compiler, "compile_kernels", note)
    monkeypatch.setattr(driver, "prepare", PREPARE)
    data, ids = tf.placeholder(dtype, [None, 3]), tf.placeholder(tf.int64, [None])
    names = "sum", "mean", "prod", "max", "min"
    fetches = [getattr(tf, f"segment_{name}")(data, ids) for name in names]
    kind = {"float32": tf.int32, "float64": tf.int64}[dtype]
    one, other = (tf.sparse_placeholder(kind, [None, None]) for _ in range(2))
    fetches.append(tf.edit_distance(one, other))
    labels = tf.SparseTensorValue([[0, 0], [1, 0]], [5, 6], [2, 1])
    with tf.Session() as session:
        feeds = {data: np.ones((3, 3), dtype), ids: [0, 0, 2], one: labels, other: labels}
        session.run(fetches, feeds)
    wanted = {"segments_add", "segments_fmax", "edit_distances"}
    assert {kernel.name for kernel in asked} >= wanted
    assert not {kernel.name for kernel in asked - recorder.closed}
    recorder.asked |= asked


@pytest.mark.cpu
def test_records_and_features(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What reads records, messages and numbers, and makes summaries, is called outside of plans."""
    asked = set()

    def note(wanted: Sequence[compiler.Wanted]) -> list[compiler.Compiled]:
        asked.update(kernel for kernel, _ in wanted if isinstance(kernel, LibraryKernel))
        return COMPILE(wanted)

    monkeypatch.setattr(calling, "_CALLED", {})  # by other tests
    monkeypatch.setattr(compiler, "compile_kernels", note)
    example = tf.train.Example()
    example.features.feature["a"].int64_list.value.append(5)
    with tf.python_io.TFRecordWriter(str(tmp_path / "records")) as writer:
        for _ in range(200):
            writer.write(example.SerializeToString())
    features = {"a": tf.FixedLenFeature([], tf.int64)}
    records = tf.data.TFRecordDataset(str(tmp_path / "records")).batch(100)
    parsed = records.map(lambda batch: tf.parse_example(batch, features))
    batch = parsed.make_one_shot_iterator().get_next()
    # (The second iteration reads what the first one wrote.)
    kept = tf.data.Dataset.range(3).map(lambda x: (x, tf.as_string(x))).cache(str(tmp_path / "k"))
    again = kept.repeat(2).batch(6).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(again)[1].tolist() == [b"0", b"1", b"2"] * 2
        for _ in range(2):
            assert session.run(batch)["a"].tolist() == [5] * 100
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(batch)
        steps = tf.train.SequenceExample()
        steps.feature_lists.feature_list["b"].feature.add().int64_list.value.append(7)
        listed = {"b": tf.FixedLenSequenceFeature([], tf.int64)}
        _, lists = tf.parse_single_sequence_example(
            steps.SerializeToString(), sequence_features=listed
        )
        assert session.run(lists)["b"].tolist() == [7]
        lines = [b"1.5,7"] * 300
        reals, wholes = session.run(tf.decode_csv(lines, [[0.0], [0]]))
        assert set(reals) == {1.5} and set(wholes) == {7}
        texts = tf.constant([b" a text"] * 300)
        words = tf.string_split(texts).values
        encoded = tf.encode_base64(texts)
        session.run(
            [
                *(tf.strings.length(texts, unit="UTF8_CHAR"), tf.strings.strip(texts), words),
                *(tf.substr(texts, 0, 3), tf.string_join([texts, texts]), encoded),
                *(tf.decode_base64(encoded), tf.as_string(tf.range(300))),
                *(tf.string_to_hash_bucket(texts, 9), tf.string_to_hash_bucket_fast(texts, 9)),
                tf.string_to_hash_bucket_strong(texts, 9, [1, 2]),
                tf.strings.regex_full_match(texts, "a+"),
            ]
        )
        for kind in (np.float32, np.float64):
            session.run(tf.summary.histogram("h", np.ones(5000, kind)))
        session.run(tf.summary.image("p", np.ones([1, 2, 2, 3], np.float32)))
        session.run(tf.image.decode_png(tf.image.encode_png(np.ones([2, 2, 3], np.uint8))))
    recorder.asked |= asked


@pytest.mark.cpu
def test_plans_at_many_sizes(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """What binds plans to sizes is asked for once they have met several."""
    asked = set()

    def note(wanted: Sequence[compiler.Wanted]) -> list[compiler.Compiled]:
        asked.update(kernel for kernel, _ in wanted if isinstance(kernel, LibraryKernel))
        return COMPILE(wanted)

    size_code.functions.cache_clear()
    monkeypatch.setattr(compiler, "compile_kernels", note)
    x = tf.placeholder(tf.float32, [None, 3])
    total = tf.reduce_sum(tf.nn.softmax(x), 0)
    with tf.Session() as session:
        for count in range(2, 9):
            np.testing.assert_allclose(session.run(total, {x: np.ones((count, 3))}), count / 3)
    assert {kernel.name for kernel in asked} >= {"plan_bind", "plan_hand_over"}
    assert not {kernel.name for kernel in asked - recorder.closed}
    recorder.asked |= asked


def test_nothing_is_in_the_set_in_vain(recorder: Recorder, request: pytest.FixtureRequest) -> None:
    """Somebody asks for each family; behind all other tests of this file."""
    if request.config.getoption("markexpr") or request.config.getoption("keyword"):
        pytest.skip("sees what all tests of this file ask for")
    names = {kernel.name for kernel in recorder.asked}
    assert {kernel.name for kernel in recorder.closed} - names == set()


@pytest.mark.parametrize("level", target.LEVELS)
def test_the_set_is_the_same_each_time_and_for_processors_has_its_own(level: str) -> None:
    with settings.override(target=level):
        once, again = warming.kernels(DTYPES), warming.kernels(DTYPES)
        one = warming.kernels(DTYPES[:1])
    assert once == again and len(once) == len(set(once))
    assert set(one) < set(once)
