"""Declares `sparkgen apply` for typer; applying.py does its work."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from sparkgen.cli.options import (
    CaFile,
    Context,
    Kubeconfig,
    Lock,
    Namespace,
    ObjectForm,
    ObjectsForm,
    Quiet,
    Set,
    SetString,
    Sources,
    Target,
    Values,
    requested,
)
from sparkgen.cli.request import Apply

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


def command(
    sources: Sources,
    values: Values = None,
    sets: Set = None,
    set_strings: SetString = None,
    lock: Lock = "",
    no_push: Annotated[
        bool,
        typer.Option(
            "--no-push",
            help=("Fail if local files have changed since the last push, instead of pushing them."),
        ),
    ] = False,
    ca_file: CaFile = "",
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    target: Annotated[
        Target | None,
        typer.Option(
            "--target",
            help="Tool that applies the manifests. Overrides metadata.target.",
            case_sensitive=False,
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; print what would be created or changed.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the run to end, and exit with its exit code.")
    ] = False,
    timeout: Annotated[
        str,
        typer.Option(
            "--timeout",
            metavar="TIME",
            help="With --wait: maximum time to wait, for example 30m. After this time, exit 124.",
            show_default=False,
        ),
    ] = "",
    skip_preflight: Annotated[
        bool, typer.Option("--skip-preflight", help="Do not check the cluster first.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force-conflicts", help="Take over fields that another tool or user applied."),
    ] = False,
    take: Annotated[
        bool,
        typer.Option("--take-ownership", help="Take over existing objects that sparkgen did not create."),
    ] = False,
    form: ObjectsForm = ObjectForm.TEXT,
    quiet: Quiet = False,
) -> None:
    """Apply documents."""
    asked = requested(sources, values, sets, set_strings, target=target, lock=lock)
    request = replace(asked, quiet=quiet, namespace=namespace)
    options = Apply(
        kubeconfig,
        context,
        dry_run,
        wait,
        timeout,
        skip_preflight=skip_preflight,
        force=force,
        take=take,
        form=form.value,
        push=not no_push,
        ca_file=ca_file,
    )
    from sparkgen.cli import applying  # noqa: PLC0415 - not for every command's help

    if code := applying.apply(request, options):
        raise typer.Exit(code)
