# SPDX-License-Identifier: Apache-2.0
"""Functions that make a layer and call it: `tf.layers.dense` from `tf.layers.Dense`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature, signature
from typing import Any

from ...engine.documentation import read, written


def functional(
    layer: Callable[..., Any],
    name: str,
    order: str = "",
    shared: bool = True,
    example: tuple[str, str] = ("", ""),
) -> Callable[..., Any]:
    """The function of a layer's arguments, after its inputs.

    Args:
        layer: the class.
        name: the function's name.
        order: the names of the arguments; the class's own if empty.  "training" goes to the call.
        shared: whether there is an argument `reuse`, and `name` is the variable scope, too.
        example: arguments of a call, and the shape of what it gives.
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
            # The function's name is the variable scope itself, which a second call with `reuse`
            # finds.
            given.update(_reuse=given.pop("reuse", None), _scope=given.get("name"))
        return layer(**given).apply(inputs, **on_call)

    call.__name__ = call.__qualname__ = name
    call.__signature__ = parameters  # type: ignore[attr-defined]
    text = _EXAMPLE.format(name, *example) if example[0] else ""
    call.__doc__ = _documented(layer, text, parameters.parameters)
    return call


_ARGUMENTS = {
    "inputs": "inputs: what the layer is applied to, a Tensor.",
    "training": "training: whether it is applied for training; a bool or a scalar tensor.",
    "reuse": "reuse: whether variables are found instead of made; `name` is their scope.",
}


_EXAMPLE = """>>> outputs = tf.layers.{}({})
>>> print(outputs.shape)
{}"""


def _documented(layer: Any, example: str, parameters: Iterable[str]) -> str:
    """The docstring: the layer's, with what the function has besides."""
    summary, sections = read(layer.__doc__)
    more = [text for name, text in _ARGUMENTS.items() if name in parameters]
    sections["Args"] = "\n".join([more[0], sections["Args"], *more[1:]])
    sections["Returns"] = f"A Tensor: what a new `{layer.__name__}` makes of the inputs."
    sections["Example"] = example
    return written(summary, sections)
