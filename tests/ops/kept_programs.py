# SPDX-License-Identifier: Apache-2.0
"""Programs with what is kept between runs: queues, tables, accumulators, areas, readers, inputs.

record_kept.py runs them in TensorFlow 1.15, test_kept.py here; in Python that 3.7 reads.
"""

from __future__ import annotations

import os
import re
from typing import Any


class Recorder:
    """Runs fetches one after the other and writes down what came: values, or the error."""

    def __init__(self, tf: Any, folder: str, lookup_ops: Any, data_flow_ops: Any) -> None:
        self.tf, self.folder = tf, folder
        self.lookup_ops, self.data_flow_ops = lookup_ops, data_flow_ops
        self.session = tf.Session(graph=tf.get_default_graph())
        self.found: list[Any] = []

    def __call__(self, fetches: Any, feed: Any = None, **settings: Any) -> None:
        try:
            self.found.append(self.plain(self.session.run(fetches, feed, **settings)))
        except self.tf.errors.OpError as error:
            self.found.append([type(error).__name__, self.text(error.message.split("\n")[0])])

    def building(self, build: Any) -> None:
        """Writes down the error of building something."""
        try:
            build()
        except (ValueError, TypeError) as error:
            self.found.append([type(error).__name__, self.text(str(error).split("\n")[0])])
        else:
            self.found.append("no error")

    def note(self, value: Any) -> None:
        """Writes down something known before any run."""
        self.found.append(self.plain(value))

    def text(self, text: str) -> str:
        """A message without what differs between two runs of one program."""
        text = text.split(" (defined at")[0].replace(self.folder, "FOLDER")
        return re.sub(r"(?<=[ '])_\d+_", "_N_", text)

    def plain(self, value: Any) -> Any:
        """A fetched value as JSON holds it."""
        if hasattr(value, "_fields"):
            return [self.plain(v) for v in value]
        if isinstance(value, dict):
            return {key: self.plain(v) for key, v in sorted(value.items())}
        if isinstance(value, (list, tuple)):
            return [self.plain(v) for v in value]
        if hasattr(value, "tolist"):
            value = value.tolist()
            return self.plain(value) if isinstance(value, list) else self.plain_one(value)
        return self.plain_one(value)

    def plain_one(self, value: Any) -> Any:
        if isinstance(value, bytes):
            value = value.decode("latin-1")
        return self.text(value) if isinstance(value, str) else value


def run(tf: Any, program: Any, folder: str, *hidden: Any) -> Any:
    """The operations that a program makes, and what its runs give.

    hidden: two modules with what TensorFlow 1.15 keeps to itself, for tables and for data flow.
    """
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(11)
        recorder = Recorder(tf, folder, *hidden)
        program(tf, recorder)
        recorder.session.close()
        nodes = [[op.name, op.type] for op in graph.get_operations()]
    return {"nodes": nodes, "found": recorder.found}


def fifo(tf: Any, run: Any) -> None:
    queue = tf.FIFOQueue(5, [tf.float32, tf.string], shapes=[[2], []], name="q")
    run(queue.enqueue(([1.0, 2.0], "a")))
    run(queue.enqueue_many(([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], ["b", "c", "d"])))
    run(queue.size())
    run(queue.dequeue())
    run(queue.dequeue_many(2))
    run(queue.is_closed())
    run(queue.close())
    run(queue.is_closed())
    run(queue.enqueue(([1.0, 2.0], "late")))
    run(queue.dequeue_many(2))
    run(queue.dequeue_up_to(2))
    run(queue.dequeue_up_to(2))
    run(queue.dequeue())
    run(queue.dequeue_many(0))
    many = queue.dequeue_many(tf.placeholder(tf.int32, []))
    run.note([t.shape.as_list() for t in many] + [queue.name, queue.queue_ref.dtype.name])


def fifo_errors(tf: Any, run: Any) -> None:
    queue = tf.FIFOQueue(5, [tf.int32], shapes=[[2]], names=["x"])
    run.building(lambda: queue.enqueue([1, 2]))
    run.building(lambda: queue.enqueue({"y": [1, 2]}))
    run.building(lambda: queue.enqueue({"x": [1, 2, 3]}))
    run.building(lambda: queue.enqueue({"x": [0.5, 1.0]}))
    run.building(lambda: tf.FIFOQueue(5, [tf.int32, tf.int32], shapes=[[]]))
    run.building(lambda: tf.FIFOQueue(5, [tf.int32], names=["a", "b"]))
    run.building(lambda: tf.FIFOQueue(5, [tf.int32], shapes=[[None]]))
    free = tf.FIFOQueue(5, [tf.int32])
    run.building(lambda: free.dequeue_many(2))
    fed = tf.placeholder(tf.int32)
    run(queue.enqueue({"x": fed}), {fed: [1, 2, 3]})
    run(queue.enqueue_many({"x": fed}), {fed: [[1, 2], [3, 4]]})
    run(queue.dequeue())
    count = tf.placeholder(tf.int32, [])
    run(queue.dequeue_many(count), {count: -1})
    run(free.enqueue_many([fed]), {fed: [[1], [2]]})
    run(free.dequeue())
    run(free.size())


def fifo_shared(tf: Any, run: Any) -> None:
    first = tf.FIFOQueue(5, [tf.int32], shapes=[[]], shared_name="both")
    second = tf.FIFOQueue(5, [tf.int32], shapes=[[]], shared_name="both")
    run(first.enqueue(7))
    run(second.dequeue())
    run(tf.FIFOQueue(6, [tf.int32], shapes=[[]], shared_name="both").size())
    run(tf.FIFOQueue(5, [tf.int64], shapes=[[]], shared_name="both").size())
    run(tf.FIFOQueue(5, [tf.int32], shapes=[[2]], shared_name="both").size())
    run(tf.RandomShuffleQueue(5, 1, [tf.int32], shapes=[[]], shared_name="both").size())
    picked = tf.QueueBase.from_list(tf.constant(1), [first, second])
    run(first.enqueue(8))
    run(picked.dequeue())
    run.building(lambda: tf.QueueBase.from_list(0, []))
    run.note([picked.dtypes[0].name, str(picked.shapes)])


def closing(tf: Any, run: Any) -> None:
    queue = tf.FIFOQueue(5, [tf.int32], shapes=[[]])
    run(queue.enqueue_many([[1, 2, 3]]))
    run(queue.close(cancel_pending_enqueues=True))
    run(queue.close())
    run(queue.enqueue_many([[1]]))
    run(queue.dequeue_up_to(5))
    run(queue.dequeue_many(1))


def padding(tf: Any, run: Any) -> None:
    queue = tf.PaddingFIFOQueue(9, [tf.int32, tf.string], shapes=[[None, 2], []])
    fed, word = tf.placeholder(tf.int32, [None, 2]), tf.placeholder(tf.string, [])
    put = queue.enqueue((fed, word))
    for i, rows in enumerate([1, 3, 2, 2, 1]):
        run(put, {fed: [[10 * i + j, j] for j in range(rows)], word: str(i)})
    run(queue.dequeue())
    run(queue.dequeue_many(3))
    run(queue.close())
    run(queue.dequeue_up_to(4))
    run.building(lambda: tf.PaddingFIFOQueue(9, [tf.int32], shapes=None))
    run.building(lambda: tf.PaddingFIFOQueue(9, [tf.int32], shapes=[[], []]))
    run.building(lambda: queue.enqueue((tf.zeros([2], tf.int32), "a")))


def priority(tf: Any, run: Any) -> None:
    queue = tf.PriorityQueue(9, [tf.string], shapes=[[]])
    run(queue.enqueue_many([[5, 1, 3, 1, 2], list("abcde")]))
    run(queue.enqueue((4, "f")))
    run(queue.dequeue())
    run(queue.dequeue_many(3))
    run(queue.close())
    run(queue.dequeue_many(2))
    run(queue.dequeue())


def shuffled(tf: Any, run: Any) -> None:
    queue = tf.RandomShuffleQueue(30, 4, [tf.int32, tf.float32], shapes=[[], []], seed=3)
    run(queue.enqueue_many([list(range(20)), [i / 2 for i in range(20)]]))
    run(queue.dequeue())
    run(queue.dequeue_many(5))
    run(queue.dequeue_up_to(3))
    run(queue.close())
    run(queue.dequeue_many(7))
    run(queue.dequeue_up_to(9))
    run(queue.dequeue_up_to(9))
    unseeded = tf.RandomShuffleQueue(30, 0, [tf.int32], shapes=[[]])
    run.note([unseeded.queue_ref.op.get_attr("seed"), unseeded.queue_ref.op.get_attr("seed2")])


def tables(tf: Any, run: Any) -> None:
    words = tf.constant(["brain", "salad", "surgery"])
    start = tf.lookup.KeyValueTensorInitializer(words, tf.constant([0, 1, 2], tf.int64))
    table = tf.lookup.StaticHashTable(start, -1)
    found = table.lookup(tf.constant([["salad", "tank"], ["brain", ""]]))
    run(found)
    run(tf.tables_initializer())
    run([found, table.size()])
    run(tf.tables_initializer())
    run.building(lambda: table.lookup(tf.constant([1])))
    sparse = tf.SparseTensor([[0, 1], [2, 0]], ["surgery", "x"], [3, 2])
    run(table.lookup(sparse))
    twice = tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 2])
    run(tf.lookup.StaticHashTable(twice, 0).initializer)
    again = tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 1])
    same = tf.lookup.StaticHashTable(again, 0)
    run(same.initializer)
    run(same.size())
    run.note([table.key_dtype.name, table.value_dtype.name, str(found.shape)])


def table_files(tf: Any, run: Any) -> None:
    path = os.path.join(run.folder, "words.txt")
    with open(path, "w") as file:
        file.write("brain 300\nsalad 20\nsurgery 1\n")
    whole, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    for key, value, delimiter, kinds in (
        (whole, number, "\t", (tf.string, tf.int64)),
        (number, whole, "\t", (tf.int64, tf.string)),
        (0, 1, " ", (tf.string, tf.int64)),
        (1, 0, " ", (tf.int64, tf.string)),
        (0, 5, " ", (tf.string, tf.int64)),
        (0, 0, " ", (tf.string, tf.int64)),
    ):
        start = tf.lookup.TextFileInitializer(
            path, kinds[0], key, kinds[1], value, delimiter=delimiter
        )
        default = -1 if kinds[1] == tf.int64 else "?"
        table = tf.lookup.StaticHashTable(start, default)
        run(table.initializer)
        asked = ["salad", "brain 300"] if kinds[0] == tf.string else [1, 20]
        run([table.lookup(tf.constant(asked, kinds[0])), table.size()])
    short = tf.lookup.TextFileInitializer(path, tf.string, whole, tf.int64, number, vocab_size=5)
    run(tf.lookup.StaticHashTable(short, 0).initializer)
    missing = tf.lookup.TextFileInitializer("no_such_file", tf.string, whole, tf.int64, number)
    run(tf.lookup.StaticHashTable(missing, 0).initializer)
    run.building(lambda: tf.lookup.TextFileInitializer(path, tf.int64, whole, tf.int64, number))


def table_oov(tf: Any, run: Any) -> None:
    start = tf.lookup.KeyValueTensorInitializer(
        ["emerson", "lake", "palmer"], tf.constant([0, 1, 2], tf.int64)
    )
    table = tf.lookup.StaticVocabularyTable(start, 4)
    asked = table.lookup(tf.constant(["lake", "king", "crimson", "palmer", "yes"]))
    run(table.initializer)
    run([asked, table.size()])
    words = tf.constant(["emerson", "lake", "palmer", "king", "yes"])
    for buckets in (2, 10, 1000003):
        run(tf.strings.to_hash_bucket_fast(words, buckets))
        run(tf.strings.to_hash_bucket(words, buckets))
        run(tf.strings.to_hash_bucket_strong(words, buckets, [17, 42]))


def table_mutable(tf: Any, run: Any) -> None:
    lookup = run.lookup_ops
    table = lookup.MutableHashTable(tf.string, tf.int64, -1, name="t")
    run(table.insert(["a", "b", "c"], tf.constant([1, 2, 3], tf.int64)))
    run([table.lookup(tf.constant(["b", "z"])), table.size()])
    run(table.remove(tf.constant(["b", "q"])))
    run([table.lookup(tf.constant(["b", "c"])), table.size()])
    run.building(lambda: table.insert([1], [2]))
    rows = lookup.MutableHashTable(tf.int64, tf.float32, [0.0, 0.5], name="rows")
    run(rows.insert(tf.constant([4, 5], tf.int64), [[1.0, 2.0], [3.0, 4.0]]))
    run(rows.lookup(tf.constant([[5], [6]], tf.int64)))
    run(rows.insert(tf.constant([4], tf.int64), [[1.0, 2.0], [3.0, 4.0]]))
    dense = lookup.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-9, name="d")
    run(dense.insert(tf.constant([11, 12], tf.int64), tf.constant([1, 2], tf.int64)))
    run(dense.lookup(tf.constant([12, 13], tf.int64)))
    run(dense.insert(tf.constant([0], tf.int64), tf.constant([1], tf.int64)))
    run(dense.remove(tf.constant([12], tf.int64)))
    run(dense.size())


def index_tables(tf: Any, run: Any) -> None:
    lookup = run.lookup_ops
    path = os.path.join(run.folder, "words.txt")
    with open(path, "w") as file:
        file.write("emerson\nlake\npalmer\n")
    to_number = lookup.index_table_from_file(path, num_oov_buckets=2)
    short = lookup.index_table_from_tensor(["emerson", "lake"], default_value=7)
    back = lookup.index_to_string_table_from_file(path, default_value="?")
    listed = lookup.index_to_string_table_from_tensor(["x", "y"])
    hashed = lookup.IdTableWithHashBuckets(None, 100, hasher_spec=lookup.FastHashSpec)
    strong = lookup.StrongHashSpec([1, 2])
    strongly = lookup.IdTableWithHashBuckets(None, 100, hasher_spec=strong)
    words, numbers = tf.constant(["palmer", "lake", "yes"]), tf.constant([2, 1, 5], tf.int64)
    run(tf.tables_initializer())
    run([to_number.lookup(words), to_number.size(), short.lookup(words)])
    run([back.lookup(numbers), listed.lookup(numbers), hashed.lookup(words)])
    run(strongly.lookup(words))
    run.note(lookup.index_table_from_tensor([5, 6], dtype=tf.int64).name)
    run.building(lambda: lookup.index_table_from_tensor(None))
    run.building(lambda: lookup.index_table_from_file(""))


def accumulators(tf: Any, run: Any) -> None:
    kept = tf.ConditionalAccumulator(tf.float32, shape=[2], name="acc")
    value, step = tf.placeholder(tf.float32), tf.placeholder(tf.int64, [])
    put = kept.apply_grad(value, step)
    for i, pair in enumerate([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]]):
        run(put, {value: pair, step: 0})
        run(kept.num_accumulated())
        del i
    run(kept.take_grad(2))
    run(put, {value: [9.0, 9.0], step: 0})
    run(kept.num_accumulated())
    run(put, {value: [9.0, 8.0], step: 1})
    run(kept.take_grad(1))
    run(kept.set_global_step(5))
    run(kept.set_global_step(3))
    run(put, {value: [1.0, 2.0, 3.0], step: 9})
    summed = tf.ConditionalAccumulator(tf.float32, shape=[2], reduction_type="SUM")
    run(summed.apply_grad([1.0, 2.0]))
    run(summed.apply_grad([1.0, 2.0]))
    run(summed.take_grad(1))
    run.building(lambda: tf.ConditionalAccumulator(tf.float32, reduction_type="MAX"))
    run(kept.take_grad(0))


def sparse_accumulators(tf: Any, run: Any) -> None:
    kept = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2])
    run(kept.apply_grad([0, 2], [[1.0, 2.0], [3.0, 4.0]]))
    slices = tf.IndexedSlices(tf.constant([[5.0, 6.0]]), tf.constant([2], tf.int64))
    run(kept.apply_indexed_slices_grad(slices))
    run(kept.num_accumulated())
    taken = kept.take_indexed_slices_grad(1)
    run([taken.indices, taken.values])
    run(kept.apply_grad([1], [[1.0, 2.0]], local_step=0))
    run(kept.num_accumulated())
    run(kept.apply_grad([1], [[1.0, 2.0, 3.0]], local_step=5))
    run(kept.apply_grad([[1]], [[1.0, 2.0]], local_step=5))
    run(kept.apply_grad([1], [[1.0, 2.0]], grad_shape=[9, 2], local_step=5))


def producers(tf: Any, run: Any) -> None:
    plain = tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False)
    mixed = tf.train.range_input_producer(8, num_epochs=2, seed=3, shuffle=True)
    one, two = tf.train.slice_input_producer(
        [["x", "y", "z"], [[1, 2], [3, 4], [5, 6]]], num_epochs=1, shuffle=False
    )
    start_and_read(tf, run, [plain.dequeue()], 7)
    start_and_read(tf, run, [mixed.dequeue()], 17, start=False)
    start_and_read(tf, run, [one, two], 4, start=False)
    run.note(sorted(tf.get_default_graph().get_all_collection_keys()))


def batches(tf: Any, run: Any) -> None:
    number = tf.train.range_input_producer(7, num_epochs=1, shuffle=False).dequeue()
    twice = tf.cast(number, tf.float32) * 2.0
    pair = tf.train.batch([number, twice], 3, allow_smaller_final_batch=True)
    run.note([t.shape.as_list() for t in pair])
    start_and_read(tf, run, list(pair), 4)


def batches_of_kept(tf: Any, run: Any) -> None:
    number = tf.train.range_input_producer(12, num_epochs=1, shuffle=False).dequeue()
    found = tf.train.maybe_batch({"n": number}, number % 3 < 2, 4)
    start_and_read(tf, run, [found["n"]], 3)


def batches_padded(tf: Any, run: Any) -> None:
    number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    rows = tf.fill(tf.stack([number % 4]), number)
    found = tf.train.batch_join([[number, rows]], 3, dynamic_pad=True)
    run.note([t.shape.as_list() for t in found])
    start_and_read(tf, run, list(found), 3)


def batches_of_sparse(tf: Any, run: Any) -> None:
    number = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    wide = tf.cast(tf.stack([number]), tf.int64)
    sparse = tf.SparseTensor(tf.reshape(wide, [1, 1]), wide * 10, [5])
    found, plain = tf.train.batch([sparse, number], 2)
    start_and_read(tf, run, [found.indices, found.values, found.dense_shape, plain], 3)


def batches_shuffled(tf: Any, run: Any) -> None:
    number = tf.train.range_input_producer(20, num_epochs=1, shuffle=False).dequeue()
    found = tf.train.shuffle_batch([number], 5, 50, 0, seed=4, allow_smaller_final_batch=True)
    start_and_read(tf, run, [tf.shape(found)], 4)


def start_and_read(tf: Any, run: Any, fetches: Any, times: int, start: bool = True) -> None:
    """Starts the threads of the graph's queue runners (once), and reads until the end."""
    if start:
        run.session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        run.coordinator = tf.train.Coordinator()
        tf.train.start_queue_runners(run.session, run.coordinator)
    for _ in range(times):
        run(fetches)


PROGRAMS = {
    program.__name__: program
    for program in (
        *(fifo, fifo_errors, fifo_shared, closing, padding, priority, shuffled),
        *(tables, table_files, table_oov, table_mutable, index_tables),
        *(accumulators, sparse_accumulators),
        *(producers, batches, batches_of_kept, batches_padded, batches_of_sparse),
        *(batches_shuffled,),
    )
}
