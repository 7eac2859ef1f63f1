# SPDX-License-Identifier: Apache-2.0
"""Functions of what CallableOptions messages say: fed arrays, fetched tensors, run operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .fetches import output_name

if TYPE_CHECKING:
    from .session import BaseSession


def message_callable(session: BaseSession, message: Any) -> Callable[..., list[Any]]:
    """A function of feed arrays, in the message's order, that gives its fetches."""
    if session.remote is not None:
        return session.remote.make_callable(message)  # type: ignore[no-any-return]
    feeds, fetches = (
        [output_name(name) for name in names] for names in (message.feed, message.fetch)
    )
    joined = {
        output_name(one.to_tensor): output_name(one.from_tensor)
        for one in message.tensor_connection
    }
    targets, options = list(message.target), message.run_options

    def call(*values: Any, run_metadata: object = None) -> list[Any]:
        feed = dict(zip(feeds, values))
        if joined:
            feed.update(zip(joined, session.run(list(joined.values()), feed or None)))
        observed = None if run_metadata is None else options
        return session.run([fetches, targets], feed or None, observed, run_metadata)[0]  # type: ignore[no-any-return]

    return call
