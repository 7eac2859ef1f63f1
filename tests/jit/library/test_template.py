# SPDX-License-Identifier: Apache-2.0
"""Texts of kernels that are written from functions: what remains of these, and what it means."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import os
import pkgutil
import re
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from numbaflow.jit import library
from numbaflow.jit.cache.kernel_text import is_kernel
from numbaflow.jit.codegen import vocabulary
from numbaflow.jit.codegen import words as generated
from numbaflow.jit.kernel.module_source import module_source
from numbaflow.jit.kernel.scalar import COMPILED_DTYPES
from numbaflow.jit.library import plain_vocabulary
from numbaflow.jit.library.matmul import product_kernel
from numbaflow.jit.library.template import specialise

from . import template_samples as samples

pytestmark = pytest.mark.pure

ROOT = Path(library.__file__).parents[2]
MODULES = [
    importlib.import_module(f"{library.__name__}.{module.name}")
    for module in pkgutil.iter_modules(library.__path__)
    if module.name.endswith("_kernels")
]
TRUTHS = (False, True)


def functions_of(module: Any) -> list[FunctionType]:
    """The functions that a module defines."""
    members = vars(module).values()
    return [f for f in members if inspect.isfunction(f) and f.__module__ == module.__name__]


def run(entry: Callable[..., None], r0: int, r1: int, c0: int, c1: int) -> list[int]:
    """What a sample puts into two places."""
    out = np.zeros(2, np.int64)
    entry(plain_vocabulary.Arguments([out.ctypes.data], ["int64"]), r0, r1, c0, c1, 0)
    return out.tolist()


def as_written(text: str) -> Callable[..., None]:
    names = {**vars(plain_vocabulary)}
    exec(text, names)
    return names["kernel"]


def as_it_stands(entry: FunctionType, **constants: Any) -> Callable[..., None]:
    return FunctionType(entry.__code__, {**entry.__globals__, **constants})


def test_what_constants_decide_is_left_out() -> None:
    text = specialise("sample", samples.chosen, FIRST=False, SECOND=True).text
    assert text == textwrap.dedent('''\
        def kernel(args, r0, r1, c0, c1, worker):
            """Goes where constants say."""
            out = pointer(args[0])
            # Above a branch that may be left out.
            if r0 > 1 and SECOND:
                out[0] = 2
            else:
                # Inside of a branch.
                out[0] = 3
            if r1 > 4:
                pass
            else:
                out[1] = 6
        ''').replace("def kernel", "SECOND = True\n\n\ndef kernel")
    text = specialise("sample", samples.chosen, FIRST=True, SECOND=False).text
    assert "    out[0] = 1  # behind a statement\n    if r1 > 4:\n        pass\n" in text


def test_loops_over_constants_are_written_out_and_constant_helpers_are_called() -> None:
    constants = dict(FIRST=True, SECOND=False, SIZE=0, STEPS=((3, 1), (5, 2)))
    text = specialise("sample", samples.sized, COMBINE=samples.add, **constants).text
    assert text == textwrap.dedent('''\
        FIRST = True


        @helper
        def add(x, y):
            """The sum."""
            return x + y


        def kernel(args, r0, r1, c0, c1, worker):
            out = pointer(args[0])
            total = 0
            for i in range(r0, r1, 3):
                total += i
            for i in range(r0, r1, 5):
                total += 2 * i
            out[0] = add(total, (c1) * (2))
            out[1] = (
                total + 1
            ) * (FIRST) * 2
        ''')


@pytest.mark.parametrize("entry", [samples.chosen, samples.sized])
def test_what_is_written_does_what_the_function_does(entry: FunctionType) -> None:
    others: list[dict[str, Any]] = [
        dict(SIZE=size, STEPS=steps, COMBINE=combine)
        for size in (0, 7)
        for steps in ((), ((3, 1), (5, 2)))
        for combine in (samples.add, samples.subtract)
    ]
    for first, second, other in itertools.product(TRUTHS, TRUTHS, others):
        constants = dict(FIRST=first, SECOND=second, **other)
        text = specialise("sample", entry, **constants).text
        assert is_kernel(text)
        for tile in ((0, 3, 4, 9), (2, 17, 0, 1), (1, 4, 2, 2)):
            got = run(as_written(text), *tile)
            assert got == run(as_it_stands(entry, **constants), *tile), (constants, text)


def test_a_module_s_own_constants_are_written_with_their_types() -> None:
    text = specialise("sample", samples.unsigned).text
    assert text.startswith("LOW = uint64(4294967295)\n\n\n@helper\ndef low_bits(address, value):\n")
    assert run(as_written(text), 0, 0, 0, (1 << 40) + 5) == [5, 0]


def test_equal_numbers_of_different_types_make_different_kernels() -> None:
    rows = importlib.import_module(f"{library.__name__}.rows_kernels")
    facts = dict(COMBINE=rows.add, EXCLUSIVE=False, REVERSE=False)
    texts = [specialise("s", rows.running, START=start, **facts).text for start in (0.0, 0)]
    assert "START = 0.0\n" in texts[0] and "START = 0\n" in texts[1]
    # However numbers print: old programs want them without their types.
    with np.printoptions(legacy="1.25"):
        starts = np.float32(0), np.float64(0)
        texts = [specialise("t", rows.running, START=start, **facts).text for start in starts]
    assert "START = float32(0.0)\n" in texts[0] and "START = float64(0.0)\n" in texts[1]


def test_a_constant_without_a_value_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="constant SECOND: give it"):
        specialise("sample", samples.chosen, FIRST=False).text  # noqa: B018
    with pytest.raises(ValueError, match="constant COMBINE: give it"):
        specialise("sample", samples.sized, FIRST=True, SECOND=True, SIZE=1, STEPS=()).text  # noqa: B018


def test_what_kernels_have_no_word_for_is_an_error_that_names_it() -> None:
    with pytest.raises(NameError, match="template_samples.wrong uses Callable, which is no"):
        specialise("sample", samples.wrong).text  # noqa: B018
    with pytest.raises(TypeError, match="is no constant of a kernel"):
        specialise("sample", samples.chosen, FIRST=False, SECOND=[1]).text  # noqa: B018


def test_two_helpers_of_one_name_are_an_error_that_names_it() -> None:
    rows = importlib.import_module(f"{library.__name__}.rows_kernels")
    assert specialise("sample", samples.twice, COMBINE=samples.add).text.count("@helper") == 1
    with pytest.raises(ValueError, match="two helpers of one kernel are called add: rename"):
        specialise("sample", samples.twice, COMBINE=rows.add).text  # noqa: B018


@pytest.mark.parametrize(
    "entry, problem",
    [
        (samples.left, "a way out of a loop over constants"),
        (samples.ended, "an else behind a loop"),
        (samples.filled, "arguments that are not given by position alone"),
    ],
)
def test_what_would_not_be_written_as_it_is_meant_is_an_error(
    entry: Callable[..., None], problem: str
) -> None:
    with pytest.raises(SyntaxError, match=f"template_samples.{entry.__name__} has {problem}"):
        specialise("sample", entry, STEPS=((1, 2),)).text  # noqa: B018


@pytest.mark.process
def test_a_module_without_source_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "sourceless.py").write_text("X = 1\n")
    compiled = "import py_compile; py_compile.compile('sourceless.py', 'sourceless.pyc')"
    subprocess.run([sys.executable, "-c", compiled], cwd=tmp_path, check=True)
    (tmp_path / "sourceless.py").unlink()
    sys.path.insert(0, str(tmp_path))
    try:
        with pytest.raises(RuntimeError, match=r"the source of sourceless, .* \.py files"):
            module_source("sourceless")
    finally:
        sys.path.remove(str(tmp_path))


@pytest.mark.process
def test_kernels_are_made_from_a_package_in_a_zip_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for folder in (".", "engine", "io", "jit", "ops", "train"):
            for file in (ROOT / folder).glob("*.py" if folder == "." else "**/*.py"):
                archive.write(file, Path("numbaflow") / file.relative_to(ROOT))
    program = (
        "import numbaflow.jit.codegen.compile as compiler\n"
        "from numbaflow.jit.library.matmul import product_kernel\n"
        "print(compiler.labels_of('x')[2], product_kernel('float32', 5, True, False)[0].text)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "package.zip")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    from numbaflow.jit.codegen.compile import labels_of

    text = product_kernel("float32", 5, True, False)[0].text
    assert done.stdout == f"{labels_of('x')[2]} {text}\n", done.stderr


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.rpartition(".")[2])
def test_modules_of_kernels_hold_functions_and_constants_alone(module: Any) -> None:
    """So that all of a kernel is in its text, and all of that can be found by its name."""
    functions = functions_of(module)
    assert functions
    tree = ast.parse(module_source(module.__name__))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            marks = [getattr(mark, "id", "") for mark in node.decorator_list]
            names = [argument.arg for argument in node.args.args]
            entry = names == ["args", "r0", "r1", "c0", "c1", "worker"]
            assert marks == ([] if entry else ["helper"]), node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for t in targets for part in ast.walk(t) if isinstance(part, ast.Name)]
            assert all(name.isupper() or name == "Four" for name in names), names
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    given = {n for n, value in vars(module).items() if n.isupper() and value is None}
    assert given - {"GIVEN"} <= used


def test_words_mean_in_python_what_compiled_kernels_take_them_for() -> None:
    """They have as many arguments, and an explanation."""
    compared = 0
    for name, word in vocabulary.table().items():
        plain = getattr(plain_vocabulary, name, None)
        if isinstance(plain, FunctionType):
            assert len(inspect.signature(plain).parameters) == word.arity, name
            assert inspect.getdoc(plain), name
            compared += 1
    assert compared > 10


def test_kernels_use_words_that_the_compiler_knows() -> None:
    known = {*vocabulary.table(), *vocabulary.CASTS, *vocabulary.FUNCTIONS, "helper"}
    known |= {*generated.table(), *COMPILED_DTYPES}
    for module in MODULES:
        source = module_source(module.__name__)
        (block,) = re.findall(r"from \.plain_vocabulary import (\(.*?\)|.*?\n)", source, re.S)
        words = set(re.findall(r"\w+", block))
        assert words - known <= {"GIVEN", "Address", "Arguments", "Pointer", "Scalar"}, module
