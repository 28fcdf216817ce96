"""Reads Spark's event logs into values that describe what an application did, in bounded memory.

The libraries for this are an optional extra, `sparkgen[whatif]`; only this package imports them.
"""

from __future__ import annotations

from sparkgen.eventlog.errors import EventLogError
from sparkgen.eventlog.read import read_recording, silent
from sparkgen.eventlog.recording import Executor, Job, Recording, Stage, Tasks

__all__ = ["EventLogError", "Executor", "Job", "Recording", "Stage", "Tasks", "read_recording", "silent"]
