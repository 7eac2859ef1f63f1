# SPDX-License-Identifier: Apache-2.0
"""Calls of pandas and of scikit-learn work as programs of TensorFlow 1's years make them."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from numbaflow.alias.restore import rewriting, tables

from .test_restore import run

pytestmark = pytest.mark.process

TABLES = """
import io
import numpy as np
import pandas as pd

text = "id;age;name;d\\n1;;Mr. A;2017-01-02\\n2;30;Mrs. B;2017-01-09\\n3;;Miss. C;2017-02-01\\n"
df = pd.read_csv(
    io.StringIO(text), ";", error_bad_lines=False, infer_datetime_format=True, parse_dates=["d"]
)
ids = pd.read_csv(io.StringIO("id\\n1\\n2\\n"), squeeze=True)
assert ids.tolist() == [1, 2] and df["name"].dtype == object and df.dtypes["name"] == "object"
df["age"].fillna(df["age"].mean(), inplace=True)
df.age.replace(30.0, 31.0, inplace=True)
assert df["age"].tolist() == [31.0, 31.0, 31.0]
df["age"][1] = 5.0
df["age"][df["id"] > 2] += 1
df.age[0] = 7
assert df["age"].tolist() == [7.0, 5.0, 32.0] and df["age"][1] == 5.0
assert df.name.str.replace("[A-Z].*\\\\. ", "").tolist() == ["A", "B", "C"]
assert df.name.str.replace(".", "!").tolist()[0] == "Mr! A"
assert df.name.str.split(".", 1).tolist()[0] == ["Mr", " A"] and "a.b".split(".") == ["a", "b"]
assert df.drop("name", 1).columns.tolist() == ["id", "age", "d"] and len(df.drop([0, 1])) == 1
assert pd.concat([df[["id"]], df[["age"]]], 1).shape == (3, 2) and not df.isnull().any(1)[0]
assert df.mean()["id"] == 2.0 and df.corr().shape[0] >= 2 and "age" in df.groupby("id").mean()
assert df.ix[0, "age"] == 7.0 and df.ix[:1, ["id"]].shape == (2, 1)
named = df.set_index("name")
assert named.ix[0].id == 1 and named.ix["Mrs. B", "id"] == 2 and named.ix[:1].shape[0] == 1
named.ix[0, "age"] = 8
assert named["age"].iloc[0] == 8 and named.ix[[1, 2], 0].tolist() == [2, 3]
assert df[["id"]].applymap(lambda v: v + 1).id.tolist() == [2, 3, 4]
values = df[["id", "age"]].values
np.random.RandomState(0).shuffle(values)
values[0, 0] = 9
column = np.asarray(df["age"])
column[0] = 1
gaps = pd.Series([1.0, None, 3.0])
assert gaps.fillna(method="ffill").tolist() == [1.0, 1.0, 3.0]
assert gaps.fillna(method="bfill").sum() == 7.0 and gaps.fillna(0).sum() == 4.0
assert df.d.dt.week.tolist() == [1, 2, 5] and df["id"].ravel().tolist() == [1, 2, 3]
assert pd.value_counts(["a", "b", "a"]).to_dict() == {"a": 2, "b": 1} and pd.np is np
assert df.to_csv(line_terminator="\\n").startswith(",id") and len(df.dropna(0)) == 3
assert pd.to_datetime(["2017-01-01"], infer_datetime_format=True)[0].year == 2017
assert df.get_value(1, "id") == 2 and pd.Series([0, 2]).nonzero()[0].tolist() == [1]
assert df.sort("id", ascending=False).id.tolist() == [3, 2, 1] and df.mad()["id"] == 2 / 3
sizes = df[["age"]].groupby("age", as_index=False).size()
assert sizes.index.tolist() == [1, 5, 32] and sizes[5.0] == 1 and df["id"].size == 3
assert pd.Index(["2017-01-02"]).astype("M8[D]")[0].day == 2
assert pd.rolling_mean(pd.Series([1.0, 3.0]), 2)[1] == 2.0

ages = pd.Series([1, 2, 3], index=["a", "b", "b"], name="ages")
assert ages.loc[["a", "b"]].tolist() == [1, 2, 3] and ages.loc["a"] == 1
found = ages.loc[["b", "z", "a"]]
assert found.index.tolist() == ["b", "b", "z", "a"] and found.name == "ages"
assert found.dropna().tolist() == [2.0, 3.0, 1.0] and found.isnull().tolist()[2]
people = pd.DataFrame({"x": [1.0, 2.0], "y": [3, 4]}, index=pd.Index([10, 20], name="id"))
assert people.loc[[20, 30], "x"].tolist()[0] == 2.0 and people.loc[[20, 30]].index.name == "id"
assert people.loc[10, ["x", "w"]].isnull().tolist() == [False, True]
assert people.loc[[True, False]].shape == (1, 2) and people.loc[:, ["y", "w"]].shape == (2, 2)
assert people.loc[people.x > 1.0, "y"].tolist() == [4] and people.loc(axis=0)[10].x == 1.0
people.loc[30, "x"] = 5.0
assert people.loc[[30]].y.isnull().all()
for wrong in (lambda: people.loc[[1, 2]], lambda: people.loc[77], lambda: ages.loc[["q"]]):
    try:
        wrong()
    except KeyError:
        continue
    raise AssertionError("these are wrong at any time")


class Held:
    pass


named = pd.Series([1, 2], name="ages")
assert named.name == "ages" and pd.Index([1], name="thing").name == "thing"
kept = Held()
kept.table = pd.DataFrame({"a": [1.0, None]})
kept.table.fillna(method="ffill", inplace=True)
assert kept.table["a"].tolist() == [1.0, 1.0]
held, nested = Held(), {"a": [1, 2], "b": Held()}
held.w = np.zeros(3)
held.w[1] = 2
nested["a"][0] = 5
nested["b"].w = held.w
nested["b"].w[2] += 4
assert held.w.tolist() == [0, 2, 4] and nested["a"] == [5, 2] and np.ones(2).any() and held.w.mean()
wrongs = (lambda: df.drop("no", 1), lambda: df.fillna(0, 1, 2, 3, 4, 5), lambda: pd.concat(3, 1))
for wrong in wrongs:
    try:
        wrong()
    except (KeyError, TypeError):
        continue
    raise AssertionError("these are wrong at any time")
print("as before")
"""

ESTIMATORS = """
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets.samples_generator import make_blobs
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.metrics import confusion_matrix, log_loss, mean_squared_error
from sklearn.metrics.classification import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import class_weight
from sklearn.utils.linear_assignment_ import linear_assignment

x, y = make_blobs(60, 4, 3, random_state=0)
assert KMeans(3, n_jobs=2, precompute_distances="auto", random_state=0).fit(x).inertia_ > 0
assert linear_assignment(np.array([[3, 1], [1, 5]])).tolist() == [[0, 1], [1, 0]]
assert f1_score(y, y, [0, 1, 2], 1, "macro") == 1.0
assert confusion_matrix(y, y, [0, 1, 2]).trace() == 60
assert class_weight.compute_class_weight("balanced", np.unique(y), y).tolist() == [1, 1, 1]
assert Perceptron(max_iter=20, tol=-np.inf, random_state=0).fit(x, y).score(x, y) > 0.5
assert SGDClassifier(loss="log", random_state=0).fit(x, y).score(x, y) > 0.5
assert LogisticRegression(penalty="none", multi_class="auto").fit(x, y).score(x, y) > 0.5
assert RandomForestClassifier(5, max_features="auto").fit(x, y).score(x, y) > 0.5
assert RandomForestRegressor(5, "mse").fit(x, y).score(x, y) > 0.5
assert CountVectorizer().fit(["a bb cc", "bb dd"]).get_feature_names() == ["bb", "cc", "dd"]
assert mean_squared_error([0, 0], [2, 2], squared=False) == 2.0
assert mean_squared_error([0, 0], [2, 2], squared=True) == 4.0
assert OneHotEncoder(sparse=False).fit_transform(y[:, None]).shape == (60, 3)
assert log_loss([0, 1], [[0.9, 0.1], [0.2, 0.8]], eps=1e-7) > 0
assert GridSearchCV(LogisticRegression(), {"C": [1]}, iid=False, cv=3).fit(x, y).best_score_ > 0.5
for wrong in (lambda: KMeans(no_such=1), lambda: KMeans(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)):
    try:
        wrong()
    except TypeError as error:
        assert "argument" in str(error)
    else:
        raise AssertionError("these are wrong at any time")
print("as before")
"""


@pytest.mark.parametrize("text", [TABLES, ESTIMATORS])
def test_calls_of_their_time(tmp_path: Path, text: str) -> None:
    done = run(tmp_path, text)
    assert done.stdout == "as before\n", done.stderr


def test_what_was_restored_is_reported(tmp_path: Path) -> None:
    text = "import pandas as pd\ndf = pd.DataFrame({'a': [1.0]})\ndf.drop('a', 1)\ndf['a'][0] = 2\n"
    done = run(tmp_path, text, "--report")
    assert f"DataFrame.drop: {table_text()} (gone since" in done.stderr, done.stderr
    assert f"{tmp_path / 'old.py'}:3" in done.stderr and "table[column][rows]" in done.stderr


def table_text() -> str:
    from numbaflow.alias.restore.table import TABLES as row

    return row[0]


def test_files_without_tables_stay_as_they_are() -> None:
    lines = "x['a'][i] = f(x.loc[1])\nx.any(1)\nx.a.fillna(0, inplace=True)\n"
    changed = ("table_method", "item", "in_place", "labels")

    def names(text: str) -> set[str]:
        return {n.attr for n in ast.walk(_changed(text)) if isinstance(n, ast.Attribute)}

    assert not names(lines).intersection(changed)
    assert names("import pandas as pd\n" + lines).issuperset(changed)
    kept = (
        "import pandas as pd\nclass A:\n    def f(self, df):\n        self.w[0] = df.loc[0] = 1\n"
    )
    assert not names(kept).intersection(("item", "attribute"))


def test_what_numba_compiles_stays_as_it_is() -> None:
    function = "def f(x):\n    x[0] = g(int(x[1]), '%d' % x)\n    x[1] += np.array([x])\n"
    start = "import numba\nfrom numba import njit\nimport numpy as np\n"

    def count(text: str) -> int:
        names = [n for n in ast.walk(_changed(text)) if isinstance(n, ast.Name)]
        return sum(n.id == "__restored__" for n in names)

    assert count(start + function) == count(function.join(("import numpy as np\n", ""))) == 5
    for mark in ("@numba.jit(nopython=True)", "@njit", "@numba.vectorize(['f4(f4)'])"):
        assert count(f"{start}{mark}\n{function}") == 0
    assert count(f"{start}@other\n{function}") == 5


def _changed(text: str) -> ast.AST:
    tree = ast.parse(text)
    rewriting._Rewriter(rewriting.aliases(tree)).rewrite(rewriting._Found(tree))
    return tree


def test_arguments_are_named_in_their_order() -> None:
    def function(a: int, *, b: int = 0, c: int = 0) -> None:
        del a, b, c

    assert tables.by_keyword(function, (1, 2, 3), {}) == ((1,), {"b": 2, "c": 3})
    assert tables.by_keyword(function, (1, 2), {"b": 3}) == ((1, 2), {"b": 3})
    assert tables.by_keyword(function, (1, 2, 3, 4), {}) == ((1, 2, 3, 4), {})
    assert tables.by_keyword(np.add, (1, 2), {}) == ((1, 2), {})
    assert tables.by_keyword(print, (1, 2), {}) == ((1, 2), {})
