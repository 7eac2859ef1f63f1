# SPDX-License-Identifier: Apache-2.0
"""A profile from operations and options: its message, and where its text goes."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from ....io.files import GFile
from . import columns
from .measures import COLUMNS
from .views import View

if TYPE_CHECKING:
    from .counted import Counted

_DEFAULTS = {"max_depth": 10, "account_type_regexes": [".*"], "account_displayed_op_only": False}


def report(operations: list[Counted], cmd: str, options: dict[str, Any], steps: list[int]) -> Any:
    """The message of a profile, whose text is written where the options say."""
    from ....io import protos

    options = {**_DEFAULTS, "select": ["micros"], "output": "stdout", **options}
    _check(options, cmd)
    of_graph = cmd in ("scope", "graph")
    view = View(options, protos.GraphNodeProto if of_graph else protos.MultiGraphNodeProto)
    step = options.get("step", -1)
    if step >= 0 and step not in steps:
        available = " ".join(map(str, steps))
        _write(f"Options -step={step} not found.\nAvailable steps: {available} \n", options)
        return view.node_message()
    make = {"scope": view.scopes, "graph": view.flow, "op": view.types, "code": view.lines}[cmd]
    root = make(operations)
    if cmd != "op":
        view.shown(root)
    text = columns.table(root, options) if cmd == "op" else root.text
    if options["output"].startswith("timeline:"):
        _write(_timeline(operations, step), options)
    else:
        _write(columns.header(options, cmd == "op") + text, options)
    return view.messages(root)


def _check(options: dict[str, Any], cmd: str) -> None:
    unknown = [column for column in options["select"] if column not in COLUMNS]
    if unknown:
        raise NotImplementedError(
            f"tf.profiler.profile: selecting {', '.join(unknown)} is not in numbaflow"
        )
    kind, _, place = options["output"].partition(":")
    has_place = bool(place.removeprefix("outfile="))
    if kind not in ("none", "stdout") and not (kind in ("file", "timeline") and has_place):
        raise NotImplementedError(
            f"tf.profiler.profile: output {options['output']!r} is not in numbaflow"
        )
    if kind == "timeline" and cmd not in ("scope", "graph"):
        raise NotImplementedError(f"tf.profiler.profile: there are no timelines of {cmd!r}")


def _write(text: str, options: dict[str, Any]) -> None:
    kind, _, place = options["output"].partition(":")
    if kind == "none":
        return
    if kind == "stdout":
        sys.stdout.write(text)
        return
    path = place.removeprefix("outfile=")
    # (As TensorFlow names them.)
    path += f"_{options.get('step', -1)}" if kind == "timeline" else ""
    with GFile(path, "w") as file:
        file.write(text)


def _timeline(operations: list[Counted], step: int) -> str:
    """What ran when, for Chrome's page of traces."""
    events: list[dict[str, Any]] = []
    devices: dict[str, int] = {}
    for counts in operations:
        for number, execution in counts.executions.items():
            for span in execution.spans if step in (-1, number) else ():
                place = devices.setdefault(span.device, len(devices))
                when = {"ts": span.start, "dur": span.length, "pid": place, "tid": 0}
                what = {"name": counts.name, "cat": "Op", "args": {"name": counts.name}}
                events.append({"ph": "X", **what, **when})
    events.sort(key=lambda event: event["ts"])
    for device, place in devices.items():
        name = {"name": f"Op scheduling threads: {device}"}
        events.insert(0, {"ph": "M", "name": "process_name", "pid": place, "args": name})
    return json.dumps({"traceEvents": events})
