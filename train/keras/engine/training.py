# SPDX-License-Identifier: Apache-2.0
"""`Model`: a network that trains itself, evaluates and predicts."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ....engine.interface import log
from ....engine.types import dtypes, nest
from ....ops.public import tf
from ...layers.nodes import history_of
from ..backend.elements import placeholder
from ..backend.phase import learning_phase, phase_value
from ..backend.settings import floatx
from . import data as arrays
from . import endpoints, loops, sources
from .compiled import Compiled
from .composites import check_parts, is_value, shape_of


class Model(Compiled):
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

    @property
    def _object_identifier(self) -> str:
        return "_tf_keras_model"

    # Data

    def _check_call_args(self, method: str) -> None:
        """Raises a ValueError where a `call` of the model's own needs more than inputs."""
        spec = inspect.getfullargspec(inspect.unwrap(self.call))
        names = spec.args[: len(spec.args) - len(spec.defaults or ())]
        others = [name for name in names if name != "training"][2:]
        if others:
            raise ValueError(
                f"Models passed to `{method}` can only have `training` and the first argument in "
                f"`call` as positional arguments, found: {others}."
            )

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
        checks_targets: bool = True,
    ) -> tuple[list[Any], list[Any], list[Any] | None]:
        """Inputs, targets and weights as lists of arrays; ValueError where they do not fit."""
        if not self.inputs:
            self._build_on(x)
        if self.optimizer and not self._is_compiled:
            self._compile_again()
        shapes = [_declared_shape(t) for t in self._feed_inputs]
        if not self._is_graph_network:
            # (Vectors of a dataset stay what they are; others become matrices.)
            shapes = [shape if shape is not None and len(shape) == 1 else None for shape in shapes]
        inputs = arrays.standardized(x, self._feed_input_names, shapes, "input")
        for given, wanted in zip(inputs, self._feed_inputs):
            check_parts(given, wanted)
        if y is None:
            return inputs, [], None
        fed = self._fed_endpoints()
        names = [e.name for e in fed]
        targets = arrays.standardized(y, names, None, "target")
        targets = [e.as_fed(target) for e, target in zip(fed, targets)]
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
        if self._is_graph_network and checks_targets:
            arrays.check_targets(targets, [e.loss for e in fed], [e.target_shape for e in fed])
        if self.stateful and batch_size and inputs and inputs[0].shape[0] % batch_size:
            raise ValueError(
                "In a stateful network, you should only pass inputs with a number of samples that "
                f"can be divided by the batch size. Found: {inputs[0].shape[0]} samples"
            )
        if all(w is None for w in weights):
            return inputs, targets, None
        return inputs, targets, weights

    def _standardize_user_data(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        batch_size: int | None = None,
        check_steps: bool = False,
        steps: int | None = None,
        **unused: Any,
    ) -> tuple[list[Any], list[Any], list[Any] | None]:
        """Inputs, targets and weights as lists of arrays, which programs feed to functions."""
        del unused
        if check_steps:
            sources.warn_of_steps(x, steps)
        return self._standardize(x, y, sample_weight, class_weight, batch_size)

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

    def _compile_again(self, target_tensors: Any = None) -> None:
        self.compile(
            optimizer=self.optimizer,
            loss=self.loss,
            metrics=self._compile_metrics,
            weighted_metrics=self._compile_weighted_metrics,
            loss_weights=self.loss_weights,
            sample_weight_mode=self.sample_weight_mode,
            target_tensors=target_tensors,
            **self._function_options,
        )

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> None:
        """Makes placeholders like some arrays the inputs of a model with a `call` of its own."""
        if isinstance(inputs, dict):
            names = sorted(inputs)
            given = [inputs[name] for name in names]
        else:
            several = isinstance(inputs, (list, tuple)) and not is_value(inputs)
            given = list(inputs) if several else [inputs]
            names = [f"input_{i + 1}" for i in range(len(given))]
        made = [self._input_like(x, name) for x, name in zip(given, names)]
        structure: Any = dict(zip(names, made)) if isinstance(inputs, dict) else made
        if not isinstance(inputs, (dict, list, tuple)):
            structure = made[0]
        self._set(inputs=made, input_names=names, _nested_inputs=structure)
        if outputs is None:
            given_options = {}
            if self._expects_training_arg:
                given_options["training"] = learning_phase() if training is None else training
            outputs = self(structure, **given_options)
        found = nest.flatten(outputs)
        names = [f"output_{i + 1}" for i in range(len(found))]
        self._set(outputs=found, output_names=names)
        self.built = True

    def _build_on(self, x: Any, y: Any = None) -> None:
        """Makes the inputs of data, which may be tensors; targets that are tensors, too."""
        arrays.check_undeclared(x)
        self._set_inputs(x)
        targets = [t for t in nest.flatten(y) if arrays.is_symbolic(t)]
        if targets and self.optimizer and not self._is_compiled:
            self._compile_again(target_tensors=targets)

    def _input_like(self, x: Any, name: str) -> Any:
        if arrays.is_symbolic(x):
            return x
        if isinstance(x, tf.TensorSpec):
            return placeholder(tuple(x.shape.as_list()), dtype=x.dtype, name=name)
        shape = np.shape(x)
        shape = (None, *shape[1:]) if len(shape) > 1 else (None, 1)
        # Arrays of objects hold text.
        dtype = dtypes.as_dtype(np.asarray(x).dtype)
        return placeholder(shape, dtype=floatx() if dtype.is_floating else dtype, name=name)

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
            shuffle: whether each epoch has another order; "batch" for whole batches.
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
        self._check_call_args("fit")
        self._check_compiled()
        workers_of = sources.Workers(max_queue_size, workers, use_multiprocessing)
        source = sources.source_of(
            self,
            x,
            y,
            sources.Weights(sample_weight, class_weight),
            sources.Steps(batch_size, steps_per_epoch, "steps_per_epoch"),
            shuffle,
            workers_of,
        )
        source.epochs = epochs
        validation = None
        if validation_data is not None:
            steps = sources.Steps(source.batch_size, validation_steps, "validation_steps")
            validation = sources.validation_source(self, validation_data, steps, workers_of)
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
        self._check_call_args("evaluate")
        self._check_compiled()
        source = sources.source_of(
            self,
            x,
            y,
            sources.Weights(sample_weight, None),
            sources.Steps(batch_size, steps, "steps"),
            False,
            sources.Workers(max_queue_size, workers, use_multiprocessing),
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
        self._check_call_args("predict")
        source = sources.source_of(
            self,
            x,
            None,
            sources.Weights(None, None),
            sources.Steps(batch_size, steps, "steps"),
            False,
            sources.Workers(max_queue_size, workers, use_multiprocessing),
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
        self._check_call_args("train_on_batch")
        self._check_compiled()
        parts = sources.values_of(self, x, y, sample_weight, class_weight)
        values = self._fed_values(*parts)
        return self._ran("train", values, reset_metrics)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True
    ) -> Any:
        """The loss of one batch, or a list of what `metrics_names` names."""
        self._check_call_args("test_on_batch")
        self._check_compiled()
        parts = sources.values_of(self, x, y, sample_weight, None)
        return self._ran("test", self._fed_values(*parts), reset_metrics)

    def _ran(self, mode: str, values: list[Any], reset_metrics: bool) -> Any:
        function = self._function(mode)
        if mode == "train":
            values = [*values, *phase_value(function, values)]
        found = function(values)
        if reset_metrics:
            self.reset_metrics()
        return found[0] if len(found) == 1 else found

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch."""
        self._check_call_args("predict_on_batch")
        inputs, _, _ = sources.values_of(self, x, None, None, None)
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


def _declared_shape(x: Any) -> Any:
    """The shape that a placeholder's values must have, None if any.

    The parts of sparse and ragged ones do not say it; their `Input` does.
    """
    if not nest.is_composite(x):
        return shape_of(x)
    return getattr(getattr(history_of(x), "layer", None), "_batch_input_shape", None)
