# SPDX-License-Identifier: Apache-2.0
"""What to do about an error: a table of messages and hints, which errors get as notes (PEP 678).

Python prints notes below the message, which itself stays TensorFlow's: programs match on it.
Imports nothing from the package.
"""

from __future__ import annotations

import re
from typing import TypeVar

Error = TypeVar("Error", bound=BaseException)

_START = "Hint: "
# Messages may quote whole arrays; what tells them apart comes early.
_LOOKED_AT = 2000

# How a message is recognized, and what mends its cause.  The first that fits is given.
HINTS: tuple[tuple[str, str], ...] = (
    (
        r"Rank of labels|shape of labels \(received",
        "labels hold one class number for each row of logits; use "
        "tf.nn.softmax_cross_entropy_with_logits for labels that are one-hot or probabilities",
    ),
    (
        r"Shape must be (at least |at most )?rank|Expected dimension in the range|not in the "
        r"interval \[|Invalid reduction dimension|expected (min_|max_)?ndim=|Can not squeeze|"
        r"to have rank at least",
        "an axis counts from 0, or from -1 at the end; tf.expand_dims adds a dimension, "
        "tf.squeeze removes one of size 1",
    ),
    (
        r"Cannot reshape a tensor|Input to reshape is a tensor",
        "a reshape keeps the number of elements; one size may be -1, for what remains",
    ),
    (
        r"Second-order gradient for while loops not supported",
        "loops that are built after tf.enable_control_flow_v2() have gradients of any order",
    ),
    (
        r"Number of ways to split",
        "tf.split takes the sizes of the parts, too, as a list; tf.unstack takes single elements",
    ),
    (
        r"slice index -?\d+ of dimension \d+ out of bounds",
        "indices count from 0, or from -1 at the end; tf.shape(tensor) is the size in a run",
    ),
    (
        r"not a multiple of input depth",
        "the filter's third size is the number of channels of the input, which come last (NHWC) "
        "or second (data_format='NCHW')",
    ),
    (
        r"[Dd]imensions? .*must be equal|Incompatible shapes|size-incompatible|"
        r"Shapes .* (are not compatible|are incompatible|must be equal)",
        "make the sizes agree (a size of 1 is broadcast by arithmetic): tf.reshape, "
        "tf.transpose and tf.expand_dims change shapes",
    ),
    (
        r"does not match type|does not match expected type|Tensor conversion requested dtype|"
        r"must have the same (d?type)|have types? .* that (do|does)n't match|not all match",
        "convert with tf.cast(tensor, dtype), make constants with tf.constant(value, dtype) and "
        "arrays with astype",
    ),
    (
        r"not in list of allowed values",
        "this op does not take this type; tf.cast converts numbers, tf.strings.to_number strings",
    ),
    (
        r"You must feed a value for placeholder",
        "give the value with run(fetches, feed_dict={placeholder: value}), or make it with "
        "tf.placeholder_with_default",
    ),
    (
        r"Cannot feed value of shape",
        "reshape the value, or make the placeholder with None for sizes that vary",
    ),
    (
        r"The value of a feed cannot be a tf\.Tensor",
        "feed the tensor's value, session.run(tensor), or use the tensor in place of the "
        "placeholder when building the graph",
    ),
    (
        r"Cannot interpret feed_dict key",
        "keys are tensors, or their names with the output's number, as in 'x:0'",
    ),
    (
        r"uninitialized value|Container: .*[Dd]oes not exist|was uninitialized",
        "run tf.global_variables_initializer() in this session first, or restore a checkpoint; "
        "make the initializer after all variables",
    ),
    (
        r"already exists, disallowed",
        "share it with tf.variable_scope(name, reuse=tf.AUTO_REUSE), give it another name or, to "
        "build the graph anew, call tf.reset_default_graph() first",
    ),
    (
        r"does not exist, or was not created with tf\.get_variable",
        "variables made by tf.Variable cannot be shared by name; create it with tf.get_variable "
        "first, in the same scope, or pass reuse=tf.AUTO_REUSE",
    ),
    (
        r"Trying to share variable",
        "ask for the shape and type that the variable has, or give the other one another name",
    ),
    (
        r"not an element of this graph|must be from the same graph|not from the passed-in graph|"
        r"graph is different from the session's",
        "build and run within one graph: with graph.as_default(), and tf.Session(graph=graph)",
    ),
    (
        r"refers to an? (Operation|Tensor)|looks like an? \(invalid\)|appears to refer to|"
        r"is not a valid one\. Tensor names",
        "names of tensors end in the output's number, as in 'dense/BiasAdd:0'; those of the graph "
        "are listed by [op.name for op in graph.get_operations()]",
    ),
    (
        r"Fetch argument .* has invalid type",
        "fetch tensors, operations, variables, their names, or lists, tuples and dicts of them; "
        "a None often is a function's missing return, or a gradient that has no path",
    ),
    (
        r"No gradients provided|No variables to optimize",
        "the loss must depend on trainable variables by ops that have gradients (casts to "
        "integers, argmax and tf.stop_gradient end a path); look at tf.gradients(loss, variables)",
    ),
    (
        r"as a Python `bool`",
        "choose in the graph with tf.cond or tf.where, compare with None by `is None`, or take "
        "the value of session.run(tensor)",
    ),
    (
        r"iterating over `tf\.Tensor`",
        "use tf.unstack(tensor) for a known size, tf.map_fn or tf.while_loop, or the value of "
        "session.run(tensor)",
    ),
    (
        r"Cannot convert a symbolic Tensor",
        "a tensor has a value in a run only: session.run(tensor); use tf's functions in place "
        "of NumPy's to compute with it",
    ),
    (
        r"len is not well defined",
        "tensor.shape[0] is the size if the graph says it, tf.shape(tensor)[0] is it in a run",
    ),
    (
        r"No default session is registered",
        "call it within `with tf.Session() as session:`, or use session.run(tensor)",
    ),
    (
        r"not found in checkpoint",
        "tf.train.list_variables(path) lists what the checkpoint holds; "
        "tf.train.Saver({name_there: variable}) restores by other names, Saver(var_list) a part",
    ),
    (
        r"Unsuccessful TensorSliceReader|is not a valid checkpoint|"
        r"Can't load save_path when it is None",
        "tf.train.latest_checkpoint(folder) finds the path, which has no suffix such as .index",
    ),
    (r"No variables to save", "make the Saver after the variables"),
    (
        r"Attempted to use a closed Session|Session has been closed",
        "run within the session's with block, or open another session",
    ),
    (
        r"Session graph is empty",
        "the session runs the graph that was the default one when it was made; pass it as "
        "tf.Session(graph=graph)",
    ),
    (
        r"Graph is finalized",
        "build all ops, also savers and initializers, before the loop and before "
        "MonitoredSession starts",
    ),
    (
        r"is not a valid (scope|node) name",
        "names are made of letters, digits and _.-/ (and \\ and > for nodes), and start with a "
        "letter, digit or dot",
    ),
    (
        r"The last dimension of the inputs to",
        "weights need the size: tensor.set_shape([None, size]) or tf.reshape states it",
    ),
    (
        r"initial_value must have a shape specified",
        "give an initial value of known shape, or pass validate_shape=False",
    ),
    (
        r"The initializer passed is not valid",
        "pass a shape: tf.get_variable(name, shape), or a constant as the initializer",
    ),
    (
        r"Argument must be a dense tensor",
        "all rows must have the same length; pad the shorter ones",
    ),
    (
        r"None values not supported",
        "an argument is None: a function may have returned nothing, or a gradient has no path",
    ),
    (
        r"Expected \w+, got .* of type",
        "convert the value in Python, or ask for the type that it has",
    ),
    (
        r"is not in \[0, ",
        "indices must be less than the size of the dimension that they index",
    ),
    (
        r"enters the loop with shape",
        "pass shape_invariants=[tf.TensorShape([None]), …] for shapes that change",
    ),
    (
        r"two structures don't have the same|Incompatible return (types|values) of true_fn",
        "functions that are given together return the same structure: as many tensors, nested "
        "in the same way",
    ),
)


def hint(message: str) -> str | None:
    """What to do about an error with a message."""
    start = message[:_LOOKED_AT]
    return next((text for pattern, text in HINTS if re.search(pattern, start)), None)


def add_hint(error: BaseException) -> None:
    """Adds what to do about an error as a note, once, if it is known."""
    if any(note.startswith(_START) for note in getattr(error, "__notes__", ())):
        return
    # Of an error in a run: without the sources that its text quotes.
    text = hint(str(getattr(error, "message", None) or error))
    if text is not None:
        error.add_note(f"{_START}{text}.")


def hinted(kind: type[Error], message: str) -> Error:
    """An error of a class, with what to do about it."""
    error = kind(message)
    add_hint(error)
    return error
