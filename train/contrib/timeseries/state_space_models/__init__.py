# SPDX-License-Identifier: Apache-2.0
"""State space models of time series: a state that moves linearly, and observations of it.

Kalman's filter (kalman_filter.py) is what they all compute with; a model (state_space_model.py)
states how the state moves, and several together (ensembles.py) are one.
"""
