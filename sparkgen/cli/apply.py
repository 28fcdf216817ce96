"""`sparkgen apply`, as typer declares it. What it does is in applying.py."""

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

SUMMARY = "Apply documents to a cluster, after a look at whether it would work."
HELP = """Apply documents to the cluster of the current context: check, render, preflight, server-side apply.

The preflight finds what would go wrong, all at once: the version, the namespace, rights, quota, Pod Security,
policies, missing Secrets and images. It changes nothing, and an error in it stops the apply. A run that is
there already is not run again; a run before it is left alone. Objects that belong to another application, or
that sparkgen did not create, are not touched.

Local files that have changed since they were pushed are pushed first, and the lock is written.

Exit codes: 0 applied, 1 a document or the preflight has errors, 2 wrong usage or a cluster that refuses.
With --wait, that of `sparkgen wait`.
"""
EXAMPLES = """\b
Examples:
  sparkgen apply app.yaml -n analytics
  sparkgen apply app.yaml --wait                # until the run has ended; its exit code
  sparkgen apply app.yaml --dry-run             # the preflight, and what would be created and changed
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
        bool, typer.Option("--no-push", help="Refuse local files that have changed since they were pushed.")
    ] = False,
    ca_file: CaFile = "",
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    target: Annotated[
        Target | None,
        typer.Option(
            "--target",
            help="Who applies the manifests; overrides metadata.target of the documents.",
            case_sensitive=False,
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing: say what would be created and changed.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until the run has ended; its exit code is the command's.")
    ] = False,
    timeout: Annotated[
        str,
        typer.Option(
            "--timeout",
            metavar="TIME",
            help="With --wait: how long at most, as in 30m; then 124.",
            show_default=False,
        ),
    ] = "",
    skip_preflight: Annotated[
        bool, typer.Option("--skip-preflight", help="Apply without a look at the cluster before.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force-conflicts", help="Take over fields that somebody else applied."),
    ] = False,
    take: Annotated[
        bool,
        typer.Option(
            "--take-ownership", help="Take over objects of these names that sparkgen did not create."
        ),
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
