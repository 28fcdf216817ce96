"""What would go wrong if an application were applied now: gathered from the cluster, then decided purely.

`gather` asks the API server and changes nothing; `judge` turns what it said into findings, all at once.
"""

from __future__ import annotations

from sparkgen.preflight.gather import gather
from sparkgen.preflight.judge import judge
from sparkgen.preflight.values import Facts, Finding, Reference, Unknown, Wanted

__all__ = ["Facts", "Finding", "Reference", "Unknown", "Wanted", "gather", "judge"]
