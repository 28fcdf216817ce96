"""Objects that are nested as deeply as Kubernetes stores them: 10,000 levels of metadata.managedFields."""

from __future__ import annotations

import json
from typing import Any

LEVELS = 9_900
DEEP = "as deep as it may be"
"""The place of the deep value in `as_json`."""
MANAGED = [{"manager": "kubectl-create", "fieldsType": "FieldsV1", "fieldsV1": DEEP}]


def as_json(value: Any, levels: int = LEVELS) -> bytes:
    """Returns JSON with objects of so many levels in the place of each DEEP."""
    return json.dumps(value).replace(json.dumps(DEEP), '{"f:a":' * levels + "{}" + "}" * levels).encode()


FIELDS = 20_000


def wide(levels: int) -> bytes:
    """Returns JSON with so many FIELDS, each of which is an object just below so many levels."""
    inner = ",".join(f'"f:{number:06}":{{}}' for number in range(FIELDS))
    return f"{'[' * (levels - 1)}{{{inner}}}{']' * (levels - 1)}".encode()
