"""Which cluster and which namespace a command uses, chosen as kubectl does.

The kubeconfig is --kubeconfig, or the files that KUBECONFIG lists, merged, or ~/.kube/config; the context is
--context or the current one; the namespace is --namespace, the context's, or "default". Inside of a pod
without any of these files, it is the pod's own cluster and namespace.
https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkgen.cluster.errors import ClusterError
from sparkgen.textdiff import nearest

DEFAULT_NAMESPACE = "default"
POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
IN_CLUSTER = "the pod's own cluster"


@dataclass(frozen=True, slots=True)
class Place:
    """The user's options about the cluster; "" for an option that is not set."""

    kubeconfig: str = ""
    context: str = ""
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The chosen cluster. `files` are joined as in KUBECONFIG; "" means the pod's own cluster."""

    files: str
    context: str
    namespace: str


def choose(place: Place, environment: Mapping[str, str]) -> Chosen:
    """Returns the chosen cluster. Raises ClusterError if there is none, or several and none is chosen."""
    files = _files(place, environment)
    if not files:
        if "KUBERNETES_SERVICE_HOST" in environment and not place.context:
            return Chosen("", IN_CLUSTER, place.namespace or _pod_namespace())
        raise _none(place, environment)
    contexts, current = _contexts(files)
    name = place.context or current
    if name not in contexts:
        raise _no_context(name, sorted(contexts), files)
    return Chosen(files, name, place.namespace or contexts[name] or DEFAULT_NAMESPACE)


def _files(place: Place, environment: Mapping[str, str]) -> str:
    """The kubeconfig files that exist, joined as in KUBECONFIG. ClusterError if --kubeconfig does not."""
    if place.kubeconfig:
        if not Path(place.kubeconfig).is_file():
            raise ClusterError(f"--kubeconfig {place.kubeconfig}: there is no such file")
        return place.kubeconfig
    home = str(Path("~/.kube/config").expanduser())
    named = [name for name in (environment.get("KUBECONFIG") or home).split(os.pathsep) if name]
    return os.pathsep.join(name for name in named if Path(name).is_file())


def _contexts(files: str) -> tuple[dict[str, str], str]:
    """Returns the namespace of each context by its name ("" if it has none), and the current context's name.

    If files contradict each other, the first one wins, as with kubectl.
    """
    found: dict[str, str] = {}
    current = ""
    for file in files.split(os.pathsep):
        config = read(file)
        current = current or str(config.get("current-context") or "")
        for item in config.get("contexts") or ():
            if isinstance(item, dict) and isinstance(item.get("context"), dict):
                found.setdefault(str(item.get("name")), str(item["context"].get("namespace") or ""))
    return found, current


def read(file: str) -> dict[str, Any]:
    """Reads a kubeconfig. Raises ClusterError if it cannot be read, or is not a kubeconfig."""
    from sparkgen.yamlvalue import value_of  # noqa: PLC0415 - 20 ms for commands with a cluster only

    try:
        config = value_of(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise ClusterError(f"cannot read the kubeconfig {file}: {error.strerror}") from error
    except ValueError as error:
        reason = str(error).replace("\n", " ")
        raise ClusterError(f"the kubeconfig {file} is not valid YAML: {reason}") from error
    if not isinstance(config, dict | None):
        raise ClusterError(f"the kubeconfig {file} must be a mapping: check that it is the right file")
    return config or {}


def _pod_namespace() -> str:
    try:
        return POD_NAMESPACE.read_text(encoding="utf-8").strip() or DEFAULT_NAMESPACE
    except OSError:
        return DEFAULT_NAMESPACE


def _none(place: Place, environment: Mapping[str, str]) -> ClusterError:
    looked = environment.get("KUBECONFIG")
    where = f"no file in KUBECONFIG={looked} exists" if looked else "there is no ~/.kube/config"
    asked = f", so no context {place.context}" if place.context else ""
    return ClusterError(f"no cluster is configured: {where}{asked}. Name a kubeconfig with --kubeconfig FILE")


def _no_context(name: str, known: Sequence[str], files: str) -> ClusterError:
    have = f"{files} has {', '.join(known)}" if known else f"{files} has no contexts"
    if not name:
        return ClusterError(f"no current context: choose one with --context; {have}")
    near = nearest(name, known)
    step = f"did you mean {near}?" if near else have
    return ClusterError(f"there is no context {name}: {step}")
