# SPDX-License-Identifier: Apache-2.0
"""`tf.saved_model`: building, loading, signatures, assets, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.train.saved_model.assets import get_asset_filename_to_add
from numbaflow.train.saved_model.reading import SavedModelLoader, get_train_op
from numbaflow.train.saved_model.signatures import load_op_from_signature_def
from numbaflow.train.saved_model.structures import (
    NotEncodableError,
    decode_structure,
    encode_structure,
)
from numbaflow.train.saved_model.writing import _SavedModelBuilder

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def graph() -> Any:
    new = tf.Graph()
    with new.as_default():
        yield new


def save(folder: Path, value: float, builder: Any = None, **options: Any) -> Any:
    """Adds a graph with one variable to a model; the builder."""
    builder = builder or tf.saved_model.Builder(str(folder))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", initializer=value)
        session.run(tf.global_variables_initializer())
        builder.add_meta_graph_and_variables(session, options.pop("tags", ["serve"]), **options)
    return builder


def loaded_value(folder: Path, tags: list[str], **options: Any) -> float:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, tags, str(folder), **options)
        return session.run(tf.global_variables()[0])


@pytest.mark.programs
@pytest.mark.parametrize("as_text", [False, True])
def test_graphs_are_found_by_all_their_tags(tmp_path: Path, as_text: bool) -> None:
    builder = save(tmp_path, 4.0, tags=["a", "b"])
    tf.get_variable("v", initializer=7.0)
    builder.add_meta_graph(["c"])
    path = builder.save(as_text=as_text)
    assert path == os.fsencode(tmp_path / ("saved_model.pbtxt" if as_text else "saved_model.pb"))
    assert tf.saved_model.contains_saved_model(str(tmp_path))
    assert loaded_value(tmp_path, ["b", "a"]) == 4.0
    # The variables are shared.
    assert loaded_value(tmp_path, ["c"]) == 4.0
    with pytest.raises(RuntimeError, match=r"associated with tags 'a' could not be found"):
        loaded_value(tmp_path, ["a"])


@pytest.mark.programs
def test_a_scope_for_the_names(tmp_path: Path, graph: Any) -> None:
    save(tmp_path, 4.0).save()
    with tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], str(tmp_path), import_scope="model")
        assert session.run("model/v:0") == 4.0


def test_folders_that_hold_something_or_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        SavedModelLoader(str(tmp_path))
    assert not tf.saved_model.maybe_saved_model_directory(str(tmp_path))
    (tmp_path / "saved_model.pb").write_bytes(b"\xff")
    with pytest.raises(OSError, match="Cannot parse file"):
        SavedModelLoader(str(tmp_path))
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        tf.saved_model.Builder(str(tmp_path))


@pytest.mark.programs
def test_variables_are_saved_once_and_first(tmp_path: Path) -> None:
    builder = tf.saved_model.Builder(str(tmp_path))
    with pytest.raises(AssertionError, match="has not been saved yet"):
        builder.add_meta_graph(["serve"])
    save(tmp_path, 1.0, builder)
    with pytest.raises(AssertionError, match="has already been saved"):
        save(tmp_path, 1.0, builder)


@pytest.mark.programs
def test_a_graph_without_variables(tmp_path: Path) -> None:
    builder = tf.saved_model.Builder(str(tmp_path))
    with tf.Session() as session:
        tf.constant(3.0, name="c")
        builder.add_meta_graph_and_variables(session, ["serve"])
    builder.save()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path))
        assert session.run("c:0") == 3.0


@pytest.mark.programs
def test_the_main_op_runs_after_the_variables_are_restored(tmp_path: Path) -> None:
    builder = tf.saved_model.Builder(str(tmp_path))
    with tf.Session() as session:
        v = tf.get_variable("v", initializer=2.0)
        session.run(v.initializer)
        double = tf.group(tf.assign(v, v * 2.0))
        builder.add_meta_graph_and_variables(session, ["serve"], main_op=double)
        with pytest.raises(ValueError, match="already contains one or more main ops"):
            builder.add_meta_graph(["other"], main_op=double)
        with pytest.raises(TypeError, match="main_op needs to be an Operation"):
            builder.add_meta_graph(["other"], main_op=v)
    builder.save()
    assert loaded_value(tmp_path, ["serve"]) == 4.0


@pytest.mark.programs
def test_operations_in_signatures(tmp_path: Path) -> None:
    builder = _SavedModelBuilder(str(tmp_path))
    with tf.Session() as session:
        v = tf.get_variable("v", initializer=2.0)
        session.run(v.initializer)
        init, train = tf.group(tf.assign(v, v * 2.0)), tf.assign_add(v, 1.0)
        builder.add_meta_graph_and_variables(session, ["serve"], init_op=init, train_op=train)
    builder.save()
    with tf.Graph().as_default(), tf.Session() as session:
        message = tf.saved_model.load(session, ["serve"], str(tmp_path))
        assert session.run("v:0") == 4.0
        assert session.run(get_train_op(message)) == 5.0


def test_assets_are_copied_and_named_when_loaded(tmp_path: Path) -> None:
    for folder, content in (("a", "1"), ("b", "2"), ("c", "1")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "words").write_text(content)
    paths = [tf.constant(str(tmp_path / folder / "words")) for folder in "abc"]
    for path in paths:
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
    with tf.Session() as session:
        x = tf.placeholder(tf.float32, name="x")
        model = tmp_path / "model"
        tf.saved_model.simple_save(session, str(model), {"x": x}, {"y": x + 1.0})
    assert sorted(path.name for path in (model / "assets").iterdir()) == ["words", "words_1"]
    loader = SavedModelLoader(str(model))
    (collection,) = [
        c for key, c in loader.saved_model.meta_graphs[0].collection_def.items() if "assets" in key
    ]
    assets = [protos.AssetFileDef.FromString(item.value) for item in collection.any_list.value]
    # Files of equal content are one.
    assert [asset.filename for asset in assets] == ["words", "words_1", "words"]
    assert [asset.tensor_info.name for asset in assets] == [path.name for path in paths]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: "words", "must be a Tensor"),
        (lambda: tf.placeholder(tf.string), "must be of type constant"),
        (lambda: tf.constant(1), "must be of dtype string"),
        (lambda: tf.constant(["a", "b"]), "must be a scalar"),
    ],
)
def test_tensors_that_name_no_asset(tmp_path: Path, make: Any, expected: str) -> None:
    builder = tf.saved_model.Builder(str(tmp_path))
    with tf.Session() as session, pytest.raises(TypeError, match=expected):
        builder.add_meta_graph_and_variables(session, ["serve"], assets_collection=[make()])


def test_names_of_assets(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "f").write_text(folder.name)
    assert get_asset_filename_to_add(str(one / "f"), {}) == "f"
    assert get_asset_filename_to_add(str(one / "f"), {"f": str(one / "f")}) == "f"
    known = {"f": str(two / "f"), "f_1": "x"}
    assert get_asset_filename_to_add(str(one / "f"), known) == "f_2"


# Signatures


def text() -> Any:
    return tf.placeholder(tf.string, [None])


def numbers() -> Any:
    return tf.placeholder(tf.float32, [None])


def test_signatures_that_are_served() -> None:
    module = tf.saved_model
    good = [
        module.regression_signature_def(text(), numbers()),
        module.classification_signature_def(text(), text(), None),
        module.classification_signature_def(text(), None, numbers()),
        module.predict_signature_def({"x": numbers()}, {"y": numbers()}),
    ]
    assert [module.is_valid_signature(signature) for signature in good] == [True] * 4
    assert good[0].method_name == "tensorflow/serving/regress"
    assert good[0].inputs["inputs"].dtype == protos.DT_STRING
    bad = module.build_signature_def(good[0].inputs, {}, module.REGRESS_METHOD_NAME)
    assert not module.is_valid_signature(bad)
    assert not module.is_valid_signature(None)
    assert not module.is_valid_signature(module.build_signature_def(method_name="other"))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda m: m.regression_signature_def(None, numbers()), "examples cannot be None"),
        (lambda m: m.regression_signature_def(numbers(), numbers()), "must be a string Tensor"),
        (lambda m: m.regression_signature_def(text(), text()), "must be a float Tensor"),
        (lambda m: m.classification_signature_def(text(), None, None), "cannot both be None"),
        (lambda m: m.classification_signature_def(text(), numbers(), None), "classes must be a"),
        (lambda m: m.predict_signature_def({}, {"y": numbers()}), "inputs cannot be None or empty"),
        (lambda m: m.predict_signature_def({"x": numbers()}, None), "outputs cannot be None"),
    ],
)
def test_signatures_that_cannot_be(make: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        make(tf.saved_model)


def test_signatures_are_checked(tmp_path: Path) -> None:
    builder = tf.saved_model.Builder(str(tmp_path))
    build = tf.saved_model.build_signature_def
    info = tf.saved_model.build_tensor_info(numbers())
    with tf.Session() as session:
        for wrong, kind, expected in (
            ({"s": build({"x": tf.TensorInfo()})}, AssertionError, "'encoding' fields"),
            ({"s": build({"x": tf.TensorInfo(name="x")})}, AssertionError, "dtype field set"),
            ({"__saved_model_init_op": build({"x": info})}, KeyError, "reserved for init"),
        ):
            with pytest.raises(kind, match=expected):
                builder.add_meta_graph_and_variables(session, ["serve"], wrong)
    with pytest.raises(tf.errors.NotFoundError, match="The op could not be found in the graph"):
        load_op_from_signature_def(build(outputs={"op": tf.TensorInfo(name="none")}), "op")


@pytest.mark.parametrize("kind", ["dense", "sparse", "slices", "ragged"])
def test_tensor_infos_name_what_they_were_made_of(kind: str) -> None:
    if kind == "sparse":
        tensor = tf.sparse_placeholder(tf.float32)
    elif kind == "slices":
        tensor = tf.IndexedSlices(numbers(), tf.constant([0]), tf.constant([3]))
    elif kind == "ragged":
        tensor = tf.RaggedTensor.from_row_lengths(numbers(), [1, 2])
    else:
        tensor = numbers()
    info = tf.saved_model.build_tensor_info(tensor)
    found = tf.saved_model.get_tensor_from_tensor_info(info)
    assert type(found) is type(tensor)
    if kind == "dense":
        assert found is tensor
    elif kind == "ragged":
        assert found.values is tensor.values
        assert found.row_splits is tensor.row_splits
    else:
        assert found.values is tensor.values
        assert found.indices is tensor.indices
        assert found.dense_shape is tensor.dense_shape
    info.Clear()
    with pytest.raises(ValueError, match=r"Invalid TensorInfo.encoding"):
        tf.saved_model.get_tensor_from_tensor_info(info)


def test_structures_come_back() -> None:
    spec = tf.SparseTensorSpec([None, 3], tf.int32)
    value = {"a": [1, 2.5, True, None, "x"], "b": (tf.TensorShape([2, 3]), tf.float64, spec)}
    assert decode_structure(encode_structure(value)) == value
    assert decode_structure(encode_structure(tf.TensorSpec([1], name="t"))).name == "t"
    with pytest.raises(NotEncodableError):
        encode_structure({"a": np.zeros(3)})


@pytest.mark.programs
def test_operations_to_start_with(graph: Any) -> None:
    v = tf.get_variable("v", initializer=2.0)
    for main in (
        tf.saved_model.main_op.main_op(),
        tf.saved_model.main_op_with_restore(tf.no_op(name="restore")),
    ):
        with tf.Session() as session:
            session.run(main)
            assert session.run(v) == 2.0
