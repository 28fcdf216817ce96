"""Limits for one input. An input that exceeds a limit is refused with SG005, and never partly used."""

from __future__ import annotations

MAX_FILE_BYTES = 1024 * 1024
"""The most bytes of one file: 600 applications of 60 lines. Kubernetes stores no object above 1.5 MiB."""

MAX_DEPTH = 64
"""The most nested lists and mappings. The deepest path in a pod is 14; 64 keeps every recursive reader of the
parsed value far below Python's recursion limit."""

MAX_NODES = 20_000
"""The most values of one document, each alias counted wherever it is used. Real documents have some hundreds;
ten lines of nested aliases have 10^9."""

MAX_CHARACTERS = 4 * MAX_FILE_BYTES
"""The most characters of one document's keys and values, each alias counted wherever it is used: 20,000
aliases of one long text would be gigabytes in what is rendered."""

MAX_SET_KEYS = 31
"""The most keys in one `--set` path: Helm allows 30 dots between them (strvals.MaxNestedNameLevel)."""
