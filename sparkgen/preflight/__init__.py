"""What would go wrong if an application were applied now: gathered from the cluster, then decided purely.

`look_around` and `gather` ask the API server, and change nothing; `judge` turns what it said into findings,
all at once.
"""

from __future__ import annotations

from sparkgen.preflight.gather import gather, look_around, read_live
from sparkgen.preflight.judge import judge
from sparkgen.preflight.ownership import ownership
from sparkgen.preflight.values import ClusterFacts, Finding, Live, Reference, Shared, Unknown, Wanted

__all__ = [
    "ClusterFacts",
    "Finding",
    "Live",
    "Reference",
    "Shared",
    "Unknown",
    "Wanted",
    "gather",
    "judge",
    "look_around",
    "ownership",
    "read_live",
]
