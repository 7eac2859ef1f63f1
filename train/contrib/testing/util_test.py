# SPDX-License-Identifier: Apache-2.0
"""Summaries as messages, and what the latest event file has of them."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from ....engine.api import export


@export("contrib.testing.assert_summary")
def assert_summary(
    expected_tags: Iterable[str], expected_simple_values: Mapping[str, float], summary_proto: Any
) -> None:
    """Checks which tags a summary has, and values to two decimals.

    Args:
        expected_tags: all tags.
        expected_simple_values: values of some tags.
        summary_proto: a Summary.

    Raises:
        ValueError: the tags are others.
        AssertionError: a value is another.
    """
    for value in summary_proto.value:
        if value.tag in expected_simple_values:
            wanted = expected_simple_values[value.tag]
            np.testing.assert_almost_equal(value.simple_value, wanted, decimal=2, err_msg=value.tag)
    expected, actual = set(expected_tags), {value.tag for value in summary_proto.value}
    if expected != actual:
        raise ValueError(f"Expected tags {expected}, got {actual}.")


@export("contrib.testing.to_summary_proto")
def to_summary_proto(summary_str: bytes) -> Any:
    """The Summary that a summary's value is."""
    from ....io import protos

    return protos.Summary.FromString(summary_str)


@export("contrib.testing.latest_event_file")
def latest_event_file(base_dir: str) -> str | None:
    """The last of the event files in a folder by name; None if there are none."""
    return max(glob.glob(os.path.join(glob.escape(base_dir), "events.*")), default=None)


@export("contrib.testing.latest_events")
def latest_events(base_dir: str) -> Iterable[Any]:
    """The Events of that file."""
    from ....io.events import summary_iterator

    path = latest_event_file(base_dir)
    return summary_iterator(path) if path else []


@export("contrib.testing.latest_summaries")
def latest_summaries(base_dir: str) -> list[Any]:
    """The Events of that file that have a summary."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


@export("contrib.testing.simple_values_from_events")
def simple_values_from_events(events: Iterable[Any], tags: Collection[str]) -> dict[str, float]:
    """The values that some tags have at the last step.

    Args:
        events: Events.
        tags: the tags.

    Returns:
        Values by tags.

    Raises:
        ValueError: what stands under one of the tags is no value.
    """
    steps: dict[str, int] = {}
    values: dict[str, float] = {}
    for event in events:
        for value in event.summary.value if event.HasField("summary") else ():
            if value.tag not in tags:
                continue
            if not value.HasField("simple_value"):
                raise ValueError(f"Summary for {value.tag} is not a simple_value.")
            if value.tag not in steps or event.step > steps[value.tag]:
                steps[value.tag], values[value.tag] = event.step, value.simple_value
    return values
