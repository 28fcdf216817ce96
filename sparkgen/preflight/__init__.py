"""Finds what would go wrong if an application were applied now.

`look_around` and `gather` send requests to the API server, and change nothing. `judge` is pure: it runs all
checks on the facts that were gathered, and returns their findings.
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
