"""What keeps an application from running on this machine."""

from __future__ import annotations

from sparkgen.errors import SparkgenError


class CannotRun(SparkgenError):
    """The machine lacks something, or the document names what is not here. The text says what to do."""

    exit_code = 1
