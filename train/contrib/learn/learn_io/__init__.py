# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.learn.io`: data for estimators, from arrays, frames, generators and files."""
