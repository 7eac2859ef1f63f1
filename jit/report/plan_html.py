# SPDX-License-Identifier: Apache-2.0
"""Plans as one HTML page: where time and memory go, what each step fuses, the kernels' sources.

The page is jit/report/page.html with the plans' JSON in it; its script draws from that, and nothing
is fetched from elsewhere.  Without scripts it shows the plans as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

_TEMPLATE = Path(__file__).with_name("page.html")


def page(title: str, plans: Sequence[dict[str, Any]], text: str) -> str:
    """The page of plans, each as explain.PlanReport.as_dict has it (or `numbaflow plan --json`);
    text is for readers without scripts."""
    parts = {"title": escape(title), "text": escape(text), "data": _embedded(plans)}
    template = _TEMPLATE.read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def _embedded(thing: object) -> str:
    """JSON that may stand within a script element: no text in it ends that or opens a comment."""
    return json.dumps(thing, separators=(",", ":")).replace("<", "\\u003c")
