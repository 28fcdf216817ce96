"""Declares `sparkgen apply`; applying.py does its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.cli.option_table import Option, Work, command
from sparkgen.cli.options import (
    CA_FILE,
    CHANGES,
    LOCK,
    OBJECTS_OUTPUT,
    PLACE,
    QUIET,
    SOURCES,
    TARGET,
    TIMEOUT,
)

if TYPE_CHECKING:
    from sparkgen.cli.applying import Apply

SUMMARY = "Check documents against a cluster, then apply them."
HELP = """Apply documents to the cluster of the current context: check, render, preflight, server-side apply.

The preflight looks for everything that would fail: Kubernetes version, namespace, permissions, quota, Pod
Security, admission policies, missing Secrets and images. It changes nothing, and reports all problems at
once. If the preflight finds an error, nothing is applied.

If the run already exists in the cluster, it is not started again. The command does not change earlier runs,
objects that belong to another application, or objects that sparkgen did not create.

If local files have changed since the last push, the command pushes them first, and updates the lock file.

Exit codes: 0 applied, 1 errors in a document or in the preflight, 2 wrong usage or refused by the cluster.
With --wait, the exit code is that of `sparkgen wait`.
"""
EXAMPLES = """\b
Examples:
  sparkgen apply app.yaml -n analytics
  sparkgen apply app.yaml --wait                # wait for the run to end; exit with its exit code
  sparkgen apply app.yaml --dry-run             # preflight, and what would be created or changed
  sparkgen apply apps/ -f prod.yaml --context prod -n prod
  sparkgen apply app.yaml --set spec.run.id=again
"""


def _load() -> Work[Apply]:
    from sparkgen.cli import applying  # noqa: PLC0415 - not for every command's help

    return applying.Apply, applying.apply


COMMAND = command(
    _load,
    SOURCES,
    *CHANGES,
    LOCK,
    Option(
        "no_push",
        "--no-push",
        "Fail if local files have changed since the last push, instead of pushing them.",
    ),
    CA_FILE,
    *PLACE,
    TARGET,
    Option("dry_run", "--dry-run", "Change nothing; print what would be created or changed."),
    Option("wait", "--wait", "Wait for the run to end, and exit with its exit code."),
    TIMEOUT,
    Option("skip_preflight", "--skip-preflight", "Do not check the cluster first."),
    Option("force", "--force-conflicts", "Take over fields that another tool or user applied."),
    Option("take", "--take-ownership", "Take over existing objects that sparkgen did not create."),
    OBJECTS_OUTPUT,
    QUIET,
)
