"""Text -> documents: YAML as kubectl and Helm read it, with the line and column of every value.

Start with `load`. The documents that it returns are not yet checked against the schema.
"""

from __future__ import annotations

from sparkgen.document.ignores import Ignore, apply_ignores
from sparkgen.document.load import Loaded, load
from sparkgen.document.node import Document, Node

__all__ = ["Document", "Ignore", "Loaded", "Node", "apply_ignores", "load"]
