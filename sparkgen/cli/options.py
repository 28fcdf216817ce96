"""Arguments and options that several commands share: one name, one meaning, one help text."""

from __future__ import annotations

from sparkgen.cli.option_table import Option

SOURCES = Option(
    "sources",
    "PATH",
    "Documents: files, directories (their .yaml and .yml files), or - for standard input.",
    many=True,
    required=True,
)
VALUES = Option(
    "values",
    "--values -f FILE",
    "Overlay to merge into every document, as Helm merges values. Later overlays win. Repeatable.",
    many=True,
)
SET = Option(
    "sets",
    "--set KEY=VALUE",
    "Set a field, for example spec.executor.instances=4. Overrides overlays. Repeatable.",
    many=True,
)
SET_STRING = Option(
    "set_strings",
    "--set-string KEY=VALUE",
    "Set a field to a string, even if it looks like a number. Repeatable.",
    many=True,
)
CHANGES = (VALUES, SET, SET_STRING)
"""What changes the fields of documents."""
LOCK = Option(
    "lock",
    "--lock FILE",
    "Lock file of pushed local files. Default: FILE.lock.yaml beside a document FILE.yaml.",
)
CA_FILE = Option(
    "ca_file",
    "--ca-file FILE",
    "CA certificates for the registry, as PEM. Default: the certificates of the system.",
)
TARGET = Option(
    "target",
    "--target",
    "Tool that applies the manifests. Overrides metadata.target.",
    choices=("kubectl", "argocd", "flux"),
)
PROBLEM_FORMAT = Option(
    "form",
    "--format",
    "Format of problems; github and sarif are for CI.",
    choices=("text", "json", "github", "sarif"),
    default="text",
)
COLOUR = Option(
    "colour",
    "--color",
    "Use colours. auto: on a terminal, unless NO_COLOR is set.",
    choices=("auto", "always", "never"),
    default="auto",
)
QUIET = Option("quiet", "--quiet -q", "Print only errors, no warnings or notes.")
NAMESPACE = Option(
    "namespace", "--namespace -n NAME", "Namespace in the cluster. Default: the namespace of the context."
)
CONTEXT = Option("context", "--context NAME", "Context of the kubeconfig. Default: the current context.")
KUBECONFIG = Option(
    "kubeconfig", "--kubeconfig FILE", "Kubeconfig file. Default: KUBECONFIG or ~/.kube/config."
)
PLACE = (NAMESPACE, CONTEXT, KUBECONFIG)
"""The cluster and the namespace of a command."""
OBJECTS_OUTPUT = Option(
    "output",
    "--output -o",
    "Output format of objects.",
    choices=("text", "name", "json", "yaml"),
    default="text",
)
TIMEOUT = Option(
    "timeout",
    "--timeout TIME",
    "With --wait: maximum time to wait, for example 30m. After this time, exit 124.",
)
LISTING_OUTPUT = Option(
    "output",
    "--output -o",
    "Output format; name prints names for kubectl.",
    choices=("text", "wide", "json", "yaml", "name"),
    default="text",
)
APPLICATION = Option("name", "NAME", "Application, or one of its runs.", required=True)
APPLICATIONS = Option("names", "NAME", "Applications or runs. Default: all.", many=True)
RUN = Option("run", "--run RUN", "Run, by its name or its hash. Default: the latest run.")
YES = Option("yes", "--yes -y", "Do not ask for confirmation.")


def port(name: str, flag: str, help: str, default: int | None = None) -> Option:  # noqa: A002 - Option's
    """Returns the option for a port of this machine."""
    return Option(name, f"{flag} PORT", help, kind=int, default=default, least=0, most=65535)
