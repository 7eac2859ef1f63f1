# SPDX-License-Identifier: Apache-2.0
"""The messages: loaded late, in a pool of their own, and compiled from the .proto files beside."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from numbaflow.io import protos

pytestmark = pytest.mark.pure


@pytest.mark.process
def test_importing_the_package_does_not_import_protobuf() -> None:
    code = "import numbaflow, numbaflow.io.protos, sys; print('google.protobuf' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_messages_enums_and_values_by_name() -> None:
    assert protos.GraphDef.DESCRIPTOR.full_name == "tensorflow.GraphDef"
    assert protos.DataType.Name(protos.DT_FLOAT) == "DT_FLOAT"
    assert protos.RunOptions.FULL_TRACE == 3
    with pytest.raises(AttributeError, match="NoSuchMessage"):
        protos.NoSuchMessage  # noqa: B018


def test_the_default_pool_is_left_alone() -> None:
    from google.protobuf import descriptor_pool

    protos.GraphDef()
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("tensorflow.GraphDef")


def test_messages_can_be_pickled() -> None:
    node = protos.NodeDef(name="a", op="NoOp")
    assert pickle.loads(pickle.dumps(node)) == node


def test_modules_are_those_of_the_proto_files() -> None:
    module = protos.module("tensorflow/core/framework/node_def.proto")
    assert module.NodeDef is protos.NodeDef
    assert module.__name__ == "tensorflow.core.framework.node_def_pb2"
    with pytest.raises(KeyError):
        protos.module("tensorflow/core/framework/no_such.proto")


def test_a_map_of_attributes_and_a_oneof() -> None:
    node = protos.NodeDef()
    node.attr["T"].type = protos.DT_INT32
    node.attr["T"].i = 7
    assert node.attr["T"].WhichOneof("value") == "i"


def test_the_compiled_descriptors_are_up_to_date(tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools", reason="grpcio-tools has the protocol compiler")
    from google.protobuf import descriptor_pb2

    from numbaflow.io.protos.generate import compile_protos

    compile_protos(tmp_path / "fresh.binpb")
    fresh = descriptor_pb2.FileDescriptorSet.FromString((tmp_path / "fresh.binpb").read_bytes())
    assert {file.name: file for file in fresh.file} == protos.files()
