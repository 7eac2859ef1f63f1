# SPDX-License-Identifier: Apache-2.0
"""`Network`: layers as one layer, from inputs to outputs or by a `call` of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ....engine import errors
from ....engine.graph.tensor import Tensor
from ....engine.types import nest
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...layers.base_layer import Layer, is_called
from ...layers.connected import mask_of
from ...layers.nodes import Node, as_shapes, give_histories, history_of
from ..backend.elements import placeholder
from ..backend.settings import floatx
from ..metrics.base import Metric
from .added import AddLoss, AddMetric
from .network_map import network_map
from .network_weights import Saved


class Network(Saved, Layer):
    """Several layers that are called as one.

    Args:
        inputs: tensors of `Input`, one or a structure; without them a class defines `call`.
        outputs: tensors that come of them.
        name: the network's name.

    Raises:
        ValueError: an input is none of `Input`, or an output comes of no layer.
    """

    _is_graph_network = False
    inputs: Any
    outputs: Any
    input_names: list[str]
    output_names: list[str]
    _nested_inputs: Any
    _nested_outputs: Any
    _layers: list[Any]
    _nodes: list[Any]
    _first: int
    _keys: set[tuple[str, int]]
    _input_layers: list[Any]
    _output_layers: list[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (
            len(args) == 2
            or ("inputs" in kwargs and "outputs" in kwargs)
            or (len(args) == 1 and "outputs" in kwargs)
        ):
            self._init_graph_network(*args, **kwargs)
        else:
            self._init_subclassed(*args, **kwargs)

    @property
    def _object_identifier(self) -> str:
        return "_tf_keras_network"

    def _init_subclassed(self, name: str | None = None, **kwargs: Any) -> None:
        # (Programs call `super().__init__(self)`.)
        self._begin_network(None if name is self else name, kwargs)

    def _begin_network(self, name: str | None, options: dict[str, Any]) -> None:
        options = {"trainable": True, **options}
        for unknown in set(options) - {"trainable", "dtype", "dynamic", "autocast"}:
            raise TypeError("Keyword argument not understood:", unknown)
        super().__init__(name=name, **options)
        self._set(
            inputs=None,
            outputs=None,
            _nested_inputs=None,
            _nested_outputs=None,
            _layers=[],
            _nodes=[],
            _first=0,
            _keys=set(),
            input_names=[],
            output_names=[],
            _input_layers=[],
            _output_layers=[],
        )

    def __setattr__(self, name: str, value: object) -> None:
        # (Every list of layers that a network has of its own is there since it began.)
        if "_layers" not in vars(self) and any(isinstance(x, Layer) for x in nest.flatten(value)):
            raise RuntimeError(
                "It looks like you are subclassing `Model` and you forgot to call "
                "`super(YourClass, self).__init__()`. Always start with this line."
            )
        super().__setattr__(name, value)
        if isinstance(value, Metric):
            self._of_layer("_metrics").append(value)

    def _set(self, **attributes: Any) -> None:
        """Sets attributes that are no dependencies."""
        vars(self).update(attributes)

    def _init_graph_network(
        self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any
    ) -> None:
        for unknown in set(kwargs) - {"trainable"}:
            raise TypeError(
                "Functional models may only specify `name` and `trainable` keyword arguments "
                "during initialization. Got an unexpected argument:",
                unknown,
            )
        if "_self_tracking" not in vars(self) or "_layers" not in vars(self):
            self._begin_network(name, kwargs)
        flat_inputs, flat_outputs = nest.flatten(inputs), nest.flatten(outputs)
        give_histories(flat_outputs)
        self._check_ends(flat_inputs, flat_outputs)
        found = network_map(flat_inputs, flat_outputs)
        self._set(
            _is_graph_network=True,
            built=True,
            inputs=flat_inputs,
            outputs=flat_outputs,
            _nested_inputs=_single(inputs),
            _nested_outputs=_single(outputs),
            _layers=found.layers,
            _nodes=found.nodes,
            _first=found.first,
            _keys=found.keys,
            _input_layers=[history_of(x).layer for x in flat_inputs],
            _output_layers=[history_of(x).layer for x in flat_outputs],
            supports_masking=False,
        )
        self._set(input_names=[layer.name for layer in self._input_layers])
        self._name_outputs()
        self._track_layers()
        self._set(_nodes_in=[], _nodes_out=[])
        Node(self, self._nested_inputs, self._nested_outputs, begins=True)

    def _track_layers(self) -> None:
        """Checkpoints know layers by their numbers, and those with weights by theirs, too."""
        for name in [n for n in self._unconditional_dependency_names if n.startswith("layer")]:
            # Anew, in order: a layer may have got its weights after it was tracked.
            if name.startswith(("layer-", "layer_with_weights-")):
                self._untrack(name)
        weighted = 0
        for number, layer in enumerate(self._layers):
            if _has_weights(layer):
                self._track_trackable(layer, f"layer_with_weights-{weighted}", overwrite=True)
                weighted += 1
            self._track_trackable(layer, f"layer-{number}", overwrite=True)

    def _check_ends(self, inputs: list[Any], outputs: list[Any]) -> None:
        name = type(self).__name__
        if len({id(x) for x in inputs}) != len(inputs):
            raise ValueError(
                f"The list of inputs passed to the model is redundant. All inputs should only "
                f"appear once. Found: {inputs}"
            )
        for x in inputs:
            if history_of(x) is None:
                raise ValueError(
                    f"Input tensors to a {name} must come from `tf.keras.Input`. Received: {x} "
                    "(missing previous layer metadata)."
                )
        sizes = [
            (getattr(x, "_batch_input_shape", None) or (None,))[0] for x in map(_layer, inputs)
        ]
        if len({size for size in sizes if size is not None}) > 1:
            raise ValueError(
                f"The specified batch sizes of the Input Layers are incompatible. Found batch "
                f"sizes: {sizes}"
            )
        for x in outputs:
            if history_of(x) is None:
                raise ValueError(
                    f"Output tensors to a {name} must be the output of a TensorFlow `Layer` (thus "
                    f"holding past layer metadata). Found: {x}"
                )

    def _name_outputs(self) -> None:
        """Outputs have their layers' names; a second one of a layer gets a number."""
        names: list[str] = []
        counts: dict[str, int] = {}
        for layer in self._output_layers:
            name = layer.name
            while name in names:
                counts[layer.name] = counts.get(layer.name, 0) + 1
                name = f"{layer.name}_{counts[layer.name]}"
            names.append(name)
        self._set(output_names=names)

    # Layers

    def _nested_layers(self) -> list[Any]:
        if self._is_graph_network:
            return list(self._layers)
        own = super()._nested_layers()
        return [*self._layers, *(x for x in own if not any(x is y for y in self._layers))]

    @property
    def layers(self) -> list[Any]:
        """The layers in order."""
        return self._nested_layers()

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A layer by its name or its number; ValueError if there is none."""
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has "
                    f"{len(self.layers)} layers."
                )
            return self.layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def weights(self) -> list[Any]:
        """All variables, layer by layer.

        Raises:
            ValueError: the network's `build` has not been called yet.
        """
        self._check_built()
        found = [v for layer in self._nested_layers() for v in layer.weights]
        return found + self._trainable_weights + self._non_trainable_weights

    def _is_built(self) -> bool:
        return self._is_graph_network or self.built or "build" not in vars(type(self))

    def _check_built(self) -> None:
        if not self._is_built():
            raise ValueError(
                f"Weights for model {self.name} have not yet been created. Weights are created "
                "when the Model is first called on inputs or `build()` is called with an "
                "`input_shape`."
            )

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables to train, layer by layer."""
        self._check_built()
        if not self.trainable:
            return []
        return [*self._of_nested("trainable_weights"), *self._trainable_weights]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that are not trained, layer by layer."""
        self._check_built()
        rest = [*self._of_nested("non_trainable_weights"), *self._non_trainable_weights]
        if self.trainable:
            return rest
        return [*self._of_nested("trainable_weights"), *self._trainable_weights, *rest]

    @property  # type: ignore[override]
    def stateful(self) -> bool:
        """Whether a layer keeps its state from batch to batch."""
        return any(getattr(layer, "stateful", False) for layer in self._nested_layers())

    @stateful.setter
    def stateful(self, value: bool) -> None:
        del value

    def reset_states(self) -> None:
        """Begins the states of layers that keep them anew."""
        for layer in self.layers:
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    @property
    def state_updates(self) -> list[Any]:
        """The updates of layers that keep their states."""
        return [
            update
            for layer in self.layers
            if getattr(layer, "stateful", False) and hasattr(layer, "updates")
            for update in layer.updates
        ]

    @property
    def input_spec(self) -> Any:
        """What the inputs must be."""
        if not self._is_graph_network:
            return self._input_spec
        specs = [getattr(layer, "input_spec", None) for layer in self._input_layers]
        return specs if any(specs) else None

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        vars(self)["_input_spec"] = value  # No dependency, though it may be a dict.

    # Losses and metrics

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses; tensors that come of a finished network's inputs as layers of it."""
        for loss in nest.flatten(losses):
            if self._is_graph_network and not is_called() and self._reaches(loss):
                self._append(AddLoss(unconditional=False), loss)
            else:
                super().add_loss(loss, inputs)

    def add_metric(self, value: Any, aggregation: str | None = None, name: Any = None) -> None:
        """Adds a metric of a tensor; to a finished network as a layer of it.

        Raises:
            ValueError: a finished network is given what a metric of Keras gave.
        """
        is_late = self._is_graph_network and not is_called()
        if is_late and getattr(value, "_metric_obj", None) is not None:
            raise ValueError(
                "Using the result of calling a `Metric` object when calling `add_metric` on a "
                "Functional Model is not supported. Please pass the Tensor to monitor directly."
            )
        if is_late and self._reaches(value):
            self._append(AddMetric(aggregation, name), value)
        else:
            super().add_metric(value, aggregation, name)

    def _reaches(self, value: Any) -> bool:
        """Whether a tensor comes of the network's inputs; what is between becomes layers."""
        if not isinstance(value, Tensor):
            return False
        give_histories([value])
        return history_of(value) is not None

    def _append(self, layer: Layer, value: Any) -> None:
        """Calls a layer on a tensor of the network, and takes it in with all before it."""
        with value.graph.as_default():
            layer(value)
        self._take_in(layer)

    def _take_in(self, layer: Any) -> None:
        """Adds a layer that was called on tensors of the network, and all before it."""
        if not layer.inbound_nodes:
            return
        found = network_map(self.inputs, nest.flatten(layer.output))
        for node in found.nodes:
            if not any(node is known for known in self._nodes):
                self._nodes.append(node)
        known = {id(one) for one in self._layers}
        self._set(
            _layers=[*self._layers, *(one for one in found.layers if id(one) not in known)],
            _keys=self._keys | found.keys,
        )
        self._track_layers()

    # Calls

    def build(self, input_shape: Any) -> None:
        """Makes the variables for inputs of a shape, by a call in a graph that is left at once.

        Raises:
            ValueError: the shape is unknown or of another kind, `call` needs more than inputs, or
                it does not take floats.
        """
        if self._is_graph_network:
            self.built = True
            return
        if input_shape is None:
            raise ValueError(
                "Input shape must be defined when calling build on a model subclass network."
            )
        if self.built or type(self).call is Network.call:
            self.built = True
            return
        if not isinstance(input_shape, (tuple, list, TensorShape)):
            raise ValueError(
                "Specified input shape is not one of the valid types. Please specify a batch input "
                "shape of type tuple or list of input shapes. User provided input type: "
                f"{type(input_shape)}"
            )
        shapes = input_shape if isinstance(input_shape, list) else [input_shape]
        tensors = [placeholder(TensorShape(s).as_list(), dtype=floatx()) for s in shapes]
        given = _required(self.call)
        try:
            self.call(tensors if isinstance(input_shape, list) else tensors[0], **given)
        except (errors.InvalidArgumentError, TypeError) as error:
            raise ValueError(
                "You cannot build your model by calling `build` if your layers do not support "
                "float type inputs. Instead, in order to instantiate and build your model, `call` "
                "your model on real tensor data (of the correct dtype)."
            ) from error
        self.built = True

    def _maybe_build(self, inputs: Any) -> None:
        # Layers make their variables when they are called; only a class's own `build` is for this.
        if type(self).build is not Network.build and not self.built:
            super()._maybe_build(inputs)
        self.built = True

    def call(  # type: ignore[override]
        self, inputs: Any, training: Any = None, mask: Any = None
    ) -> Any:
        """The outputs for other inputs.

        Raises:
            NotImplementedError: a class without inputs and outputs has no `call`.
        """
        if not self._is_graph_network:
            raise NotImplementedError(
                "When subclassing the `Model` class, you should implement a `call` method."
            )
        return self._run(inputs, training=training, mask=mask)

    def _run(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        flat = nest.flatten(inputs)
        masks = nest.flatten(mask) if mask is not None else [None] * len(flat)
        known: dict[int, Any] = {}
        for own, x, of_x in zip(self.inputs, flat, masks):
            known[id(own)] = x
            if of_x is not None:
                x._keras_mask = of_x
        # (Inputs that come in later on are called: they have an identity of their own.)
        for node in self._nodes[self._first :]:
            if any(id(x) not in known for x in nest.flatten(node.input_tensors)):
                continue
            layer = node.outbound_layer
            given = nest.map_structure(lambda x: known[id(x)], node.input_tensors)
            arguments = nest.map_structure(lambda x: known.get(id(x), x), node.arguments)
            if training is not None and "training" in layer._call_fn_args:
                arguments.setdefault("training", training)
            made = layer(given, **arguments)
            for own, x in zip(nest.flatten(node.output_tensors), nest.flatten(made)):
                known[id(own)] = x
        found = [known[id(x)] for x in self.outputs]
        return nest.pack_sequence_as(self._nested_outputs, found)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks of the outputs for masks of the inputs."""
        if not self._is_graph_network:
            return None
        outputs = self._run(inputs, mask=mask)
        return nest.map_structure(mask_of, outputs)

    def _carry_masks(self, inputs: Any, outputs: Any, mask: Any) -> None:
        """(The outputs carry what the layers gave them.)"""

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shapes of the outputs for those of the inputs.

        Raises:
            NotImplementedError: the network has a `call` of its own.
        """
        if not self._is_graph_network:
            if type(self).call is Network.call:
                raise NotImplementedError(f"{type(self).__name__} computes no output shapes")
            return self._shape_of_call(input_shape)
        shapes = nest.flatten(as_shapes(input_shape))
        known = {id(x): s for x, s in zip(self.inputs, shapes)}
        for node in self._nodes:
            if nest.flatten(node.inbound_layers):
                given = nest.map_structure(lambda x: known[id(x)], node.input_tensors)
                made = node.outbound_layer.compute_output_shape(given)
                flat = [made] if isinstance(made, (TensorShape, tuple)) else nest.flatten(made)
                for x, shape in zip(nest.flatten(node.output_tensors), flat):
                    known[id(x)] = TensorShape(shape)
        found = [known[id(x)] for x in self.outputs]
        return nest.pack_sequence_as(self._nested_outputs, found)

    def _shape_of_call(self, input_shape: Any) -> Any:
        with tf.Graph().as_default():
            x = nest.map_structure(lambda s: placeholder(s.as_list()), as_shapes(input_shape))
            return nest.map_structure(lambda y: y.shape, self.call(x))

    def _called(self, inputs: Any, outputs: Any) -> None:
        """A network with a `call` of its own gets the inputs and outputs of its first call."""

    def summary(
        self,
        line_length: int | None = None,
        positions: Sequence[float] | None = None,
        print_fn: Callable[[str], Any] | None = None,
    ) -> None:
        """Prints the layers, the shapes of their outputs and the numbers of their weights.

        Args:
            line_length, positions: the width, and where columns end, as shares of it.
            print_fn: prints a line; `print` if None.

        Raises:
            ValueError: the network has no variables yet.
        """
        from ..utils.summary import print_summary

        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or "
                "calling `fit()` with some data, or specify an `input_shape` argument in the first "
                "layer(s) for automatic build."
            )
        print_summary(self, line_length=line_length, positions=positions, print_fn=print_fn)


def _single(structure: Any) -> Any:
    """A list of one as its element, as calls of networks take and give them."""
    if isinstance(structure, (list, tuple)) and len(structure) == 1:
        return structure[0]
    return structure


def _layer(tensor: Any) -> Any:
    """The layer that a tensor comes from."""
    return history_of(tensor).layer


def _required(call: Callable[..., Any]) -> dict[str, Any]:
    """The arguments of a model's `call` that `build` must give beside inputs.

    Raises:
        ValueError: there are others than `training`, or there are no inputs.
    """
    spec = inspect.getfullargspec(inspect.unwrap(call))
    names = spec.args[: len(spec.args) - len(spec.defaults or ())]
    if len(spec.args) < 2:
        raise ValueError(
            "You can only call `build` on a model if its `call` method accepts an `inputs` "
            "argument."
        )
    if any(name != "training" for name in names[2:]):
        raise ValueError(
            "Currently, you cannot build your model if it has positional or keyword arguments "
            "that are not inputs to the model, but are required for its `call` method. Instead, "
            "in order to instantiate and build your model, `call` your model on real tensor data "
            "with all expected call arguments."
        )
    return dict.fromkeys(names[2:], False)


def skips_first_node(layer: Any) -> bool:
    """Whether a layer's first node is the one that made it, as it is in networks."""
    return isinstance(layer, Network) and layer._is_graph_network


def _has_weights(layer: Any) -> bool:
    """Whether a layer has variables now, which a network that is not built cannot tell."""
    is_unbuilt = isinstance(layer, Network) and not layer._is_built()
    return not is_unbuilt and bool(layer.weights)
