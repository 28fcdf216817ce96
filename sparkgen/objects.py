"""Objects of Kubernetes as JSON has them: what is rendered, applied, and read from a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]
"""An object that is made here, or changed."""

ObjectView = Mapping[str, Any]
"""An object that is only looked at."""
