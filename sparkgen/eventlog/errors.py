"""The errors of reading an event log."""

from __future__ import annotations

from sparkgen.errors import SparkgenError

INSTALL = "pip install 'sparkgen[whatif]'"


class EventLogError(SparkgenError):
    """A log cannot be read, or has no application."""


def not_installed() -> EventLogError:
    """The error for a missing library of the extra."""
    return EventLogError(f"this command needs a library to read event logs; run: {INSTALL}")
