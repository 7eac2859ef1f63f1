# SPDX-License-Identifier: Apache-2.0
"""Counts which public names of TensorFlow 1.15 exist here and writes the table in README.md.

`python docs/support.py` updates the table; `python docs/support.py tf.nn` lists what is missing,
and `python docs/support.py raw_ops` the op types that are missing, with the reasons.
"""

from __future__ import annotations

import fnmatch
import re
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
MARKED = re.compile(r"<!-- support -->.*<!-- /support -->", re.S)


# TensorFlow's other products, which are counted nowhere.
APART = (
    "app compat contrib autograph distribute estimator experimental feature_column flags keras "
    "layers lite profiler pywrap_tensorflow raw_ops resource_loader saved_model sysconfig test tpu "
    "user_ops xla"
).split()


# Why op types are not here, by patterns of their names; the first that fits counts.
REASONS = {
    "TPUs": (
        "*TPU* AllToAll CollectivePermute CrossReplicaSum Infeed* Outfeed* Prelinearize* "
        "WorkerHeartbeat"
    ),
    "several devices or machines at a time": (
        "Collective* Nccl* RemoteCall *MultiDevice* *IteratorGetDevice *AutoShardDataset"
    ),
    "kernels in builds with Intel's MKL alone": (
        "QuantizedConv2D?* QuantizedDepthwise* QuantizedMatMulWith* *PerChannel"
    ),
    "no kernel for processors": "Fact FilterByLastComponentDataset",
    "how TensorFlow's runtime does its work": (
        "GetSessionHandleV2 "
        "DatasetFromGraph StatsAggregatorSetSummaryWriter StatsAggregatorHandleV2"
    ),
    "databases": "CreateSummaryDbWriter",
}


def missing_ops() -> dict[str, list[str]]:
    """Reason -> the op types of TensorFlow 1.15 that are not here for it; "" for no reason."""
    import numbaflow  # noqa: F401  fills the table
    from numbaflow.engine.graph import registry
    from numbaflow.engine.interface.missing import known_names as all_names

    found: dict[str, list[str]] = {}
    for name in all_names()["raw_ops"]:
        if name in registry.known_types():
            continue
        fits = (
            reason
            for reason, patterns in REASONS.items()
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split())
        )
        found.setdefault(next(fits, ""), []).append(name)
    return found


def known_names() -> dict[str, list[str]]:
    """Module such as "tf.nn" -> the names that TensorFlow 1.15 has there, modules left out."""
    from numbaflow.engine.interface.missing import known_names as all_names

    table = all_names()
    return {
        f"tf.{module}".rstrip("."): [
            name
            for name in names
            if f"{module}.{name}".lstrip(".") not in table and name not in APART
        ]
        for module, names in table.items()
        if module.split(".")[0] not in APART
    }


def existing(module: str, names: list[str]) -> list[str]:
    """The names of a module that numbaflow has."""
    import numbaflow

    place: object = numbaflow
    for part in module.split(".")[1:]:
        place = getattr(place, part, None)
    return [name for name in names if hasattr(place, name)]


def counts() -> list[tuple[str, int, int]]:
    """(module, names here, names in TensorFlow 1.15), best covered and largest first."""
    rows = [(m, len(existing(m, names)), len(names)) for m, names in known_names().items()]
    return sorted(rows, key=lambda row: (-row[1], -row[2], row[0]))


def ops() -> int:
    """How many op types are defined."""
    import numbaflow  # noqa: F401  fills the table
    from numbaflow.engine.graph import registry

    return sum(1 for _ in registry.definitions())


def table() -> str:
    """Markdown: a line with the totals and a row for every module of which something exists."""
    rows = counts()
    here, total = sum(row[1] for row in rows), sum(row[2] for row in rows)
    lines = [
        f"{here:,} of {total:,} names exist; {ops()} op types are defined.",
        "",
        "| module | names | module | names | module | names |",
        "|---|---|---|---|---|---|",
    ]
    cells = [f"`{module}` | {have} of {all_}" for module, have, all_ in rows if have]
    none = [f"`{module}`" for module, have, _ in rows if not have]
    while len(cells) % 3:
        cells.append(" | ")
    step = len(cells) // 3
    for i in range(step):
        lines.append(f"| {cells[i]} | {cells[i + step]} | {cells[i + 2 * step]} |")
    if none:
        lines += ["", *textwrap.wrap(f"Nothing yet of {', '.join(none)}.", 100)]
    return "\n".join(lines)


def main() -> None:
    """Writes the table, or lists the missing names of the modules given."""
    if sys.argv[1:] == ["raw_ops"]:
        for reason, ops in sorted(missing_ops().items()):
            print(f"{reason or 'not yet'} ({len(ops)}): {' '.join(ops)}")
        return
    if sys.argv[1:]:
        names = known_names()
        for module in sys.argv[1:]:
            found = existing(module, names[module])
            print(module, *(name for name in names[module] if name not in found))
        return
    block = f"<!-- support -->\n{table()}\n<!-- /support -->"
    README.write_text(MARKED.sub(lambda _: block, README.read_text()))


if __name__ == "__main__":
    main()
