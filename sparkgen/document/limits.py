"""How much one input may ask for. Beyond a limit the input is refused with SG005, never half read."""

from __future__ import annotations

MAX_FILE_BYTES = 1024 * 1024
"""Bytes of one file: 600 applications of 60 lines. Kubernetes itself stores no object above 1.5 MiB."""

MAX_DEPTH = 64
"""Lists and mappings inside each other. The deepest path in a pod is 14; 64 keeps every recursive reader of
the parsed value far below Python's recursion limit."""

MAX_NODES = 20_000
"""Values of one document, aliases counted as often as they are used. Real documents have some hundreds; ten
lines of nested aliases have 10^9."""

MAX_SET_KEYS = 31
"""Keys in one `--set` path: Helm allows 30 points between them (strvals.MaxNestedNameLevel)."""
