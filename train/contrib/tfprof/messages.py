# SPDX-License-Identifier: Apache-2.0
"""Profiles as ProfileProto, which TensorFlow's own tools read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .counted import Counted
    from .executions import Execution


def profile_message(operations: list[Counted], steps: list[int]) -> Any:
    """All that is known of operations."""
    from ....io import protos

    made = protos.ProfileProto(steps=steps, has_trace=True)
    texts: dict[str, int] = {}
    numbers = {counts.name: number for number, counts in enumerate(operations)}
    for number, counts in enumerate(operations):
        node = made.nodes[number]
        node.name, node.op, node.id = counts.name, counts.op_type, number
        node.op_types.extend(sorted(counts.types))
        node.float_ops, node.canonical_device = counts.float_ops, counts.device
        node.shape.extend(counts.sizes)
        for place, name in enumerate(counts.inputs):
            if name in numbers:
                node.inputs[place] = numbers[name]
        for place, sizes in enumerate(counts.input_shapes):
            node.input_shapes[place].int64_values.extend(sizes or ())
        file, line, function = counts.line
        if file:
            ids = [texts.setdefault(text, len(texts)) for text in (file, function)]
            node.trace.traces.add(file_id=ids[0], function_id=ids[1], lineno=line)
        for step, execution in counts.executions.items():
            _fill(node.execs[step], execution)
    for text, number in texts.items():
        made.id_to_string[number] = text
    return made


def _fill(message: Any, execution: Execution) -> None:
    message.run_count = execution.run_count
    if not execution.spans:
        return
    message.all_start_micros = min(span.start for span in execution.spans)
    message.latest_end_micros = max(span.start + span.length for span in execution.spans)
    message.devices.extend(sorted({span.device for span in execution.spans}))
    for span in execution.spans:
        places = message.accelerator_execs if "stream:" in span.device else message.cpu_execs
        places[span.device].times.add(int64_values=[span.start, span.length])
    message.memory_execs.add(**execution.memory)
