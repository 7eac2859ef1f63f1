# SPDX-License-Identifier: Apache-2.0
"""Tables of tf.contrib.lookup."""

from __future__ import annotations

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

lookup = tf.contrib.lookup


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def found(*tensors):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return [value.tolist() for value in session.run(tensors)]


def test_words_become_numbers_and_numbers_words():
    words = tf.constant(["a", "b", "c"])
    queries, numbers = tf.constant(["c", "x", "a"]), tf.constant([2, 7], tf.int64)
    table = lookup.index_table_from_tensor(mapping=words, num_oov_buckets=2)
    back = lookup.index_to_string_table_from_tensor(words, default_value="?")
    known, bucket = lookup.string_to_index(queries, words), table.lookup(queries)
    same = lookup.string_to_index_table_from_tensor(words, 2).lookup(queries)
    a, b, c, d, size = found(known, bucket, same, back.lookup(numbers), table.size())
    assert a == [2, -1, 0] and b[::2] == [2, 0] and b[1] in (3, 4)
    assert b == c and d == [b"c", b"?"] and size == 5
    with pytest.raises(ValueError, match="mapping must be specified"):
        lookup.index_table_from_tensor(None)
    with pytest.raises(ValueError, match="requires string"):
        lookup.string_to_index_table_from_tensor([1, 2])


def test_files_hold_vocabularies(tmp_path):
    (tmp_path / "words").write_text("a\nb\n")
    path = str(tmp_path / "words")
    to_number = lookup.string_to_index_table_from_file(path, default_value=9)
    to_word = lookup.index_to_string_table_from_file(path)
    queries = to_number.lookup(tf.constant(["b", "z"])), to_word.lookup(tf.constant([0], tf.int64))
    assert found(*queries) == [[1, 9], [b"a"]]


def test_hash_tables_share_by_name_only():
    initializer = lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], tf.string, tf.int64)
    table = lookup.HashTable(initializer, -1, shared_name="shared", name="words")
    assert table.resource_handle.op.get_attr("shared_name") == b"shared"
    assert table.name == "words" and table.init is table.initializer
    keys, values = table.export(name="out")
    assert keys.op.name == "out"
    pairs = found(keys, values)
    assert sorted(zip(*pairs)) == [(b"a", 1), (b"b", 2)]
    other = lookup.HashTable(initializer, -1)
    assert other.resource_handle.op.get_attr("shared_name") == b""


def test_slices_of_module_names_are_there():
    assert lookup.FastHashSpec == lookup.HasherSpec("fasthash", None)
    assert issubclass(lookup.TextFileIdTableInitializer, lookup.TableInitializerBase)
    assert issubclass(lookup.HashTable, lookup.InitializableLookupTableBase)
