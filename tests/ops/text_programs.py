# SPDX-License-Identifier: Apache-2.0
"""More programs for record_kept.py and test_kept.py: texts parsed into tensors."""

from __future__ import annotations

from typing import Any


def feature(tf: Any, value: Any) -> Any:
    """A Feature of a list of numbers or bytes; of None, one without a kind."""
    if value is None:
        return tf.train.Feature()
    if value and isinstance(value[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    if value and isinstance(value[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def example(tf: Any, **values: Any) -> bytes:
    found = {key: feature(tf, value) for key, value in values.items()}
    return tf.train.Example(features=tf.train.Features(feature=found)).SerializeToString()


def sequence(tf: Any, context: Any, **lists: Any) -> bytes:
    found = {
        key: tf.train.FeatureList(feature=[feature(tf, step) for step in steps])
        for key, steps in lists.items()
    }
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={k: feature(tf, v) for k, v in context.items()}),
        feature_lists=tf.train.FeatureLists(feature_list=found),
    ).SerializeToString()


def flat(found: Any) -> Any:
    """What was parsed, in the order of the keys."""
    return [found[key] for key in sorted(found)]


def examples(tf: Any, run: Any) -> None:
    features = {
        "a": tf.FixedLenFeature([2], tf.float32),
        "b/x y": tf.FixedLenFeature([], tf.int64, default_value=7),
        "c": tf.VarLenFeature(tf.string),
        "d": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        "e": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="-"),
        "f": tf.SparseFeature("ix", "val", tf.float32, 9),
    }
    texts = [
        example(tf, a=[1.0, 2.0], c=[b"x", b"y"], d=[1, 2, 3, 4], ix=[5, 0], val=[0.5, 1.5]),
        example(tf, a=[3.0, 4.0], **{"b/x y": [8]}, e=[b"p", b"q"]),
        example(tf, a=[5.0, 6.0], c=None, d=[9, 9], other=[b"unused"], ix=[3], val=[2.5]),
    ]
    fed = tf.placeholder(tf.string, [None])
    found = tf.parse_example(fed, features)
    run(flat(found), {fed: texts})
    run(flat(found), {fed: texts[:1]})
    run(flat(found), {fed: []})
    run.note([[str(t.shape) for t in flat(found) if hasattr(t, "op")]])
    for broken in (
        {"c": [b"x"]},
        {"a": [1.0]},
        {"a": [1, 2]},
        {"a": [1.0, 2.0], "c": [1]},
        {"a": [1.0, 2.0], "d": [1, 2, 3]},
        {"a": [1.0, 2.0], "d": [b"x"]},
        {"a": None},
    ):
        run(flat(found), {fed: [texts[0], example(tf, **broken)]})
    named = tf.parse_example(fed, features, example_names=["first", "second"])
    run(flat(named), {fed: [texts[0], example(tf, a=[1.0])]})
    run(flat(named), {fed: texts})
    run(flat(found), {fed: [b"no example"]})


def many_examples(tf: Any, run: Any) -> None:
    features = {
        "a": tf.FixedLenFeature([2], tf.float32),
        "b": tf.FixedLenFeature([], tf.int64, default_value=7),
        "c": tf.VarLenFeature(tf.string),
        "d": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True, default_value=-1),
        "e": tf.FixedLenFeature([], tf.string, default_value=""),
        "f": tf.VarLenFeature(tf.float32),
    }
    texts = []
    for i in range(20):
        values = {
            "a": [i + 0.5, -1.0 * i],
            "d": [(-1) ** i * 2 ** (3 * i), i] * (i % 3),
            "e": [b"x" * (40 * i)],
        }
        if i % 3:
            values["b"] = [-i]
        if i % 4:
            values["c"] = [b"word%d" % j for j in range(i % 5)]
        if i % 5:
            values["f"] = [0.25 * i] * (i % 4) or None
        if i % 7 == 0:
            values["other"] = None
        texts.append(example(tf, **values))
    fed = tf.placeholder(tf.string, [None])
    found = tf.parse_example(fed, features)
    run(flat(found), {fed: texts})
    run(flat(found), {fed: texts[:3] + [texts[3] + texts[4]] + texts[5:]})
    run(flat(found), {fed: texts[:3] + [texts[3] + b"\x10\x01"] + texts[4:]})
    for broken in (
        example(tf, a=[1.0]),
        example(tf, a=[1, 2]),
        example(tf, b=[1]),
        example(tf, a=[1.0, 2.0], b=[b"x"]),
        example(tf, a=[1.0, 2.0], d=[1]),
        texts[5][:-1],
        b"bogus",
    ):
        run(flat(found), {fed: texts[:10] + [broken] + texts[10:]})
    run(tf.parse_example(fed, {"zz": tf.VarLenFeature(tf.int64)})["zz"], {fed: texts})


def single_examples(tf: Any, run: Any) -> None:
    features = {
        "a": tf.FixedLenFeature([2], tf.float32, default_value=[0.5, 1.5]),
        "b": tf.FixedLenFeature([], tf.int64),
        "c": tf.VarLenFeature(tf.string),
        "d": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
    }
    fed = tf.placeholder(tf.string, [])
    found = tf.parse_single_example(fed, features)
    run(flat(found), {fed: example(tf, b=[8], c=[b"x", b"y"], d=[1, 2, 3, 4])})
    run(flat(found), {fed: example(tf, a=[1.0, 2.0], b=[8])})
    for broken in ({}, {"b": [1, 2]}, {"b": [1.0]}, {"b": [1], "c": [1]}, {"b": [1], "d": [1]}):
        run(flat(found), {fed: example(tf, **broken)})
    named = tf.parse_single_example(fed, features, example_names="me")
    run(flat(named), {fed: example(tf, b=[8], c=[b"x", b"y"], d=[1, 2, 3, 4])})
    run(flat(named), {fed: example(tf)})
    run.building(lambda: tf.parse_single_example(fed, {}))
    run.building(lambda: tf.parse_single_example(fed, {"a": tf.FixedLenFeature([None], tf.int64)}))
    run.building(lambda: tf.parse_single_example(fed, {"a": tf.FixedLenFeature(None, tf.int64)}))
    run.building(lambda: tf.parse_single_example(fed, {"a": tf.VarLenFeature(None)}))
    rows = tf.FixedLenSequenceFeature([], tf.int64)
    run.building(lambda: tf.parse_single_example(fed, {"a": rows}))
    run.building(lambda: tf.parse_single_example(fed, {"a": 3}))


def sequence_examples(tf: Any, run: Any) -> None:
    context = {
        "a": tf.FixedLenFeature([2], tf.int64, default_value=[7, 8]),
        "b": tf.VarLenFeature(tf.string),
    }
    lists = {
        "c": tf.FixedLenSequenceFeature([2], tf.float32),
        "d": tf.VarLenFeature(tf.int64),
        "e": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
    }
    texts = [
        sequence(tf, {"a": [1, 2], "b": [b"x"]}, c=[[1.0, 2.0], [3.0, 4.0]], d=[[1], [2, 3]]),
        sequence(tf, {}, c=[[5.0, 6.0]], d=[[], [4], None], e=[[b"p"], [b"q"]]),
    ]
    fed, one = tf.placeholder(tf.string, [None]), tf.placeholder(tf.string, [])
    found = [flat(part) for part in tf.io.parse_sequence_example(fed, context, lists)]
    single = [flat(part) for part in tf.parse_single_sequence_example(one, context, lists)]
    run(found, {fed: texts})
    for text in texts:
        run(single, {one: text})
    for broken in (
        sequence(tf, {}, d=[[1]]),
        sequence(tf, {}, c=[[1.0]]),
        sequence(tf, {}, c=[[1, 2]]),
        sequence(tf, {"a": [1]}, c=[[1.0, 2.0]]),
        sequence(tf, {"b": [1]}, c=[[1.0, 2.0]]),
        sequence(tf, {}, c=[[1.0, 2.0]], d=[[b"x"]]),
    ):
        run(found, {fed: [texts[0], broken]})
        run(single, {one: broken})
    named = tf.parse_single_sequence_example(one, context, lists, example_name="me")
    run(flat(named[0]), {one: sequence(tf, {})})
    run.building(lambda: tf.parse_single_sequence_example(one))


def csv(tf: Any, run: Any) -> None:
    fed = tf.placeholder(tf.string, [None])
    found = tf.decode_csv(fed, [[0], [""], [1.5], tf.constant([], tf.int64)])
    for lines in (
        ["1,a,2.5,3", ',"b ""c"", d",,4', "\r\n-5, x ,1e3, 6"],
        ["1,a,2.5"],
        ["1,a,2.5,"],
        ["x,a,2.5,3"],
        ["+1,a,2.5,3"],
        ["1,a,z,3"],
        ["3000000000,a,1,3"],
        ['1,a"b,2.5,3'],
        ['1,"a"b",2.5,3'],
        ['1,"ab,2.5,3'],
        ["1,a,2.5,3\n"],
        [""],
    ):
        run(found, {fed: lines})
    some = tf.decode_csv(fed, [[0], [0.0]], field_delim=";", na_value="NA", select_cols=[1, 3])
    run(some, {fed: ["x;1;y;2.5;z", "x;NA;y;;z"]})
    run(tf.decode_csv(fed, [[""], [""]], use_quote_delim=False), {fed: ['"a,b"']})
    run.building(lambda: tf.decode_csv(fed, [[0]], select_cols=[1, 2]))
    run.building(lambda: tf.decode_csv(fed, [[0], [0]], select_cols=[2, 1]))
    run.building(lambda: tf.decode_csv(fed, [[True]]))
    run.building(lambda: tf.decode_csv(fed, [[1, 2]]))


def raw_bytes(tf: Any, run: Any) -> None:
    fed = tf.placeholder(tf.string, [None])
    for kind in (tf.uint8, tf.int16, tf.float32, tf.complex64, tf.bool):
        for little in (True, False):
            found = tf.decode_raw(fed, kind, little_endian=little)
            if kind != tf.complex64:
                run(found, {fed: [b"\1\0\0\1\0\0\1\0", b"\0\1\1\0\1\0\0\0"]})
    run(found, {fed: [b"ab", b"abc"]})
    run(tf.decode_raw(fed, tf.int32), {fed: [b"abc"]})
    run(tf.decode_raw(fed, tf.int32), {fed: [b"", b""]})
    run.note(str(found.shape))


def numbers(tf: Any, run: Any) -> None:
    fed = tf.placeholder(tf.string, [])
    texts = "1 -1 +1 1.5 .5 1. 1e3 1e 0x1F -0x1f inf -Inf NaN infinity 1_0 nan(1)".split()
    texts += ["", " ", " 7 ", "7 8", "1e39", "1e-46", "2147483648", "9223372036854775808"]
    texts += ["1.00000005960464477540", "16777217", "1.000000059604644775390625000001"]
    for kind in (tf.float32, tf.float64, tf.int32, tf.int64):
        found = tf.as_string(tf.string_to_number(fed, kind))
        for text in texts:
            run(found, {fed: text})


def serialized_tensors(tf: Any, run: Any) -> None:
    values = ([[1, 2], [3, 4]], 5.5, ["x", "yz"], [True, False], [], [1 + 2j])
    for value in values:
        text = tf.serialize_tensor(tf.constant(value))
        run(text)
        run(tf.as_string(tf.parse_tensor(text, tf.int32)) if value == values[0] else text)
    fed = tf.placeholder(tf.string, [])
    run(tf.parse_tensor(fed, tf.float32), {fed: b"bogus"})
    run(tf.parse_tensor(tf.serialize_tensor([1]), tf.float32))
    written = '{"features": {"feature": {"a": {"int64List": {"value": [1, "2"]}}}}}'
    decoded = tf.decode_json_example([written, "{}"])
    run(tf.parse_example(decoded, {"a": tf.VarLenFeature(tf.int64)})["a"])


def parts_of_strings(tf: Any, run: Any) -> None:
    words = tf.placeholder(tf.string, [None])
    texts = ["Some Words ", "\u00c4b\u00e7 \u4f60", "", "\tx\n"]
    for make in (
        lambda x: tf.strings.length(x),
        lambda x: tf.strings.length(x, unit="UTF8_CHAR"),
        lambda x: tf.strings.lower(x),
        lambda x: tf.strings.upper(x),
        lambda x: tf.strings.lower(x, encoding="utf-8"),
        lambda x: tf.strings.upper(x, encoding="utf-8"),
        lambda x: tf.string_strip(x),
        lambda x: tf.encode_base64(x),
        lambda x: tf.encode_base64(x, pad=True),
        lambda x: tf.decode_base64(tf.encode_base64(x)),
    ):
        run(make(words), {words: texts})
    for broken in ("a", "a*bc", "abcde"):
        run(tf.decode_base64(words), {words: ["YQ", broken]})
    for unit in ("BYTE", "UTF8_CHAR"):
        for pos, length in ((0, 2), (-2, 1), (1, 100), (3, 1), (-9, 1)):
            run(tf.strings.substr(words, pos, length, unit=unit), {words: texts[:2]})
    run(tf.substr(words, 4, 1), {words: ["abc"]})
    run(tf.substr([["abc", "defg"], ["h", "ij"]], [[1, 2], [0, 1]], [[1, 1], [5, 0]]))
    run(tf.substr([["abc"], ["defg"]], [1, 2], [1, 2]))
    run(tf.substr([["abc"], ["defg"]], [1, 4], [1, 2]))


def splits_and_joins(tf: Any, run: Any) -> None:
    words = tf.placeholder(tf.string, [None])
    texts = ["a b  c", "", " d,e "]
    for sep in (None, " ", ", ", ""):
        for skip_empty in (True, False):
            run(tf.string_split(words, sep, skip_empty=skip_empty), {words: texts})
    for sep in (None, " ", "  "):
        for most in (-1, 0, 1, 2, 3):
            run(tf.strings.split(words, sep, most, "SparseTensor"), {words: texts})
    table = tf.constant([["a", "b", "c"], ["d", "e", "f"]])
    for axis in (None, 0, 1, -1, [0, 1], [1, 0], []):
        run(tf.reduce_join(table, axis, separator="-"))
        run(tf.strings.reduce_join(table, axis, keepdims=True))
    fed = tf.placeholder(tf.int32, [None])
    joined = tf.reduce_join(table, fed)
    run.note(str(joined.shape))
    for axes in ([2], [0, 0], [-3]):
        run(joined, {fed: axes})
    join = tf.strings.unsorted_segment_join
    run(join(["a", "b", "c"], [2, 0, 2], 4, separator=", "))
    run(join(table, [1, 1], 2))
    run(join(table, [[0, 1, 0], [1, 1, 1]], 3, separator="+"))
    run(join(["a", "b"], fed, 2), {fed: [0, 2]})
    run(join(["a", "b"], fed, 2), {fed: [0, -1]})


PROGRAMS = {
    program.__name__: program
    for program in (
        *(examples, many_examples, single_examples, sequence_examples, csv, raw_bytes, numbers),
        *(serialized_tensors, parts_of_strings, splits_and_joins),
    )
}
