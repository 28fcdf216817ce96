"""Check manifests against Kubernetes' own schemas, for every version that sparkgen supports.

kubeconform runs once per version, over all documents at once.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from common.cachedir import ToolError
from gotools import gotools
from k8s import kubernetes_schemas

NOT_IN_A_CLUSTER = ("Kustomization",)
"""Kinds that stand beside manifests but are read by a tool, never sent to a cluster."""

SUFFIXES = (".yaml", ".yml", ".json")
"""The files that kubeconform reads."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """What one Kubernetes version (`kubernetes`, "1.30") would refuse: the object, the place, and why."""

    file: str
    kind: str
    name: str
    path: str
    message: str
    kubernetes: str


def check(
    texts: Mapping[str, str], versions: Sequence[str] = kubernetes_schemas.MINOR_VERSIONS
) -> tuple[Finding, ...]:
    """What is wrong with manifests: file name -> YAML stream. Findings carry that name, and are sorted.

    Raises ToolError when there is no document to check: a check of nothing must not look like a success.
    """
    command, schemas = gotools.ensure("kubeconform"), kubernetes_schemas.ensure()
    with tempfile.TemporaryDirectory(prefix="sparkgen-kubeconform-") as folder:
        for name, text in texts.items():
            path = Path(folder, name if name.endswith(SUFFIXES) else f"{name}.yaml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        answers = {version: _run(command, schemas, Path(folder), version) for version in versions}
        found = [one for version, answer in answers.items() for one in read_findings(answer, version)]
        counts = [answer["summary"] for answer in answers.values()]
        if not any(count for one in counts for status, count in one.items() if status != "skipped"):
            raise ToolError(f"no manifest in {', '.join(texts)}: render into it first.")
        return tuple(sorted(replace(one, file=str(Path(one.file).relative_to(folder))) for one in found))


def _run(command: Path, schemas: Path, folder: Path, version: str) -> dict[str, Any]:
    """The JSON answer of kubeconform: `resources` (those with a finding) and `summary` (counts)."""
    done = subprocess.run(
        [
            *(str(command), "-strict", "-summary", "-output", "json"),
            *("-kubernetes-version", kubernetes_schemas.full_version(version)),
            *("-schema-location", str(schemas), "-skip", ",".join(NOT_IN_A_CLUSTER)),
            str(folder),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        said = (done.stderr or done.stdout).strip()
        raise ToolError(f"kubeconform ended with {done.returncode}: {said}") from None
    return answer


def read_findings(answer: Mapping[str, Any], version: str) -> list[Finding]:
    """The findings in kubeconform's answer for one version, in no particular order."""
    found: list[Finding] = []
    for resource in answer["resources"] or ():
        place = (str(resource["filename"]), str(resource["kind"]), str(resource["name"]))
        found.extend(Finding(*place, *cause, version) for cause in causes(str(resource["msg"])))
    return found


def causes(message: str) -> list[tuple[str, str]]:
    """Each (path, reason) in kubeconform's one message about an object.

    The message is a tree on one line, every node starting with "- at '/path': "; the inner nodes only
    say "validation failed". A message without nodes is about the object as a whole.
    """
    nodes = re.split(r"\s+- at '([^']*)': ", message)
    leaves = [
        (path, reason.strip())
        for path, reason in zip(nodes[1::2], nodes[2::2], strict=True)
        if reason.strip() != "validation failed"
    ]
    return leaves or [("", message)]
