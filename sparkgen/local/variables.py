"""The environment of a container of a pod, for a process of this machine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)")

OURS = re.compile(r"(SPARK|PYSPARK|SPARKGEN)_|(_SPARK_AUTH_SECRET|HADOOP_CONF_DIR|YARN_CONF_DIR|PYTHONPATH)$")
"""Variables that change what Spark does: only the document and sparkgen may set them."""


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables from the user's own environment for processes: all but Spark's."""
    return {name: text for name, text in environment.items() if not OURS.match(name)}


def resolved(
    variables: Iterable[Mapping[str, Any]],
    fields: Mapping[str, str],
    secrets: Mapping[tuple[str, str], str],
) -> dict[str, str]:
    """The variables of a container, as a kubelet would set them.

    `fields`: values of the downward API, by path; `secrets`: values by name and key. Variables with other
    sources are left out, because their values are only in the cluster.
    """
    found: dict[str, str] = {}
    for variable in variables:
        text = _value(variable, fields, secrets)
        if text is not None:
            found[variable["name"]] = expanded(text, found)
    return found


def _value(
    variable: Mapping[str, Any], fields: Mapping[str, str], secrets: Mapping[tuple[str, str], str]
) -> str | None:
    source = variable.get("valueFrom")
    if source is None:
        return str(variable.get("value") or "")
    if reference := source.get("fieldRef"):
        return fields.get(reference["fieldPath"])
    if reference := source.get("secretKeyRef"):
        return secrets.get((reference["name"], reference["key"]))
    return None


def expanded(text: str, known: Mapping[str, str]) -> str:
    """Replaces `$(NAME)` if NAME was set before; `$$` is a dollar sign (as Kubernetes expands variables)."""

    def one(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return known.get(match[1], match[0])

    return _REFERENCE.sub(one, text)
