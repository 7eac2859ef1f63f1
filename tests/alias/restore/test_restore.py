# SPDX-License-Identifier: Apache-2.0
"""`numbaflow run` restores what old programs expect, where it is missing and nowhere else."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import numbaflow
from numbaflow.alias.restore import calls, hook, rewriting, table

pytestmark = pytest.mark.process


def run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    program = folder / "old.py"
    program.write_text(text)
    command = [sys.executable, "-W", "ignore", "-m", "numbaflow", "run", *options, str(program)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=folder
    )


NAMES = """
import base64, cgi, collections, fractions, inspect, os, string, threading, time
import numpy as np
import numpy.core.umath_tests
import scipy, scipy.misc
import six
from collections import Mapping
from distutils.version import LooseVersion
from scipy.misc import imresize
import six.moves.builtins
from six.moves import cPickle, getcwd, urllib, xrange
from six.moves.email_mime_text import MIMEText
from six.moves.html_parser import HTMLParser
from six.moves.http_client import HTTPConnection
from six.moves.urllib.response import addinfourl
from six.moves.urllib.request import urlretrieve
import imp, pkg_resources
import xml.etree.cElementTree as cET
from termcolor import colored, cprint
from PIL import Image
from scipy.sparse.linalg.eigen.arpack import eigsh

assert np.float is float and np.int is int and np.object is object and np.NaN != np.NaN
assert np.asscalar(np.array([4])) == 4 and np.product([2, 3]) == 6 and np.Inf == np.inf
assert np.in1d([[1], [2]], [2]).tolist() == [False, True] and np.cast["f"](3).dtype == np.float32
assert np.math.sqrt(4) == 2.0 and np.row_stack([[1], [2]]).shape == (2, 1)
assert isinstance({}, Mapping) and collections.Callable is collections.abc.Callable
assert inspect.getargspec(lambda a, b=1, *c: 0) == (["a", "b"], "c", None, (1,))
assert cgi.escape('<"') == '&lt;"' and base64.encodestring(b"x") == b"eA==\\n"
assert fractions.gcd(4, 6) == 2 and string.letters == string.ascii_letters and os.errno.ENOENT == 2
assert time.clock() <= time.clock() and threading.Thread().isAlive() is False
assert LooseVersion("1.15.0") > LooseVersion("1.4.0rc1") and LooseVersion("1.2") == "1.2"
assert pkg_resources.get_distribution("numpy>=1").version == np.__version__
assert imp.new_module("x").__name__ == "x" and cET.fromstring("<a/>").tag == "a"
assert Image.ANTIALIAS == Image.LANCZOS and scipy.misc.comb(4, 2) == 6
assert imresize(np.zeros((4, 6, 3), np.uint8), (2, 3)).shape == (2, 3, 3)
assert eigsh(scipy.sparse.diags([[1.0, 2.0, 5.0]], [0]), k=1)[0].round(3).tolist() == [5.0]
assert colored(1, "red", attrs=["bold"]) == "\\033[1m\\033[31m1\\033[0m"
assert type(getcwd()) is str and six.moves.builtins.len is len
assert list(six.iteritems({1: 2})) == [(1, 2)] and list(xrange(2)) == [0, 1]
assert scipy.zeros(2).tolist() == [0, 0] and scipy.linalg.__name__ == "scipy.linalg"
assert not hasattr(np, "no_such") and not hasattr(collections, "no_such")
print("all there")
"""


def test_names_are_restored_and_reported(tmp_path: Path) -> None:
    done = run(tmp_path, NAMES, "--report")
    assert done.stdout == "all there\n", done.stderr
    assert f"  numpy.float (gone since NumPy 1.24): {tmp_path / 'old.py'}:23" in done.stderr
    assert "module six (a dependency of TensorFlow's)" in done.stderr
    assert "no_such" not in done.stderr


def test_strict_restores_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, "import numpy as np\nprint(np.float)", "--strict")
    assert done.returncode == 1 and "AttributeError: module 'numpy' has no" in done.stderr
    done = run(tmp_path, "from collections import Mapping", "--strict", "--report")
    assert "ImportError: cannot import name 'Mapping'" in done.stderr


CALLS = """
import array, io, json, math, pickle, random
import xml.etree.ElementTree as ET
import numpy as np
from numpy import array as make

assert make([[1], [2, 3]]).dtype == object and np.array([1], copy=False).tolist() == [1]
assert np.array([1.0]).tostring() == array.array("d", [1.0]).tostring()
assert int(np.array([3])) == 3 and float(np.array([[2.5]])) == 2.5
assert "%.1f %d" % (np.array([1.5]), 3) == "1.5 3" and math.exp(np.array([0.0])) == 1.0
np.testing.assert_approx_equal(np.array([2.0]), 2.0000001, significant=5)
try:
    np.testing.assert_approx_equal(1.0, np.array([1.1]))
except AssertionError as error:
    assert "not equal to 7 significant digits" in str(error), error
else:
    raise AssertionError("they differ")
class Buffer:
    rewards = np.zeros(3, np.float32)
    rows = np.zeros((2, 3))
    kept = [None]
    objects = np.empty(1, object)

for place, value in enumerate([np.array([1.5]), np.array([[2.5]]), 3.5]):
    Buffer.rewards[place] = value
Buffer.rewards[0] += np.array([1.0])
Buffer.rows[0] = np.array([2.0])
Buffer.rows[1, 1:] = Buffer.rows[0, 1:] * 2
Buffer.kept[0] = Buffer.objects[0] = np.array([7])
Buffer.objects[0] = Buffer.kept[0]
assert Buffer.rewards.tolist() == [2.5, 2.5, 3.5] and Buffer.kept[0].shape == (1,)
assert Buffer.rows.tolist() == [[2, 2, 2], [0, 4, 4]] and Buffer.objects.tolist() == [[7]]
try:
    Buffer.rewards[0] = np.zeros(2)
except ValueError as error:
    assert "setting an array element" in str(error)
file = io.BytesIO()
np.savez(file, a=[[1], [2, 3]], b={"k": 1})
file.seek(0)
loaded = np.load(file)
assert loaded["a"].tolist() == [[1], [2, 3]] and loaded["b"].item() == {"k": 1}
assert np.fromstring(b"\\x01\\x02", dtype=np.uint8).tolist() == [1, 2]
assert np.linspace(0, 1, 3.0).shape == (3,) and np.sum(x for x in [1, 2]) == 3
assert np.vstack(map(np.array, [[1], [2]])).shape == (2, 1)
assert pickle.load(io.BytesIO(b"S'\\xff'\\np0\\n.")) == "\\xff"
# (A sum of float32s that begins at 0 was a float64.)
assert json.dumps({"loss": [sum([np.float32(1.5)]), 2]}, sort_keys=True) == '{"loss": [1.5, 2]}'
text = io.StringIO()
json.dump([0 + np.float32(0.5)], text, indent=None)
assert text.getvalue() == "[0.5]"
for wrong in (object(), np.ones(2)):
    try:
        json.dumps(wrong)
    except TypeError as error:
        assert str(error) == f"Object of type {type(wrong).__name__} is not JSON serializable"
    else:
        raise AssertionError(wrong)
assert json.loads("1", encoding="utf8") == 1 and len(random.sample({1, 2, 3}, 2)) == 2
assert sorted(random.sample({1: 2, 3: 4}.keys(), 2)) == [1, 3]
numbers = [1, 2, 3]
random.shuffle(numbers, lambda: 0.0)
assert numbers == [2, 3, 1] and 0 <= random.randint(0, 10.0) <= 10
assert len(ET.fromstring("<a><b/></a>").getchildren()) == 1 and "a".decode("utf8") == "a"
assert np.dstack(map(np.array, [[1], [2]])).shape == (1, 1, 2)
assert np.reshape([1, 2], newshape=[2, 1]).shape == (2, 1)
assert np.percentile([1.0, 2.0], 40, **{"interpolation": "nearest"}) == 1.0
assert np.histogram([1, 2, 2], bins=2, normed=True)[0].sum() == 2.0
assert np.unravel_index(3, dims=(2, 2)) == (1, 1) and np.array([3, 8]).ptp() == 5
assert np.array([1], ">u2").newbyteorder().tolist() == [256]
assert np.dtype(np.uint32).newbyteorder(">").byteorder == ">"
np.set_printoptions(threshold=np.nan)
import helper
print("all as before")
"""


def test_calls_are_restored_in_the_files_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        '"""Says."""\nfrom __future__ import division\nimport numpy as np\n'
        "assert np.array([[1], [2, 3]]).dtype == object and __doc__ == 'Says.'\n"
    )
    done = run(tmp_path, CALLS)
    assert done.stdout == "all as before\n", done.stderr
    assert not list(tmp_path.rglob("*.pyc"))


SCALARS = """
import json, pickle
import numpy as np
import tensorflow as tf

small = np.ones([3, 4], np.float32)
scale = np.sqrt(6.0 / (3 + 4))
assert (scale * small).dtype == (small / scale).dtype == (small - 0.5 * scale).dtype == np.float32
assert (small * -(2 * np.log(3.0) / np.prod([2, 2]) ** 2)).dtype == np.float32
assert (np.float64(2) * small).dtype == (small + np.mean([1.0, 2.0])).dtype == np.float32
assert np.exp(scale, dtype=np.float32).dtype == np.float32
small *= scale
# Where NumPy 1 gave float64, so does this.
assert (scale * np.ones(2)).dtype == (scale * np.ones(2, int)).dtype == np.float64
assert (scale * np.float32(2)).dtype == (scale * np.float32(2).reshape(())).dtype == np.float64
assert np.array([scale, 1]).dtype == np.array(scale).dtype == scale.dtype == np.float64
# It is a float as any other.
assert isinstance(scale, np.float64) and isinstance(1 - scale, float) and not scale < 0 < abs(scale)
assert repr(scale) == repr(np.ones(1)[0] * scale) and json.dumps(scale) == str(scale)
assert type(pickle.loads(pickle.dumps(scale))).__name__ == "float64" and hash(scale) == hash(+scale)
assert np.float64("1.5") == 1.5 and np.max([3, 4]) == 4 and type(np.abs(-3.0) // 2.0 % 2) != float
weights = tf.Variable(np.random.rand(3, 4).astype(np.float32) * np.sqrt(2.0 / 3))
assert weights.dtype.base_dtype == tf.float32 and (scale * weights).dtype == tf.float32
assert tf.constant(scale).dtype == tf.float64 and (weights / scale).dtype == tf.float32
print("all lenient")
"""


def test_numbers_leave_small_arrays_their_dtype(tmp_path: Path) -> None:
    done = run(tmp_path, SCALARS, "--report")
    assert done.stdout == "all lenient\n", done.stderr
    assert "float64 numbers with arrays of float32 (gone since NumPy 2.0)" in done.stderr
    done = run(tmp_path, SCALARS, "--strict")
    assert done.returncode == 1 and "AssertionError" in done.stderr


PRINTED = """
import threading
import numpy as np

def show():
    print([np.float32(0.5)], {"step": np.int64(3)}, (np.mean([1.0, 2.0]), np.bool_(True)))

show()
thread = threading.Thread(target=show)
thread.start()
thread.join()
np.set_printoptions(precision=2)
print([np.float32(0.25)], np.array([1 / 3]))
"""


def test_numbers_are_printed_without_their_types(tmp_path: Path) -> None:
    done = run(tmp_path, PRINTED)
    plain = "[0.5] {'step': 3} (1.5, True)\n"
    assert done.stdout == f"{plain}{plain}[0.25] [0.33]\n", done.stderr
    done = run(tmp_path, PRINTED, "--strict")
    typed = repr([np.float32(0.5)])
    assert done.stdout.startswith(typed) and done.stdout.count(typed) == 2, done.stderr


PLACED = """
import sys, types
import numpy as np

class Lazy(types.ModuleType):
    def __getattr__(self, name):
        return globals()[name]

sys.modules["lazy"] = Lazy("lazy")
table = {}
table["lazy"] = sys.modules["lazy"]
row = np.zeros(2)
row[0] = np.array([3.0])
print(table["lazy"].np is np, row)
"""


def test_what_is_placed_is_asked_for_nothing_it_may_not_have(tmp_path: Path) -> None:
    done = run(tmp_path, PLACED)
    assert done.stdout == "True [3. 0.]\n", done.stderr


def test_errors_of_calls_stay_the_programs_own(tmp_path: Path) -> None:
    done = run(tmp_path, "import numpy as np\n\nx = int(np.array([1, 2]))\n")
    lines = done.stderr.splitlines()
    assert lines[1].endswith('old.py", line 3, in <module>')
    assert lines[-1].startswith("TypeError: only ") and not any("restore" in li for li in lines)


PYTHON_2 = ("print 'a'", "import cPickle", "xrange(3)", "{}.iteritems()", "{1: 2}.keys()[0]")


@pytest.mark.parametrize("text", [*PYTHON_2, "len(map(str, [1]))", "iter([1]).next()"])
def test_programs_of_python_2_are_told_from_others(tmp_path: Path, text: str) -> None:
    done = run(tmp_path, text)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "is a program of Python 2" in last and f"-w {tmp_path / 'old.py'}` converts it" in last
    for other in ("import no_such", "class A: pass\nA().next()", "[][0]", "len(3)"):
        assert "Python 2" not in run(tmp_path, other).stderr


@pytest.mark.programs
def test_only_imported_names_are_changed() -> None:
    def changed(text: str) -> bool:
        code = rewriting.compile_program(text, "x.py")
        return "__restored__" in code.co_names

    assert changed("import numpy as np\nnp.array([1])")
    assert changed("from numpy import array\narray([1])")
    assert changed("int(x)") and changed("'%d' % x") and changed("x.tostring()")
    assert not changed("import jax.numpy as np\nnp.array([1])")
    assert not changed("import numpy as np\nnp = f()\nnp.array([1])")
    assert not changed("def int(x): pass\nint(x)")
    assert not changed("int('3'), int(len(x)), '%' in x, x % y, np.array([1])")


@pytest.mark.programs
def test_the_table_is_whole() -> None:
    """What is named as restoring exists, if its library is installed; calls are there."""
    assert not {*table.CALLS} & {*table.KEYWORDS}
    for _, _, target in table.MANNERS.values():
        path, _, function = target.partition(":")
        assert callable(getattr(importlib.import_module(path, hook.__package__), function))
    for functions in (table.CALLS, table.METHODS):
        for name, (_, _, function) in functions.items():
            assert callable(getattr(calls, function)), name
    for module, rows in hook.ROWS.items():
        for name, (target, since) in rows.items():
            path, _, attribute = target.partition(":")
            root = path.lstrip(".").split(".")[0]
            needs = "matplotlib" if "matplotlib" in module else "sklearn"
            if root == "tensorflow":  # This package's: there is no module of that name.
                found = functools.reduce(getattr, path.split(".")[1:], numbaflow)
                assert hasattr(found, attribute), (module, name)
                continue
            is_here = root not in (
                *("joblib", "matplotlib", "mpl_toolkits", "networkx", "old_sklearn", "skimage"),
                "sklearn",
            )
            if is_here and target != "scipy.misc:" and needs not in module:
                # (Python may have been built without what a module of its own needs, dbm.gnu say.)
                assert importlib.util.find_spec(path, hook.__package__), (module, name)
                if attribute and attribute != "ByteString":
                    found = importlib.import_module(path, hook.__package__)
                    assert hasattr(found, attribute), (module, name)
            assert since.split()[-1][0].isdigit() or since.startswith("a "), (module, name)


@pytest.mark.programs
def test_lines_stay_those_of_the_file() -> None:
    text = (
        '"""Doc."""\nfrom __future__ import division\n\nimport numpy as np\n\nnp.array(\n    1)\n'
    )
    code = rewriting.compile_program(text, "x.py")
    lines = {line for _, _, line in code.co_lines() if line}
    assert lines <= {0, 1, 2, 4, 6, 7} and code.co_consts[0] == "Doc."
    assert isinstance(ast.parse(text), ast.Module)


def test_digits_in_a_text_are_a_number_for_axes() -> None:
    class Figure:
        def add_subplot(self, *args: object, **kwargs: object) -> object:
            return args, kwargs

    assert calls.add_subplot(Figure(), "111") == ((111,), {})
    assert calls.add_subplot(Figure(), 2, 1, 1, label="a") == ((2, 1, 1), {"label": "a"})
    names: dict[str, object] = {"figure": Figure()}
    exec(rewriting.compile_program("made = figure.add_subplot('121')", "draw.py"), names)
    assert names["made"] == ((121,), {})


@pytest.mark.parametrize("name", sorted(name for name in hook.ROWS if "." not in name))
def test_libraries_that_are_not_installed_stay_absent(name: str) -> None:
    """Programs and other libraries ask whether they are there."""
    is_library = name in ("networkx", "numpy", "pandas", "scipy")
    assert (hook._Finder().find_spec(name, None) is None) == is_library
