# SPDX-License-Identifier: Apache-2.0
"""What programs of TensorFlow 1's years expect of Python and its libraries and do not find today.

`table.py` lists it, `hook.py` puts it where it is missing, `rewriting.py` changes calls in the
program's own files, `run` and `check` of the command line ask for it.
"""
