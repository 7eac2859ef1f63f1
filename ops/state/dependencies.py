# SPDX-License-Identifier: Apache-2.0
"""Variables that are made within a scope become dependencies of an object: see `Template`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from .variable_scope import variable_creator_scope

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


@export("contrib.checkpoint.capture_dependencies")
@contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """A context whose variables become dependencies of an object that has a variable scope.

    Their names are those within the scope.  Where such an object is used inside of another one,
    the inner one is the dependency.
    """
    prefix = template.variable_scope.name

    def create(
        next_creator: Callable[..., Any],
        name: str | None = None,
        initial_value: Any = None,
        trackable_parent: Any = None,
        **kwargs: Any,
    ) -> Any:
        inside = name is not None and name.startswith(prefix)
        if inside and trackable_parent is None:

            def getter(initializer: Callable[..., Any] | TensorLike | None, **options: Any) -> Any:
                options["name"] = name
                return next_creator(initial_value=initializer, **options)

            assert name is not None
            return template._add_variable_with_custom_getter(
                initializer=initial_value,
                name=name[len(prefix) + 1 :],
                getter=getter,
                overwrite=True,
                trackable_parent=(template, prefix),
                **kwargs,
            )
        if inside:
            inner, inner_prefix = trackable_parent
            template._track_trackable(inner, name=inner_prefix[len(prefix) + 1 :], overwrite=True)
        return next_creator(
            name=name,
            initial_value=initial_value,
            trackable_parent=(template, prefix),
            **kwargs,
        )

    with variable_creator_scope(create):
        yield
