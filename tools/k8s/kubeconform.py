"""Check manifests against Kubernetes' own schemas, for every version that sparkgen supports.

    .venv/bin/python tools/k8s/kubeconform.py check DIR_OR_FILE... [--kubernetes 1.30,1.36]

kubeconform runs once per version, over all documents at once. Exit code: 0 nothing found, 1 findings,
2 wrong usage or a tool that could not be had.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # as a script: its neighbours are the tools
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import progress
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


@dataclass(frozen=True, slots=True)
class Report:
    """All findings, sorted, and how many documents were looked at (the same number for each version)."""

    findings: tuple[Finding, ...]
    documents: int


def check(paths: Sequence[Path], versions: Sequence[str] = kubernetes_schemas.MINOR_VERSIONS) -> Report:
    """Check the manifests in `paths` (files; folders with all below them) against each of `versions`.

    Raises ToolError when a path is missing, a version unknown, or there is no document to check: a check of
    nothing must not look like a success.
    """
    _refuse_wrong_usage(paths, versions)
    command, schemas = gotools.ensure("kubeconform"), kubernetes_schemas.ensure()
    findings: list[Finding] = []
    documents = 0
    for version in versions:
        answer = _run(command, schemas, paths, version)
        findings.extend(read_findings(answer, version))
        documents = sum(count for status, count in answer["summary"].items() if status != "skipped")
    if not documents:
        raise ToolError(f"no manifest in {', '.join(map(str, paths))}: render into it first.")
    return Report(tuple(sorted(findings)), documents)


def check_texts(
    texts: Mapping[str, str], versions: Sequence[str] = kubernetes_schemas.MINOR_VERSIONS
) -> tuple[Finding, ...]:
    """What is wrong with manifests given as text: file name -> YAML stream. Findings carry that name."""
    with tempfile.TemporaryDirectory(prefix="sparkgen-kubeconform-") as folder:
        for name, text in texts.items():
            path = Path(folder, name if name.endswith(SUFFIXES) else f"{name}.yaml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        found = check([Path(folder)], versions).findings
        return tuple(replace(one, file=str(Path(one.file).relative_to(folder))) for one in found)


def _refuse_wrong_usage(paths: Sequence[Path], versions: Sequence[str]) -> None:
    for path in paths:
        if not path.exists():
            raise ToolError(f"there is no {path}: give files or folders that are there.")
        if not path.is_dir() and path.suffix not in SUFFIXES:  # kubeconform would pass it over without a word
            raise ToolError(
                f"{path} is not named as a manifest: its name must end with {', '.join(SUFFIXES)}."
            )
    for version in versions:
        if version not in kubernetes_schemas.MINOR_VERSIONS:
            known = ", ".join(kubernetes_schemas.MINOR_VERSIONS)
            raise ToolError(f"no schemas of Kubernetes {version!r}; there are: {known}.")


def _run(command: Path, schemas: Path, paths: Sequence[Path], version: str) -> dict[str, Any]:
    """The JSON answer of kubeconform: `resources` (those with a finding) and `summary` (counts)."""
    done = subprocess.run(
        [
            *(str(command), "-strict", "-summary", "-output", "json"),
            *("-kubernetes-version", kubernetes_schemas.full_version(version)),
            *("-schema-location", str(schemas), "-skip", ",".join(NOT_IN_A_CLUSTER)),
            *map(str, paths),
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


def lines(findings: Sequence[Finding]) -> list[str]:
    """The findings as text: one line each, with all the versions that share it."""
    versions: dict[str, list[str]] = {}
    for found in findings:
        text = f"{found.file}: {found.kind} {found.name}: {found.path or '/'}: {found.message}"
        versions.setdefault(text, []).append(found.kubernetes)
    return [f"{text} (Kubernetes {', '.join(seen)})" for text, seen in versions.items()]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the top of this file."""
    parser = argparse.ArgumentParser(prog="kubeconform.py", description="Check manifests, with no network.")
    commands = parser.add_subparsers(required=True)
    checking = commands.add_parser("check", help="check files, and folders with all below them")
    checking.add_argument("paths", nargs="+", type=Path, metavar="DIR_OR_FILE")
    every = ",".join(kubernetes_schemas.MINOR_VERSIONS)
    checking.add_argument("--kubernetes", default=every, help=f"versions, default {every}")
    options = parser.parse_args(arguments)
    versions = options.kubernetes.split(",")
    try:
        report = check(options.paths, versions)
    except ToolError as error:
        progress.say(f"error: {error}")
        return 2
    for line in lines(report.findings):
        print(line)
    progress.say(f"{report.documents} documents, Kubernetes {', '.join(versions)}: {_outcome(report)}")
    return 1 if report.findings else 0


def _outcome(report: Report) -> str:
    return f"{len(lines(report.findings))} findings" if report.findings else "nothing found"


if __name__ == "__main__":
    sys.exit(main())
