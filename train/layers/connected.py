# SPDX-License-Identifier: Apache-2.0
"""What layers know of the calls around them: Keras's nodes, masks and metrics.

Calls on tensors of a plain graph make no nodes, as in TensorFlow, so that layers that were called
on these say that they are not connected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes, nest
from ...ops.public import tf
from .nodes import KerasHistory, Node, history_of, no_histories

if TYPE_CHECKING:
    from ...engine.graph.annotations import ShapeLike
    from ..keras.metrics.base import Mean

_UNNAMED = (
    "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), "
    "name='mean_activation', aggregation='mean')`"
)
_AGGREGATED = (
    "We do not support adding an aggregated metric result tensor that is not the output of a "
    "`tf.keras.metrics.Metric` metric instance. Without having access to the metric instance we "
    "cannot reset the state of a metric after every epoch during training. You can create a "
    "`tf.keras.metrics.Metric` instance and pass the result here or pass an un-aggregated result "
    "with `aggregation` parameter set as `mean`. For example: "
    "`self.add_metric(tf.reduce_sum(inputs), name='mean_activation', aggregation='mean')`"
)


def mask_of(tensor: Any) -> Any:
    """The mask that a tensor carries, or None."""
    return getattr(tensor, "_keras_mask", None)


def _masks(tensors: Any) -> Any:
    return [mask_of(x) for x in tensors] if isinstance(tensors, list) else mask_of(tensors)


def _mean(name: str, value: Any) -> Mean:
    # (Keras is imported by those who ask for its metrics alone.)
    from ..keras.metrics.base import Mean

    return Mean(name=name, dtype=value.dtype)


def _existing(metrics: Sequence[Any], name: str | None) -> Any:
    """The metric of a name, or None; ValueError where there are several."""
    found = [metric for metric in metrics if metric.name == name]
    if len(found) > 1:
        raise ValueError(
            "Please provide different names for the metrics you have added. We found "
            f'{len(found)} metrics with the name: "{name}"'
        )
    return found[0] if found else None


class Connected:
    """A layer as a part of a Keras network: its nodes, the masks of its calls, its metrics."""

    name: str
    built: bool
    supports_masking: bool
    _dtype: str | None
    _call_fn_args: list[str]
    compute_output_shape: Callable[[Any], Any]

    if TYPE_CHECKING:

        @property
        def _compute_dtype(self) -> str | None: ...

    # Nodes

    def _of_layer(self, attribute: str) -> list[Any]:
        # (Classes need not call the constructor.)
        return vars(self).setdefault(attribute, [])  # type: ignore[no-any-return]

    @property
    def _inbound_nodes(self) -> list[Any]:
        return self._of_layer("_nodes_in")

    @property
    def _outbound_nodes(self) -> list[Any]:
        return self._of_layer("_nodes_out")

    @property
    def inbound_nodes(self) -> list[Any]:
        """The calls on tensors of a Keras network."""
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Any]:
        """The calls of other layers on what this one gave in a Keras network."""
        return self._outbound_nodes

    def _at(self, node_index: int, attribute: str, what: str) -> Any:
        nodes = self._inbound_nodes
        if not nodes:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if node_index >= len(nodes):
            raise ValueError(
                f"Asked to get {what} at node {node_index}, but the layer has only {len(nodes)} "
                "inbound nodes."
            )
        found = getattr(nodes[node_index], attribute)
        return found[0] if isinstance(found, list) and len(found) == 1 else found

    def get_input_at(self, node_index: int) -> Any:
        """The input of a call, by its number; RuntimeError if there were none."""
        return self._at(node_index, "input_tensors", "input")

    def get_output_at(self, node_index: int) -> Any:
        """The output of a call, by its number; RuntimeError if there were none."""
        return self._at(node_index, "output_tensors", "output")

    def get_input_shape_at(self, node_index: int) -> Any:
        """The shape of a call's input, by its number; RuntimeError if there were none."""
        return self._at(node_index, "input_shapes", "input shape")

    def get_output_shape_at(self, node_index: int) -> Any:
        """The shape of a call's output, by its number; RuntimeError if there were none."""
        return self._at(node_index, "output_shapes", "output shape")

    def get_input_mask_at(self, node_index: int) -> Any:
        """The mask of a call's input, by its number; RuntimeError if there were none."""
        return _masks(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index: int) -> Any:
        """The mask of a call's output, by its number; RuntimeError if there were none."""
        return _masks(self.get_output_at(node_index))

    @property
    def input(self) -> Any:
        """The input of the first call; AttributeError where there was none."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no input to return.")
        return self.get_input_at(0)

    @property
    def output(self) -> Any:
        """The output of the first call; AttributeError where there was none."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} has no inbound nodes.")
        return self.get_output_at(0)

    @property
    def input_mask(self) -> Any:
        """The mask of the first call's input; AttributeError where there was none."""
        return _masks(self.input)

    @property
    def output_mask(self) -> Any:
        """The mask of the first call's output; AttributeError where there was none."""
        return _masks(self.output)

    @property
    def input_shape(self) -> Any:
        """The shape that all calls' inputs have; AttributeError if there is none such."""
        return self._common_shape("input")

    @property
    def output_shape(self) -> Any:
        """The shape that all calls' outputs have; AttributeError if there is none such."""
        return self._common_shape("output")

    def _common_shape(self, side: str) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(
                f"The layer has never been called and thus has no defined {side} shape."
            )
        found = [getattr(node, f"{side}_shapes") for node in self._inbound_nodes]
        if any(str(shape) != str(found[0]) for shape in found):
            raise AttributeError(
                f'The layer "{self.name}" has multiple inbound nodes, with different {side} '
                f'shapes. Hence the notion of "{side} shape" is ill-defined for the layer. Use '
                f"`get_{side}_shape_at(node_index)` instead."
            )
        return found[0]

    def compute_output_signature(self, input_signature: Any) -> Any:
        """The TensorSpecs of the outputs for those of the inputs.

        Raises:
            TypeError: the signature holds something else.
        """

        def shape(spec: Any) -> ShapeLike:
            if not isinstance(spec, tf.TensorSpec):
                raise TypeError(
                    "Only TensorSpec signature types are supported, but saw signature signature "
                    f"entry: {spec}."
                )
            return spec.shape  # type: ignore[no-any-return]

        shapes = self.compute_output_shape(nest.map_structure(shape, input_signature))
        dtype = dtypes.as_dtype(self._compute_dtype or nest.flatten(input_signature)[0].dtype)
        return nest.map_structure(lambda s: tf.TensorSpec(dtype=dtype, shape=s), shapes)

    def _connect(
        self, inputs: Any, outputs: Any, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Notes a call as a node, if the inputs are a Keras network's; returns its outputs."""
        flat = nest.flatten(inputs)
        if not flat or any(history_of(x) is None for x in flat):
            return outputs
        given = {id(x) for x in flat}
        if any(id(x) in given for x in nest.flatten(outputs)):
            # An output of its own, which has a history of its own.
            with tf.name_scope(self.name):
                outputs = nest.map_structure(
                    lambda x: tf.identity(x) if id(x) in given else x, outputs
                )
        node = Node(self, inputs, outputs, {**dict(zip(self._call_fn_args[1:], args)), **kwargs})
        index = self._inbound_nodes.index(node)
        for number, x in enumerate(nest.flatten(outputs)):
            x._keras_history = KerasHistory(self, index, number)
        return outputs

    def _called(self, inputs: Any, outputs: Any) -> None:
        """What a class does when a call is over."""

    # Masks

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs: that of the inputs, in layers that support masks.

        Raises:
            TypeError: the layer supports none, but there is one.
        """
        del inputs
        if not self.supports_masking and any(m is not None for m in nest.flatten(mask)):
            raise TypeError(
                f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}"
            )
        return mask if self.supports_masking else None

    def _mask_argument(self, inputs: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The masks of a call's inputs, as passed or carried; passes on what is carried."""
        passed = dict(zip(self._call_fn_args[1:], args))
        if "mask" in kwargs or "mask" in passed:
            return kwargs["mask"] if "mask" in kwargs else passed["mask"]
        carried = nest.map_structure(mask_of, inputs)
        if all(mask is None for mask in nest.flatten(carried)):
            return None
        if "mask" in self._call_fn_args:
            kwargs["mask"] = carried
        return carried

    def _carry_masks(self, inputs: Any, outputs: Any, mask: Any) -> None:
        """Has the outputs of a call carry their masks."""
        flat = nest.flatten(outputs)
        overridden = type(self).compute_mask is not Connected.compute_mask
        is_carried = all(mask_of(x) is not None for x in flat)
        if not is_carried and (self.supports_masking or overridden):
            found = self.compute_mask(inputs, mask)
            for output, of_output in zip(flat, nest.flatten(found) if found is not None else ()):
                output._keras_mask = of_output
        no_histories([mask for mask in map(mask_of, flat) if mask is not None])

    # Metrics

    @property
    def metrics(self) -> list[Any]:
        """The metrics that were added."""
        return list(self._of_layer("_metrics"))

    def add_metric(self, value: Any, aggregation: str | None = None, name: Any = None) -> None:
        """Adds a metric of a tensor.

        Args:
            value: the tensor; or what a metric of Keras gave.
            aggregation: "mean" for a tensor whose mean over all runs counts.
            name: the metric's name.

        Raises:
            ValueError: the aggregation is another, there is no name, or the value is no tensor.
        """
        if aggregation is not None and aggregation != "mean":
            raise ValueError(
                "We currently support only `mean` sample-wise metric aggregation. You provided "
                f"aggregation=`{aggregation}`"
            )
        metric = getattr(value, "_metric_obj", None)
        if metric is None and name is None:
            raise ValueError(_UNNAMED)
        if not isinstance(value, Tensor):
            raise ValueError(f"Expected a symbolic Tensor for the metric value, received: {value}")
        if metric is None and aggregation is None:
            raise ValueError(_AGGREGATED)
        metrics = self._of_layer("_metrics")
        if metric is None:
            # Calls that name the same metric add to one mean.
            metric = _existing(metrics, name) or _mean(name, value)
            metric(value)
        else:
            _existing(metrics, metric.name)
        if not any(known is metric for known in metrics):
            metrics.append(metric)
