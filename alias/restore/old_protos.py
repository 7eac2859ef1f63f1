# SPDX-License-Identifier: Apache-2.0
"""Modules of messages that protoc made before 2021: today's protobuf refuses their descriptors.

What they describe is all in one constant, from which today's protobuf builds the same classes.
"""

from __future__ import annotations

import ast
from types import CodeType

from ...engine.syntax import tree_of

_MARK = b"_descriptor.FileDescriptor("


def is_old(file: str, source: bytes) -> bool:
    """Whether a file is such a module."""
    return file.endswith("_pb2.py") and _MARK in source


def compile_messages(source: bytes, file: str) -> CodeType:
    """The code of a module with the same messages.

    Args:
        source: what protoc wrote.
        file: where it lies, for tracebacks.

    Returns:
        The code.

    Raises:
        ValueError: the file is no such module after all.
    """
    tree = tree_of(source, file=file)
    data = next((found for found in map(_serialized, ast.walk(tree)) if found is not None), None)
    if data is None:
        raise ValueError(f"{file} does not hold the description of its messages")
    imports = [node for node in tree.body if _is_needed(node)]
    lines = [
        "from google.protobuf import descriptor_pool as _pool",
        "from google.protobuf.internal import builder as _builder",
        f"DESCRIPTOR = _pool.Default().AddSerializedFile({data!r})",
        "_builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, globals())",
        "_builder.BuildTopDescriptorsAndMessages(DESCRIPTOR, __name__, globals())",
    ]
    made = ast.Module([*imports, *tree_of("\n".join(lines)).body], [])
    return compile(ast.fix_missing_locations(made), file, "exec", dont_inherit=True)


def _serialized(node: ast.AST) -> bytes | None:
    """The description in `FileDescriptor(…, serialized_pb=_b('…'))`."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "FileDescriptor":
        return None
    for word in node.keywords:
        if word.arg == "serialized_pb":
            value = word.value.args[0] if isinstance(word.value, ast.Call) else word.value
            if isinstance(value, ast.Constant) and isinstance(value.value, (str, bytes)):
                text = value.value
                return text.encode("latin1") if isinstance(text, str) else text
    return None


def _is_needed(node: ast.stmt) -> bool:
    """Whether a statement imports the messages of another file."""
    if isinstance(node, ast.ImportFrom):
        return any(name.name.endswith(("_pb2", "*")) for name in node.names)
    return isinstance(node, ast.Import) and any(name.name.endswith("_pb2") for name in node.names)
