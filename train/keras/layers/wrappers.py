# SPDX-License-Identifier: Apache-2.0
"""Layers around layers: one for each step, and one in both directions."""

from __future__ import annotations

from typing import Any

from ....engine.types import nest
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...layers.base_layer import Layer
from ...layers.input_spec import InputSpec
from ...layers.nodes import history_of, int_shape
from ..backend.elements import concatenate
from ..backend.recurrence import rnn
from .recurrent import separated
from .style import KerasLayer


class Wrapper(KerasLayer):
    """A layer around another one; ValueError for what is no layer."""

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Please initialize `{type(self).__name__}` layer with a `Layer` instance. You "
                f"passed: {layer}"
            )
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape: Any = None) -> None:
        """Builds the layer within."""
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    @property  # type: ignore[misc]
    def activity_regularizer(self) -> Any:
        """That of the layer within."""
        return getattr(self.layer, "activity_regularizer", None)

    def get_config(self) -> dict[str, Any]:
        """The arguments, the layer's configuration among them."""
        layer = {"class_name": type(self.layer).__name__, "config": self.layer.get_config()}
        return {**super().get_config(), "layer": layer}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A layer of what `get_config` gave."""
        from .table import deserialize

        config = dict(config)
        layer = deserialize(config.pop("layer"), custom_objects)
        return cls(layer, **config)


def _takes(layer: Any, argument: str) -> bool:
    return argument in layer._call_fn_args


class TimeDistributed(Wrapper):
    """Applies a layer to each step of sequences [batch, time, …], as if steps were examples."""

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        super().__init__(layer, **kwargs)
        self.supports_masking = True
        package = __name__.partition(".")[0]
        is_ours = type(layer).__module__.partition(".")[0] == package
        self._may_reshape = is_ours and not getattr(layer, "stateful", False)

    def build(self, input_shape: Any = None) -> None:
        """Builds the layer for one step; ValueError for inputs of less than three axes."""
        sizes = TensorShape(input_shape).as_list()
        if len(sizes) < 3:
            raise ValueError(
                "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 "
                f"dimensions, received: {sizes}"
            )
        self.input_spec = InputSpec(shape=_open(sizes[2:]))
        super().build(TensorShape([sizes[0], *sizes[2:]]))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the layer's output, the time behind the batch."""
        sizes = TensorShape(input_shape).as_list()
        inner = self.layer.compute_output_shape(TensorShape([sizes[0], *sizes[2:]]))
        batch, *rest = TensorShape(inner).as_list()
        return TensorShape([batch, sizes[1], *rest])

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:  # type: ignore[override]
        """The layer's outputs."""
        given: dict[str, Any] = {"training": training} if _takes(self.layer, "training") else {}
        sizes = int_shape(inputs)
        if sizes[0] and not self._may_reshape:

            def step(x: Any, _: Any) -> Any:
                return self.layer(x, **given), []

            _, outputs, _ = rnn(step, inputs, initial_states=[], input_length=sizes[1])
            return outputs
        length = sizes[1] or tf.shape(inputs)[1]
        steps = tf.reshape(inputs, _sizes((-1,), inputs, 2))
        vars(self)["_steps"] = steps
        if _takes(self.layer, "mask") and mask is not None:
            given["mask"] = tf.reshape(mask, _sizes((-1,), mask, 2))
        made = self.layer(steps, **given)
        rest = self.compute_output_shape(sizes).as_list()[2:]
        outputs = tf.reshape(made, _sizes((-1, length), made, 1, rest))
        outputs.set_shape([sizes[0], sizes[1], *made.shape.as_list()[1:]])
        return outputs

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the steps, or what the layer makes of it."""
        if int_shape(inputs)[0]:
            return mask
        inner = mask
        if inner is not None:
            inner = tf.reshape(inner, _sizes((-1,), inner, 2))
        steps = vars(self).get("_steps", inputs)
        found = self.layer.compute_mask(steps, inner)
        if found is not None:
            length = int_shape(inputs)[1] or tf.shape(inputs)[1]
            return tf.reshape(found, _sizes((-1, length), found, 1))
        if mask is not None:
            for _ in range(2, mask.shape.ndims):
                mask = tf.reduce_any(mask, axis=-1)
        return mask


def _open(rest: list[Any]) -> list[Any]:
    """A shape whose batch and time are any."""
    return [None, None, *rest]


def _sizes(head: tuple[Any, ...], x: Any, start: int, known: Any = None) -> tuple[Any, ...]:
    """A shape of first sizes and those of a tensor from an axis on, tensors where unknown."""
    rest = list(int_shape(x)[start:] if known is None else known)
    if all(rest):
        return (*head, *rest)
    sizes = tf.shape(x)
    return (*head, *(size or sizes[start + i] for i, size in enumerate(rest)))


class Bidirectional(Wrapper):
    """A recurrent layer, and one that goes backwards, merged.

    Args:
        layer: the layer.
        merge_mode: "sum", "mul", "ave" or "concat"; None gives both outputs.
        weights: arrays, the variables' first values.
        backward_layer: the layer that goes backwards; made of the other if None.
        name, trainable, dtype, input_shape: as of all layers.

    Raises:
        ValueError: what is given is no layer, the mode is unknown, or the two do not fit.
    """

    def __init__(
        self,
        layer: Any,
        merge_mode: str | None = "concat",
        weights: Any = None,
        backward_layer: Any = None,
        **kwargs: Any,
    ) -> None:
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(
                f"`backward_layer` need to be a `Layer` instance. You passed: {backward_layer}"
            )
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                "Invalid merge mode. Merge mode should be one of "
                '{"sum", "mul", "ave", "concat", None}'
            )
        super().__init__(layer, **kwargs)
        # Of the layer that was given only the configuration counts.
        vars(self)["_attributes_in_order"].pop("layer")
        self._untrack("layer")
        self.forward_layer = _copied(layer)
        self.backward_layer: Any = backward_layer or _copied(layer, turned=True)
        vars(self).update(_own_backward=backward_layer is not None, _num_constants=0)
        for direction, part in self._both().items():
            part._name = f"{direction}_{part.name}"
            if hasattr(part, "zero_output_for_mask"):
                part.zero_output_for_mask = part.return_sequences
        self._check()
        self.merge_mode = merge_mode
        if weights:
            half = len(weights) // 2
            self.forward_layer._initial_weights = weights[:half]
            self.backward_layer._initial_weights = weights[half:]
        self.stateful = layer.stateful
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking = True
        self.input_spec = layer.input_spec

    def _both(self) -> dict[str, Any]:
        return {"forward": self.forward_layer, "backward": self.backward_layer}

    def _check(self) -> None:
        one, other = self.forward_layer, self.backward_layer
        if one.go_backwards == other.go_backwards:
            raise ValueError(
                "Forward layer and backward layer should have different `go_backwards` value."
            )
        for name in ("stateful", "return_sequences", "return_state"):
            if getattr(one, name) != getattr(other, name):
                raise ValueError(
                    "Forward layer and backward layer are expected to have the same value for "
                    f"attribute {name}, got {getattr(one, name)} and {getattr(other, name)}"
                )

    def build(self, input_shape: Any = None) -> None:
        """Builds both layers."""
        for part in self._both().values():
            with tf.name_scope(part.name):
                part.build(input_shape)
                part.built = True
        self.built = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shapes of the merged outputs, and of the states if they are given."""
        found = self.forward_layer.compute_output_shape(input_shape)
        output, states = (found[0], found[1:]) if self.return_state else (found, [])
        if self.merge_mode == "concat":
            sizes: list[Any] = TensorShape(output).as_list()
            output = TensorShape([*sizes[:-1], sizes[-1] * 2])
        outputs = [output, output] if self.merge_mode is None else [output]
        if self.return_state:
            return [*outputs, *states, *states]
        return outputs if self.merge_mode is None else output

    def __call__(  # type: ignore[override]
        self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any
    ) -> Any:
        """Calls the layer; tensors of a network among states and constants are inputs, too."""
        inputs, initial_state, constants = self._separated(inputs, initial_state, constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        states = initial_state or []
        if len(states) % 2:
            raise ValueError(
                "When passing `initial_state` to a Bidirectional RNN, the state should be a list "
                f"containing the states of the underlying RNNs. Found: {initial_state}"
            )
        more = [*states, *(constants or [])]
        vars(self)["_num_constants"] = len(constants or [])
        in_network = [history_of(x) is not None for x in more]
        if all(in_network):
            before, self.input_spec = self.input_spec, None
            outputs = super().__call__([inputs, *more], **kwargs)
            self.input_spec = before
            return outputs
        if any(in_network):
            raise ValueError(
                "The initial state of a Bidirectional layer cannot be specified with a mix of "
                'Keras tensors and non-Keras tensors (a "Keras tensor" is a tensor that was '
                "returned by a Keras layer, or by `Input`)"
            )
        return super().__call__(inputs, initial_state=initial_state, constants=constants, **kwargs)

    def _separated(self, inputs: Any, initial_state: Any, constants: Any) -> tuple[Any, Any, Any]:
        return separated(inputs, initial_state, constants, vars(self)["_num_constants"])

    def call(  # type: ignore[override]
        self,
        inputs: Any,
        training: Any = None,
        mask: Any = None,
        initial_state: Any = None,
        constants: Any = None,
    ) -> Any:
        """The merged outputs, and the states if they are to be given."""
        inputs, initial_state, constants = self._separated(inputs, initial_state, constants)
        given: dict[str, Any] = {}
        for name, value in (("training", training), ("mask", mask), ("constants", constants)):
            if _takes(self.forward_layer, name) and (name != "constants" or value is not None):
                given[name] = value
        parts = list(self._both().values())
        if initial_state:
            half = len(initial_state) // 2
            states = initial_state[:half], initial_state[half:]
            made = [part(inputs, initial_state=s, **given) for part, s in zip(parts, states)]
        else:
            made = [part(inputs, **given) for part in parts]
        last: list[Any] = []
        if self.return_state:
            last = [*made[0][1:], *made[1][1:]]
            made = [made[0][0], made[1][0]]
        y, backwards = made
        if self.return_sequences:
            backwards = tf.reverse(backwards, [1])
        output = self._merged(y, backwards)
        if not self.return_state:
            return output
        return [*(output if isinstance(output, list) else [output]), *last]

    def _merged(self, y: Any, other: Any) -> Any:
        if self.merge_mode == "concat":
            return concatenate([y, other])
        if self.merge_mode == "sum":
            return y + other
        if self.merge_mode == "ave":
            return (y + other) / 2
        return y * other if self.merge_mode == "mul" else [y, other]

    def reset_states(self) -> None:
        """Begins the states of both layers anew."""
        for part in self._both().values():
            part.reset_states()

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The inputs' mask where all outputs are given; states have none."""
        of_inputs = nest.flatten(mask)[0]
        of_output = of_inputs if self.return_sequences else None
        masks = of_output if self.merge_mode else [of_output, of_output]
        if not self.return_state:
            return masks
        listed = masks if isinstance(masks, list) else [masks]
        return listed + [None] * (2 * len(self.forward_layer.states))

    def get_config(self) -> dict[str, Any]:
        """The arguments, the layer's configuration among them."""
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if vars(self)["_num_constants"]:
            config["num_constants"] = vars(self)["_num_constants"]
        if vars(self)["_own_backward"]:
            part = self.backward_layer
            own = {**part.get_config(), "name": part.name.removeprefix("backward_")}
            config["backward_layer"] = {"class_name": type(part).__name__, "config": own}
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A layer of what `get_config` gave."""
        from .table import deserialize

        config = dict(config)
        count = config.pop("num_constants", 0)
        if "backward_layer" in config:
            config["backward_layer"] = deserialize(config["backward_layer"], custom_objects)
        made = super().from_config(config, custom_objects)
        vars(made)["_num_constants"] = count
        return made


def _copied(layer: Any, turned: bool = False) -> Any:
    """A new layer of a layer's configuration, in the other direction if it is turned."""
    config = layer.get_config()
    if turned:
        config["go_backwards"] = not config["go_backwards"]
    kind = type(layer)
    cell = getattr(layer, "cell", None)
    if "cell" not in config or cell is None:
        return kind.from_config(config)
    cells = [cell, *getattr(cell, "cells", [])]
    return kind.from_config(config, custom_objects={type(c).__name__: type(c) for c in cells})
