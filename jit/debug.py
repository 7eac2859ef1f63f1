# SPDX-License-Identifier: Apache-2.0
"""Prints the stages of the compiler that NUMBAFLOW_DEBUG names: ir, fused, schedule, source …

Imports settings; each stage's text comes from jit/schedule/ir_printer.py, imported when it is
wanted.
"""

from __future__ import annotations

import sys
from typing import Any

from ..engine import settings


def wants(stage: str) -> bool:
    """Is a stage to be printed?"""
    return stage in settings.get("debug")


def is_on() -> bool:
    """Is any stage to be printed?"""
    return bool(settings.get("debug"))


def show(stage: str, thing: Any, group: str = "") -> None:
    """Prints a stage if it, or the group that it belongs to, is wanted."""
    if wants(stage) or wants(group):
        from .schedule import ir_printer

        print(f"-- {stage}\n{ir_printer.text(thing)}", file=sys.stderr)
