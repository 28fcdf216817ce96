"""The error for an application that cannot run on this machine."""

from __future__ import annotations

from sparkgen.errors import SparkgenError


class CannotRun(SparkgenError):
    """The machine lacks something, or a file of the document is not on it. The text says what to do."""

    exit_code = 1
