# SPDX-License-Identifier: Apache-2.0
"""Fills in what pages show of the code: `python docs/pages.py` rewrites them, tests hold them.

Between `<!-- from_scratch.py graph -->` and `<!-- end -->` stands the region `# [graph]` of that
file, between `<!-- settings -->` and `<!-- end -->` the table of settings, between
`<!-- restored -->` and `<!-- end -->` what `numbaflow run` restores, between
`<!-- contributions -->` and `<!-- end -->` what there is of `tf.contrib`, between
`<!-- checkers -->` and `<!-- end -->` what checkers of gradients find.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

DOCS = Path(__file__).parent
PAGES = tuple(
    DOCS / f"{page}.md"
    for page in ("from_scratch", "settings", "old_programs", "contrib", "gradients")
)
_PLACE = re.compile(r"(<!-- (\S+\.py)? ?(\w+) -->\n).*?(<!-- end -->)", re.S)


def region(file: str, name: str) -> str:
    """The text of a file between `# [name]` and `# [end]`."""
    found = re.search(rf"^# \[{name}\]\n(.*?)^# \[end\]$", (DOCS / file).read_text(), re.S | re.M)
    if found is None:
        raise ValueError(f"{file} has no region {name}")
    return f"```python\n{found[1].strip()}\n```\n"


def regions(file: str) -> list[str]:
    """The names of a file's regions, in order."""
    return re.findall(r"^# \[(?!end\])(\w+)\]$", (DOCS / file).read_text(), re.M)


def settings_table() -> str:
    """The settings as a table in Markdown."""
    from numbaflow.engine import settings

    rows = ["| variable | in code | default | what it says |", "|---|---|---|---|"]
    for one in settings.TABLE:
        default = f"`{one.default}`" if one.default else ""
        rows.append(f"| `{one.variable}` | `{one.name}` | {default} | {one.help} |")
    return "\n".join(rows) + "\n"


def restored_table() -> str:
    """What `numbaflow run` restores, as a table in Markdown."""
    from numbaflow.alias.restore import table

    rows = ["| where | what | gone since | by |", "|---|---|---|---|"]
    names: dict[tuple[str, str], list[str]] = {}
    for row in table.NAMES:
        names.setdefault((row.module, row.since), []).append(row.names)
    for (module, since), words in names.items():
        olds = [word.partition("=")[0] for word in " ".join(words).split()]
        what = "all of it" if olds == ["*"] else ", ".join(f"`{old}`" for old in olds)
        rows.append(f"| `{module}` | {what.replace('`*`', 'all else')} | {since} | name |")
    for module, methods in table.CLASSES.items():
        for name, (since, _) in methods.items():
            rows.append(f"| `{module}` | `{name}` | {since} | method |")
    for module, (text, since, _) in table.MANNERS.items():
        rows.append(f"| `{module}` | {text} | {since} | manner |")
    for name, (text, since, _) in table.CALLS.items():
        rows.append(f"| `{name}` | {text} | {since} | call |")
    for name, (old, _, since) in table.KEYWORDS.items():
        rows.append(f"| `{name}` | {old}= | {since} | call |")
    rows.append(
        f'| `math`, `"%f" % x`, `array[i] = x` | {table.SCALARS[0]} | {table.SCALARS[1]} | call |'
    )
    what, since = table.LENIENT
    rows.append(f"| `numpy` | {what.partition(': ')[2]} | {since} | call |")
    for name, (owner, since, _) in table.METHODS.items():
        rows.append(f"| {owner} | `{name}` | {since} | call |")
    return "\n".join(rows) + "\n"


def names_before_1_table() -> str:
    """What `numbaflow run --api 0.12` knows, as a table in Markdown."""
    from numbaflow.alias.restore import before_1

    olds = [(f"tf.{old}", f"`tf.{new}`") for old, new in before_1.RENAMED.items()]
    modules = [(f"tensorflow.{m}", f"`tf.{n}`") for m, n in before_1.MODULES.items()]
    changed = [
        (f"tf.{name}", (call.__doc__ or "").strip().rstrip(".") or "a summary's node, with the tag")
        for name, call in before_1.CHANGED.items()
    ]
    rows = ["| then | what it is |", "|---|---|"]
    rows += [f"| `{old}` | {new} |" for old, new in (*olds, *changed, *modules)]
    cells = ", ".join(f"`{name}`" for name in before_1.CELLS)
    rows.append(f"| cells: {cells} | `input_size`; variables in each scope where one is called |")
    rows.append(f"| cells: {', '.join(f'`{n}`' for n in before_1.WRAPPERS)} | `_cell` |")
    rows.append("| `rnn_cell._linear` | a linear map by variables `Matrix` and `Bias` |")
    rows.append("| optimizers | slots are made where variables are reused |")
    rows.append("| `tf.flags.FLAGS` | takes values under names that are no flags |")
    return "\n".join(rows) + "\n"


# Namespaces below tf.contrib -> why what they lack is not here.
_WHY = {
    "lite": "a product of its own",
    **dict.fromkeys(("bigtable", "cloud", "rpc"), "needs services that are not reached from here"),
    **dict.fromkeys(("nccl", "tensorrt"), "made for other processors"),
}


def contributions_table() -> str:
    """Every public name of TensorFlow 1.15 below tf.contrib, here or not, as a table."""
    import numbaflow  # noqa: F401  publishes the names
    from numbaflow.engine import api
    from numbaflow.engine.interface.missing import known_names
    from numbaflow.train.contrib.unavailable import TABLE as unavailable_names

    names_here = {*api.NAMES, *api.LAZY, *api.LATER}
    here = {*names_here, *(name.rpartition(".")[0] for name in names_here)}
    why_not = {
        name: f"raises an error, as it needs {needs}"
        for needs, names in unavailable_names.items()
        for name in names.split()
    }
    known = known_names()
    # Namespace -> why names do not work, or "" -> the names.
    found: dict[str, dict[str, list[str]]] = {}
    for module, names in sorted(known.items()):
        if not module.startswith("contrib."):
            continue
        _, space, *inside = module.split(".")
        for name in names:
            path = f"{module}.{name}"
            if path not in known:
                missing = _WHY.get(space, "not yet")
                why = why_not.get(path, "" if path in here or _reached(path) else missing)
                lists = found.setdefault(space, {"": []})
                lists.setdefault(why, []).append(".".join([*inside, name]))
    rows = ["| namespace | works | does not |", "|---|---|---|"]
    for space, lists in found.items():
        works = lists.pop("")
        total = len(works) + sum(map(len, lists.values()))
        missing = "; ".join(f"{why}: {_shown(names)}" for why, names in lists.items())
        rows.append(f"| `{space}` | {len(works)} of {total}: {_shown(works)} | {missing} |")
    return "\n".join(rows) + "\n"


def _reached(path: str) -> bool:
    """Whether a module that has a public name has this one in it, or is imported by its path."""
    import numbaflow
    from numbaflow.alias import finder
    from numbaflow.alias.keras_modules import MODULES

    module, _, name = path.rpartition(".")
    thing: object = numbaflow
    if module in MODULES:
        thing, path = finder.resolve(f"tensorflow.{module}"), name
    for part in path.split("."):
        thing = getattr(thing, part, None)
    return thing is not None


def _shown(names: list[str], most: int = 150) -> str:
    """Names as code; those of a large product that is not here are counted."""
    return f"{len(names)} names" if len(names) > most else ", ".join(f"`{n}`" for n in names)


_CHECKERS = {
    "jax": "JAX {}: `check_grads`, order 2",
    "torch": "PyTorch {}: `gradcheck`, `gradgradcheck`",
    "pytensor": "PyTensor {}: `verify_grad`, twice",
}
# How a checker says that a gradient is wrong, rather than that it cannot tell.
_WRONG = ("AssertionError", "GradcheckError", "GradientError")


def checkers_table() -> str:
    """What peers' checkers say of planted faults and of correct functions, where they differ.

    Ours finds all and suspects none: tests/engine/testing/test_planted.py, which has the rows.
    """
    recorded = DOCS.parent / "tests" / "engine" / "testing" / "peers.json"
    peers = json.loads(recorded.read_text())
    heads = [head.format(peers[name]["version"]) for name, head in _CHECKERS.items()]
    rows = [f"| | `check_gradients` | {' | '.join(heads)} |", "|---|---|---|---|---|"]
    for kind, title, wanted, other in (
        ("planted", "**planted faults found**", "found", "missed"),
        ("nasty", "**correct functions called wrong**", "wrong", ""),
    ):
        said = {
            name: [_said(peers[p][kind][name], wanted, other) for p in _CHECKERS]
            for name in peers["jax"][kind]
        }
        counts = [str(column.count(wanted)) for column in zip(*said.values())]
        ours = len(said) if kind == "planted" else 0
        rows.append(f"| {title}, of {len(said)} | **{ours}** | {' | '.join(counts)} |")
        for name, words in said.items():
            if set(words) != {"found"} and set(words) != {""}:
                rows.append(
                    f"| {name} | {'found' if kind == 'planted' else ''} | {' | '.join(words)} |"
                )
    return "\n".join(rows) + "\n"


def _said(verdict: str, wanted: str, other: str) -> str:
    if not verdict:
        return other
    return wanted if verdict.startswith(_WRONG) else "refused"


TABLES = {
    "checkers": checkers_table,
    "contributions": contributions_table,
    "settings": settings_table,
    "restored": restored_table,
    "names_before_1": names_before_1_table,
}


def filled(page: str) -> str:
    """The text of a page with what it shows of the code as that is now."""

    def fill(found: re.Match[str]) -> str:
        start, file, name, end = found.groups()
        return start + (region(file, name) if file else TABLES[name]()) + end

    return _PLACE.sub(fill, page)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(filled(path.read_text()))
