"""What goes wrong when an event log is read, in words."""

from __future__ import annotations

from sparkgen.errors import SparkgenError

INSTALL = "pip install 'sparkgen[whatif]'"


class EventLogError(SparkgenError):
    """A log that cannot be read, or in which there is no application."""


def not_installed() -> EventLogError:
    """A library of the extra is missing."""
    return EventLogError(f"this command needs a library to read event logs; run: {INSTALL}")
