"""Measuring whether we are right: metrics, data-set readers, runs of many cases and their comparison.

Does not know: how the graph works inside.
"""
