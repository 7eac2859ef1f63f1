# SPDX-License-Identifier: Apache-2.0
"""A model's calls as functions of signatures."""

from __future__ import annotations

from typing import Any

from ....engine.graph.tensor import Tensor
from ....engine.interface.specs import TensorSpec, type_spec_from_value
from ....engine.types import nest
from ....ops.flow.graph_functions import function


def extract_model_metrics(model: Any) -> dict[str, Any] | None:
    """The metrics that `compile` was given, by their names; None where it was given none."""
    if not getattr(model, "_compile_metrics", None):
        return None
    ends = model._training_endpoints
    found = [m for e in ends for m in (*e.metrics.values(), *e.weighted_metrics.values())]
    return {metric.name: metric for metric in found}


def input_specs(model: Any) -> Any:
    """The TensorSpecs of a model's inputs, as its call takes them."""
    specs = [
        TensorSpec([None, *x.shape.as_list()[1:]], x.dtype, name)
        if isinstance(x, Tensor)
        else type_spec_from_value(x)
        for x, name in zip(model.inputs, model.input_names)
    ]
    nested = getattr(model, "_nested_inputs", None)
    if nested is not None and nest.is_sequence(nested):
        return nest.pack_sequence_as(nested, specs)
    return specs[0] if len(specs) == 1 else specs


def raise_model_input_error(model: Any) -> None:
    """Raises the ValueError of a model whose inputs are unknown."""
    raise ValueError(
        f"Model {model} cannot be saved because the input shapes have not been set. Usually, input "
        "shapes are automatically determined from calling .fit() or .predict(). To manually set "
        "the shapes, call model._set_inputs(inputs)."
    )


def model_input_signature(model: Any) -> list[Any] | None:
    """What a model is called with: a list of one structure of TensorSpecs, of batches of any size.

    None where the model has seen no inputs.
    """
    if not getattr(model, "inputs", None):
        return None
    specs = input_specs(model)
    return specs if isinstance(specs, list) and len(specs) == 1 else [specs]


def trace_model_call(model: Any, input_signature: Any = None) -> Any:
    """A model's call as a tf.function of a signature, which gives a dict of outputs.

    Args:
        model: the model.
        input_signature: a list of TensorSpecs; that of `call`, or of the model's inputs, if None.

    Raises:
        ValueError: the model's inputs are unknown.
    """
    signature = input_signature or getattr(model.call, "input_signature", None)
    signature = signature or model_input_signature(model)
    if signature is None:
        raise_model_input_error(model)

    @function(input_signature=signature, autograph=False)
    def wrapped(*args: Any) -> dict[str, Any]:
        outputs = nest.flatten(model(args[0] if len(args) == 1 else list(args), training=False))
        names = getattr(model, "output_names", None) or [
            f"output_{number}" for number in range(1, len(outputs) + 1)
        ]
        return dict(zip(names, outputs))

    return wrapped
