# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.util`: the loader of op libraries, which refuses them; the rest is in io/."""
