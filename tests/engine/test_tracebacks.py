# SPDX-License-Identifier: Apache-2.0
"""Errors end in the program's own line, wherever they are shown, and keep what is the program's."""

from __future__ import annotations

import copy
import importlib.util
import os
import pickle
import re
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.tracebacks import shorten
from numbaflow.ops.linalg import contract

HERE = Path(__file__).name
ROOT = Path(tf.__file__).parent.resolve()
START = "import numbaflow as tf\nx = tf.placeholder(tf.float32, [2], name='x')\n"
# Lines that fail; some in the public function itself, some far below it.
LINES = {
    "an op": "tf.matmul(tf.zeros([2, 3]), tf.zeros([4, 5]))",
    "an op function": "tf.linalg.inv(x)",
    "an operator": "x + tf.constant(1)",
    "an index": "x[5]",
    "a reduction": "tf.reduce_sum(x, axis=5)",
    "a convolution": "tf.nn.conv2d(tf.zeros([1, 8, 8, 3]), tf.zeros([3, 3, 4, 8]), 1, 'SAME')",
    "an assignment": "tf.assign(tf.Variable([1.0]), tf.zeros([3]))",
    "a layer": "tf.layers.dense(x, 3)",
    "a layer's call": "tf.layers.Dense(3)(x)",
    "a truth value": "bool(x)",
    "an iteration": "list(tf.placeholder(tf.float32))",
    "a wrong constant": "tf.constant([[1], [1, 2]])",
    "a conversion": "tf.convert_to_tensor(None)",
    "minimize": "tf.train.AdamOptimizer().minimize(x)",
    "a variable": "tf.get_variable('v')",
    "a variable of unknown shape": "tf.Variable(tf.placeholder(tf.float32))",
    "a loss": "tf.losses.mean_squared_error(tf.zeros([2]), tf.zeros([3]))",
    "a name": "tf.zeros([], name='a b')",
    "an import": "tf.import_graph_def(3)",
    "a graph's method": "tf.get_default_graph().get_tensor_by_name('nothing:0')",
    "a restore": "tf.Variable(1.0); tf.train.Saver().restore(tf.Session(), '/nothing/here')",
    "eval": "x.eval()",
    "a missing feed": "tf.Session().run(x * 2.0)",
    "a wrong feed": "tf.Session().run(x, {x: [1, 2, 3]})",
    "a wrong fetch": "tf.Session().run(object())",
    "a failing kernel": "tf.Session().run(tf.gather([1, 2], [7]))",
    "a failing plan": "tf.Session().run(tf.matmul(x[None], x[:, None]), {x: [1.0]})",
    "a monitored session": "tf.train.MonitoredSession().run(x)",
    "a partial run": "tf.Session().partial_run('nothing', x)",
    "a lazy name": "tf.load_op_library('/nothing/here')",
    "a name that is missing": "tf.no_such_name",
}
# Of these, logs show more of our frames than the public function's.
DEEP_IN_LOGS = {
    "an op": 2,
    "an operator": 2,
    "an index": 2,
    "a reduction": 4,
    "a layer": 2,
    "a loss": 3,
}
DEEP_IN_LOGS |= {"a name": 5, "an import": 2, "eval": 3, "a lazy name": 4, "minimize": 2}

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """What users have; these tests' own processes, too."""
    monkeypatch.setenv("NUMBAFLOW_TRACEBACK", "short")


def failure(folder: Path, program: str, mode: str = "short", *command: str) -> str:
    """What a process prints that runs a program until it fails."""
    path = folder / "program.py"
    path.write_text(program)
    environment = {**os.environ, "NUMBAFLOW_TRACEBACK": mode}
    done = subprocess.run(
        [sys.executable, *command, str(path)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    return done.stdout + done.stderr


def frames(text: str) -> list[tuple[str, int]]:
    """Files and lines of what Python printed as frames."""
    found = re.findall(r'^ *File "([^"]+)", line (\d+), in', text, re.MULTILINE)
    return [(Path(file).name, int(line)) for file, line in found]


def own_frames(text: str) -> list[str]:
    """Those of this package, without its tests."""
    files = [Path(file) for file in re.findall(r'^ *File "([^"]+)", line', text, re.MULTILINE)]
    inside = [file for file in files if file.is_absolute() and ROOT in file.resolve().parents]
    # (An environment may lie in the checkout.)
    others = {"tests", "site-packages"}
    return [file.name for file in inside if others.isdisjoint(file.resolve().parts)]


def raised(line: str) -> BaseException:
    """The error of a line of a program; `<program>` is its file."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2], name="x")
        with pytest.raises(Exception) as caught:
            exec(compile(line, "<program>", "exec"), {"tf": tf, "x": x, "np": np})
    return caught.value


def printed(error: BaseException, capsys: pytest.CaptureFixture[str]) -> str:
    """What Python prints for an error that nobody catches."""
    sys.excepthook(type(error), error, error.__traceback__)
    return capsys.readouterr().err


# What is shown


@pytest.mark.programs
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_an_uncaught_error_ends_in_the_users_line(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(raised(line), capsys)
    assert frames(text)[1] == ("<program>", 1) and not own_frames(text)
    assert text.count("Traceback (most recent call last)") == 1


@pytest.mark.programs
@pytest.mark.parametrize("what", LINES)
def test_logs_show_the_public_function_at_most(what: str) -> None:
    error = raised(LINES[what])
    text = "".join(traceback.format_exception(error))
    assert len(own_frames(text)) <= DEEP_IN_LOGS.get(what, 1)
    assert text.count("Traceback (most recent call last)") == 1


@pytest.mark.process
@pytest.mark.parametrize("line", [LINES["an op"], LINES["a failing kernel"]])
def test_a_plain_script_shows_its_own_lines(line: str, tmp_path: Path) -> None:
    text = failure(tmp_path, f"{START}\ndef main():\n    {line}\n\nmain()\n")
    assert frames(text)[:2] == [("program.py", 7), ("program.py", 5)]
    assert not own_frames(text)
    full = failure(tmp_path, f"{START}\ndef main():\n    {line}\n\nmain()\n", "full")
    assert {*frames(text)} <= {*frames(full)} and len(own_frames(full)) >= 6
    assert full.splitlines()[-1] == text.splitlines()[-1]


@pytest.mark.process
def test_threads_and_logs_show_the_programs_lines(tmp_path: Path) -> None:
    program = f"""{START}
import logging, sys, threading
def work():
    with tf.Graph().as_default():
        tf.reduce_sum(tf.zeros([2]), 5)

def run_in_thread(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    thread.join()

run_in_thread(work)
print("And:", file=sys.stderr)
run_in_thread(tf.constant, [[1], [1, 2]])
try:
    tf.matmul(x, x)
except ValueError:
    logging.exception("It is logged.")
raise SystemExit(1)
"""
    text = failure(tmp_path, program)
    in_thread, without_a_line, logged = re.split("And:|It is logged.", text)
    assert frames(in_thread)[-1] == ("program.py", 7) and not own_frames(in_thread)
    assert own_frames(without_a_line)[0] == "constant.py"
    assert frames(logged)[0] == ("program.py", 18) and own_frames(logged)[-1] == "products.py"


@pytest.mark.process
def test_pytest_shows_the_tests_lines(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    program = "import numbaflow as tf\n\ndef test_sum():\n    tf.reduce_sum(tf.zeros([2]), 5)\n"
    plain = ("-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path))
    shown = re.compile(r"^\S*?(\w+\.py):\d+: ", re.MULTILINE)
    assert shown.findall(failure(tmp_path, program, "short", *plain)) == ["program.py"]
    full = shown.findall(failure(tmp_path, program, "full", *plain))
    assert full[0] == "program.py" and {"reduce_public.py", "build.py", "inference.py"} <= {*full}


@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="IPython is not installed")
def test_ipython_shows_the_cells_lines(tmp_path: Path) -> None:
    program = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
shell.run_cell("import numbaflow as tf")
shell.run_cell("tf.reduce_sum(tf.zeros([2]), 5)")
raise SystemExit(1)
"""
    text = failure(tmp_path, program)
    assert "----> 1 tf.reduce_sum" in text and "Hint: an axis counts" in text
    assert ".py" not in text
    assert "reduce_public.py" in failure(tmp_path, program, "full")


def test_a_setting_that_is_neither_is_refused() -> None:
    with pytest.raises(ValueError, match="it must be short or full"):
        with settings.override(traceback="long"):
            pass


# What stays


def body_that_fails(i: Any) -> Any:
    return tf.matmul(i, i)


def test_frames_of_the_users_functions_stay(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError) as caught:
        tf.while_loop(lambda i: True, body_that_fails, [tf.constant(0)])
    text = printed(caught.value, capsys)
    assert [file for file, _ in frames(text)] == [HERE, HERE] and not own_frames(text)
    assert "tf.while_loop(" in text and "return tf.matmul(i, i)" in text


@pytest.mark.programs
def test_what_the_users_functions_call_stays(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(a: Any) -> Any:
        return np.linalg.inv(a)

    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.py_func(broken, [tf.zeros([2])], tf.float64)
        with pytest.raises(tf.errors.OpError) as caught:
            session.run(y)
    cause = caught.value.__cause__
    assert isinstance(cause, np.linalg.LinAlgError)
    text = printed(caught.value, capsys)
    first, second = text.split("The above exception was the direct cause")
    shown = [file for file, _ in frames(first)]
    assert HERE in shown and "linalg.py" in shown[-1] and not own_frames(first)
    assert frames(second)[0][0] == HERE and not own_frames(second)


@contextmanager
def users_context() -> Iterator[None]:
    yield
    raise KeyError("the user's")


def test_errors_of_the_program_alone_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError) as caught:
        with users_context():
            pass
    before = traceback.format_exception(caught.value)
    assert printed(caught.value, capsys) == "".join(before)
    assert "contextlib.py" in before[2] and not hasattr(caught.value, "__notes__")


@pytest.mark.programs
def test_what_the_program_was_handling_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError) as caught:
        try:
            {}["the user's key"]  # type: ignore[call-overload]  # noqa: B018
        except KeyError:
            tf.Session().run(tf.zeros([2]), {tf.zeros([2]): [1]})
    text = printed(caught.value, capsys)
    assert isinstance(caught.value.__context__, KeyError)
    assert "the user's key" in text and "During handling of the above exception" in text


@pytest.mark.programs
def test_what_went_wrong_within_us_first_is_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> None:
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [2])
            try:
                {}["the user's key"]  # type: ignore[call-overload]  # noqa: B018
            except KeyError:
                tf.Session().run(x * 2.0)

    with settings.override(traceback="full"), pytest.raises(tf.errors.OpError) as caught:
        fails()
    assert caught.value.__cause__ is not None
    with pytest.raises(tf.errors.OpError) as caught:
        fails()
    assert caught.value.__cause__ is None and isinstance(caught.value.__context__, KeyError)
    assert printed(caught.value, capsys).count("Traceback") == 2


@pytest.mark.process
def test_all_frames_are_kept_on_request() -> None:
    with settings.override(traceback="full"):
        text = "".join(traceback.format_exception(raised(LINES["an op"])))
    assert {"products.py", "build.py", "graph.py", "inference.py"} <= {*own_frames(text)}
    assert "Hint: make the sizes agree" in text


def test_errors_that_lead_to_themselves_are_no_endless_way() -> None:
    """As when several threads raise one error."""
    with settings.override(traceback="full"):
        first, second = raised(LINES["an op"]), raised(LINES["a reduction"])
    for error, context in ((first, second), (second, first)):
        # Our frames alone: the program's are yet to come.
        error.__traceback__ = error.__traceback__.tb_next.tb_next  # type: ignore[union-attr]
        error.__context__, error.__suppress_context__ = context, False
    shorten(first)
    assert first.__traceback__ is None and first.__suppress_context__


def test_groups_of_errors_are_cut_too(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> None:
        raise ExceptionGroup("two", [raised(LINES["a reduction"]), raised(LINES["an op"])])

    with pytest.raises(ExceptionGroup) as caught:
        fails()
    text = printed(caught.value, capsys)
    assert "reduce_public.py" not in text and text.count("<program>") >= 2


def test_errors_that_forbid_attributes_pass_as_they_are() -> None:
    @dataclass(frozen=True)
    class Frozen(Exception):
        number: int

    class Number:
        pass

    def refuse(value: Number, **unused: Any) -> Any:
        raise Frozen(3)

    tf.register_tensor_conversion_function(Number, refuse)
    with pytest.raises(Frozen) as caught:
        tf.convert_to_tensor(Number())
    files = [Path(f.filename).name for f in traceback.extract_tb(caught.value.__traceback__)]
    assert files == [HERE, HERE]


def test_errors_can_be_pickled_and_copied() -> None:
    error = raised(LINES["an op"])
    assert str(pickle.loads(pickle.dumps(error))) == str(copy.deepcopy(error)) == str(error)


# What it costs


def test_public_functions_are_the_functions_themselves() -> None:
    assert tf.tensordot is contract.tensordot and not hasattr(tf.tensordot, "__wrapped__")


def files_called(work: Callable[[], object]) -> set[str]:
    """The files of all functions that are called on the way."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        files.add(Path(frame.f_code.co_filename).name)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return files


@pytest.mark.programs
def test_calls_that_succeed_do_not_pass_here() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 2])
        files = files_called(lambda: session.run(tf.matmul(x, x) + 1.0, {x: np.eye(2)}))
    assert {"build.py", "session.py"} <= files
    assert not files & {"tracebacks.py", "hints.py", "node_notes.py"}
