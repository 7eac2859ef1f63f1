# SPDX-License-Identifier: Apache-2.0
"""Runs a user's program as `python` would, with `import tensorflow` meaning this package.

The program gets a `__main__` module of its own, `sys.argv`, `sys.path[0]`, exit codes and
tracebacks as if Python had started it.  Imports only what Python has loaded anyway.
"""

from __future__ import annotations

import builtins
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import NoReturn

# What makes code of a file's text.
Compile = Callable[[bytes | str, str], CodeType]

USAGE = """\
Usage: numbaflow run [OPTIONS] [-m MODULE | -c COMMAND | SCRIPT] [ARGUMENTS]...

  Runs a Python program in which `import tensorflow` means numbaflow.  What programs of TensorFlow
  1's years expect of Python and its libraries, and today's have no longer, is restored in it.

  --strict    restores nothing
  --report    lists at the end what was restored, and for which lines of the program
  --api 0.12  has the names of TensorFlow before 1.0, too: tf.mul, tf.pack, tf.scalar_summary …
  SCRIPT      a file, or a folder or zip archive with a __main__.py; "-" reads the program from
              standard input
  -m MODULE   runs a module by its name
  -c COMMAND  runs the command
  ARGUMENTS   are the program's own, even when they begin with a dash
"""


def run(arguments: list[str]) -> None:
    """Runs `[-m module | -c command | script] arguments` and returns when the program ends.

    An exception of the program is reported through `sys.excepthook` without the frames of this
    file and then ends the process as it would under Python.
    """
    options, arguments = _options(arguments)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        raise SystemExit(0 if arguments else 2)
    try:
        strict, report = "--strict" in options, "--report" in options
        execute(arguments, strict, report, "--api" in options)
    except SystemExit:
        raise
    except BaseException as error:
        _report(error)


def execute(
    arguments: list[str], strict: bool = False, report: bool = False, before_1: bool = False
) -> None:
    """Like `run`, but exceptions of the program are raised as they are."""
    from .children import follow

    folder = _folder(arguments)
    set_up(strict, before_1, folder)
    follow(strict, before_1, folder)
    if strict:
        module, code = _program(arguments, _as_it_is)
        exec(code, module.__dict__)
        return
    from ..alias.restore import compiled, use

    use.REPORT.wanted = report
    try:
        module, code = _program(arguments, compiled.compile_program)
        exec(code, module.__dict__)
    finally:
        if report:
            sys.stdout.flush()
            sys.stderr.write(use.report())


def set_up(strict: bool, before_1: bool, folder: str) -> None:
    """From here on `import tensorflow` means this package, and what is gone is there again.

    Args:
        strict: whether nothing is restored.
        before_1: whether names of TensorFlow before 1.0 are there.
        folder: that of the program's own files, whose calls are changed.
    """
    from ..alias.finder import install

    install()
    if before_1:
        from ..alias.restore import before_1 as old_names

        old_names.install(__package__.partition(".")[0])
    if not strict:
        from ..alias.restore import hook

        hook.install(folder)


def _as_it_is(source: bytes | str, path: str) -> CodeType:
    return compile(source, path, "exec", dont_inherit=True)


def _folder(arguments: list[str]) -> str:
    """Where the program's own modules lie."""
    path = os.path.realpath(arguments[0])
    if arguments[0] in ("-m", "-c", "-") or not os.path.exists(path):
        return os.getcwd()
    return path if os.path.isdir(path) else os.path.dirname(path)


def _options(arguments: list[str]) -> tuple[set[str], list[str]]:
    """The launcher's own options, and what comes behind them."""
    from ..alias.restore.table import OLD_VERSIONS

    found, rest = set(), list(arguments)
    while rest and rest[0] in ("--strict", "--report", "--api"):
        found.add(rest.pop(0))
        if "--api" in found and arguments[len(arguments) - len(rest) - 1] == "--api":
            version = rest.pop(0) if rest else ""
            if version not in OLD_VERSIONS:
                _fail(f"--api takes one of {', '.join(OLD_VERSIONS)}, not {version!r}")
    return found, rest


def _program(arguments: list[str], compiled: Compile) -> tuple[ModuleType, CodeType]:
    """The new `__main__` module and its code; sets `sys.argv` and `sys.path[0]`."""
    kind, rest = arguments[0], arguments[1:]
    if kind in ("-m", "-c"):
        if not rest:
            _fail(f"Argument expected for the {kind} option\n{USAGE}".rstrip())
        if kind == "-m":
            return _module(rest[0], rest[1:], compiled)
        _replace_path("")
        sys.argv = ["-c", *rest[1:]]
        return _main_module(), compiled(rest[0], "<string>")
    sys.argv = arguments
    if kind == "-":
        _replace_path("")
        return _main_module(), compiled(sys.stdin.read(), "<stdin>")
    return _script(kind, compiled)


def _script(path: str, compiled: Compile) -> tuple[ModuleType, CodeType]:
    importer = pkgutil.get_importer(path)
    if importer is not None:  # a folder or an archive
        _replace_path(os.path.abspath(path))
        spec = importer.find_spec("__main__")
        if spec is None:
            _fail(f"can't find '__main__' module in {path!r}")
        return _from_spec(spec, "", compiled)
    full = os.path.abspath(path)
    loader = SourceFileLoader("__main__", full)
    try:
        source = loader.get_data(full)
    except OSError as error:
        _fail(f"can't open file {full!r}: [Errno {error.errno}] {error.strerror}")
    _replace_path(os.path.dirname(os.path.realpath(path)))
    module = _main_module()
    module.__file__ = full
    module.__loader__ = loader
    module.__dict__["__cached__"] = None
    return module, compiled(source, full)


def _module(name: str, rest: list[str], compiled: Compile) -> tuple[ModuleType, CodeType]:
    _replace_path(os.getcwd())
    sys.argv = ["-m", *rest]
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
            if spec is None:
                text = f"{name!r} is a package and cannot be directly executed"
                _fail(f"No module named {name}.__main__; {text}")
    except (ImportError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        _fail(f"Error while finding module specification for {name!r} ({reason})")
    if spec is None:
        _fail(f"No module named {name}")
    module, code = _from_spec(spec, spec.parent, compiled)
    sys.argv[0] = str(spec.origin)
    return module, code


def _from_spec(
    spec: ModuleSpec, package: str | None, compiled: Compile
) -> tuple[ModuleType, CodeType]:
    get_code = getattr(spec.loader, "get_code", None)
    code = None if get_code is None else get_code(spec.name)
    if type(spec.loader) is SourceFileLoader and spec.origin is not None:
        code = compiled(spec.loader.get_data(spec.origin), spec.origin)
    if code is None:
        _fail(f"No code object available for {spec.name}")
    module = _main_module()
    module.__spec__ = spec
    module.__loader__ = spec.loader
    module.__package__ = package
    module.__file__ = spec.origin
    module.__dict__["__cached__"] = spec.cached
    return module, code


def _main_module() -> ModuleType:
    module = ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = module
    return module


def _replace_path(entry: str) -> None:
    """Puts the program's folder where Python had put the launcher's."""
    if not sys.flags.safe_path:
        sys.path[0] = entry


def _fail(message: str) -> NoReturn:
    print(f"{sys.executable}: {message}", file=sys.stderr)
    raise SystemExit(1 if message.startswith(("No ", "Error ")) else 2)


def _report(error: BaseException) -> NoReturn:
    """Shows the exception as Python would, then leaves with Python's exit code for it."""
    error.__traceback__ = _without_launcher(error.__traceback__)
    sys.excepthook(type(error), error, error.__traceback__)
    sys.stderr.write(_hint(error))
    sys.stdout.flush()
    sys.excepthook = lambda *_: None
    raise error


def _without_launcher(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this file and of what reads programs for old names."""
    root = os.path.dirname(os.path.dirname(__file__))
    readers = (("alias", "restore"), ("engine", "syntax.py"))
    own = (__file__, *(os.path.join(root, *place) for place in readers))
    frames = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(own):
            frames.append(trace)
        trace = trace.tb_next
    for frame, following in zip(frames, [*frames[1:], None]):
        frame.tb_next = following
    return frames[0] if frames else None


def _hint(error: BaseException) -> str:
    """A line on how to convert a program of Python 2, if this is one."""
    from ..alias.restore.python_2 import file_of

    file = file_of(error)
    if not file:
        return ""
    tool = "lib2to3" if sys.version_info < (3, 13) else "fissix"
    install = "" if tool == "lib2to3" else "`pip install fissix` and "
    return (
        f"numbaflow: {file} is a program of Python 2; {install}`python -m {tool} -w {file}` "
        "converts it\n"
    )
