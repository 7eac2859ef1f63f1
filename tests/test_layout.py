# SPDX-License-Identifier: Apache-2.0
"""The house rules, read from the source: what may import what, sizes of files and functions."""

from __future__ import annotations

import ast
import graphlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from .sources import FOLDERS, ROOT, imports, name_of, package_files, statements, text, tree, words

OUTSIDE_WHEEL = ("benchmarks", "docs", "examples", "tests")

# Folder -> the folders it may import when it is imported itself.
MAY_IMPORT = {
    "engine": {"engine"},
    "io": {"io", "engine"},
    "jit": {"jit", "engine"},
    "ops": {"ops", "engine", "jit"},
    "train": {"train", "ops", "engine", "io"},
}
# File -> the folders that it alone may import besides, inside functions.
LATE_IMPORTS = {
    "engine": {"io", "jit"},
    "io": {"ops", "jit"},
    "ops": {"io"},
}
# The kernel vocabulary: all that ops may know of the compiler when it is imported.
VOCABULARY = ("jit.kernel.scalar", "jit.kernel.glibc_float32", "jit.kernel.sizes", "jit.library")

pytestmark = pytest.mark.text


def all_files() -> list[Path]:
    """All sources of the repository."""
    others = [file for folder in OUTSIDE_WHEEL for file in sorted((ROOT / folder).rglob("*.py"))]
    return [*package_files(), *(file for file in others if file.stat().st_size)]


def violations() -> Iterator[str]:
    for file in package_files():
        folder = file.relative_to(ROOT).parts[0]
        if folder not in MAY_IMPORT:
            continue
        for module, at_import, line in imports(file):
            target = module.split(".")[0]
            if target not in FOLDERS or target in MAY_IMPORT[folder]:
                continue
            if at_import or target not in LATE_IMPORTS.get(folder, set()):
                yield f"{name_of(file)}:{line} imports {module}"


def test_folders_import_downwards_only() -> None:
    assert not list(violations())


def test_ops_use_the_kernel_vocabulary_only() -> None:
    wrong = [
        f"{name_of(file)}:{line} imports {module}"
        for file in package_files()
        if file.relative_to(ROOT).parts[0] == "ops"
        for module, at_import, line in imports(file)
        if at_import and module.startswith("jit") and not module.startswith(VOCABULARY)
    ]
    assert not wrong


def test_imports_inside_the_package_are_relative() -> None:
    wrong = []
    for file in package_files():
        for node in statements(file):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            if any(name.split(".")[0] == "numbaflow" for name in names):
                wrong.append(f"{name_of(file)}:{node.lineno}")
    assert not wrong


def test_every_file_begins_with_its_licence_and_says_what_it_is() -> None:
    wrong = []
    for file in all_files():
        lines = text(file).splitlines()
        if not lines or lines[0] != "# SPDX-License-Identifier: Apache-2.0":
            wrong.append(f"{name_of(file)}: no SPDX line")
        if len(lines) < 2 or not lines[1].startswith('"""'):
            wrong.append(f"{name_of(file)}: no docstring below")
    assert not wrong


def test_files_and_functions_stay_short() -> None:
    wrong = []
    for file in package_files():
        length = len(text(file).splitlines())
        # Lists of where names and ops are, which docs/stubs.py writes.
        if length > 600 and name_of(file) not in ("ops/index.py", "ops/op_index.py"):
            wrong.append(f"{name_of(file)}: {length} lines")
        for node in statements(file):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                assert node.end_lineno is not None
                first = node.body[0]
                docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                start = first.end_lineno if docstring else node.lineno
                length = node.end_lineno - (start or node.lineno)
                if length > 70:
                    wrong.append(f"{name_of(file)}:{node.lineno} {node.name}: {length} lines")
    assert not wrong


def test_data_classes_cost_nothing_until_they_are_used() -> None:
    found = set()
    for file in package_files():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "dataclasses":
                if any(alias.name == "dataclass" for alias in node.names):
                    found.add(name_of(file))
    assert found <= {"engine/record_class.py", "jit/cuda/cuda_kernel.py"}, "use `record`"


def test_the_formatter_is_told_to_stay_away_in_few_places() -> None:
    """Where many numbers belong together; else write data as text or as rows, and calls of kernels
    with an argument a line."""
    mark = re.compile(r"# fmt: (?:off|skip)$", re.M)
    counts = {name_of(file): len(mark.findall(text(file))) for file in all_files()}
    assert sum(counts.values()) <= 24, {name: count for name, count in counts.items() if count}


def test_the_compiler_names_no_op() -> None:
    """Knowledge of an op sits in its definition; the compiler reads it from there."""
    import numbaflow  # noqa: F401  fills the table
    from numbaflow.engine.graph import registry

    # Other tests define TensorFlow's test ops, whose types are letters such as "B".
    types = {op.name for op in registry.definitions() if len(op.name) > 1}
    assert len(types) > 600
    wrong = []
    for file in package_files():
        if file.relative_to(ROOT).parts[0] != "jit":
            continue
        wrong += [f"{name_of(file)} {word!r}" for word in words(file) if word in types]
    assert not wrong


# The rooms of a folder, each of which imports only those before it; modules beside them come first.
ROOMS = {
    "engine": (
        *(
            "syntax",
            "record_class",
            "gc_pause",
            "settings",
            "api",
            "dispatch",
            "signatures",
            "compat",
            "deprecation",
            "errors",
            "memory",
        ),
        *("printable", "stopping", "trampoline", "hints", "tracebacks"),
        *("types", "graph", "node_notes", "documentation", "gradients", "session", "interface"),
        "testing",
    ),
    "jit": (
        *("host", "target", "threads", "debug", "isolated_entry", "isolated"),
        *("kernel", "program", "library", "trace", "passes"),
        *("cache", "codegen", "schedule", "runtime", "cuda", "report"),
    ),
    "train": (
        *("variables", "summaries", "checkpoints", "objects", "inputs", "sessions", "optimizers"),
        *("cluster", "distributed", "layers", "rnn", "keras", "saved_model", "feature_column"),
        *("estimator", "contrib", "public", "mnist", "tools"),
    ),
}


@pytest.mark.parametrize("folder", ROOMS)
def test_rooms_import_one_way(folder: str) -> None:
    rooms, wrong = ROOMS[folder], []
    for file in package_files():
        first, *rest = file.relative_to(ROOT).with_suffix("").parts
        if first != folder or rest == ["__init__"]:
            continue
        assert rest[0] in rooms, f"{name_of(file)} is in no room"
        for module, at_import, line in imports(file):
            target = module.split(".")
            if target[0] != folder or not at_import or target[1] == "__init__":
                continue
            if rooms.index(target[1]) > rooms.index(rest[0]):
                wrong.append(f"{name_of(file)}:{line} imports {module}")
    assert not wrong


def test_no_two_modules_of_engine_and_compiler_have_one_name() -> None:
    files = [
        file for file in package_files() if file.relative_to(ROOT).parts[0] in ("engine", "jit")
    ]
    names = Counter(file.stem for file in files if file.stem != "__init__")
    assert not [name for name, count in names.items() if count > 1]


def test_tests_lie_where_lies_what_they_test() -> None:
    """A folder of tests is named as that of the package; files beside rooms as modules beside them.

    What is of no one folder, comparisons of all ops or exchange with TensorFlow, lies above them.
    """
    strays = []
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        folder = file.parent.relative_to(ROOT / "tests")
        module = ROOT / folder / file.name.removeprefix("test_")
        if folder.parts and folder.name != "parity" and not (ROOT / folder).is_dir():
            strays.append(f"{name_of(file)}: there is no {folder}")
        if str(folder) in ROOMS and not module.exists():
            strays.append(f"{name_of(file)}: of which room?")
    assert not strays


# Family of ops -> the families that it may import when it is imported itself; besides the modules
# of ops/ itself, which import none.
FAMILIES: dict[str, set[str]] = {
    "array": set(),
    "audio": set(),
    "checks": {"array"},
    "data": {"flow", "parsing", "random", "state", "strings"},
    "distributions": {"math", "nn"},
    "flow": {"array", "checks", "state"},
    "image": {"math", "nn", "random"},
    "linalg": {"array", "math"},
    "lookup": {"array", "state", "strings"},
    "math": {"array"},
    "metrics": {"array", "math", "nn", "sparse", "state"},
    "nn": {"math", "random", "sparse", "state"},
    "parsing": {"array", "sparse", "strings"},
    "queues": {"state"},
    "quantization": {"image", "math", "nn"},
    "random": set(),
    "signal": {"math"},
    "ragged": set(),
    "sparse": {"array", "math", "state"},
    "state": {"array", "random"},
    "strings": {"sparse"},
    "summaries": {"audio", "image", "state"},
    "trees": {"state"},
}


def test_families_of_ops_import_one_way() -> None:
    graphlib.TopologicalSorter(FAMILIES).prepare()  # raises CycleError
    wrong, found = [], set()
    for file in sorted((ROOT / "ops").rglob("*.py")):
        parts = file.relative_to(ROOT).parts
        family = parts[1] if len(parts) > 2 else ""
        found.add(family)
        for module, at_import, line in imports(file):
            target = f"{module}.".split(".")[1]
            if not (at_import and module.startswith("ops.") and target in FAMILIES):
                continue
            if target != family and target not in FAMILIES.get(family, set()):
                wrong.append(f"{name_of(file)}:{line} imports {module}")
    assert not wrong
    assert found - {""} == set(FAMILIES)


@pytest.mark.parametrize("folder", ["jit", "ops"])
def test_folders_say_what_they_import(folder: str) -> None:
    """What a docstring lists of the folders beside its own is what the code there imports."""
    inner = {path.parent.name for path in (ROOT / folder).glob("*/__init__.py")}
    found: dict[str, set[str]] = {name: set() for name in inner}
    for file in package_files():
        first, *rest = file.relative_to(ROOT).parts
        if first != folder or len(rest) < 2:
            continue
        for module, at_import, _ in imports(file):
            target = f"{module}.".split(".")
            if at_import and target[0] == folder and target[1] in inner - {rest[0]}:
                found[rest[0]].add(target[1])
    wrong = []
    for name in sorted(inner):
        said = ast.get_docstring(tree(ROOT / folder / name / "__init__.py")) or ""
        listed = re.search(r"Imports ([^;.]*)", said)
        if listed is None or re.search("(rest|all|All) ", listed[1]):
            continue
        if inner.intersection(re.findall(r"\w+", listed[1])) != found[name]:
            wrong.append(f"{folder}/{name} imports {sorted(found[name])}")
    assert not wrong


def test_errors_of_no_operation_are_made_in_one_way() -> None:
    """By the makers of engine/errors.py, such as `errors.invalid(text)`."""
    wrong = [
        f"{name_of(file)}: {made}"
        for file in package_files()
        if name_of(file) != "engine/errors.py"
        for made in re.findall(r"\w*Error\(\s*None,\s*None\b", text(file))
    ]
    assert not wrong
