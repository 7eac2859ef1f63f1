# SPDX-License-Identifier: Apache-2.0
"""A plan as one HTML page: a bar per step for what it moves, what it fuses, its source.

The page needs nothing but itself: no scripts, no other files.  Imports jit/report.py's types only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from .explain import KernelReport, PlanReport

_HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto;
  padding: 0 1rem; }}
h1 {{ font-size: 1.4rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th {{ text-align: left; font-weight: 600; border-bottom: 2px solid #8888; }}
td, th {{ padding: .3rem .6rem; vertical-align: top; }}
tr + tr td {{ border-top: 1px solid #8884; }}
.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.bar {{ height: .3rem; background: #3b82f6; border-radius: 2px; }}
.host .bar {{ background: #f59e0b; }}
pre {{ overflow: auto; padding: .8rem; background: #8882; border-radius: 6px;
  font-size: 13px; }}
summary {{ cursor: pointer; }}
.quiet {{ opacity: .7; }}
</style>
"""


def page(
    title: str, plans: Sequence[tuple[str, str, PlanReport]], sources: Mapping[str, str]
) -> str:
    """plans: what is fetched, what is fed, the report; sources: the text of a kernel by its key."""
    parts = [_HEAD.format(title=escape(title)), f"<h1>{escape(title)}</h1>"]
    for fetched, fed, report in plans:
        parts.append(_plan(fetched, fed, report, sources))
    return "\n".join(parts) + "\n</html>\n"


def _plan(fetched: str, fed: str, report: PlanReport, sources: Mapping[str, str]) -> str:
    most = max((kernel.bytes for kernel in report.kernels), default=0)
    facts = str(report).splitlines()
    head = "<br>".join(escape(line) for line in facts if not line.startswith(" "))
    titles = "<tr><th>#<th>kernel<th>loops<th class=number>moves<th>fuses</tr>"
    rows = [_step(i, kernel, most, sources) for i, kernel in enumerate(report.kernels)]
    return (
        f"<h2>{escape(fetched)}</h2>\n<p>fed {escape(fed or 'nothing')}<br>{head}</p>\n"
        f"<table>{titles}\n" + "\n".join(rows) + "</table>"
    )


def _step(number: int, kernel: KernelReport, most: int, sources: Mapping[str, str]) -> str:
    width = 100 * kernel.bytes / most if most else 0
    ops = "<br>".join(map(escape, kernel.ops))
    if kernel.reason:
        ops += f"<br><span class=quiet>on the host: {escape(kernel.reason)}</span>"
    text = sources.get(kernel.key)
    if text is not None:
        ops += f"<details><summary class=quiet>source</summary><pre>{escape(text)}</pre></details>"
    return (
        f"<tr class={kernel.kind}><td class=number>{number}<td>{escape(kernel.name)}"
        f"<td>{escape(kernel.work)}<td class=number>{kernel.bytes:,} B"
        f'<div class=bar style="width:{width:.1f}%"></div><td>{ops}</tr>'
    )
