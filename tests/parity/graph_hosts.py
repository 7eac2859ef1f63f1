# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs that run on the host: functions of Python, texts, queues, samplers.

They stand between other lines, in bodies of loops and branches, too, so that plans end before them
and begin again behind: what lies across has to be where it was.
"""

from __future__ import annotations

from .graph_source import Writer
from .graph_steps import Step
from .graph_values import ONE, Size, Sizes, Value

# Functions of NumPy arrays that give the same numbers: views of what they get, as well.
_SAME = ("x", "x.copy()", "x[...]", "np.asfortranarray(x)", "x[::-1][::-1]", "x + 0")
# Those that give others of the same size.
_OTHER = ("x[::-1]", "np.flip(x, -1)", "np.sort(x, -1)", "np.roll(x, 1, 0)")
# Samplers of numbers in [0, 1), given a shape, a dtype and a seed.
_STATEFUL = (
    "tf.random_uniform({shape}, seed={seed}, dtype=tf.{dtype})",
    "tf.sigmoid(tf.random_normal({shape}, seed={seed}, dtype=tf.{dtype}))",
    "tf.sigmoid(tf.truncated_normal({shape}, seed={seed}, dtype=tf.{dtype}))",
)
_STATELESS = (
    "tf.random.stateless_uniform({shape}, [{seed}, 3], dtype=tf.{dtype})",
    "tf.sigmoid(tf.random.stateless_normal({shape}, [{seed}, 3], dtype=tf.{dtype}))",
)


def _static(sizes: Sizes) -> list[int | None]:
    return [size.fixed for size in sizes]


def _named(w: Writer, letter: str, text: str) -> str:
    """A line whose name only the next lines use."""
    name = w.fresh(letter)
    w.line(f"{name} = {text}")
    return name


def _shaped(w: Writer, text: str, value: Value, sizes: Sizes | None = None, **ends: float) -> Value:
    """A value whose shape the graph does not know, or is told in one of several ways."""
    sizes = value.sizes if sizes is None else sizes
    how = w.random.randrange(4)
    if how == 0:
        text = f"tf.ensure_shape({text}, {_static(sizes)})"
    elif how == 1 and sizes == value.sizes:
        text = f"tf.reshape({text}, tf.shape({value.name}))"
    found = w.like(text, value, sizes=sizes, **ends)
    if how == 2 or (how == 1 and sizes != value.sizes):
        w.line(f"{found.name}.set_shape({_static(sizes)})")
    return found


def called_back(w: Writer) -> None:
    """What a function of Python gives for a value: itself, a view of it, something in its order."""
    value = w.pick()
    if value is None:
        return
    texts = [*_SAME, *_OTHER] if value.ndim and value.sizes[-1].least else ["x", "x.copy()"]
    texts = [text for text in texts if value.dtype != "bool" or "+ 0" not in text]
    stateful = w.random.choice(["", ", stateful=False"])
    function = f"lambda x: {w.random.choice(texts)}"
    w.marks.add("python")
    _shaped(w, f"tf.py_func({function}, [{value.name}], {value.name}.dtype{stateful})", value)


def called_with_two(w: Writer) -> None:
    """A function of Python that gives two results, one of them turned round."""
    value, other = w.pick(lambda v: v.ndim >= 1), w.pick(lambda v: v.dtype != "bool")
    if value is None or other is None:
        return
    w.marks.add("python")
    first, second = w.fresh("a"), w.fresh("b")
    given = f"[{value.name}, {other.name}], [{value.name}.dtype, {other.name}.dtype]"
    w.line(f"{first}, {second} = tf.py_func(lambda x, y: (x.T, y), {given})")
    _shaped(w, first, value, value.sizes[::-1])
    _shaped(w, second, other)


def selected(w: Writer) -> None:
    """Some of the elements, of which the run knows how many; changed, and put where they were."""
    value = w.pick(lambda v: 1 <= v.ndim <= 3 and v.dtype != "bool" and v.largest <= 90)
    if value is None:
        return
    down = f"tf.floor({value.name})" if value.is_float else value.name
    flags = f"tf.equal(tf.floormod(tf.cast({down}, tf.int32), 2), 0)"
    if not value.is_exact:
        rows = f"tf.range(tf.size({value.name}))"
        flags = f"tf.reshape(tf.equal(tf.floormod({rows}, 2), 0), tf.shape({value.name}))"
    flags = _named(w, "flags", flags)
    at, some = w.fresh("at"), w.fresh("some")
    w.line(f"{at} = tf.where({flags})")
    w.line(f"{some} = tf.boolean_mask({value.name}, {flags})")
    if value.is_float:
        w.line(f"{some} = tf.sin({some})" if w.chance(0.5) else f"{some} = {some} * 0.5")
    shape = f"tf.shape({value.name}, out_type=tf.int64)"
    back = f"tf.scatter_nd({at}, {some}, {shape})"
    total = f"tf.clip_by_value(tf.reduce_sum({some}), -90, 90)"
    text, sizes, most = w.random.choice(
        [
            (back, value.sizes, value.largest + 1),
            (f"{back} + {value.name}", value.sizes, 2 * value.largest + 1),
            (total, (), 90),
        ]
    )
    w.like(text, value, sizes=sizes, low=-most, high=most, bits=0 if value.is_int else None)


def found_once(w: Writer) -> None:
    """Numbers as they first occur, computed with, and put where they occur."""
    value = w.pick(lambda v: v.dtype != "bool" and v.is_exact and v.ndim <= 3 and v.largest <= 90)
    if value is None:
        return
    once, at = w.fresh("once"), w.fresh("at")
    w.line(f"{once}, {at} = tf.unique(tf.reshape({value.name}, [-1]))")
    how = w.random.randrange(3)
    if how == 0:
        w.line(f"{once} = {once} * {once} + {once}")
        text = f"tf.reshape(tf.gather({once}, {at}), tf.shape({value.name}))"
        high = value.largest**2 + value.largest
        w.like(text, value, low=-high, high=high, bits=2 * (value.bits or 0))
    elif how == 1:
        text = f"tf.clip_by_value(tf.reduce_sum({once}), -90, 90)"
        w.like(text, value, sizes=(), low=-90, high=90)
    else:
        text = f"tf.cast(tf.size({once}), tf.int32) - tf.size(tf.range(tf.size({once})))"
        w.add(text, "int32", (), 0, 0, 0)


def sampled(w: Writer) -> None:
    """Numbers drawn from a seed, of a value's shape."""
    value = w.pick(lambda v: v.is_float)
    if value is None:
        return
    name, seed = value.name, w.random.randint(1, 9)
    # (Turns of a loop may draw from one stream in any order.)
    sampler = w.random.choice(_STATELESS if w.indent else [*_STATEFUL, *_STATELESS])
    w.marks.add("random")
    text = sampler.format(shape=f"tf.shape({name})", dtype=value.dtype, seed=seed)
    if w.chance(0.5):
        low, high = min(value.low, 0.0), max(value.high, 0.0)
        w.like(f"{name} * {text}", value, low=low, high=high, bits=None)
    else:
        _shaped(w, text, value, low=0.0, high=1.0)


def shuffled(w: Writer) -> None:
    """The rows in an order that is drawn."""
    value = w.pick(lambda v: v.ndim >= 1)
    if value is not None and not w.indent:
        w.marks.add("random")
        w.like(f"tf.random_shuffle({value.name}, seed={w.random.randint(1, 9)})", value)


def queued(w: Writer) -> None:
    """A value that goes through a queue."""
    value, other = w.pick(), w.pick()
    if value is None or other is None or w.indent:
        return
    queue, done = w.fresh("queue"), w.fresh("done")
    w.marks.add("queue")
    types = f"[{value.name}.dtype, {other.name}.dtype]"
    w.line(f"{queue} = tf.FIFOQueue(100, {types}, shared_name='{queue}')")
    w.line(f"{done} = {queue}.enqueue([{value.name}, {other.name}])")
    first, second = w.fresh("a"), w.fresh("b")
    w.line(f"with tf.control_dependencies([{done}]):")
    w.line(f"    {first}, {second} = {queue}.dequeue()")
    _shaped(w, first, value)
    _shaped(w, second, other)


def taken_in_turns(w: Writer) -> None:
    """Rows that a loop takes from a queue, or from a dataset, one in each turn."""
    value = w.pick(lambda v: v.is_float and 1 <= v.ndim <= 3 and v.largest <= 30)
    if value is None or w.indent or not value.sizes[0].least:
        return
    body, found, rows, take = w.fresh("f"), w.fresh("found"), w.fresh("n"), w.fresh("take")
    w.marks.add("queue")
    shape = _static(value.sizes[1:])
    if w.chance(0.5):
        queue = _named(w, "queue", f"tf.FIFOQueue(1000, [tf.{value.dtype}], shared_name='{take}')")
        w.line(f"with tf.control_dependencies([{queue}.enqueue({value.name}[0])]):")
        w.line(f"    {rows} = tf.minimum(tf.shape({value.name})[0], 1)")
        w.line(f"{take} = {queue}.dequeue")
    else:
        numbers = f"np.arange(40, dtype=np.{value.dtype}) * 0.25"
        data = f"tf.data.Dataset.from_tensor_slices({numbers}).repeat()"
        w.line(f"{take} = tf.data.make_one_shot_iterator({data}).get_next")
        w.line(f"{rows} = tf.shape({value.name})[0]")
    w.line(f"def {body}(i, a):")
    w.line("    with tf.control_dependencies([a]):")
    w.line(f"        x = tf.convert_to_tensor({take}())")
    w.line("    a = tf.sin(a * 0.5 + x)")
    w.line(f"    a.set_shape({shape})")
    w.line("    return i + 1, a")
    start = f"[tf.constant(0), tf.zeros_like({value.name}[0])]"
    w.line(f"{found} = tf.while_loop(lambda i, a: i < {rows}, {body}, {start})")
    w.marks.add("loop")
    w.like(f"{found}[1]", value, sizes=value.sizes[1:], low=-1, high=1, bits=None)


def text_carried(w: Writer) -> None:
    """A text that grows in a loop, beside numbers; what it says in the end."""
    value = w.pick(lambda v: v.is_float and v.largest <= 90)
    count = w.pick(lambda v: v.is_int and v.ndim == 0 and v.low >= 0 and v.high <= 8)
    if value is None:
        return
    limit = count.name if count is not None else "2"
    body, found = w.fresh("f"), w.fresh("found")
    w.line(f"def {body}(i, t, x):")
    w.line("    t = tf.string_join([t, tf.as_string(i)])")
    grown = w.random.choice(["tf.strings.length(t)", "tf.string_to_number(t, tf.int32) % 3"])
    w.line(f"    return i + 1, t, tf.sin(x) + tf.cast({grown}, x.dtype)")
    start = f"[tf.cast(0, tf.cast({limit}, tf.int32).dtype), tf.constant('1'), {value.name}]"
    w.line(
        f"{found} = tf.while_loop(lambda i, t, x: i < tf.cast({limit}, i.dtype), {body}, {start})"
    )
    w.marks.add("loop")
    w.like(f"{found}[2]", value, low=-92, high=92, bits=None)
    w.add(f"tf.strings.length({found}[1])", "int32", (), 1, 9, 0)


def text_chosen(w: Writer) -> None:
    """Texts of two branches, and the numbers that they are."""
    value = w.pick(lambda v: v.is_int and v.ndim <= 2)
    if value is None:
        return
    flag = w.pick(lambda v: v.dtype == "bool" and v.ndim == 0)
    pred = flag.name if flag is not None else "flag"
    double = f"lambda: tf.as_string({value.name} * 2)"
    text = _named(w, "text", f"tf.cond({pred}, lambda: tf.as_string({value.name}), {double})")
    low, high = min(value.low, 2 * value.low), max(value.high, 2 * value.high)
    made = f"tf.string_to_number({text}, tf.int32)"
    w.add(made, "int32", value.sizes, low, high, 0)


def array_across(w: Writer) -> None:
    """A tensor array with rows from before something on the host and from behind it."""
    value = w.pick(lambda v: 1 <= v.ndim <= 3 and v.sizes[0].least >= 1 and v.dtype != "bool")
    if value is None:
        return
    rows = _named(w, "n", f"tf.shape({value.name})[0]")
    array = w.fresh("array")
    options = w.random.choice(["", ", dynamic_size=True", ", infer_shape=False"])
    made = f"tf.TensorArray(tf.{value.dtype}, {rows}, clear_after_read=False{options})"
    w.line(f"{array} = {made}.unstack({value.name})")
    sizes = value.sizes
    row = Value(f"{array}_row", value.dtype, value.sizes[1:], value.low, value.high, value.bits)
    w.line(f"{row.name} = {array}.read({w.random.choice(['0', rows + ' - 1'])})")
    w.values.append(row)
    if "infer_shape=False" in options:
        w.line(f"{row.name}.set_shape({_static(row.sizes)})")
    w.random.choice([called_back, selected, found_once, text_chosen, called_with_two])(w)
    if "dynamic" in options:
        back = w.pick(lambda v: v.dtype == row.dtype and v.sizes == row.sizes) or row
        flag = w.pick(lambda v: v.dtype == "bool" and v.ndim == 0)
        pred = flag.name if flag is not None else "flag"
        again = f"tf.cond({pred}, lambda: {back.name}, lambda: {row.name})"
        w.line(f"{array} = {array}.write({rows}, {again})")
        sizes = (sizes[0].plus(ONE), *sizes[1:])
        low, high = min(back.low, row.low), max(back.high, row.high)
        bits = None if None in (back.bits, row.bits) else max(back.bits or 0, row.bits or 0)
    else:
        low, high, bits = value.low, value.high, value.bits
    text, sizes = w.random.choice(
        [
            (f"{array}.stack()", sizes),
            (f"{array}.gather([0, {rows} - 1])", (Size(0, 2), *sizes[1:])),
            (f"{array}.read({rows} - 1)", sizes[1:]),
        ]
    )
    found = w.like(text, value, sizes=sizes, low=low, high=high, bits=bits)
    w.line(f"{found.name}.set_shape({_static(sizes)})")


# What a turn of a loop does to a row `x`, given how many turns there were.
_TURNS = (
    "x = tf.py_func(lambda a: a * 0.5, [x], x.dtype)",
    "x = tf.py_func(lambda a: a[::-1], [x + 1], x.dtype)",
    "x = tf.scatter_nd(tf.where(x > 0), tf.boolean_mask(x, x > 0), tf.shape(x, out_type=tf.int64))",
    "x = x + tf.cast(tf.size(tf.unique(tf.cast(tf.floor(x * 0), tf.int32))[0]), x.dtype)",
    "x = x * tf.string_to_number(tf.as_string(i), x.dtype)",
    "x = tf.sin(x)",
    "x = tf.cond(i > 1, lambda: tf.py_func(lambda a: a + 1, [x], x.dtype), lambda: tf.cos(x))",
    "x = tf.cond(i > 1, lambda: tf.boolean_mask(x, x >= x), lambda: x * 0.5)",
)


def turned_on_host(w: Writer) -> None:
    """Rows of an array that a loop reads, hands to the host, and writes into another one."""
    value = w.pick(
        lambda v: v.is_float and v.ndim == 2 and v.largest <= 30 and v.sizes[0].least >= 1
    )
    if value is None:
        return
    name = value.name
    body, there, found, rows = w.fresh("f"), w.fresh("there"), w.fresh("found"), w.fresh("n")
    w.line(f"{rows} = tf.shape({name})[0]")
    array = f"tf.TensorArray(tf.{value.dtype}, {rows}, element_shape={_static(value.sizes[1:])}"
    w.line(f"{there} = {array}).unstack({name})")
    w.line(f"def {body}(i, a, out):")
    w.line(f"    x = {there}.read(i)")
    turns = w.random.choices(_TURNS, k=w.random.randint(1, 3))
    if any("py_func" in turn for turn in turns):
        w.marks.add("python")
    for turn in turns:
        w.line(f"    {turn}")
    w.line(f"    x.set_shape({_static(value.sizes[1:])})")
    w.line("    a = tf.tanh(a + x)")
    w.line(f"    return i + 1, a, out.write({w.random.choice(['i', f'{rows} - 1 - i'])}, a)")
    start = f"[tf.constant(0), tf.zeros_like({name}[0]), {array})]"
    w.line(f"{found} = tf.while_loop(lambda i, a, out: i < {rows}, {body}, {start})")
    w.marks.add("loop")
    text, sizes = w.random.choice([(f"{found}[2].stack()", value.sizes), (f"{found}[1]", None)])
    sizes = value.sizes[1:] if sizes is None else sizes
    w.like(text, value, sizes=sizes, low=-1, high=1, bits=None)


def changed_in_turns(w: Writer) -> None:
    """A variable that each turn of a loop changes, by what the turn before read of it."""
    if not w.variables or w.indent:
        return
    variable = w.random.choice(w.variables)
    name, body, found = variable.name, w.fresh("f"), w.fresh("found")
    how = w.random.choice(["assign", "assign_add", "assign_sub"])
    effects = f"[{w.effect}]" if w.effect is not None else "[]"
    w.line(f"def {body}(i, a):")
    w.line("    with tf.control_dependencies([a]):")
    w.line(f"        done = {name}.{how}(tf.cos(a) * 0.5)")
    w.line("    with tf.control_dependencies([done]):")
    w.line(f"        a = {name}.read_value() + 0.0")
    if w.chance(0.4):
        w.marks.add("python")
        w.line("    a = tf.py_func(lambda x: x * 0.5, [a], a.dtype)")
        w.line(f"    a.set_shape({_static(variable.sizes)})")
    w.line("    return i + 1, tf.sin(a)")
    w.line(f"with tf.control_dependencies({effects}):")
    start = f"[tf.constant(0), {name}.read_value() + 0.0]"
    w.line(f"    {found} = tf.while_loop(lambda i, a: i < k, {body}, {start})")
    w.marks.add("loop")
    after = w.like(f"tf.identity({found}[1])", variable, low=-90, high=90)
    w.effect = after.name


HOSTS: list[Step] = [
    *(called_back, called_back, called_with_two, selected, selected, found_once, found_once),
    *(sampled, sampled, shuffled, queued, text_carried, text_chosen, array_across, array_across),
    *(turned_on_host, turned_on_host, changed_in_turns, taken_in_turns),
]
