# SPDX-License-Identifier: Apache-2.0
"""What `compile` makes of a network: a loss, metrics, and functions that run a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....engine.graph.trackable import Trackable
from ....engine.interface import log
from ....ops.public import tf
from ..backend.elements import is_placeholder
from ..backend.phase import symbolic_learning_phase
from ..backend.sessions import Function, batch_set_value
from ..metrics.base import Metric
from ..optimizers import table as optimizers
from . import data as arrays
from . import endpoints
from .composites import graph_of
from .inner_names import InnerNames
from .network import Network
from .trained import as_it_was, trained_layers


class Compiled(InnerNames, Network):
    """A network that may be compiled."""

    optimizer: Any
    loss: Any
    loss_weights: Any
    sample_weight_mode: Any
    total_loss: Any
    _compile_metrics: Any
    _compile_weighted_metrics: Any
    _function_options: dict[str, Any]
    _functions: dict[str, Any]
    _endpoints: list[endpoints.Endpoint]
    _is_compiled: bool
    _collected: list[Any]
    _trained_then: list[tuple[Any, bool]]

    # Compiling

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        distribute: Any = None,
        **kwargs: Any,
    ) -> None:
        """Says how the model is trained.

        Args:
            optimizer: an optimizer, or its name; one of `tf.train`, too.
            loss: a loss, or its name; or one for each output, in a list or a dict by names.
            metrics: a list of metrics or names; or lists for outputs, in a list or a dict.
            loss_weights: how much each output's loss counts, in a list or a dict.
            sample_weight_mode: "temporal" for weights of time steps; or one for each output.
            weighted_metrics: metrics that are weighed as the loss is.
            target_tensors: tensors in the place of placeholders for targets.
            distribute: not supported.
            **kwargs: as of tf.Session.run.

        Raises:
            ValueError: an argument is of an output that is not there, or there is no loss.
            TypeError: an argument is of no form that is known.
        """
        for eager in ("run_eagerly", "experimental_run_tf_function"):
            if kwargs.pop(eager, False) and eager == "run_eagerly":
                raise ValueError(
                    "You can only set `run_eagerly=True` if eager execution is enabled."
                )
        if distribute is not None:
            raise NotImplementedError("`distribute` of `compile` is not in numbaflow")
        several = isinstance(optimizer, (tuple, list))
        found = [optimizers.get(each) for each in optimizer] if several else None
        self._set(optimizer=self._scaling(found or optimizers.get(optimizer)))
        for number, each in enumerate(found or [self.optimizer]):
            if isinstance(each, Trackable):
                name = f"optimizer{number or ''}"
                self._track_trackable(each, name, overwrite=True)
        self._set(
            loss=loss or {},
            loss_weights=loss_weights,
            sample_weight_mode=sample_weight_mode,
            _compile_metrics=metrics or [],
            _compile_weighted_metrics=weighted_metrics,
            _function_options=kwargs,
            _functions={},
            _endpoints=[],
            _is_compiled=False,
        )
        if not self.built or not self.inputs or not self.outputs:
            # A model without inputs is compiled when it sees some.
            return
        self._set(_is_compiled=True)
        with graph_of(self.outputs[0]).as_default():
            self._make_endpoints(target_tensors)
            self._make_loss()
        self._set(
            _collected=self._unique(self.trainable_weights), _trained_then=trained_layers(self)
        )

    def _scaling(self, optimizer: Any) -> Any:
        """The optimizer that scales the loss as the policy of the model says."""
        scale = self._dtype_policy.loss_scale
        if scale is None:
            return optimizer
        from ..optimizers.base import Optimizer
        from ..optimizers.loss_scale import LossScaleOptimizer

        if isinstance(optimizer, list):
            raise ValueError(
                "When a dtype policy with a loss scale is used, you can only pass a single "
                f"optimizer. Using policy {self._dtype_policy} and got optimizers: {optimizer}"
            )
        if not isinstance(optimizer, Optimizer):
            raise ValueError(
                '"optimizer" must be an instance of tf.keras.optimizers.Optimizer when a dype '
                f"policy with a loss scale  used, but got: {optimizer}. Using policy: "
                f"{self._dtype_policy}"
            )
        if not isinstance(optimizer, LossScaleOptimizer):
            return LossScaleOptimizer(optimizer, scale)
        if optimizer.loss_scale is not scale:
            log.warning(
                f"LossScale of LossScaleOptimizer passed to compile ({optimizer.loss_scale}) is "
                f"not the same as the dtype policy's loss scale ({scale}). Because the dtype "
                "policy has a loss scale, you should pass an optimizer that is not wrapped with a "
                "LossScaleOptimizer,"
            )
        return optimizer

    def _make_endpoints(self, target_tensors: Any) -> None:
        losses = endpoints.loss_objects(self.loss, self.output_names)
        targets = self._targets_by_output(target_tensors)
        found = [
            endpoints.Endpoint(*each)
            for each in zip(self.outputs, self.output_names, losses, targets)
        ]
        endpoints.set_loss_weights(found, self.loss_weights)
        self._set(_endpoints=found)
        groups = [
            endpoints.metrics_of(given, found, is_weighted)
            for given, is_weighted in (
                (self._compile_metrics, False),
                (self._compile_weighted_metrics, True),
            )
        ]
        taken: list[str] = ["loss"]
        if len(found) > 1:
            taken += [e.loss_name for e in found if e.loss is not None]
        for number, e in enumerate(found):
            if e.loss is not None:
                e.metrics = self._named(groups[0][number], e, taken)
                e.weighted_metrics = self._named(groups[1][number], e, taken)
        for e in found:
            if len(found) > 1 and e.loss is not None:
                e.loss_metric = endpoints.loss_metric(e)
        with tf.name_scope("metrics"):
            for e in found:
                e.metric_tensors(False)
        endpoints.set_weight_modes(found, self.sample_weight_mode)

    def _targets_by_output(self, given: Any) -> list[Any]:
        if given is None or (isinstance(given, list) and not given):
            return [None] * len(self.outputs)
        if isinstance(given, dict):
            arrays.check_keys("target_tensors", given, self.output_names)
            return [given.get(name) for name in self.output_names]
        if not isinstance(given, (list, tuple)):
            if not arrays.is_symbolic(given):
                raise TypeError(
                    "Expected `target_tensors` to be a list or tuple or dict or a single tensor, "
                    "but got:",
                    given,
                )
            given = [given]
        if len(given) != len(self.outputs):
            raise ValueError(
                "When passing a list as `target_tensors`, it should have one entry per model "
                f"output. The model has {len(self.outputs)} outputs, but you passed "
                f"target_tensors={given}"
            )
        return list(given)

    def _named(self, metrics: dict[str, Any], e: Any, taken: list[str]) -> dict[str, Any]:
        """Metrics by names that nothing else has."""
        found = {}
        for name, metric in metrics.items():
            base = f"{e.name}_{name}" if len(self.output_names) > 1 else name
            own, number = base, 1
            while own in taken:
                own, number = f"{base}_{number}", number + 1
            metric._name = own
            taken.append(own)
            found[own] = metric
        return found

    def _make_loss(self) -> None:
        """Makes the weights of samples, the weighted metrics and the loss."""
        for e in self._endpoints:
            e.make_weights()
        with tf.name_scope("metrics"):
            for e in self._endpoints:
                e.metric_tensors(True)
        self._set(total_loss=self._total_loss())

    def _total_loss(self) -> Any:
        total = None
        with tf.name_scope("loss"):
            for e in self._endpoints:
                if e.loss is None:
                    continue
                with tf.name_scope(e.loss_name):
                    loss = e.loss_tensor()
                if e.loss_metric is not None:
                    e.loss_metric(loss)
                part = e.loss_weight * loss
                total = part if total is None else total + part
            added = [*self.get_losses_for(None), *self.get_losses_for(self.inputs)]
            if total is None:
                if not self.losses:
                    raise ValueError(
                        "The model cannot be compiled because it has no loss to optimize."
                    )
                total = 0.0
            if added:
                total += tf.add_n(added)
        return total

    def _unique(self, variables: Sequence[Any]) -> list[Any]:
        return list({id(v): v for v in variables}.values())

    # Metrics

    @property
    def metrics(self) -> list[Any]:
        """The metrics of `compile`, and those that were added."""
        found = []
        if vars(self).get("_is_compiled"):
            for e in self._endpoints:
                found += [*e.metrics.values(), *e.weighted_metrics.values()]
        found += self._of_layer("_metrics")
        return found + _added_metrics(self._nested_layers())

    @property
    def metrics_names(self) -> list[str]:
        """The names of what evaluation gives: the loss, losses of outputs, and metrics."""
        names = ["loss"]
        if vars(self).get("_is_compiled") and len(self._endpoints) > 1:
            names += [e.loss_name for e in self._endpoints if e.loss is not None]
        return names + [m.name for m in self.metrics]

    def _fetched_metrics(self) -> list[Any]:
        losses = [e.loss_metric for e in self._endpoints if e.loss_metric is not None]
        return [m for m in (*losses, *self.metrics) if hasattr(m, "_call_result")]

    def reset_metrics(self) -> None:
        """Begins all metrics anew."""
        pairs = []
        for metric in self._fetched_metrics():
            if type(metric).reset_states is Metric.reset_states:
                pairs += [(v, np.zeros(v.shape.as_list())) for v in metric.variables]
            else:
                metric.reset_states()
        batch_set_value(pairs)

    # Functions of the graph

    @property
    def _feed_inputs(self) -> list[Any]:
        return [x for x in self.inputs if is_placeholder(x)]

    @property
    def _feed_input_names(self) -> list[str]:
        return [n for n, x in zip(self.input_names, self.inputs) if is_placeholder(x)]

    def _feeds(self) -> list[Any]:
        fed = self._fed_endpoints()
        weights = [e.sample_weight for e in fed if e.sample_weight is not None]
        return [*self._feed_inputs, *self._feed_targets, *weights]

    def _function(self, mode: str) -> Any:
        """What runs a batch: "train", "test" or "predict"."""
        if mode != "predict" and any(e.needs_other_weights() for e in self._fed_endpoints()):
            self._make_loss()
            vars(self)["_functions"] = {}
        functions = vars(self).setdefault("_functions", {})
        if mode not in functions:
            with graph_of(self.outputs[0]).as_default():
                functions[mode] = getattr(self, f"_make_{mode}_function")()
        return functions[mode]

    @property
    def train_function(self) -> Any:
        """The function that trains on a batch; None before it is made."""
        return vars(self).get("_functions", {}).get("train")

    @property
    def test_function(self) -> Any:
        """The function that evaluates a batch; None before it is made."""
        return vars(self).get("_functions", {}).get("test")

    @property
    def predict_function(self) -> Any:
        """The function that predicts for a batch; None before it is made."""
        return vars(self).get("_functions", {}).get("predict")

    def _make_train_function(self) -> Any:
        if vars(self).get("_functions", {}).get("train") is not None:
            return self.train_function
        if len(self._unique(self.trainable_weights)) != len(self._collected):
            log.warning(
                "Discrepancy between trainable weights and collected trainable weights, did you "
                "set `model.trainable` without calling `model.compile` after ?"
            )
        with graph_of(self.outputs[0]).as_default():
            inputs = self._feeds()
            phase = symbolic_learning_phase()
            if phase is not None:
                inputs.append(phase)
            with tf.name_scope("training"), as_it_was(self, self._trained_then):
                updates = self._training_updates()
                updates += self.get_updates_for(None)
                updates += self.get_updates_for(self.inputs)
            results = [m._call_result for m in self._fetched_metrics()]
            with tf.name_scope("training"):
                made = Function(
                    inputs,
                    [self.total_loss, *results],
                    updates=updates,
                    name="train_function",
                    **self._function_options,
                )
        vars(self).setdefault("_functions", {})["train"] = made
        return made

    def _training_updates(self) -> list[Any]:
        """What changes the variables that are trained."""
        return list(self.optimizer.get_updates(params=self._collected, loss=self.total_loss))

    def _make_test_function(self) -> Any:
        results = [m._call_result for m in self._fetched_metrics()]
        with tf.name_scope("evaluation"):
            return Function(
                self._feeds(),
                [self.total_loss, *results],
                updates=self.state_updates,
                name="test_function",
                **self._function_options,
            )

    def _make_predict_function(self) -> Any:
        with tf.name_scope("predict"):
            return Function(
                self._feed_inputs,
                self.outputs,
                updates=self.state_updates,
                name="predict_function",
                **vars(self).get("_function_options", {}),
            )


def _added_metrics(layers: Sequence[Any]) -> list[Any]:
    """The metrics that were added to layers, without what models within were compiled with."""
    found: list[Any] = []
    for layer in layers:
        if isinstance(layer, Compiled):
            found += [*layer._of_layer("_metrics"), *_added_metrics(layer.layers)]
        else:
            found += layer.metrics
    return found
