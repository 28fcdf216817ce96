"""Converts documents of sparkgen to applications of other tools, and reports what could not be kept.

The inverse of sparkgen.importing, with the same engine: one table per format (kubeflow.py, native.py,
apache.py) says what becomes of each field. convert.py has the steps.
"""
