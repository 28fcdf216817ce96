"""Where a release comes from, as an in-toto statement with SLSA's provenance.

https://slsa.dev/spec/v1.0/provenance says what the fields mean. The statement is the same at a second run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from release.names import Names

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"


@dataclass(frozen=True, slots=True)
class Build:
    """A build: the version and commit that it is made from, and whether other changes are in it."""

    version: str
    commit: str
    dirty: bool = False


def statement(
    names: Names, build: Build, files: Mapping[str, str], image: str, environment: Mapping[str, str]
) -> dict[str, Any]:
    """The statement about `files`, name -> SHA-256, and about the image with this digest."""
    subjects = {**files, names.image: image.removeprefix("sha256:")}
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": sha}} for name, sha in sorted(subjects.items())],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": _definition(names, build),
            "runDetails": _details(names, environment),
        },
    }


def _definition(names: Names, build: Build) -> dict[str, Any]:
    parameters: dict[str, Any] = {"command": "make release", "version": build.version}
    if build.dirty:
        parameters["uncommittedChanges"] = True
    source = {"uri": f"git+{names.repository}", "digest": {"gitCommit": build.commit}}
    return {
        "buildType": f"{names.repository}/blob/v{build.version}/docs/verify.md#what-the-provenance-says",
        "externalParameters": parameters,
        "resolvedDependencies": [source],
    }


def _details(names: Names, environment: Mapping[str, str]) -> dict[str, Any]:
    """Who built: the workflow that GitHub names in its variables, or the machine of a person."""
    workflow = environment.get("GITHUB_WORKFLOW_REF")
    if not workflow:
        return {"builder": {"id": f"{names.repository}#local"}}
    server = environment["GITHUB_SERVER_URL"]
    run = f"{environment['GITHUB_REPOSITORY']}/actions/runs/{environment['GITHUB_RUN_ID']}"
    invocation = f"{server}/{run}/attempts/{environment['GITHUB_RUN_ATTEMPT']}"
    return {"builder": {"id": f"{server}/{workflow}"}, "metadata": {"invocationId": invocation}}
