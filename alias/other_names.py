# SPDX-License-Identifier: Apache-2.0
"""Other names of TensorFlow's packages, which editors write when they complete a name.

TensorFlow 1.15's files lie in `tensorflow_core`, and Estimators in `tensorflow_estimator`; what is
public there, and in Keras, has a copy in packages that are called `api` or `_api`.
"""

from __future__ import annotations

import functools

# A package -> the one that it is.  Its modules are those of that one.
_OTHERS = {
    "tensorflow_core": "tensorflow",
    "tensorflow_estimator": "tensorflow",
    "tensorflow._api.v1": "tensorflow",
    "tensorflow.python.keras.api.keras": "tensorflow.keras",
    "tensorflow.python.keras.api._v1.keras": "tensorflow.keras",
    "tensorflow.python.keras.api._v2.keras": "tensorflow.compat.v2.keras",
    "tensorflow.python.estimator.api.estimator": "tensorflow.estimator",
    "tensorflow.python.estimator.api._v1.estimator": "tensorflow.estimator",
}
# A distribution of its own, which a program may have installed.
ESTIMATORS = "tensorflow_estimator"
# What holds them and nothing else, below `tensorflow`.
HOLDERS = frozenset(
    "_api python.keras.api python.keras.api._v1 python.keras.api._v2 python.estimator.api "
    "python.estimator.api._v1".split()
)


@functools.cache
def usual_name(name: str) -> str:
    """The name below `tensorflow` of a module, or of what is in one, that may have another.

    Example:
        >>> usual_name("tensorflow_core.python.keras.layers")
        'tensorflow.python.keras.layers'
        >>> usual_name("tensorflow_core._api.v1.train")
        'tensorflow.train'
    """
    for other, usual in _OTHERS.items():
        if f"{name}.".startswith(f"{other}."):
            return usual_name(usual + name[len(other) :])
    return name
