"""Converts documents of other tools to documents of sparkgen, and reports what could not be kept.

One table per format (kubeflow.py, apache.py, submit.py; conf.py for Spark properties) says what becomes of
each field. convert.py has the steps, which are the same for all formats.
"""

from __future__ import annotations

from sparkgen.importing.draft import Choices
from sparkgen.importing.entry import FINDINGS, Entry, Outcome
from sparkgen.importing.imported import Imported, LeftAlone, Result
from sparkgen.importing.inputs import import_all

__all__ = ["FINDINGS", "Choices", "Entry", "Imported", "LeftAlone", "Outcome", "Result", "import_all"]
