# SPDX-License-Identifier: Apache-2.0
"""`Model`: a network that trains itself, evaluates and predicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....engine.interface import log
from ....engine.types import nest
from ....ops.public import tf
from ..backend.elements import is_placeholder, placeholder
from ..backend.phase import symbolic_learning_phase
from ..backend.sessions import Function
from ..backend.settings import floatx
from ..optimizers import table as optimizers
from . import data as arrays
from . import endpoints, loops
from .network import Network


class Model(Network):
    """A network with a loss and an optimizer.

    Args:
        inputs: tensors of `Input`, one or a structure; without them a class defines `call`.
        outputs: tensors that come of them.
        name: the model's name.

    Raises:
        ValueError: an input is none of `Input`, or an output comes of no layer.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._set(
            _is_compiled=False,
            _endpoints=[],
            _own_metrics=[],
            _compile_options=None,
            history=None,
            stop_training=False,
            _functions={},
        )
        vars(self).setdefault("optimizer", None)

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
        self._set(optimizer=optimizers.get(optimizer))
        self._track_trackable(self.optimizer, "optimizer", overwrite=True)
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
        with self.outputs[0].graph.as_default():
            self._make_endpoints(target_tensors)
            self._make_loss()
        self._set(_collected=self._unique(self.trainable_weights))

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
        from ..backend.sessions import batch_set_value

        pairs = []
        for metric in self._fetched_metrics():
            plain = type(metric).reset_states
            from ..metrics.base import Metric

            if plain is Metric.reset_states:
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

    def _fed_endpoints(self) -> list[Any]:
        return [e for e in self._endpoints if e.is_fed]

    def _feeds(self) -> list[Any]:
        fed = self._fed_endpoints()
        weights = [e.sample_weight for e in fed if e.sample_weight is not None]
        return [*self._feed_inputs, *(e.target for e in fed), *weights]

    def _function(self, mode: str) -> Any:
        """What runs a batch: "train", "test" or "predict"."""
        if mode != "predict" and any(e.needs_other_weights() for e in self._fed_endpoints()):
            self._make_loss()
            vars(self)["_functions"] = {}
        functions = vars(self).setdefault("_functions", {})
        if mode not in functions:
            with self.outputs[0].graph.as_default():
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
        with self.outputs[0].graph.as_default():
            inputs = self._feeds()
            phase = symbolic_learning_phase()
            if phase is not None:
                inputs.append(phase)
            with tf.name_scope("training"):
                updates = list(
                    self.optimizer.get_updates(params=self._collected, loss=self.total_loss)
                )
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

    # Data

    def _check_compiled(self) -> None:
        if not self.optimizer:
            raise RuntimeError(
                "You must compile your model before training/testing. Use "
                "`model.compile(optimizer, loss)`."
            )

    def _standardize(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        batch_size: int | None = None,
    ) -> tuple[list[Any], list[Any], list[Any] | None]:
        """Inputs, targets and weights as lists of arrays; ValueError where they do not fit."""
        if not self.inputs:
            self._set_inputs(x)
        if self.optimizer and not self._is_compiled:
            self._compile_again()
        shapes = [tuple(t.shape.as_list()) if t.shape.ndims is not None else None
                  for t in self._feed_inputs]
        shapes = shapes if self._is_graph_network else [None] * len(shapes)
        inputs = arrays.standardized(x, self._feed_input_names, shapes, "input")
        if y is None:
            return inputs, [], None
        fed = self._fed_endpoints()
        names = [e.name for e in fed]
        targets = arrays.standardized(y, names, None, "target")
        modes = self._modes(fed)
        weights = [
            arrays.combined_weights(*each)
            for each in zip(
                targets,
                arrays.per_output(sample_weight, names, "sample_weight"),
                arrays.per_output(class_weight, names, "class_weight"),
                modes,
            )
        ]
        arrays.check_lengths(inputs, targets, weights)
        if self._is_graph_network:
            arrays.check_targets(targets, [e.loss for e in fed], [e.target_shape for e in fed])
        if self.stateful and batch_size and inputs and inputs[0].shape[0] % batch_size:
            raise ValueError(
                "In a stateful network, you should only pass inputs with a number of samples that "
                f"can be divided by the batch size. Found: {inputs[0].shape[0]} samples"
            )
        if not any(modes) and all(w is None for w in weights):
            return inputs, targets, None
        return inputs, targets, weights

    def _modes(self, fed: list[Any]) -> list[Any]:
        """The modes of weights as `compile` was told."""
        endpoints.set_weight_modes(self._endpoints, self.sample_weight_mode)
        return [e.sample_weight_mode for e in fed]

    def _use_weights(self, weights: list[Any] | None) -> None:
        """Has the loss weigh samples if there are weights, and not otherwise."""
        has_any = weights is not None and any(w is not None for w in weights)
        for e in self._fed_endpoints():
            e.sample_weight_mode = (e.sample_weight_mode or "samplewise") if has_any else None

    def _fed_values(self, inputs: list[Any], targets: list[Any], weights: Any) -> list[Any]:
        self._use_weights(weights)
        return [*inputs, *targets, *(weights or [])]

    def _compile_again(self) -> None:
        self.compile(
            optimizer=self.optimizer,
            loss=self.loss,
            metrics=self._compile_metrics,
            weighted_metrics=self._compile_weighted_metrics,
            loss_weights=self.loss_weights,
            sample_weight_mode=self.sample_weight_mode,
            **self._function_options,
        )

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> None:
        """Makes placeholders like some arrays the inputs of a model with a `call` of its own."""
        from ..backend.phase import learning_phase

        if isinstance(inputs, dict):
            names = sorted(inputs)
            given = [inputs[name] for name in names]
        else:
            given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
            names = [f"input_{i + 1}" for i in range(len(given))]
        made = [self._input_like(x, name) for x, name in zip(given, names)]
        self._set(inputs=made, input_names=names)
        if outputs is None:
            structure: Any = dict(zip(names, made)) if isinstance(inputs, dict) else made
            if not isinstance(inputs, (dict, list, tuple)):
                structure = made[0]
            given_options = {}
            if self._expects_training_arg:
                given_options["training"] = learning_phase() if training is None else training
            outputs = self(structure, **given_options)
        found = nest.flatten(outputs)
        names = [f"output_{i + 1}" for i in range(len(found))]
        self._set(outputs=found, output_names=names)
        self.built = True

    def _input_like(self, x: Any, name: str) -> Any:
        if arrays.is_symbolic(x):
            return x
        shape = np.shape(x)
        shape = (None, *shape[1:]) if len(shape) > 1 else (None, 1)
        dtype = np.asarray(x).dtype
        is_float = dtype.kind == "f" or dtype == object
        return placeholder(shape, dtype=floatx() if is_float else dtype, name=name)

    def _called(self, inputs: Any, outputs: Any) -> None:
        if not self.inputs and not self._is_graph_network:
            flat = nest.flatten(inputs)
            made = nest.flatten(outputs)
            self._set(
                inputs=flat,
                outputs=made,
                input_names=[f"input_{i + 1}" for i in range(len(flat))],
                output_names=[f"output_{i + 1}" for i in range(len(made))],
            )

    # Training

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Trains the model.

        Args:
            x: arrays, one or a list or a dict by inputs' names; a dataset, a generator or a
                Sequence, which give targets, too; or tensors.
            y: targets, as x.
            batch_size: examples of a step; 32 if None.
            epochs: how often all examples are seen.
            verbose: 0 prints nothing, 1 a bar, 2 a line for each epoch.
            callbacks: objects that are told what happens.
            validation_split: the share of the last examples that is left for evaluation.
            validation_data: (x, y) or (x, y, weights), or what x may be, for evaluation.
            shuffle: whether examples come in another order in each epoch; "batch" for whole batches.
            class_weight: class -> weight.
            sample_weight: the weight of each example.
            initial_epoch: the number of the first epoch.
            steps_per_epoch: batches of an epoch, where x is no array.
            validation_steps: batches of an evaluation.
            validation_freq: after how many epochs, or after which, the model is evaluated.
            max_queue_size, workers, use_multiprocessing: how batches of generators are got ready.

        Returns:
            A `History`, whose `history` has the losses and metrics of each epoch.

        Raises:
            RuntimeError: the model is not compiled.
            ValueError: arrays do not fit the model.
            TypeError: an argument is unknown.
        """
        if "nb_epoch" in kwargs:
            log.warning("The `nb_epoch` argument in `fit` has been renamed `epochs`.")
            epochs = kwargs.pop("nb_epoch")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self._check_compiled()
        source = loops.source_of(
            self,
            x,
            y,
            loops.Weights(sample_weight, class_weight),
            loops.Steps(batch_size, steps_per_epoch, "steps_per_epoch"),
            shuffle,
            loops.Workers(max_queue_size, workers, use_multiprocessing),
        )
        validation = None
        if validation_data is not None:
            validation = loops.validation_source(
                self,
                validation_data,
                loops.Steps(source.batch_size, validation_steps, "validation_steps"),
                loops.Workers(max_queue_size, workers, use_multiprocessing),
            )
        elif validation_split and 0.0 < validation_split < 1.0:
            source, validation = source.split(validation_split)
        elif validation_steps:
            raise ValueError(
                "`validation_steps` should not be specified if `validation_data` is None."
            )
        return loops.fit(
            self,
            source,
            validation,
            loops.Epochs(epochs, initial_epoch, validation_freq),
            callbacks,
            verbose,
        )

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The loss and the metrics of examples; arguments as of `fit`.

        Returns:
            The loss, or a list of what `metrics_names` names.
        """
        self._check_compiled()
        source = loops.source_of(
            self,
            x,
            y,
            loops.Weights(sample_weight, None),
            loops.Steps(batch_size, steps, "steps"),
            False,
            loops.Workers(max_queue_size, workers, use_multiprocessing),
        )
        return loops.evaluate(self, source, callbacks, verbose)

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int = 0,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The outputs for examples; arguments as of `fit`.

        Returns:
            An array, or a list of one for each output.
        """
        source = loops.source_of(
            self,
            x,
            None,
            loops.Weights(None, None),
            loops.Steps(batch_size, steps, "steps"),
            False,
            loops.Workers(max_queue_size, workers, use_multiprocessing),
            is_predicted=True,
        )
        return loops.predict(self, source, callbacks, verbose)

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        reset_metrics: bool = True,
    ) -> Any:
        """Trains on one batch; gives the loss, or a list of what `metrics_names` names."""
        self._check_compiled()
        parts = loops.values_of(self, x, y, sample_weight, class_weight)
        values = self._fed_values(*parts)
        if symbolic_learning_phase() is not None:
            values.append(True)
        return self._ran("train", values, reset_metrics)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True
    ) -> Any:
        """The loss of one batch, or a list of what `metrics_names` names."""
        self._check_compiled()
        parts = loops.values_of(self, x, y, sample_weight, None)
        return self._ran("test", self._fed_values(*parts), reset_metrics)

    def _ran(self, mode: str, values: list[Any], reset_metrics: bool) -> Any:
        function = self._function(mode)
        function = self._function(mode)
        if mode == "train" and len(function.inputs) != len(values):
            # The phase became a tensor, or ceased to be one, after the function was made.
            values = values[: len(function.inputs)]
        found = function(values)
        if reset_metrics:
            self.reset_metrics()
        return found[0] if len(found) == 1 else found

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch."""
        inputs, _, _ = loops.values_of(self, x, None, None, None)
        found = self._function("predict")(inputs)
        return found[0] if len(found) == 1 else found

    def fit_generator(
        self,
        generator: Any,
        steps_per_epoch: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> Any:
        """Trains on what a generator or a Sequence gives; arguments as of `fit`."""
        return self.fit(
            generator,
            steps_per_epoch=steps_per_epoch,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_data=validation_data,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
            class_weight=class_weight,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
            shuffle=shuffle,
            initial_epoch=initial_epoch,
        )

    def evaluate_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """Evaluates what a generator or a Sequence gives; arguments as of `evaluate`."""
        return self.evaluate(
            generator,
            steps=steps,
            callbacks=callbacks,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
            verbose=verbose,
        )

    def predict_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """Predicts for what a generator or a Sequence gives; arguments as of `predict`."""
        return self.predict(
            generator,
            steps=steps,
            callbacks=callbacks,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
            verbose=verbose,
        )


def _added_metrics(layers: Sequence[Any]) -> list[Any]:
    """The metrics that were added to layers; what models among these were compiled with is theirs."""
    found: list[Any] = []
    for layer in layers:
        found += layer._of_layer("_metrics")
        if isinstance(layer, Model):
            found += _added_metrics(layer.layers)
    return found
