"""Objects of a cluster on the command line: their names, their text, and options for their place."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from sparkgen.cluster import Place
from sparkgen.terminal import escaped_json
from sparkgen.yamltext import dump


def full_name(item: Mapping[str, Any]) -> str:
    """Returns an object's name as kubectl prints it: `job.batch/pi-51bb888d`, `configmap/pi-tuning`."""
    group, slash, _ = str(item["apiVersion"]).partition("/")
    kind = str(item["kind"]).lower()
    return f"{kind}{f'.{group}' if slash else ''}/{item['metadata']['name']}"


def options(place: Place, namespace: str) -> str:
    """Returns the options of another command for the same place, with a blank in front."""
    given = {"-n": namespace, "--context": place.context, "--kubeconfig": place.kubeconfig}
    return "".join(f" {name} {shlex.quote(text)}" for name, text in given.items() if text)


def objects_text(items: Sequence[Mapping[str, Any]], form: str) -> str:
    """Returns objects as JSON or YAML, as one List if there are several; without their managedFields."""
    shown = [_shown(item) for item in items]
    value = shown[0] if len(shown) == 1 else {"apiVersion": "v1", "kind": "List", "items": shown}
    if form == "json":
        return escaped_json(json.dumps(value, indent=2)) + "\n"
    return dump(value)


def _shown(item: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
    return {**item, "metadata": metadata}
