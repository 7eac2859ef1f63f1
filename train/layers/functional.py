# SPDX-License-Identifier: Apache-2.0
"""Functions that make a layer and call it: `tf.layers.dense` from `tf.layers.Dense`."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any


def functional(
    layer: Callable[..., Any], name: str, order: str = "", shared: bool = True
) -> Callable[..., Any]:
    """The function of a layer's arguments, after its inputs.

    Args:
        layer: the class.
        name: the function's name.
        order: the names of the arguments; the class's own if empty.  "training" goes to the call.
        shared: whether there is an argument `reuse`, and `name` is the variable scope, too.
    """
    known = dict(signature(layer).parameters)
    known["training"] = Parameter("training", Parameter.POSITIONAL_OR_KEYWORD, default=False)
    known["reuse"] = Parameter("reuse", Parameter.POSITIONAL_OR_KEYWORD, default=None)
    names = order.split() or [n for n in signature(layer).parameters if n != "kwargs"]
    if shared and "reuse" not in names:
        names.append("reuse")
    inputs = Parameter("inputs", Parameter.POSITIONAL_OR_KEYWORD)
    parameters = Signature([inputs, *(known[n].replace(annotation=Parameter.empty) for n in names)])

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = parameters.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        inputs = given.pop("inputs")
        on_call = {"training": given.pop("training")} if "training" in given else {}
        if shared:
            given.update(_reuse=given.pop("reuse", None), _scope=given.get("name"))
        return layer(**given).apply(inputs, **on_call)

    call.__name__ = call.__qualname__ = name
    call.__signature__ = parameters  # type: ignore[attr-defined]
    call.__doc__ = f"What a new `{layer.__name__}` computes of `inputs`.\n\n{layer.__doc__}"
    return call
