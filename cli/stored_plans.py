# SPDX-License-Identifier: Apache-2.0
"""`numbaflow cache plans`: the finished plans that later processes of a program begin with.

They are removed by the commands that remove kernels.  Imports typer and rich.
"""

from __future__ import annotations

import time
from typing import Any

from rich.table import Table
from rich.text import Text

from ..engine.printable import printable, say
from ..jit.cache import store
from ..jit.cache.checked_files import Item
from ..jit.cache.plan_files import PLANS
from ..jit.report.plan_text import size_text
from .cache import JSON, age_text, app, print_json, print_table


@app.command("plans")
def plans(as_json: bool = JSON) -> None:
    """List finished plans, used last first: what later processes of a program begin with."""
    found = [_facts(item) for item in PLANS.items()]
    if as_json:
        print_json(found)
    elif not found:
        say(f"there are no plans in {PLANS.path()}")
    else:
        print_table(_table(found))


def _table(found: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("key", "size", "last used", "operations", "kernels", "from"):
        table.add_column(title, no_wrap=True)
    for row in found:
        age = age_text(time.time() - row["last_used"])
        about = [str(row["operations"]), str(row["kernels"]), row["problem"] or row["line"]]
        cells = [row["key"][:12], size_text(row["bytes"]), age, *about]
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _facts(item: Item) -> dict[str, Any]:
    """What is shown of a plan."""
    from ..jit.runtime import plan_encoding

    facts = {"operations": 0, "kernels": 0, "fetches": [], "line": "", "problem": ""}
    try:
        tables = plan_encoding.from_bytes(PLANS.read(item)[1]).tables
        facts |= tables["about"] | {"kernels": len(tables["kernels"])}
    except (OSError, ValueError, LookupError, TypeError, store.Untrusted) as error:
        facts["problem"] = f"damaged: {error}"
    return {"key": item.key, "bytes": item.bytes, "last_used": item.last_used, **facts}
