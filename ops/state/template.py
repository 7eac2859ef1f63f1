# SPDX-License-Identifier: Apache-2.0
"""`make_template`: a function that makes its variables once and shares them from then on."""

from __future__ import annotations

import functools
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, get_collection, get_collection_ref
from ...engine.graph.trackable import Trackable
from ...engine.interface import log
from . import variable_scope as scopes
from .dependencies import capture_dependencies


@export("make_template")
def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Template:
    """A callable like func_(..., **kwargs) whose `get_variable` variables are shared by all calls.

    The variables live in a scope called `name_`, made unique; or `unique_name_`, which is not.
    `create_scope_now_` opens that scope here rather than in the first call.
    """
    return make_template_internal(
        name_, func_, create_scope_now_, unique_name_, custom_getter_, False, **kwargs
    )


def make_template_internal(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable[..., Any] | None = None,
    create_graph_function_: bool = False,
    **kwargs: Any,
) -> Template:
    """`make_template` with the choice of a graph function, which is not supported."""
    if create_graph_function_:
        raise NotImplementedError("make_template_internal: create_graph_function_ is not supported")
    if kwargs:
        func_ = functools.update_wrapper(functools.partial(func_, **kwargs), func_)
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


def _skip_common_stack_elements(stack: Sequence[Any], base: Sequence[Any]) -> Sequence[Any]:
    """The part of a stack below what it shares with another one; its last frame at least."""
    for i, (frame, other) in enumerate(zip(stack, base)):
        if frame != other:
            return stack[i:]
    return stack[-1:]


class Template(Trackable):
    """A function with variables of its own; see `make_template`."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Callable[..., Any] | None = None,
    ) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._func = func
        self._stack = traceback.format_stack()[:-2]
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._variable_scope: Any = None
        if create_scope_now:
            opened = unique_name or scopes._unique_variable_scope(name)
            with scopes._PureVariableScope(opened, custom_getter=custom_getter) as scope:
                self._variable_scope = scope
        # Calls may run side by side: the first one to start is the one that makes variables.
        self._lock = threading.Lock()
        self._started = False
        self._variables_created = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._variable_scope is not None:
            with scopes.variable_scope(self._variable_scope, reuse=self._started or None):
                return self._located_call(args, kwargs)
        with scopes.variable_scope(
            self._unique_name, self._name, custom_getter=self._custom_getter
        ) as scope:
            self._variable_scope = scope
            return self._located_call(args, kwargs)

    def _located_call(self, args: Sequence[Any], kwargs: dict[Any, Any]) -> Any:
        try:
            return self._call(args, kwargs)
        except Exception as error:
            first, *rest = error.args or ("",)
            trace = "".join(_skip_common_stack_elements(self._stack, traceback.format_stack()))
            error.args = (f"{first}\n\noriginally defined at:\n{trace}", *rest)
            raise

    def _call(self, args: Sequence[Any], kwargs: dict[Any, Any]) -> Any:
        if self._variables_created:
            return self._later_call(args, kwargs)
        with self._lock:
            # Only the call that makes the variables tracks them as dependencies.
            is_first, self._started = not self._started, True
        if not is_first:
            return self._func(*args, **kwargs)
        try:
            with capture_dependencies(self):
                result = self._func(*args, **kwargs)
        except BaseException:
            self._started = False
            raise
        self._variables_created = True
        return result

    def _later_call(self, args: Sequence[Any], kwargs: dict[Any, Any]) -> Any:
        """A call after the first one: no trainable variable may come into being."""
        every = get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        trainable = get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
        counts = len(every), len(trainable)
        result = self._func(*args, **kwargs)
        advice = "after the first time, perhaps you used tf.Variable when you meant tf.get_variable"
        if len(trainable) != counts[1]:
            raise ValueError(
                f"Trainable variable created when calling a template {advice}: "
                f"{trainable[counts[1] :]}"
            )
        if len(every) != counts[0]:
            new = every[counts[0] :]
            log.info(f"New variables created when calling a template {advice}: %s", new)
        return result

    @property
    def name(self) -> str:
        """The name given."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """The function given."""
        return self._func

    @property
    def variable_scope(self) -> Any:
        """The scope of the variables; None before it is opened."""
        return self._variable_scope

    @property
    def var_scope(self) -> Any:
        """The old name of `variable_scope`."""
        return self._variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The prefix of the variables' names, with the slash."""
        if self._variable_scope is None:
            return None
        name = self._variable_scope.name
        return name if not name or name.endswith("/") else name + "/"

    def _collected(self, key: str) -> list[Any]:
        return get_collection(key, self.variable_scope_name) if self._variables_created else []

    @property
    def global_variables(self) -> list[Any]:
        """The global variables made by the function."""
        return self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """The local variables made by the function."""
        return self._collected(GraphKeys.LOCAL_VARIABLES)

    @property
    def trainable_variables(self) -> list[Any]:
        """The trainable variables made by the function."""
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def variables(self) -> list[Any]:
        """All variables made by the function."""
        return self.global_variables + self.local_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The global variables that are not trainable."""
        trainable = {id(variable) for variable in self.trainable_variables}
        return [variable for variable in self.global_variables if id(variable) not in trainable]

    @property
    def weights(self) -> list[Any]:
        """The same as `variables`."""
        return self.variables

    @property
    def trainable_weights(self) -> list[Any]:
        """The same as `trainable_variables`."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The same as `non_trainable_variables`."""
        return self.non_trainable_variables
