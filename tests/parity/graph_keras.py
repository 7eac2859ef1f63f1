# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs about layers of tf.keras: what they give, and what they keep."""

from __future__ import annotations

from .graph_source import Writer
from .graph_steps import Step
from .graph_values import Size, Sizes, Value

_START = "tf.keras.initializers.RandomUniform(-0.5, 0.5, seed={seed})"
_ACTIVATIONS = ("None", "'elu'", "'tanh'", "'softplus'", "'selu'", "'sigmoid'")
# Layers that keep a shape.
_ALIKE = (
    "LayerNormalization(epsilon=0.5, {dtype})",
    "LayerNormalization(axis=[1, -1], epsilon=0.5, {dtype})",
    *("LeakyReLU(0.25, {dtype})", "ELU(0.5, {dtype})", "Softmax({dtype})", "Dropout(0.5, {dtype})"),
    *("ThresholdedReLU(0.3, {dtype})", "PReLU(alpha_initializer={start}, {dtype})"),
    "Activation('exponential', {dtype})",
)
_CELLS = ("LSTM", "GRU", "SimpleRNN")


def _layer(w: Writer, text: str, value: Value) -> str:
    name = w.fresh("layer")
    start = _START.format(seed=w.random.randint(1, 9))
    w.line(f"{name} = tf.keras.layers." + text.format(start=start, dtype=f"dtype='{value.dtype}'"))
    return name


def _known(w: Writer, value: Value) -> str:
    name = w.fresh("known")
    shape = [size.fixed for size in value.sizes]
    w.line(f"{name} = tf.ensure_shape(tf.tanh({value.name}), {shape})")
    return name


def _bounded(w: Writer, text: str, value: Value, sizes: Sizes) -> None:
    w.like(f"tf.tanh({text} * 0.5)", value, sizes=sizes, low=-1, high=1, bits=None)


def kerased(w: Writer) -> None:
    """A layer of tf.keras, called once or twice with the same weights."""
    value = w.pick(
        lambda v: (
            v.is_float
            and 2 <= v.ndim <= 4
            and v.largest <= 90
            and v.sizes[0].least >= 2
            and all(0 < (size.fixed or 0) <= 6 for size in v.sizes[1:])
        )
    )
    if value is None or w.indent:
        return
    kinds = [_dense, _alike, _normalized]
    kinds += [_windowed, _cell, _cell] * (value.ndim == 3)
    w.random.choice(kinds)(w, value, _known(w, value))


def _dense(w: Writer, value: Value, known: str) -> None:
    units, twice = w.random.randint(1, 4), w.chance(0.3)
    units = (value.sizes[-1].fixed or 1) if twice else units
    activation = w.random.choice(_ACTIVATIONS)
    text = f"Dense({units}, {activation}, kernel_initializer={{start}}, {{dtype}})"
    layer = _layer(w, text, value)
    made = f"{layer}({layer}({known}))" if twice else f"{layer}({known})"
    _bounded(w, made, value, (*value.sizes[:-1], Size(0, units)))


def _alike(w: Writer, value: Value, known: str) -> None:
    text = w.random.choice([one for one in _ALIKE if value.ndim > 2 or "[1, -1]" not in one])
    made = f"{_layer(w, text, value)}({known})"
    if "ThresholdedReLU" in text:
        made = f"tf.stop_gradient({made})"
    _bounded(w, made, value, value.sizes)


def _normalized(w: Writer, value: Value, known: str) -> None:
    """Normalization, whose statistics the run changes where it trains."""
    if value.dtype != "float32":
        return
    layer = _layer(w, "BatchNormalization(momentum=0.5, epsilon=0.5, {dtype})", value)
    trains = w.chance(0.7)
    if trains:
        w.marks.add("level")
    made = w.fresh("z")
    w.line(f"{made} = {layer}({known}, training={trains})")
    _bounded(w, made, value, value.sizes)
    if not trains:
        return
    name, effects = w.fresh("done"), "[]" if w.effect is None else f"[{w.effect}]"
    w.line(f"with tf.control_dependencies({effects} + {layer}.updates):")
    which = w.random.choice(["moving_mean", "moving_variance"])
    w.line(f"    {name} = {layer}.{which}.read_value() + 0.0")
    w.effect = name


def _windowed(w: Writer, value: Value, known: str) -> None:
    steps, width = value.sizes[1].fixed or 1, w.random.randint(1, 2)
    if steps < 2:
        return
    units, how = w.random.randint(1, 3), w.random.choice(["causal", "same", "valid"])
    options = "kernel_initializer={start}, {dtype}"
    text, after, depth = w.random.choice(
        [
            (
                f"Conv1D({units}, {width}, padding='{how}', {options})",
                steps - width + 1 if how == "valid" else steps,
                Size(0, units),
            ),
            (f"AveragePooling1D({width}, 1, {{dtype}})", steps - width + 1, value.sizes[2]),
            (f"ZeroPadding1D([1, {width}], {{dtype}})", steps + 1 + width, value.sizes[2]),
            (f"UpSampling1D({width}, {{dtype}})", steps * width, value.sizes[2]),
            ("Cropping1D([1, 0], {dtype})", steps - 1, value.sizes[2]),
        ]
    )
    made = f"{_layer(w, text, value)}({known})"
    _bounded(w, made, value, (value.sizes[0], Size(0, after), depth))


def _cell(w: Writer, value: Value, known: str) -> None:
    """A recurrent layer, one way or both, from the front or the back, masked or not."""
    kind, units, whole = w.random.choice(_CELLS), w.random.randint(1, 3), w.chance(0.5)
    options = f"return_sequences={whole}, kernel_initializer={{start}}, {{dtype}}"
    options += ", recurrent_initializer={start}"
    if w.chance(0.3):
        options += ", go_backwards=True"
    if kind == "GRU" and w.chance(0.5):
        options += ", reset_after=True"
    text = f"{kind}({units}, {options})"
    depth = units
    if w.chance(0.3):
        text, depth = f"Bidirectional(tf.keras.layers.{text}, {{dtype}})", 2 * units
    layer = _layer(w, text, value)
    if w.chance(0.3):
        # (Where a whole step is below a half it counts as none.)
        some = f"tf.round({known} * 0.75)"
        known = f"tf.keras.layers.Masking(0.0, dtype='{value.dtype}')(tf.stop_gradient({some}))"
    w.marks.add("loop")
    batch, steps = value.sizes[0], value.sizes[1]
    sizes = (batch, steps, Size(0, depth)) if whole else (batch, Size(0, depth))
    _bounded(w, f"{layer}({known})", value, sizes)


def embedded_layer(w: Writer) -> None:
    """Rows of a layer's table by numbers that are inside of it."""
    number = w.pick(lambda v: v.is_int and 1 <= v.ndim <= 2)
    if number is None or w.indent:
        return
    layer = w.fresh("layer")
    start = _START.format(seed=w.random.randint(1, 9))
    w.line(f"{layer} = tf.keras.layers.Embedding(5, 3, embeddings_initializer={start})")
    text = f"tf.tanh({layer}(tf.floormod({number.name}, 5)))"
    w.add(text, "float32", (*number.sizes, Size(0, 3)), -1, 1, None)


KERAS: list[Step] = [kerased, kerased, kerased, embedded_layer]
