# SPDX-License-Identifier: Apache-2.0
"""The models in JAX, as its users would write them: one jitted function a run, memory handed over.

Models whose steps touch few rows of large tables have no natural form in JAX and are left out.
"""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import Any

import jax
import numpy as np

from . import catalog, jax_images, jax_sequences
from .jax_parts import Net, Values, jitted

_NAMES = {
    jax_images: "lenet vgg resnet50 mobilenet unet dcgan vae dqn_acting dqn_learning gcn",
    jax_sequences: "transformer_encoder gpt lstm_classifier bidirectional_gru char_rnn seq2seq "
    "wavenet",
}
MODELS = {name: getattr(module, name) for module, names in _NAMES.items() for name in names.split()}


def _usual_sizes(name: str) -> dict[str, Any]:
    """The sizes that the model in TensorFlow has unless told otherwise."""
    parameters = signature(catalog.MODELS[name].build).parameters
    return {key: p.default for key, p in parameters.items() if p.default is not p.empty}


class JaxSteps:
    """Takes steps of a model; `values` may give parameters other first values than its own."""

    def __init__(self, name: str, sizes: dict[str, Any], values: Values | None = None) -> None:
        runs, self._batches = MODELS[name](**{**_usual_sizes(name), **sizes})
        trained: Values = {}
        kept: Values = {}
        for run in runs:
            making = Net(trained, kept, jax.random.PRNGKey(0), making=True)
            jax.eval_shape(partial(run.goal, making), *self._batches[0])
        given = values or {}
        self._trained = {n: jax.device_put(given.get(n, x)) for n, x in trained.items()}
        self._kept = {n: jax.device_put(given.get(n, x)) for n, x in kept.items()}
        self._runs = [jitted(run) for run in runs]
        self._moments = [
            {
                name: tuple(jax.device_put(x) for x in run.optimizer.start(value))
                for name, value in trained.items()
                if run.optimizer and name.startswith(run.scope)
            }
            for run in runs
        ]
        self._key, self._taken = jax.random.PRNGKey(1), 0

    def run(self) -> list[Any]:
        """One step: the first result of each of its runs."""
        batch = self._batches[self._taken % len(self._batches)]
        results = []
        for place, step in enumerate(self._runs):
            result, self._trained, self._kept, self._moments[place] = step(
                self._trained, self._kept, self._moments[place], self._key, self._taken, batch
            )
            results.append(result)
        self._taken += 1
        return [np.asarray(r[0] if isinstance(r, tuple) else r) for r in results]

    def close(self) -> None:
        """Gives up the parameters."""
        self._trained, self._kept, self._moments = {}, {}, []
