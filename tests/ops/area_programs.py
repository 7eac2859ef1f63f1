# SPDX-License-Identifier: Apache-2.0
"""More programs for record_kept.py and test_kept.py: barriers, staging areas, readers, formats."""

from __future__ import annotations

import os
from typing import Any


def barrier(tf: Any, run: Any) -> None:
    data_flow = run.data_flow_ops
    kept = data_flow.Barrier((tf.float32, tf.string), shapes=((), ()), name="B")
    run(kept.insert_many(0, ["a", "b", "c"], [1.0, 2.0, 3.0]))
    run([kept.ready_size(), kept.incomplete_size()])
    run(kept.insert_many(1, ["c", "a"], ["x", "y"]))
    run([kept.ready_size(), kept.incomplete_size()])
    run(kept.take_many(2))
    run(kept.insert_many(0, ["b"], [4.0]))
    run(kept.insert_many(1, ["b", "d"], ["z", "w"]))
    run(kept.close())
    run(kept.insert_many(1, ["e"], ["q"]))
    run(kept.insert_many(0, ["d"], [5.0]))
    run(kept.take_many(3))
    run(kept.take_many(3, allow_small_batch=True))
    run(kept.take_many(1))
    run(kept.close(cancel_pending_enqueues=True))
    run([kept.ready_size(), kept.incomplete_size()])


def staging(tf: Any, run: Any) -> None:
    area = run.data_flow_ops.StagingArea([tf.float32, tf.int32], shapes=[[2], []], names=["a", "b"])
    run(area.put({"a": tf.constant([1.0, 2.0]), "b": tf.constant(3)}))
    run(area.put({"a": tf.constant([4.0, 5.0]), "b": tf.constant(6)}))
    run(area.size())
    run(area.peek(1))
    run(area.get())
    run(area.clear())
    run(area.size())
    run.building(lambda: area.put({"a": tf.constant([1.0, 2.0])}))
    run.building(lambda: area.put({"a": tf.constant([1.0]), "b": tf.constant(1)}))


def staging_maps(tf: Any, run: Any) -> None:
    one, five, two, six = (tf.constant(v) for v in (1.0, 5.0, 2, 6))
    three, seven = tf.constant(3, tf.int64), tf.constant(7, tf.int64)
    for ordered in (False, True):
        area = run.data_flow_ops.MapStagingArea(
            [tf.float32, tf.int32], shapes=[[], []], ordered=ordered
        )
        run(area.put(seven, [one, two], indices=[0, 1]))
        run(area.put(three, [five], indices=[0]))
        run([area.size(), area.incomplete_size()])
        run(area.put(three, [six], indices=[1]))
        run(area.peek(three))
        run(area.get(seven))
        run(area.get())
        run(area.put(three, [six], indices=[1]))
        run(area.put(three, [six], indices=[1]))
        run(area.clear())
        run(area.incomplete_size())


def files_of(run: Any, **contents: bytes) -> list[str]:
    paths = []
    for name, content in contents.items():
        paths.append(os.path.join(run.folder, name))
        with open(paths[-1], "wb") as file:
            file.write(content)
    return paths


def read_all(tf: Any, run: Any, reader: Any, paths: list[str], times: int) -> None:
    queue = tf.FIFOQueue(9, [tf.string], shapes=[[]])
    key, value = reader.read(queue)
    some = reader.read_up_to(queue, 2)
    run(queue.enqueue_many([paths]))
    run(queue.close())
    run([key, value])
    run(some)
    for _ in range(times):
        run([key, value])
    run([reader.num_records_produced(), reader.num_work_units_completed()])
    run(reader.reset())
    run(reader.num_records_produced())


def text_lines(tf: Any, run: Any) -> None:
    paths = files_of(run, a=b"one\r\ntwo\n\nfour", b=b"head\nlast\n")
    read_all(tf, run, tf.TextLineReader(), paths, 4)
    read_all(tf, run, tf.TextLineReader(skip_header_lines=1), paths, 3)


def whole_files(tf: Any, run: Any) -> None:
    read_all(tf, run, tf.WholeFileReader(), files_of(run, a=b"x\ny", b=b"", c=b"\0\xff"), 2)
    read_all(tf, run, tf.IdentityReader(), ["p", "q", "r", "s"], 2)
    read_all(tf, run, tf.WholeFileReader(), ["no_such_file", "nor_this", "or_this"], 0)


def fixed_lengths(tf: Any, run: Any) -> None:
    paths = files_of(run, a=b"H123456F", b=b"HabcdefghijF")
    read_all(tf, run, tf.FixedLengthRecordReader(3, 1, 1), paths, 3)
    read_all(tf, run, tf.FixedLengthRecordReader(4, 1, 1, hop_bytes=2), paths, 3)
    read_all(tf, run, tf.FixedLengthRecordReader(3, 1, 1), files_of(run, c=b"12345678"), 1)
    run.building(lambda: tf.FixedLengthRecordReader(-1))


def records(tf: Any, run: Any) -> None:
    path = os.path.join(run.folder, "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for record in (b"first", b"", b"third" * 20):
            writer.write(record)
    with open(path, "rb") as file:
        raw = file.read()
    run.note(raw[:40])
    run.note([len(raw), list(tf.python_io.tf_record_iterator(path))])
    read_all(tf, run, tf.TFRecordReader(), [path], 2)
    kind = tf.python_io.TFRecordCompressionType
    for compression in (kind.GZIP, kind.ZLIB):
        options = tf.python_io.TFRecordOptions(compression)
        with tf.python_io.TFRecordWriter(path, options) as writer:
            writer.write(b"squeezed")
            writer.write(b"again")
        read_all(tf, run, tf.TFRecordReader(options=options), [path], 1)
    broken = bytearray(raw)
    broken[14] ^= 1
    (broken_path,) = files_of(run, broken=bytes(broken))
    read_all(tf, run, tf.TFRecordReader(), [broken_path], 0)


def file_contents(tf: Any, run: Any) -> None:
    paths = files_of(run, part1=b"one", part2=b"two", other=b"x")
    run(tf.train.match_filenames_once(os.path.join(run.folder, "part*")).initializer)
    run(tf.matching_files([os.path.join(run.folder, "part?"), paths[2]]))
    run(tf.read_file(paths[1]))
    run(tf.write_file(os.path.join(run.folder, "deep", "new"), "text"))
    run(tf.read_file(os.path.join(run.folder, "deep", "new")))
    run(tf.read_file("no_such_file"))


def numbers_as_text(tf: Any, run: Any) -> None:
    run(tf.as_string([1, -20, 300]))
    run(tf.as_string([1, -20, 300], width=6, fill="0"))
    run(tf.as_string([1.5, -2.25, 1e10, float("inf")]))
    run(tf.as_string([1.5, -2.25, 1e10], precision=2))
    run(tf.as_string([1.5, -2.25, 1e10], shortest=True))
    run(tf.as_string([1.5, -2.25], scientific=True, width=20))
    run(tf.as_string([True, False]))
    run(tf.as_string([1 + 2j]))
    run.building(lambda: tf.as_string([1], scientific=True, shortest=True))


PROGRAMS = {
    program.__name__: program
    for program in (
        *(barrier, staging, staging_maps, text_lines, whole_files, fixed_lengths, records),
        *(file_contents, numbers_as_text),
    )
}
