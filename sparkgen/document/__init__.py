"""Text -> documents: YAML as kubectl and Helm read it, where every value knows its line and column.

`load` is the way in. What it returns is not checked against the schema.
"""

from __future__ import annotations

from sparkgen.document.ignores import Ignore, apply_ignores
from sparkgen.document.load import Loaded, load
from sparkgen.document.node import Document, Node

__all__ = ["Document", "Ignore", "Loaded", "Node", "apply_ignores", "load"]
