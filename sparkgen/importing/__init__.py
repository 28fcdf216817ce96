"""Documents of other tools -> documents of sparkgen, with a report of what could not be carried over.

One declarative table per format (kubeflow.py, apache.py, submit.py; conf.py for Spark properties) says what
becomes of each field; convert.py has the steps, which are the same for all.
"""

from __future__ import annotations

from sparkgen.importing.draft import Choices
from sparkgen.importing.entry import FINDINGS, Entry, Outcome
from sparkgen.importing.imported import Imported, LeftAlone, Result
from sparkgen.importing.inputs import import_all

__all__ = ["FINDINGS", "Choices", "Entry", "Imported", "LeftAlone", "Outcome", "Result", "import_all"]
