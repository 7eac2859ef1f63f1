# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.graph_editor`: parts of a graph selected, copied, and connected in other ways."""
